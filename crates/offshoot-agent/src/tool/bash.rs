//! The tool `bash`, and the user's commands with `!`.
//!
//! Owns how a command is made ready and followed. `process` runs it, `texts` says what came of it.

mod texts;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use offshoot_protocol::BashRun;
use offshoot_protocol::message::Block;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::background::{BASH_LIST_TOOL, BASH_OUTPUT_TOOL, BASH_STOP_TOOL};
use super::decode::{Sanitizer, Utf8};
use super::files::reason;
use super::hide::Hide;
pub use super::output::Printed;
use super::output::{Output, Recent, Snapshot};
use super::{ConversationLink, Running, SandboxRefusal, Tier, Tool, ToolContext, ToolOutcome, args};
use crate::process::{self, End, Errors, Job, News};
use crate::provider::ToolSpec;
use crate::sandbox::{KeptKeys, Sandbox};
use texts::{cut_note, details, long, outcome};

/// Runs a shell command in the working directory and returns its standard output and standard error. Long output is cut to its
/// last 2000 lines or 50 KB; all of it is saved to a file, which is named. The command has no standard input.
#[derive(Debug, Deserialize, JsonSchema)]
struct BashInput {
    /// The bash command.
    command: String,
    /// Time-out in seconds, after which the command and all that it started are killed; by default the user's setting, usually none.
    #[serde(default, deserialize_with = "args::number")]
    timeout: Option<f64>,
    /// Return at once; it runs on, as a server does.
    background: Option<bool>,
}

/// How often the output of a command that something else runs is shown.
const ELSEWHERE_TICK: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Shell {
    /// `None`: `/bin/bash`, else `bash` or `sh` of the path.
    pub program: Option<PathBuf>,
    /// A line before every command.
    pub prefix: Option<String>,
    /// Additional variables.
    pub env: Vec<(String, String)>,
    /// For the model's commands that name none.
    pub timeout: Option<Duration>,
}

/// A command that was judged to only read, spelled anew, with variables by which it does no more.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct NeutralCommand {
    pub text: String,
    pub variables: Vec<(String, String)>,
}

impl NeutralCommand {
    /// Inherited variables that such a command does not get, with those that no command gets.
    pub(crate) fn without(keys: &[String]) -> Vec<String> {
        keys.iter().cloned().chain(NOT_NEUTRAL.iter().map(|name| (*name).to_owned())).collect()
    }
}

/// Inherited variables by which programs that read would run others, write, or read more.
const NOT_NEUTRAL: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "GIT_CONFIG_PARAMETERS",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_TRACE",
    "GIT_TRACE2",
    "GIT_TRACE2_EVENT",
    "GIT_TRACE2_PERF",
    "GIT_TRACE_CURL",
    "GIT_TRACE_PACKET",
    "GIT_TRACE_PACK_ACCESS",
    "GIT_TRACE_PERFORMANCE",
    "GIT_TRACE_SETUP",
    "GREP_OPTIONS",
    "POSIXLY_CORRECT",
    "RIPGREP_CONFIG_PATH",
];

impl Shell {
    /// Whether words in single quotes are what they say, and nothing comes before them.
    pub fn runs_as_spelled(&self) -> bool {
        let program = self.program();
        let name = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        self.prefix.is_none() && matches!(name, "bash" | "dash" | "ksh" | "sh" | "zsh")
    }

    fn program(&self) -> PathBuf {
        match &self.program {
            Some(program) => program.clone(),
            None if Path::new("/bin/bash").exists() => "/bin/bash".into(),
            None if Path::new("/usr/bin/env").exists() && has_bash() => "bash".into(),
            None => "sh".into(),
        }
    }

    fn env(&self, place: &ToolContext) -> Vec<(String, String)> {
        [self.env.as_slice(), &place.session_env].concat()
    }

    /// With the line before it.
    pub(crate) fn command(&self, command: &str) -> String {
        self.prefix.as_ref().map_or_else(|| command.to_owned(), |prefix| format!("{prefix}\n{command}"))
    }
}

/// Whether bash is in a usual place of systems without `/bin/bash`.
fn has_bash() -> bool {
    ["/usr/local/bin/bash", "/usr/bin/bash", "/run/current-system/sw/bin/bash"]
        .iter()
        .any(|path| Path::new(path).exists())
}

/// The name of [`Bash`].
pub const BASH_TOOL: &str = "bash";

/// The tool `bash`.
#[derive(Debug, Clone, Default)]
pub struct Bash {
    /// How commands are run.
    pub shell: Shell,
}

impl Tool for Bash {
    fn name(&self) -> &str {
        BASH_TOOL
    }

    fn spec(&self) -> ToolSpec {
        args::spec::<BashInput>(self.name())
    }

    fn summary(&self) -> Option<&str> {
        Some("run shell commands (build, test, git, ...)")
    }

    fn tier(&self, arguments: &Value, _: &ToolContext) -> Tier {
        arguments.get("command").and_then(Value::as_str).map_or(Tier::Exec, |command| Tier::Command(command.to_owned()))
    }

    fn make_ready(&self, context: &ToolContext, calls: usize) {
        if let Some(sandbox) = context.sandbox.as_ref().filter(|sandbox| sandbox.refuses_commands().is_none()) {
            sandbox.make_ready(&context.cwd, kept_keys(context), calls);
        }
    }

    fn run(&self, arguments: Value, place: Arc<ToolContext>, partial: UnboundedSender<ToolOutcome>) -> Running {
        let shell = self.shell.clone();
        Box::pin(async move {
            match args::parse("bash", arguments) {
                Ok(input) => call(&shell, input, &place, &partial).await.unwrap_or_else(|failed| failed),
                Err(failed) => failed,
            }
        })
    }
}

async fn call(
    shell: &Shell,
    input: BashInput,
    place: &Arc<ToolContext>,
    partial: &UnboundedSender<ToolOutcome>,
) -> Result<ToolOutcome, ToolOutcome> {
    let named = input.timeout.map(seconds).transpose()?;
    if input.background.unwrap_or_default() {
        return in_background(shell, &input.command, named, place);
    }
    let command = ReadyCommand::of(shell, &input.command, named.or(shell.timeout), place)?;
    let (output, hide) = (Output::new(&place.outputs), Hide::new(place.keys.secrets.clone()));
    let began = Instant::now();
    let mut shown = ShownOutput { output, hide, partial, began, is_new: false, is_ended: false };
    let tell = |news: News<'_>| match news {
        News::Piece(bytes) => shown.push(bytes),
        News::Tick => shown.tick(),
    };
    let end = command.run(tell).await;
    let duration = long(began);
    let shown = shown.finish();
    let end = end.map_err(|error| ToolOutcome::failed(cannot_run(&command.program, &place.cwd, &error)))?;
    let mut outcome = outcome(&shown, end, command.timeout);
    let refusal = |sandbox: &Sandbox| sandbox.refusal(&place.cwd, &shown.truncation.content);
    if let Some(refusal) = place.sandbox.as_ref().filter(|_| outcome.is_error).and_then(refusal) {
        outcome.content.push(Block::text(refusal.note()));
        outcome.sandbox_refusal = (!refusal.is_final).then(|| Box::new(SandboxRefusal(refusal.reason)));
    }
    Ok(ToolOutcome { details: details(&shown, duration), ..outcome })
}

/// Starts a command that runs on after its call. Only a time-out of its own ends it.
fn in_background(
    shell: &Shell,
    command: &str,
    timeout: Option<Duration>,
    place: &Arc<ToolContext>,
) -> Result<ToolOutcome, ToolOutcome> {
    let commands = place.conversation.background();
    let commands = commands.ok_or_else(|| ToolOutcome::failed("Commands in the background cannot run here."))?;
    // Who runs must not keep the list of those that run.
    let apart = ToolContext { conversation: ConversationLink::default(), ..ToolContext::clone(place) };
    let ready = ReadyCommand::of(shell, command, timeout, &Arc::new(apart))?;
    let started = commands.start(command, place, |mut take| async move {
        let end = ready.run(|news| match news {
            News::Piece(bytes) => take(bytes),
            News::Tick => {}
        });
        end.await.map_err(|error| std::io::Error::other(cannot_run(&ready.program, &ready.place.cwd, &error)))
    });
    let id = started.map_err(ToolOutcome::failed)?;
    let text = format!(
        "{id} runs in the background. {BASH_OUTPUT_TOOL}, {BASH_STOP_TOOL} and {BASH_LIST_TOOL} are for such commands. \
         You will be told when it has ended; it ends with the program at the latest."
    );
    Ok(ToolOutcome { details: Some(json!({ "backgroundId": id })), ..ToolOutcome::text(text) })
}

/// A command of the model with all that it needs to run.
struct ReadyCommand {
    program: PathBuf,
    words: Vec<OsString>,
    env: Vec<(String, String)>,
    without: Vec<String>,
    timeout: Option<Duration>,
    place: Arc<ToolContext>,
}

impl ReadyCommand {
    /// # Errors
    /// The sandbox runs no commands.
    fn of(
        shell: &Shell,
        command: &str,
        timeout: Option<Duration>,
        place: &Arc<ToolContext>,
    ) -> Result<Self, ToolOutcome> {
        let command = place.neutral.as_ref().map_or_else(|| shell.command(command), |neutral| neutral.text.clone());
        let program = shell.program();
        let (env, without) = surroundings(shell, place);
        let words = process::shell_words(&program, &command);
        let refused = place.sandbox.as_ref().and_then(Sandbox::refuses_commands);
        refused.map_or(Ok(()), |why| Err(ToolOutcome::failed(why)))?;
        Ok(Self { program, words, env, without, timeout, place: place.clone() })
    }

    /// Dropping the future kills all its processes.
    async fn run(&self, tell: impl FnMut(News<'_>)) -> std::io::Result<End> {
        let Self { words, env, without, timeout, place, .. } = self;
        let job = Job { words, cwd: &place.cwd, env, without, errors: Errors::Shown, timeout: *timeout };
        match &place.sandbox {
            Some(sandbox) => sandbox.run(job, kept_keys(place), tell).await,
            None => process::run(job, tell).await,
        }
    }
}

fn kept_keys(context: &ToolContext) -> KeptKeys<'_> {
    KeptKeys { files: &context.keys.files, variables: &context.keys.variables }
}

/// The variables of a command of the model, and the inherited ones that it does not get.
fn surroundings(shell: &Shell, place: &ToolContext) -> (Vec<(String, String)>, Vec<String>) {
    let mut env = shell.env(place);
    let mut without = place.keys.variables.to_vec();
    if let Some(neutral) = &place.neutral {
        without = NeutralCommand::without(&without);
        env.retain(|(name, _)| !without.contains(name));
        env.extend(neutral.variables.iter().cloned());
    }
    if let Some(sandbox) = &place.sandbox {
        env.push(("TMPDIR".to_owned(), sandbox.temporary.display().to_string()));
    }
    (env, without)
}

/// The output of a running command. If dropped before the command has ended, it sends everything printed so far.
struct ShownOutput<'a> {
    output: Output,
    hide: Hide,
    partial: &'a UnboundedSender<ToolOutcome>,
    began: Instant,
    /// Whether output arrived since the last partial outcome.
    is_new: bool,
    is_ended: bool,
}

impl ShownOutput<'_> {
    fn push(&mut self, bytes: &[u8]) {
        self.output.push(&self.hide.push(bytes));
        self.is_new = true;
    }

    fn tick(&mut self) {
        if std::mem::take(&mut self.is_new) {
            self.send(partial_outcome(&self.output.snapshot()));
        }
    }

    fn finish(&mut self) -> Snapshot {
        self.is_ended = true;
        self.output.push(&self.hide.finish());
        self.output.finish();
        self.output.snapshot()
    }

    fn send(&self, outcome: ToolOutcome) {
        // The receiver may be gone.
        self.partial.send(outcome).unwrap_or(());
    }
}

impl Drop for ShownOutput<'_> {
    fn drop(&mut self) {
        if self.is_ended {
            return;
        }
        let shown = self.finish();
        let output = Some(shown.truncation.content.clone()).filter(|output| !output.is_empty());
        let parts: Vec<String> = [output, cut_note(&shown)].into_iter().flatten().collect();
        if !parts.is_empty() {
            self.send(ToolOutcome {
                details: details(&shown, long(self.began)),
                ..ToolOutcome::text(parts.join("\n\n"))
            });
        }
    }
}

fn seconds(timeout: f64) -> Result<Duration, ToolOutcome> {
    let is_sound = timeout > 0.0 && timeout <= 2_147_483.0;
    let duration = is_sound.then(|| Duration::try_from_secs_f64(timeout).ok()).flatten();
    duration.ok_or_else(|| {
        ToolOutcome::failed(format!("a timeout of {timeout} seconds is not possible: give 1 to 2147483"))
    })
}

fn cannot_run(program: &Path, cwd: &Path, error: &std::io::Error) -> String {
    if cwd.is_dir() {
        format!("cannot run {}: {}", program.display(), reason(error))
    } else {
        format!("the working folder {} is gone: no command can run there", cwd.display())
    }
}

fn partial_outcome(shown: &Snapshot) -> ToolOutcome {
    ToolOutcome { details: details(shown, None), ..ToolOutcome::text(shown.truncation.content.clone()) }
}

/// Runs a user's command, outside the sandbox: the user typed it. `show` gets its output, about ten times a second and at its end. When `stop` resolves or the
/// future is dropped, the command's whole process group is killed.
///
/// # Errors
/// The shell cannot be started.
pub async fn run(
    command: &str,
    shell: &Shell,
    place: &ToolContext,
    stop: oneshot::Receiver<()>,
    mut show: impl FnMut(Printed),
) -> Result<BashRun, String> {
    let (program, command) = (shell.program(), shell.command(command));
    let env = shell.env(place);
    let words = process::shell_words(&program, &command);
    let job = Job {
        words: &words,
        cwd: &place.cwd,
        env: &env,
        without: &place.keys.variables,
        errors: Errors::Shown,
        timeout: None,
    };
    let mut printed = UserOutput::new(place);
    let end = {
        let running = process::run(job, |news| match news {
            News::Piece(bytes) => printed.push(bytes),
            News::Tick => printed.recent.take().into_iter().for_each(&mut show),
        });
        tokio::select! {
            biased;
            () = stopped(stop) => None,
            end = running => Some(end),
        }
    };
    let exit_code = match end.transpose() {
        Err(error) => return Err(cannot_run(&program, &place.cwd, &error)),
        Ok(Some(End::Exited(code) | End::Lingers(code))) => Some(code),
        Ok(Some(End::TimedOut) | None) => None,
    };
    Ok(printed.end(exit_code, exit_code.is_none(), show))
}

/// A user's command that something else runs: `running` ends with its exit code, `pieces` are its output. Otherwise the same as
/// [`run`].
///
/// # Errors
/// Those of `running`.
pub async fn run_elsewhere(
    running: impl Future<Output = Result<Option<i32>, String>>,
    mut pieces: UnboundedReceiver<String>,
    place: &ToolContext,
    stop: oneshot::Receiver<()>,
    mut show: impl FnMut(Printed),
) -> Result<BashRun, String> {
    let mut printed = UserOutput::new(place);
    let mut ticks = tokio::time::interval(ELSEWHERE_TICK);
    tokio::pin!(running);
    let stop = stopped(stop);
    tokio::pin!(stop);
    let end = loop {
        tokio::select! {
            biased;
            () = &mut stop => break None,
            Some(piece) = pieces.recv() => printed.push(piece.as_bytes()),
            end = &mut running => break Some(end?),
            _ = ticks.tick() => printed.recent.take().into_iter().for_each(&mut show),
        }
    };
    // What came at once with the end.
    while let Ok(piece) = pieces.try_recv() {
        printed.push(piece.as_bytes());
    }
    Ok(printed.end(end.flatten(), end.is_none(), show))
}

/// A dropped sender stops nothing.
async fn stopped(stop: oneshot::Receiver<()>) {
    if stop.await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The output of a user's command so far.
struct UserOutput {
    decoder: Utf8,
    sanitizer: Sanitizer,
    output: Output,
    recent: Recent,
    hide: Hide,
    began: Instant,
}

impl UserOutput {
    fn new(place: &ToolContext) -> Self {
        Self {
            decoder: Utf8::default(),
            sanitizer: Sanitizer::default(),
            output: Output::new(&place.outputs),
            recent: Recent::default(),
            hide: Hide::new(place.keys.secrets.clone()),
            began: Instant::now(),
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        let text = self.sanitizer.push(&self.decoder.push(&self.hide.push(bytes)));
        self.output.push(text.as_bytes());
        self.recent.push(&text);
    }

    fn end(mut self, exit_code: Option<i32>, cancelled: bool, show: impl FnMut(Printed)) -> BashRun {
        let rest = self.decoder.push(&self.hide.finish()) + &self.decoder.finish();
        let rest = self.sanitizer.push(&rest) + &self.sanitizer.finish();
        self.output.push(rest.as_bytes());
        self.recent.push(&rest);
        self.recent.take().into_iter().for_each(show);
        self.output.finish();
        let shown = self.output.snapshot();
        BashRun {
            output: shown.truncation.content,
            exit_code,
            cancelled,
            truncated: shown.truncation.truncated,
            full_output_path: shown.path,
            duration_ms: long(self.began),
        }
    }
}

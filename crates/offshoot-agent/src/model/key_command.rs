//! Commands that print keys (`!command` in the user's files): run by `sh` with limited time and output; their output is
//! cached. Knows providers only by name.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use offshoot_protocol::Secret;
use offshoot_session::clock::{Clock, Millis};
use tokio::sync::oneshot;

use crate::process::{self, End, Errors, Job, News, shell_words};

const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_BYTES: usize = 64 * 1024;
const CACHED_MS: Millis = 10 * 60 * 1000;

/// Clones share the cache.
#[derive(Clone)]
pub(super) struct KeyCommands {
    clock: Arc<dyn Clock>,
    patience: Duration,
    said: Arc<Mutex<HashMap<CommandName, KeptAnswer>>>,
}

type CommandName = (String, String);

struct KeptAnswer {
    secret: Secret,
    since: Millis,
    until: Millis,
}

impl KeyCommands {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, patience: TIMEOUT, said: Arc::default() }
    }

    /// The command's standard output. The error never includes output.
    pub(super) async fn ask(&self, provider: &str, command: &str) -> Result<Secret, String> {
        if let Some(secret) = self.kept(provider, command) {
            return Ok(secret);
        }
        let secret = self.ask_anew(command).await?;
        self.keep((provider, command), secret.clone(), None);
        Ok(secret)
    }

    /// [`Self::ask`], but what was printed before does not count, and is not kept.
    pub(super) async fn ask_anew(&self, command: &str) -> Result<Secret, String> {
        run(command, self.patience).await.map(Secret::new)
    }

    /// Keeps a secret that did not come from a command alone: until a time, else as long as output of commands.
    pub(super) fn keep(&self, (provider, name): (&str, &str), secret: Secret, until: Option<Millis>) {
        let since = self.now();
        let until = until.unwrap_or_else(|| since.saturating_add(CACHED_MS));
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.insert((provider.to_owned(), name.to_owned()), KeptAnswer { secret, since, until });
    }

    /// What was kept under a name, and still counts.
    pub(super) fn kept(&self, provider: &str, name: &str) -> Option<Secret> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let KeptAnswer { secret, since, until } = said.get(&(provider.to_owned(), name.to_owned()))?;
        (*since..*until).contains(&self.now()).then(|| secret.clone())
    }

    pub(super) fn now(&self) -> Millis {
        self.clock.now()
    }

    pub(super) fn remembered_keys(&self) -> Vec<Secret> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.values().map(|kept| kept.secret.clone()).collect()
    }

    pub(super) fn forget(&self, provider: &str) {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).retain(|(known, _), _| known != provider);
    }
}

/// What a command prints, for values that belong to no provider. The error never includes output.
///
/// # Errors
/// The command fails, says nothing, or takes too long, as a clause.
pub async fn printed_key(command: &str) -> Result<Secret, String> {
    run(command, TIMEOUT).await.map(Secret::new)
}

async fn run(command: &str, patience: Duration) -> Result<String, String> {
    let (shell, cwd) = (Path::new("sh"), Path::new("."));
    let words = shell_words(shell, command);
    let job = Job { words: &words, cwd, env: &[], without: &[], errors: Errors::Dropped, timeout: Some(patience) };
    let mut said: Vec<u8> = Vec::new();
    let (full, is_full) = oneshot::channel();
    let mut full = Some(full);
    let running = process::run(job, |news| match news {
        News::Piece(bytes) if said.len() + bytes.len() <= MAX_BYTES => said.extend_from_slice(bytes),
        News::Piece(_) => full.take().into_iter().for_each(|full: oneshot::Sender<()>| full.send(()).unwrap_or(())),
        News::Tick => {}
    });
    let end = tokio::select! {
        biased;
        // Dropping the running command kills its process group.
        Ok(()) = is_full => return Err(format!("it said more than {} KiB", MAX_BYTES / 1024)),
        end = running => end.map_err(|error| format!("could not run sh: {error}"))?,
    };
    match end {
        End::TimedOut => return Err(format!("it took longer than {} s and was stopped", patience.as_secs_f32())),
        End::Exited(0) | End::Lingers(0) => {}
        End::Exited(code) | End::Lingers(code) => return Err(format!("it ended with exit code {code}")),
    }
    let text = String::from_utf8(said).map_err(|_| "it said something that is not UTF-8".to_owned())?;
    match text.trim() {
        "" => Err("it said nothing".to_owned()),
        text => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicI64, Ordering};
    use std::time::Instant;

    #[derive(Default)]
    struct Hands(AtomicI64);

    impl Clock for Hands {
        fn now(&self) -> Millis {
            self.0.load(Ordering::Relaxed)
        }
    }

    fn commands(patience: Duration) -> (KeyCommands, Arc<Hands>) {
        let clock = Arc::new(Hands::default());
        (KeyCommands { patience, ..KeyCommands::new(clock.clone()) }, clock)
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    fn said(command: &str) -> Result<String, String> {
        let (commands, _) = commands(TIMEOUT);
        block_on(commands.ask("p", command)).map(|secret| secret.expose().to_owned())
    }

    #[test]
    fn a_command_says_the_key_or_fails() {
        assert_eq!(said("printf ' %s\\n' secret; echo loud >&2").as_deref(), Ok("secret"));
        assert_eq!(said("echo secret; exit 3"), Err("it ended with exit code 3".to_owned()));
        assert_eq!(said("true"), Err("it said nothing".to_owned()));
        assert_eq!(said("cat"), Err("it said nothing".to_owned()), "it has no input");
    }

    #[test]
    fn a_command_that_never_stops_talking_is_stopped() {
        let began = Instant::now();
        assert_eq!(said("yes"), Err("it said more than 64 KiB".to_owned()));
        assert!(began.elapsed() < TIMEOUT, "it was not listened to for the whole time");
    }

    /// All processes of a command are killed at the time-out, whoever started them.
    #[test]
    fn a_command_that_takes_too_long_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let (commands, _) = commands(Duration::from_millis(500));
        let command = format!("sleep 60 & echo $! > {}; sleep 60", file.display());
        let refused = block_on(commands.ask("p", &command)).unwrap_err();
        assert_eq!(refused, "it took longer than 0.5 s and was stopped");
        let pid = std::fs::read_to_string(&file).unwrap();
        let state = || std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        let is_gone = || state().is_empty() || state().contains(") Z ");
        let began = Instant::now();
        while !is_gone() {
            assert!(began.elapsed() < Duration::from_secs(30), "{}", state());
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_was_said_counts_for_ten_minutes_or_until_it_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("asked");
        let command = format!("echo x >> {0}; wc -l < {0}", file.display());
        let (commands, clock) = commands(TIMEOUT);
        let ask = |provider: &str| block_on(commands.ask(provider, &command)).unwrap().expose().to_owned();
        assert_eq!(ask("p"), "1");
        clock.0.store(CACHED_MS - 1, Ordering::Relaxed);
        assert_eq!(ask("p"), "1");
        clock.0.store(CACHED_MS, Ordering::Relaxed);
        assert_eq!(ask("p"), "2", "its time is over");
        commands.clone().forget("other");
        assert_eq!(ask("p"), "2");
        commands.clone().forget("p");
        assert_eq!(ask("p"), "3", "it was refused");
    }
}

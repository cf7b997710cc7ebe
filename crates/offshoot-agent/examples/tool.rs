//! Tools without an agent: one call as a JSON object per line in, its outcome per line out.
//!
//! `echo '{"tool":"read","arguments":{"path":"README.md","limit":2}}' | cargo run -p offshoot-agent --example tool`
//!
//! `cwd`, `home` and `spill` name folders. `{"truncate":"head","text":...,"lines":...,"bytes":...}` (or `tail`, or `line`) shows
//! the cutting alone, `{"run":COMMAND}` a command as a person runs it with `!`, and `{"context":HOME}` the files of instructions.

#![expect(clippy::disallowed_methods, reason = "an example is a whole program")]

use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use offshoot_agent::context_files::{self, Links};
use offshoot_agent::tool::truncate::{self, TextLimits};
use offshoot_agent::tool::{self, ConversationLink, KeyGuard, OutputFolder, Shell, ToolContext, bash};
use serde::Deserialize;
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

#[derive(Deserialize)]
#[serde(default)]
struct Line {
    tool: String,
    arguments: Value,
    run: Option<String>,
    context: Option<PathBuf>,
    truncate: Option<String>,
    text: String,
    lines: u64,
    bytes: u64,
    cwd: PathBuf,
    home: Option<PathBuf>,
    spill: PathBuf,
}

impl Default for Line {
    fn default() -> Self {
        let limits = TextLimits::default();
        Self {
            tool: String::new(),
            arguments: json!({}),
            run: None,
            context: None,
            truncate: None,
            text: String::new(),
            lines: limits.lines,
            bytes: limits.bytes,
            cwd: PathBuf::from("."),
            home: None,
            spill: PathBuf::from("spill"),
        }
    }
}

fn main() -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for line in std::io::stdin().lock().lines() {
        let answer = runtime.block_on(answer(serde_json::from_str(&line?)?))?;
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

async fn answer(line: Line) -> Result<Value, Failure> {
    if let Some(which) = &line.truncate {
        return Ok(truncated(which, &line));
    }
    if let Some(home) = &line.context {
        let (files, unreadable) = context_files::find(home, &line.cwd, None, Links::Inside);
        let files: Vec<Value> =
            files.iter().map(|file| json!({ "path": file.path, "content": file.content })).collect();
        return Ok(json!({ "files": files, "unreadable": unreadable.len() }));
    }
    let place = ToolContext {
        call_id: String::new(),
        sandbox: None,
        neutral: None,
        conversation: ConversationLink::default(),
        cwd: std::path::absolute(&line.cwd)?,
        home: line.home,
        outputs: OutputFolder::new(line.spill, ""),
        session_env: Vec::new(),
        keys: KeyGuard::default(),
    };
    if let Some(command) = line.run {
        let (_stop, stopped) = tokio::sync::oneshot::channel();
        let run = bash::run(&command, &Shell::default(), &place, stopped, |_| {}).await?;
        return Ok(json!({
            "output": run.output,
            "exitCode": run.exit_code,
            "cancelled": run.cancelled,
            "truncated": run.truncated,
            "fullOutputPath": run.full_output_path,
        }));
    }
    let chosen = tool::select(&line.tool, &Shell::default())?;
    let tool = chosen.first().ok_or("no tool is named")?;
    let (partial, _) = tokio::sync::mpsc::unbounded_channel();
    let outcome = tool.run(line.arguments, Arc::new(place), partial).await;
    Ok(json!({ "content": outcome.content, "details": outcome.details, "isError": outcome.is_error }))
}

fn truncated(which: &str, line: &Line) -> Value {
    let limits = TextLimits { lines: line.lines, bytes: line.bytes };
    match which {
        "head" => json!(truncate::head(&line.text, limits)),
        "tail" => json!(truncate::tail(&line.text, limits)),
        _ => json!(truncate::line(&line.text, truncate::MAX_LINE)),
    }
}

//! The prompts: arguments, files named by `@`, and piped input.

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use offshoot_agent::tool::{ConversationLink, KeyGuard, OutputFolder, PathBase, Read, Tool as _, ToolContext};
use offshoot_protocol::message::{Block, text_of};
use offshoot_protocol::request::UserPrompt;
use offshoot_session::medium::read_regular;
use serde_json::json;

use super::Args;
use crate::app::App;
use crate::error::{CommandError, Result};

/// A larger file, or more piped input, is refused: no model takes it.
const LIMIT: u64 = 64 << 20;

/// Somebody who waits longer for standard input is told so.
const PATIENCE: Duration = Duration::from_secs(1);

/// All prompts, in order. Files and piped input become part of the first.
pub fn prompts(app: &App, args: &Args, cwd: Option<&str>) -> Result<Vec<UserPrompt>> {
    let piped = if args.no_stdin { None } else { piped(app)? };
    let (mut files, mut images) = (String::new(), Vec::new());
    for name in args.attachments() {
        file(app, name, cwd, &mut files, &mut images)?;
    }
    let words = args.prompt_words().collect::<Vec<_>>().join(" ");
    let parts = [piped, Some(files)].into_iter().flatten().filter(|part| !part.is_empty());
    let before = parts.collect::<Vec<_>>().join("\n").trim_end_matches('\n').to_owned();
    let first = UserPrompt { before, text: words, images };
    let further = args.then.iter().map(|text| UserPrompt::from(text.as_str()));
    let is_filled = |prompt: &UserPrompt| {
        [&prompt.before, &prompt.text].iter().any(|text| !text.trim().is_empty()) || !prompt.images.is_empty()
    };
    Ok(std::iter::once(first).chain(further).filter(is_filled).collect())
}

fn piped(app: &App) -> Result<Option<String>> {
    if std::io::stdin().is_terminal() {
        return Ok(None);
    }
    let failed = |error: std::io::Error| CommandError::io("read what is piped in", &error);
    let (sender, receiver) = channel();
    let reader = std::thread::Builder::new().name("stdin".to_owned());
    // The sender is dropped with the thread, which ends the wait.
    let _reader = reader.spawn(move || drop(sender.send(read_all()))).map_err(failed)?;
    let read = receiver.recv_timeout(PATIENCE).or_else(|late| {
        if late == RecvTimeoutError::Timeout {
            app.ui.note("waiting for the end of standard input, which becomes part of the prompt");
            app.ui.hint("with --no-stdin, or with `</dev/null`, it is not read");
        }
        receiver.recv()
    });
    let bytes = read.unwrap_or_else(|_| Err(std::io::Error::other("the reader broke down"))).map_err(failed)?;
    if bytes.len() as u64 > LIMIT {
        return Err(CommandError::usage(format!("more than {} MiB are piped in", LIMIT >> 20)));
    }
    let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
    Ok(Some(text).filter(|text| !text.is_empty()))
}

fn read_all() -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(LIMIT + 1).read_to_end(&mut bytes).map(|_| bytes)
}

fn file(app: &App, name: &str, cwd: Option<&str>, texts: &mut String, images: &mut Vec<Block>) -> Result<()> {
    let base = PathBase { cwd: &app.environment.cwd, home: app.environment.home.as_deref() };
    let path = base.attached(name).path;
    let bytes =
        read_regular(&path, LIMIT).map_err(|error| CommandError::io(format!("read {}", path.display()), &error))?;
    let shown = path.display();
    match String::from_utf8(bytes) {
        Ok(text) => texts.push_str(&format!("<file name=\"{shown}\">\n{text}\n</file>\n")),
        Err(_) => picture_file(app, &path, cwd, (texts, images))?,
    }
    Ok(())
}

/// Adds a picture, and the line that names it.
pub(super) fn picture_file(
    app: &App,
    path: &Path,
    cwd: Option<&str>,
    (texts, images): (&mut String, &mut Vec<Block>),
) -> Result<()> {
    let (picture, note) = picture(app, path, cwd)?;
    images.extend(picture);
    texts.push_str(&format!("<file name=\"{}\">{note}</file>\n", path.display()));
    Ok(())
}

/// A picture like the read tool's result: checked, and scaled down if models would refuse it. The note says how it was scaled.
fn picture(app: &App, path: &Path, cwd: Option<&str>) -> Result<(Vec<Block>, String)> {
    let cwd = cwd.map_or_else(|| app.environment.cwd.clone(), PathBuf::from);
    let place = ToolContext {
        call_id: String::new(),
        sandbox: None,
        neutral: None,
        conversation: ConversationLink::default(),
        outputs: OutputFolder::new(&cwd, ""),
        session_env: Vec::new(),
        cwd,
        home: app.environment.home.clone(),
        keys: KeyGuard::default(),
    };
    let (partial, _partials) = tokio::sync::mpsc::unbounded_channel();
    let reading = Read.run(json!({ "path": path.display().to_string() }), Arc::new(place), partial);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CommandError::io("read a picture", &error))?;
    let outcome = runtime.block_on(reading);
    let (images, rest): (Vec<Block>, Vec<Block>) =
        outcome.content.into_iter().partition(|block| matches!(block, Block::Image { .. }));
    let text = text_of(&rest);
    if images.is_empty() {
        let left_out = text.strip_prefix('[').and_then(|text| text.split_once(": left out, ")).map(|(_, why)| why);
        let what = match left_out {
            Some(why) => format!("the picture {} cannot be sent: {}", path.display(), why.trim_end_matches(']')),
            None => format!("{} is neither text nor a picture that models take", path.display()),
        };
        return Err(CommandError::usage(what).hint("PNG, JPEG, GIF and WebP are"));
    }
    let note = text.lines().find(|line| line.starts_with("[scaled")).unwrap_or_default().to_owned();
    Ok((images, note))
}

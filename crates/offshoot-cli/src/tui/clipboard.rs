//! Reads the system's clipboard through its programs: `wl-paste` under Wayland, `xclip` under X11, `pngpaste` and
//! `pbpaste` on macOS. An image goes into a temporary file, as in pi: its path is pasted.

use std::io::{self, Write as _};
use std::process::Stdio;
use std::time::Duration;

use offshoot_app::config::variable;
use offshoot_app::error::CommandError;
use offshoot_session::transcript::Level;
use offshoot_tui::app::msg::Msg;
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};

use super::job_context::{JobContext, blocking};

/// The clipboard's owner may not answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// In MiB: what is larger is not pasted.
const LARGEST_PICTURE: u64 = 64;
const LARGEST_TEXT: u64 = 16;
/// Image types that models accept, with file extensions; the first available one is pasted.
const PICTURES: [(&str, &str); 4] =
    [("image/png", ".png"), ("image/jpeg", ".jpg"), ("image/webp", ".webp"), ("image/gif", ".gif")];

/// A program that reads the clipboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClipboardTool {
    WlPaste,
    /// For X11.
    Xclip,
    Mac,
}

enum ClipboardContent {
    Picture(Vec<u8>, &'static str),
    Text(String),
    Nothing,
}

/// Sends the front end the text to paste, or the reason why there is none.
pub(super) async fn paste(context: &JobContext) {
    match read_clipboard(&ClipboardTool::of_environment()).await {
        Ok(ClipboardContent::Picture(bytes, ending)) => {
            let what = "put the picture of the clipboard into a file";
            let kept = blocking(move || keep(&bytes, ending).map_err(|error| CommandError::io(what, &error))).await;
            match kept {
                Ok(path) => context.tell(Msg::Clipboard(path)),
                Err(error) => context.notice(Level::Error, error.on_one_line()),
            }
        }
        Ok(ClipboardContent::Text(text)) => context.tell(Msg::Clipboard(text)),
        Ok(ClipboardContent::Nothing) => {
            context.notice(Level::Info, "the clipboard contains no text and no png, jpeg, webp or gif");
        }
        Err(why) => context.notice(Level::Warning, why),
    }
}

async fn read_clipboard(tools: &[ClipboardTool]) -> Result<ClipboardContent, String> {
    let mut missing = Vec::new();
    for tool in tools {
        match tool.read_clipboard().await {
            Ok(read_clipboard) => return Ok(read_clipboard),
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push(tool.package_name()),
            Err(error) => return Err(format!("the clipboard cannot be read with {}: {error}", tool.package_name())),
        }
    }
    Err(match missing.as_slice() {
        [] => "there is no clipboard here: neither WAYLAND_DISPLAY nor DISPLAY is set".to_owned(),
        missing => format!("to paste from the clipboard, install {}", missing.join(" or ")),
    })
}

/// The file is kept: the model reads it later.
fn keep(bytes: &[u8], ending: &str) -> io::Result<String> {
    let mut file = tempfile::Builder::new().prefix("offshoot-clipboard-").suffix(ending).tempfile()?;
    file.write_all(bytes)?;
    file.flush()?;
    let (_, path) = file.keep().map_err(|error| error.error)?;
    Ok(path.display().to_string())
}

impl ClipboardTool {
    /// Those that may be used here, in the order in which they are tried.
    fn of_environment() -> Vec<Self> {
        if cfg!(target_os = "macos") {
            return vec![Self::Mac];
        }
        let session = variable("XDG_SESSION_TYPE");
        let is_wayland = variable("WAYLAND_DISPLAY").is_some() || session.is_some_and(|kind| kind == "wayland");
        let wayland = is_wayland.then_some(Self::WlPaste);
        wayland.into_iter().chain(variable("DISPLAY").map(|_| Self::Xclip)).collect()
    }

    fn package_name(self) -> &'static str {
        match self {
            Self::WlPaste => "wl-paste (of wl-clipboard)",
            Self::Xclip => "xclip",
            Self::Mac => "pngpaste",
        }
    }

    async fn read_clipboard(self) -> io::Result<ClipboardContent> {
        let kinds = match self {
            Self::WlPaste => lines(&run("wl-paste", &["--list-types"], LARGEST_TEXT).await?),
            Self::Xclip => {
                lines(&run("xclip", &["-selection", "clipboard", "-t", "TARGETS", "-o"], LARGEST_TEXT).await?)
            }
            Self::Mac => vec!["image/png".to_owned()],
        };
        for (kind, ending) in PICTURES {
            // A type may have parameters.
            let named = kinds.iter().find(|named| named.split(';').next().is_some_and(|named| named.trim() == kind));
            if let Some(named) = named {
                let bytes = self.content(named).await?;
                if !bytes.is_empty() {
                    return Ok(ClipboardContent::Picture(bytes, ending));
                }
            }
        }
        let text = String::from_utf8_lossy(&self.text().await?).into_owned();
        Ok(if text.is_empty() { ClipboardContent::Nothing } else { ClipboardContent::Text(text) })
    }

    async fn content(self, kind: &str) -> io::Result<Vec<u8>> {
        match self {
            Self::WlPaste => run("wl-paste", &["--type", kind, "--no-newline"], LARGEST_PICTURE).await,
            Self::Xclip => run("xclip", &["-selection", "clipboard", "-t", kind, "-o"], LARGEST_PICTURE).await,
            Self::Mac => run("pngpaste", &["-"], LARGEST_PICTURE).await,
        }
    }

    async fn text(self) -> io::Result<Vec<u8>> {
        match self {
            Self::WlPaste => run("wl-paste", &["--type", "text", "--no-newline"], LARGEST_TEXT).await,
            Self::Xclip => run("xclip", &["-selection", "clipboard", "-t", "UTF8_STRING", "-o"], LARGEST_TEXT).await,
            Self::Mac => run("pbpaste", &[], LARGEST_TEXT).await,
        }
    }
}

fn lines(output: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(output).lines().map(|line| line.trim().to_ascii_lowercase()).collect()
}

/// A program's output of at most so many MiB; empty if its exit code says that there is none.
async fn run(program: &str, arguments: &[&str], largest: u64) -> io::Result<Vec<u8>> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let late = |_| io::Error::new(io::ErrorKind::TimedOut, "it does not answer");
    tokio::time::timeout(TIMEOUT, output(command.spawn()?, largest)).await.map_err(late)?
}

async fn output(mut child: Child, largest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(pipe) = child.stdout.take() {
        pipe.take((largest << 20) + 1).read_to_end(&mut bytes).await?;
    }
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > largest << 20 {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {largest} MiB")));
    }
    Ok(if child.wait().await?.success() { bytes } else { Vec::new() })
}

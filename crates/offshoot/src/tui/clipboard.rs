//! The system's clipboard through its programs: those of wl-clipboard under Wayland, `xclip` or `xsel` under X11, `pngpaste`,
//! `pbpaste` and `pbcopy` on macOS. An image goes into a temporary file, as in pi: its path is pasted. A copied text goes to the
//! first program that accepts it, else to tmux, else to the terminal.

use std::io::{self, Write as _};
use std::process::Stdio;
use std::time::Duration;

use offshoot_app::config::variable;
use offshoot_app::error::CommandError;
use offshoot_session::transcript::Level;
use offshoot_tui::app::msg::Msg;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
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

/// Terminals take no longer sequence: in base64 and bytes.
const LONGEST_SEQUENCE: usize = 100_000;

/// Programs that read and write the clipboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClipboardTool {
    Wayland,
    /// For X11, as the next one.
    Xclip,
    Xsel,
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
        let x11 = variable("DISPLAY").map(|_| [Self::Xclip, Self::Xsel]);
        is_wayland.then_some(Self::Wayland).into_iter().chain(x11.into_iter().flatten()).collect()
    }

    fn package_name(self) -> &'static str {
        match self {
            Self::Wayland => "wl-paste (of wl-clipboard)",
            Self::Xclip => "xclip",
            Self::Xsel => "xsel",
            Self::Mac => "pngpaste",
        }
    }

    fn copy_program(self) -> CopyProgram {
        match self {
            Self::Wayland => ("wl-copy", &["--type", "text/plain"]),
            Self::Xclip => ("xclip", &["-selection", "clipboard", "-in"]),
            Self::Xsel => ("xsel", &["--clipboard", "--input"]),
            Self::Mac => ("pbcopy", &[]),
        }
    }

    async fn read_clipboard(self) -> io::Result<ClipboardContent> {
        let kinds = match self {
            Self::Wayland => lines(&run("wl-paste", &["--list-types"], LARGEST_TEXT).await?),
            Self::Xclip => {
                lines(&run("xclip", &["-selection", "clipboard", "-t", "TARGETS", "-o"], LARGEST_TEXT).await?)
            }
            // It gives texts only.
            Self::Xsel => Vec::new(),
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
            Self::Wayland => run("wl-paste", &["--type", kind, "--no-newline"], LARGEST_PICTURE).await,
            Self::Xclip => run("xclip", &["-selection", "clipboard", "-t", kind, "-o"], LARGEST_PICTURE).await,
            Self::Xsel => Ok(Vec::new()),
            Self::Mac => run("pngpaste", &["-"], LARGEST_PICTURE).await,
        }
    }

    async fn text(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Wayland => run("wl-paste", &["--type", "text", "--no-newline"], LARGEST_TEXT).await,
            Self::Xclip => run("xclip", &["-selection", "clipboard", "-t", "UTF8_STRING", "-o"], LARGEST_TEXT).await,
            Self::Xsel => run("xsel", &["--clipboard", "--output"], LARGEST_TEXT).await,
            Self::Mac => run("pbpaste", &[], LARGEST_TEXT).await,
        }
    }
}

/// A program that takes what is copied, with its arguments.
type CopyProgram = (&'static str, &'static [&'static str]);

/// Sends to the terminal's clipboard, too, where the terminal has one.
const TMUX: CopyProgram = ("tmux", &["load-buffer", "-w", "-"]);

/// The programs that may take what is copied, in the order in which they are tried. Over SSH the clipboard of this machine is not the user's.
fn copy_programs() -> Vec<CopyProgram> {
    let is_remote = ["SSH_CONNECTION", "SSH_TTY"].iter().any(|name| variable(name).is_some());
    let tools = if is_remote { Vec::new() } else { ClipboardTool::of_environment() };
    let tmux = variable("TMUX").map(|_| TMUX);
    tools.into_iter().map(ClipboardTool::copy_program).chain(tmux).collect()
}

/// Copies a text, and says which way it went. `what` is copied, in words.
pub(super) async fn copy(context: &JobContext, text: String, what: &str) {
    let mut failed = Vec::new();
    for (program, arguments) in copy_programs() {
        match feed(program, arguments, &text).await {
            Ok(()) if program == TMUX.0 => {
                return context
                    .notice(Level::Info, format!("copied {what} to tmux's buffer, and sent to the terminal"));
            }
            Ok(()) => return context.notice(Level::Info, format!("copied {what} ({program})")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => failed.push(format!("{program}: {error}")),
        }
    }
    let refused = terminal_refusal(&text);
    let level = if failed.is_empty() && refused.is_none() { Level::Info } else { Level::Warning };
    let ended = match &refused {
        Some(why) => format!("{what} was not copied: {why}"),
        None => format!("sent {what} to the terminal (OSC 52), which does not say whether it took it"),
    };
    if refused.is_none() {
        context.tell(Msg::CopyByTerminal(text));
    }
    context.notice(level, failed.into_iter().chain([ended]).collect::<Vec<_>>().join("; "));
}

/// Why the terminal cannot take a text.
fn terminal_refusal(text: &str) -> Option<String> {
    if variable("TERM").is_some_and(|name| name == "linux") {
        return Some("this console has no clipboard, and no program here takes it".to_owned());
    }
    let length = text.len().div_ceil(3) * 4;
    (length > LONGEST_SEQUENCE)
        .then(|| format!("terminals take at most {} kB, and no program here takes it", LONGEST_SEQUENCE / 4 * 3 / 1000))
}

/// Gives a text to a program.
async fn feed(program: &str, arguments: &[&str], text: &str) -> io::Result<()> {
    let mut command = Command::new(program);
    // `wl-copy` and `xclip` leave a process that owns the selection and keeps its output open.
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let fed = async {
        if let Some(mut pipe) = child.stdin.take() {
            pipe.write_all(text.as_bytes()).await?;
        }
        match child.wait().await? {
            status if status.success() => Ok(()),
            status => Err(io::Error::other(status.to_string())),
        }
    };
    let late = |_| io::Error::new(io::ErrorKind::TimedOut, "it does not answer");
    tokio::time::timeout(TIMEOUT, fed).await.map_err(late)?
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

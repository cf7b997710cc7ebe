//! `cargo xtask screen --beside`: the same conversations opened by pi, omp and offshoot, as pages that show the three
//! screens next to each other. It judges nothing: a person looks at them.

mod conversations;
mod cells;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};
use portable_pty::{CommandBuilder, PtySize};
use xtask::{env, out};

use super::stage::MODELS;
use super::terminal::Terminal;
use crate::bench::bun;
use conversations::{Conversation, conversations};

const SIZE: PtySize = PtySize { rows: 46, cols: 84, pixel_width: 0, pixel_height: 0 };
/// A screen that did not change for this long is complete.
const QUIET: Duration = Duration::from_secs(5);
/// A screen that still changes after this long is taken as it is.
const TIME_OUT: Duration = Duration::from_secs(30);
/// The pixels of a page of three screens.
const PIXELS: &str = "--window-size=2130,830";

/// Programs, inputs and where the pages go.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) binary: PathBuf,
    /// The folder in which npm installed the peers.
    pub(super) peers: PathBuf,
    pub(super) folder: PathBuf,
}

#[derive(Debug, Clone, Copy)]
enum Contestant {
    Pi,
    Omp,
    Offshoot,
}

impl Contestant {
    const ALL: [Self; 3] = [Self::Pi, Self::Omp, Self::Offshoot];

    fn name(self) -> &'static str {
        match self {
            Self::Pi => "pi",
            Self::Omp => "omp",
            Self::Offshoot => "offshoot",
        }
    }

    /// Where the program looks for its models below the home folder.
    fn data(self) -> &'static str {
        match self {
            Self::Pi => ".pi/agent",
            Self::Omp => ".omp/agent",
            Self::Offshoot => ".local/share/offshoot",
        }
    }

    fn command(self, comparison: &Comparison) -> CommandBuilder {
        let peer = |name: &str| comparison.peers.join(".bin").join(name);
        match self {
            Self::Pi => {
                let mut command = CommandBuilder::new("node");
                command.arg(peer("pi"));
                command.args(["--offline", "--no-extensions"]);
                command
            }
            Self::Omp => {
                let bun = bun(&comparison.peers).unwrap_or_else(|| "bun".into());
                let mut command = CommandBuilder::new(bun);
                command.arg(peer("omp"));
                command.args(["--no-extensions", "--no-lsp", "--no-title"]);
                command
            }
            Self::Offshoot => CommandBuilder::new(&comparison.binary),
        }
    }
}

impl Comparison {
    pub(super) fn run(&self) -> Result<()> {
        fs::create_dir_all(&self.folder).with_context(|| self.folder.display().to_string())?;
        let scratch = tempfile::Builder::new().prefix("offshoot-beside-").tempdir_in(&self.folder)?;
        for conversation in conversations() {
            out::warn(&format!("{} ...", conversation.name));
            let mut screens = Vec::new();
            for contestant in Contestant::ALL {
                let home = scratch.path().join(contestant.name());
                let screen = self.screen(contestant, &home, &conversation)?;
                screens.push((contestant.name(), screen));
            }
            let page = self.folder.join(format!("{}.html", conversation.name));
            write(&page, &cells::page(conversation.name, &screens))?;
            out::say(&page.display().to_string());
            picture(&page);
        }
        Ok(())
    }

    fn screen(&self, contestant: Contestant, home: &Path, conversation: &Conversation) -> Result<vt100::Screen> {
        let project = home.join("project");
        fs::create_dir_all(&project)?;
        let data = home.join(contestant.data());
        fs::create_dir_all(&data)?;
        write(&data.join("models.json"), MODELS)?;
        let file = home.join(format!("{}.jsonl", conversation.name));
        write(&file, &conversation.file(&project.to_string_lossy()))?;
        let mut command = contestant.command(self);
        command.arg("--session");
        command.arg(&file);
        command.cwd(&project);
        command.env_clear();
        command.env("HOME", home);
        command.env("PATH", env::var("PATH").unwrap_or_default());
        command.env("TERM", "xterm-256color");
        command.env("COLORTERM", "truecolor");
        command.env("LANG", "C.UTF-8");
        let mut terminal = Terminal::start_at(command, SIZE)?;
        terminal.rest(QUIET, TIME_OUT)?;
        for keys in conversation.keys {
            terminal.send(keys)?;
            terminal.rest(QUIET, TIME_OUT)?;
        }
        let screen = terminal.cells().clone();
        terminal.end()?;
        Ok(screen)
    }
}

#[expect(clippy::disallowed_methods, reason = "scratch files and pages for a person to look at")]
fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| path.display().to_string())
}

/// Draws a page as a picture beside it, where Chromium is installed.
fn picture(page: &Path) {
    let mut command = Command::new("chromium");
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", PIXELS]);
    command.arg(format!("--screenshot={}", page.with_extension("png").display())).arg(page);
    if !command.output().is_ok_and(|output| output.status.success()) {
        out::warn("chromium did not draw it: the page alone is there");
    }
}

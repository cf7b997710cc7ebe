//! The command lines of offshoot, pi and omp for each task. A peer that is not installed is left out with a note.

use std::path::{Path, PathBuf};

use xtask::{env, run};

use super::floor::{FLOOR, FLOOR_APPEND, FLOOR_COPY};
use crate::inputs::Inputs;

/// A kind of work; all contestants give the same kind of answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    Context,
    Tree,
    /// `Tree`, timed up to the first line.
    TreeFirst,
    /// The tree as a person sees it, all of it.
    Drawn,
    /// The transcript of the current branch.
    Show,
    /// `Show`, timed up to the first line.
    ShowFirst,
    /// The page of the whole session.
    Page,
    /// A session of very many, by its whole id.
    OneById,
    /// A session opened without a side index, and its last entry.
    Open,
    Branches,
    Fork,
    ForkAll,
    /// `Fork`, through the JSON-RPC interface.
    Branched,
    Migrate,
    /// The last ten entries, picked below an early one. On a copy.
    Pick,
    /// The pick taken back. On a copy.
    Undo,
    /// The plan of a merge of the last entry's branch into an early entry's.
    MergePlan,
    /// The last entry's branch and an early entry's.
    Compare,
    Check,
    List,
    ListAll,
    /// The context of the folder's most recently written session, as JSON.
    Latest,
    /// Messages into a new session as fast as possible: the system has them.
    AppendOs,
    /// Messages into a new session, each on the disk before the next is written.
    AppendData,
}

impl Task {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Context => "context",
            Self::Tree => "tree",
            Self::TreeFirst => "tree-first",
            Self::Drawn => "tree-drawn",
            Self::Show => "show",
            Self::ShowFirst => "show-first",
            Self::Page => "page",
            Self::OneById => "by-id",
            Self::Open => "open",
            Self::Branches => "branches",
            Self::Fork => "fork",
            Self::ForkAll => "fork-all",
            Self::Branched => "branched",
            Self::Migrate => "migrate",
            Self::Pick => "pick",
            Self::Undo => "undo",
            Self::MergePlan => "merge-plan",
            Self::Compare => "compare",
            Self::Check => "check",
            Self::List => "list",
            Self::ListAll => "list-all",
            Self::Latest => "latest",
            Self::AppendOs => "append-os",
            Self::AppendData => "append-data",
        }
    }

    /// The peers' name for it: they have one way where offshoot has two.
    fn name_for_peers(self) -> &'static str {
        match self {
            Self::TreeFirst => "tree",
            Self::Branched => "fork",
            Self::AppendOs | Self::AppendData => "append",
            other => other.name(),
        }
    }

    /// Whether it runs on a copy, which it changes (as the peers do with any file of version 1).
    pub(super) fn changes_its_input(self) -> bool {
        matches!(self, Self::Migrate | Self::Pick | Self::Undo)
    }

    /// Whether it brings work back from a branch, which peers cannot.
    pub(super) fn brings_back(self) -> bool {
        matches!(self, Self::Pick | Self::Undo | Self::MergePlan | Self::Compare)
    }

    /// Whether it is timed up to the first line of its output.
    pub(super) fn ends_with_first_line(self) -> bool {
        matches!(self, Self::TreeFirst | Self::ShowFirst)
    }

    /// Whether only offshoot has it, in this form.
    fn is_own(self) -> bool {
        matches!(
            self,
            Self::Check | Self::Drawn | Self::Show | Self::ShowFirst | Self::Page | Self::OneById | Self::Open
        )
    }

    /// Whether its answer has no number of items to be compared.
    pub(super) fn has_no_count(self) -> bool {
        self.is_own() || self == Self::TreeFirst
    }

    pub(super) fn reads_stdin(self) -> bool {
        matches!(self, Self::AppendOs | Self::AppendData)
    }
}

/// The files that tasks create in their folder.
pub(super) const NEW: &str = "new.jsonl";
const NEW_PAGE: &str = "new.html";

/// The id of the session that is looked for by its id.
fn wanted_id() -> String {
    Inputs::id_in_corpus(54_321)
}

#[derive(Debug, Clone)]
pub(super) struct Contestant {
    pub(super) name: &'static str,
    pub(super) version: String,
    how: How,
}

#[derive(Debug, Clone)]
enum How {
    Floor(PathBuf),
    Offshoot(PathBuf),
    /// Keeps its caches from run to run.
    Warm(PathBuf),
    /// Runtime, script, and the module that exports `SessionManager`.
    Peer(PathBuf, PathBuf, PathBuf),
}

impl Contestant {
    pub(super) fn floor(this: &Path) -> Self {
        Self {
            name: "floor",
            version:
                "newline count (1 MiB reads, memchr); for copies: read, write, fsync; for appends: write, fdatasync; for list-all: find -printf %s; for by-id: find -name"
                    .to_owned(),
            how: How::Floor(this.to_owned()),
        }
    }

    pub(super) fn offshoot(binary: &Path, version: String) -> Self {
        Self { name: "offshoot", version, how: How::Offshoot(binary.to_owned()) }
    }

    pub(super) fn warm(binary: &Path, version: String) -> Self {
        Self { name: "offshoot again", version, how: How::Warm(binary.to_owned()) }
    }

    pub(super) fn keeps_caches(&self) -> bool {
        matches!(self.how, How::Warm(_))
    }

    pub(super) fn is_peer(&self) -> bool {
        matches!(self.how, How::Peer(..))
    }

    pub(super) fn is_floor(&self) -> bool {
        matches!(self.how, How::Floor(_))
    }

    pub(super) fn pi(packages: &Path) -> Option<Self> {
        let package = packages.join("@earendil-works/pi-coding-agent");
        let module = package.join("dist/core/session-manager.js");
        let node = run::first_line("node", &["--version"]).filter(|_| module.is_file())?;
        let version = format!("pi {} (node {node})", package_version(&package)?);
        Some(Self { name: "pi", version, how: How::Peer("node".into(), script(), module) })
    }

    pub(super) fn omp(packages: &Path) -> Option<Self> {
        let package = packages.join("@oh-my-pi/pi-coding-agent");
        let module = package.join("src/session/session-manager.ts");
        let bun = bun(packages).filter(|_| module.is_file())?;
        let bun_version = run::first_line(&bun.to_string_lossy(), &["--version"])?;
        let version = format!("omp {} (bun {bun_version})", package_version(&package)?);
        Some(Self { name: "omp", version, how: How::Peer(bun, script(), module) })
    }

    /// The command line; `None` if the contestant has no such command.
    pub(super) fn words(&self, task: Task, input: &Path) -> Option<Vec<String>> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let input = text(input);
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let words = match &self.how {
            How::Floor(this) => match task {
                Task::List | Task::Latest => return None,
                Task::Pick | Task::Undo => return None,
                Task::OneById => own(&["find", &input, "-name", &format!("*_{}.jsonl", wanted_id())]),
                Task::ListAll => own(&["find", &input, "-name", "*.jsonl", "-printf", "%s\n"]),
                Task::AppendOs => own(&[&text(this), FLOOR_APPEND, "os", NEW]),
                Task::AppendData => own(&[&text(this), FLOOR_APPEND, "data", NEW]),
                Task::Fork | Task::ForkAll | Task::Branched | Task::Migrate => {
                    own(&[&text(this), FLOOR_COPY, &input, NEW])
                }
                _ => own(&[&text(this), FLOOR, &input]),
            },
            How::Peer(..) if task.is_own() || task.brings_back() => return None,
            How::Peer(runtime, script, module) => {
                own(&[&text(runtime), &text(script), &text(module), task.name_for_peers(), &input])
            }
            How::Warm(_)
                if matches!(task, Task::Check | Task::Open | Task::Migrate | Task::AppendOs | Task::AppendData) =>
            {
                return None;
            }
            How::Offshoot(binary) | How::Warm(binary) => {
                let words: &[&str] = match task {
                    Task::Context => &["context", &input, "--json"],
                    Task::Tree | Task::TreeFirst => &["tree", &input, "--flat", "--filter", "all"],
                    Task::Drawn => &["tree", &input],
                    Task::Show | Task::ShowFirst => &["show", &input],
                    Task::Page => &["export", &input, "--output", NEW_PAGE],
                    Task::OneById => &["show", "--summary", &wanted_id()],
                    Task::Open => &["--no-index", "entry", &input, "@"],
                    Task::Branches => &["branches", &input, "--json"],
                    Task::Fork => &["fork", &input],
                    Task::ForkAll => &["fork", &input, "--all"],
                    Task::Migrate => &["migrate", &input],
                    Task::Pick => &["pick", &input, "--json", "--force"],
                    Task::Undo => &["undo", &input, "--json"],
                    Task::MergePlan => &["merge", &input, "--json", "--dry-run"],
                    Task::Compare => &["compare", &input, "--json"],
                    Task::Check => &["check", &input],
                    Task::List => &["list", "--json", "--session-dir", &input],
                    Task::ListAll => &["list", "--all", "--json"],
                    Task::Latest => &["context", "latest", "--json", "--session-dir", &input],
                    Task::AppendOs => &["append", NEW],
                    Task::Branched | Task::AppendData => &["api"],
                };
                [own(&[&text(binary)]), own(words)].concat()
            }
        };
        Some(words)
    }
}

fn script() -> PathBuf {
    env::root().join("xtask-bench/peer.mjs")
}

/// npm puts bun beside its launcher, or, when no script ran, in the platform's package.
pub(crate) fn bun(packages: &Path) -> Option<PathBuf> {
    let platform = format!("@oven/bun-linux-{}/bin/bun", if cfg!(target_arch = "aarch64") { "aarch64" } else { "x64" });
    [packages.join("bun/bin/bun.exe"), packages.join(platform)]
        .into_iter()
        .find(|path| run::first_line(&path.to_string_lossy(), &["--version"]).is_some())
}

fn package_version(package: &Path) -> Option<String> {
    let text = std::fs::read_to_string(package.join("package.json")).ok()?;
    let manifest: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(manifest.get("version")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offshoot_is_asked_by_its_own_commands() {
        let offshoot = Contestant::offshoot(Path::new("bin/offshoot"), String::new());
        let words = offshoot.words(Task::Context, Path::new("a.jsonl")).unwrap();
        assert_eq!(words, ["bin/offshoot", "context", "a.jsonl", "--json"]);
    }

    #[test]
    fn nobody_is_asked_for_what_he_cannot_do() {
        assert!(Contestant::floor(Path::new("xtask")).words(Task::List, Path::new("many")).is_none());
        let empty = Path::new("no/such/packages");
        assert!(Contestant::pi(empty).is_none() && Contestant::omp(empty).is_none());
    }
}

//! Whether a call runs, is asked about or is refused: a pure decision from the mode, the rules and what the call would
//! do. Reads links to know where a path leads. Knows no front end.

mod shell_line;
mod script;
mod known;
mod rule;
mod place;
mod coverage;
mod critical_paths;
mod critical;
mod reads;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use offshoot_protocol::ApprovalMode;
use offshoot_session::medium::real_path;

pub(crate) use reads::{GitReads, LISTING, NeutralSettings};
pub use reads::{ReadCommands, ReadLine};
pub use rule::Rule;

use crate::tool::{KeyGuard, Tier};
use critical_paths::CriticalPlaces;

/// The mode, and the rules of the settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Permissions {
    pub mode: ApprovalMode,
    pub allow: Vec<Rule>,
    pub ask: Vec<Rule>,
    pub deny: Vec<Rule>,
    /// The folders of coding agents, which are asked about in every mode wherever variables put them.
    pub agent_folders: Vec<PathBuf>,
    /// Whether a sandbox keeps commands within the working folder: then `edits` lets them run.
    pub confines_commands: bool,
    /// Whether commands can run so that they write nothing and have no network: then `read-only` lets them run so.
    pub confines_to_reading: bool,
    /// `None`: no command counts as a read.
    pub reads: Option<ReadCommands>,
}

/// A call, as far as decisions need it.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ApprovalCall<'a> {
    pub tool: &'a str,
    pub tier: &'a Tier,
    pub cwd: &'a Path,
    pub home: Option<&'a Path>,
    /// Files that are not read.
    pub keys: &'a KeyGuard,
}

/// What happens to a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// It runs.
    Run,
    /// It only reads, and runs as this line.
    Read(ReadLine),
    /// It runs where it can write nothing and has no network.
    Confined,
    /// Somebody must allow it.
    Ask {
        /// Why, as a clause.
        reason: String,
        /// The rule that would let it run without a question.
        grant: Option<Rule>,
    },
    /// It does not run.
    Refuse {
        /// Why, for the model.
        words: String,
        /// The rule that refused it.
        rule: Option<Rule>,
    },
}

const OUTSIDE: &str = "it reads outside the working folder";

/// Files below the working folder that programs run or obey.
const OBEYED: &[&str] = &[".git", ".offshoot", ".pi", ".omp", ".claude", ".mcp.json"];

/// Decides on a call. Deny comes before ask, ask before allow, and all of them before the mode; nothing lets a call that
/// is not a read run in the mode `read-only`.
pub fn decide(permissions: &Permissions, call: &ApprovalCall<'_>) -> Decision {
    let line = match call.tier {
        Tier::Command(command) => shell_line::part(command),
        Tier::Read(_) | Tier::Write(_) | Tier::Exec | Tier::Net(_) => shell_line::ShellLine::default(),
    };
    let first = |rules: &[Rule]| rules.iter().find(|rule| rule.touches(call, &line)).cloned();
    if let Some(rule) = first(&permissions.deny) {
        let words =
            format!("This call is refused by the rule {rule} of the user's settings. Do not try to get around it.");
        return Decision::Refuse { words, rule: Some(rule) };
    }
    let mode = permissions.mode;
    let read = reads::of_line(permissions, call, &line);
    if mode == ApprovalMode::ReadOnly && read.is_none() && !matches!(call.tier, Tier::Read(_) | Tier::Net(_)) {
        return in_read_only(permissions, call, &line);
    }
    let ask = |reason: String| Decision::Ask { reason, grant: Rule::exact(call) };
    if let Some(rule) = first(&permissions.ask) {
        return Decision::Ask { reason: format!("the rule {rule} asks"), grant: None };
    }
    let places = CriticalPlaces { home: call.home, agents: &permissions.agent_folders };
    if let Some(why) = critical_reason(call, &line, &places)
        && !permissions.allow.iter().any(|rule| rule.is_exact() && rule.covers(call))
    {
        return ask(why.to_owned());
    }
    let uncovered = match is_allowed(&permissions.allow, call, &line) {
        Ok(()) if mode != ApprovalMode::ReadOnly => return Decision::Run,
        Ok(()) => None,
        Err(why) => why,
    };
    let reason = match (asks_in(permissions, call), read) {
        (Some(_) | None, Some(read)) if mode == ApprovalMode::ReadOnly => return Decision::Read(read.line),
        (Some(_), Some(read)) if mode == ApprovalMode::Ask && read.is_outside => Some(OUTSIDE),
        (Some(_), Some(read)) => return Decision::Read(read.line),
        (reason, _) => reason,
    };
    match (reason, uncovered) {
        (Some(reason), Some(why)) => ask(format!("{reason}; {}", why.words())),
        (Some(reason), None) => ask(reason.to_owned()),
        (None, _) => Decision::Run,
    }
}

/// In the mode `read-only`, of a call that does more than read.
fn in_read_only(permissions: &Permissions, call: &ApprovalCall<'_>, line: &shell_line::ShellLine) -> Decision {
    let places = CriticalPlaces { home: call.home, agents: &permissions.agent_folders };
    let is_asked = || permissions.ask.iter().any(|rule| rule.touches(call, line));
    let is_command = call.tool == "bash" && matches!(call.tier, Tier::Command(_));
    if permissions.confines_to_reading && is_command && !is_asked() && critical_reason(call, line, &places).is_none() {
        return Decision::Confined;
    }
    let words = "This call is refused: the approval mode is read-only, in which files are only read.".to_owned();
    Decision::Refuse { words, rule: None }
}

/// Each command of a line may be covered by a rule of its own.
fn is_allowed(
    rules: &[Rule],
    call: &ApprovalCall<'_>,
    line: &shell_line::ShellLine,
) -> Result<(), Option<coverage::Uncovered>> {
    let is_empty = matches!(call.tier, Tier::Command(_)) && line.commands.is_empty();
    if !is_empty && rules.iter().any(|rule| rule.covers(call)) {
        return Ok(());
    }
    coverage::of_line(rules, call, line)
}

fn critical_reason(
    call: &ApprovalCall<'_>,
    line: &shell_line::ShellLine,
    places: &CriticalPlaces<'_>,
) -> Option<&'static str> {
    match call.tier {
        Tier::Command(_) => critical::reason(line, call.cwd, places),
        Tier::Write(paths) => paths.iter().find_map(|path| places.reason(path)),
        Tier::Read(_) | Tier::Exec | Tier::Net(_) => None,
    }
}

/// Why the mode asks about the call.
fn asks_in(permissions: &Permissions, call: &ApprovalCall<'_>) -> Option<&'static str> {
    match (permissions.mode, call.tier) {
        (ApprovalMode::Auto | ApprovalMode::ReadOnly, _) => None,
        (ApprovalMode::Edits, Tier::Command(_)) if permissions.confines_commands => None,
        (ApprovalMode::Edits, Tier::Read(_) | Tier::Net(_)) => None,
        (ApprovalMode::Edits, Tier::Write(paths)) => paths.iter().find_map(|path| unsafe_write(path, call.cwd)),
        (ApprovalMode::Edits | ApprovalMode::Ask, Tier::Command(_) | Tier::Exec) => {
            Some("the mode asks about commands")
        }
        (ApprovalMode::Ask, Tier::Read(paths)) => {
            let is_outside = paths.iter().any(|path| inside(path, call.cwd).is_none());
            is_outside.then_some(OUTSIDE)
        }
        (ApprovalMode::Ask, Tier::Write(_)) => Some("the mode asks about changes of files"),
        (ApprovalMode::Ask, Tier::Net(_)) => Some("the mode asks about the network"),
    }
}

fn unsafe_write(path: &Path, cwd: &Path) -> Option<&'static str> {
    match inside(path, cwd) {
        None => Some("it writes outside the working folder"),
        Some(rest) => {
            let is_obeyed = rest.iter().any(|name| OBEYED.iter().any(|obeyed| name == *obeyed));
            is_obeyed.then_some("it writes a file that programs run or obey")
        }
    }
}

/// The path below the working folder, links followed. A path that leads nowhere is not inside.
fn inside(path: &Path, cwd: &Path) -> Option<PathBuf> {
    real_path(path).ok()?.strip_prefix(real_path(cwd).ok()?).ok().map(Path::to_owned)
}

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
mod offered;
mod spelled;
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
        /// The rule of exactly this call that would let it run without a question.
        grant: Option<Rule>,
        /// All rules that would, the narrowest first.
        offers: Vec<Rule>,
    },
    /// It does not run.
    Refuse {
        /// Why, for the model.
        words: String,
        /// The rule that refused it.
        rule: Option<Rule>,
    },
}

/// What decided on a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecidedBy {
    /// A rule of the list `deny`.
    Deny(Rule),
    /// A rule of the list `ask`.
    Ask(Rule),
    /// Rules of the list `allow`: one of the whole call, or those of its commands.
    Allow(Vec<Rule>),
    /// It is on the list of calls that every mode asks about.
    Critical,
    /// It only reads.
    Read,
    /// The approval mode alone.
    Mode,
}

/// A decision, and what made it.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Judgement {
    pub decision: Decision,
    pub by: DecidedBy,
}

const OUTSIDE: &str = "it reads outside the working folder";

/// Files below the working folder that programs run or obey.
const OBEYED: &[&str] = &[".git", ".offshoot", ".pi", ".omp", ".claude", ".mcp.json"];

/// Decides on a call. Deny comes before ask, ask before allow, and all of them before the mode; nothing lets a call that
/// is not a read run in the modes `read-only` and `plan`.
pub fn decide(permissions: &Permissions, call: &ApprovalCall<'_>) -> Decision {
    judge(permissions, call).decision
}

/// Decides on a call as [`decide`] does, and says what decided.
pub fn judge(permissions: &Permissions, call: &ApprovalCall<'_>) -> Judgement {
    let line = match call.tier {
        Tier::Command(command) => shell_line::part(command),
        Tier::Read(_) | Tier::Write(_) | Tier::Exec | Tier::Net(_) => shell_line::ShellLine::default(),
    };
    let judged = |decision, by| Judgement { decision, by };
    let first = |rules: &[Rule]| rules.iter().find(|rule| rule.touches(call, &line)).cloned();
    if let Some(rule) = first(&permissions.deny) {
        let words =
            format!("This call is refused by the rule {rule} of the user's settings. Do not try to get around it.");
        return judged(Decision::Refuse { words, rule: Some(rule.clone()) }, DecidedBy::Deny(rule));
    }
    let mode = permissions.mode;
    let read = reads::of_line(permissions, call, &line);
    if mode.refuses_changes() && read.is_none() && !matches!(call.tier, Tier::Read(_) | Tier::Net(_)) {
        return judged(where_changes_are_refused(permissions, call, &line), DecidedBy::Mode);
    }
    let ask = |reason: String| Decision::Ask { reason, grant: Rule::exact(call), offers: offered::rules(call, &line) };
    if let Some(rule) = first(&permissions.ask) {
        let reason = format!("the rule {rule} asks");
        return judged(Decision::Ask { reason, grant: None, offers: Vec::new() }, DecidedBy::Ask(rule));
    }
    let places = CriticalPlaces { home: call.home, agents: &permissions.agent_folders };
    if let Some(why) = critical_reason(call, &line, &places)
        && !permissions.allow.iter().any(|rule| rule.is_exact() && rule.covers(call))
    {
        // Only a rule of exactly this call would be obeyed.
        let grant = Rule::exact(call);
        let offers = grant.clone().into_iter().collect();
        return judged(Decision::Ask { reason: why.to_owned(), grant, offers }, DecidedBy::Critical);
    }
    let uncovered = match is_allowed(&permissions.allow, call, &line) {
        Ok(()) if !mode.refuses_changes() || matches!(call.tier, Tier::Net(_)) => {
            return judged(Decision::Run, DecidedBy::Allow(allowing(&permissions.allow, call, &line)));
        }
        Ok(()) => None,
        Err(why) => why,
    };
    let reason = match (asks_in(permissions, call), read) {
        (Some(_) | None, Some(read)) if mode.refuses_changes() => {
            return judged(Decision::Read(read.line), DecidedBy::Read);
        }
        (Some(_), Some(read)) if mode == ApprovalMode::Ask && read.is_outside => Some(OUTSIDE.to_owned()),
        (Some(_), Some(read)) => return judged(Decision::Read(read.line), DecidedBy::Read),
        (reason, _) => reason,
    };
    let decision = match (reason, uncovered) {
        (Some(reason), Some(why)) => ask(format!("{reason}; {}", why.words())),
        (Some(reason), None) => ask(reason),
        (None, _) => Decision::Run,
    };
    judged(decision, DecidedBy::Mode)
}

/// The rules that let a call run which is allowed.
fn allowing(rules: &[Rule], call: &ApprovalCall<'_>, line: &shell_line::ShellLine) -> Vec<Rule> {
    if let Some(whole) = rules.iter().find(|rule| rule.covers(call)) {
        return vec![whole.clone()];
    }
    let is_of_line = |rule: &&Rule| line.commands.iter().any(|command| rule.match_words(&command.words).is_some());
    rules.iter().filter(is_of_line).cloned().collect()
}

/// In a mode that refuses changes, of a call that does more than read.
fn where_changes_are_refused(
    permissions: &Permissions,
    call: &ApprovalCall<'_>,
    line: &shell_line::ShellLine,
) -> Decision {
    let places = CriticalPlaces { home: call.home, agents: &permissions.agent_folders };
    let is_asked = || permissions.ask.iter().any(|rule| rule.touches(call, line));
    let is_command = call.tool == "bash" && matches!(call.tier, Tier::Command(_));
    let mode = permissions.mode;
    if mode == ApprovalMode::ReadOnly
        && permissions.confines_to_reading
        && is_command
        && !is_asked()
        && critical_reason(call, line, &places).is_none()
    {
        return Decision::Confined;
    }
    let words = match mode {
        ApprovalMode::Plan => {
            "This call is refused: the approval mode is plan, in which files are only read until the user has accepted a plan."
        }
        _ => "This call is refused: the approval mode is read-only, in which files are only read.",
    };
    Decision::Refuse { words: words.to_owned(), rule: None }
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
fn asks_in(permissions: &Permissions, call: &ApprovalCall<'_>) -> Option<String> {
    let mode = permissions.mode;
    let asks_before = |what: &str| Some(format!("mode `{}` asks before {what}", mode.as_str()));
    match (mode, call.tier) {
        (ApprovalMode::Auto | ApprovalMode::ReadOnly, _) => None,
        (ApprovalMode::Ask | ApprovalMode::Plan, Tier::Net(_)) => asks_before("using the network"),
        (ApprovalMode::Plan, _) => None,
        (ApprovalMode::Edits, Tier::Command(_)) if permissions.confines_commands => None,
        (ApprovalMode::Edits, Tier::Read(_) | Tier::Net(_)) => None,
        (ApprovalMode::Edits, Tier::Write(paths)) => {
            paths.iter().find_map(|path| unsafe_write(path, call.cwd)).map(str::to_owned)
        }
        (ApprovalMode::Edits | ApprovalMode::Ask, Tier::Command(_)) => asks_before("commands"),
        (ApprovalMode::Edits | ApprovalMode::Ask, Tier::Exec) => asks_before("tools of extensions"),
        (ApprovalMode::Ask, Tier::Read(paths)) => {
            let is_outside = paths.iter().any(|path| inside(path, call.cwd).is_none());
            is_outside.then(|| OUTSIDE.to_owned())
        }
        (ApprovalMode::Ask, Tier::Write(_)) => asks_before("files are changed"),
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

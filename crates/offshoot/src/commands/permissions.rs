//! `offshoot permissions`: the rules that decide on the model's calls, and which of them decides on a call.

use std::io::Write as _;

use clap::ValueEnum;
use offshoot_agent::approval::{DecidedBy, Decision, Judgement, Rule};
use offshoot_app::agent::{NamedCall, StandingPermissions, UserRules};
use offshoot_app::app::App;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_protocol::ApprovalMode;
use offshoot_session::text::clean_lines;
use offshoot_settings::{ALLOW, ASK, DENY, Scope};
use serde_json::{Value, json};

/// List, remove and explain the rules that decide on the model's calls
///
/// Without an ACTION the command lists the approval mode and the rules, with
/// what each rule matches. `remove RULE` removes a rule from your settings and
/// from those that you allowed in this project. `why CALL` says whether a call
/// would run, be asked about or be refused, and which rule or mode decides. It
/// runs nothing. CALL is a command, or a tool with what it works on:
/// `edit(src/main.rs)`, `read(~/notes)`, `web_fetch(domain:docs.rs)`.
///
/// --json prints an object. Of `list`: {"mode", "rules": [{"list", "rule",
/// "scope", "matches", "note"?}]}; `scope` is everywhere, project or
/// project-settings. Of `remove`: {"removed"}, a number of lists. Of `why`:
/// {"decision", "by", "mode", "rules"?, "reason"?}; `decision` is run, read,
/// confined, ask or refuse, `by` is deny, ask, allow, critical, read or mode.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// list (default), remove or why
    #[arg(value_enum, default_value_t, hide_default_value = true, hide_possible_values = true)]
    action: Action,

    /// The rule, or the call
    words: Vec<String>,

    /// Explain a start in this approval mode: auto, edits, ask, read-only or plan
    #[arg(long, value_name = "MODE", value_parser = ApprovalMode::NAMES, hide_possible_values = true)]
    approval: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Action {
    #[default]
    List,
    Remove,
    Why,
}

const EXAMPLES: &str = "\
Examples:
  offshoot permissions
  offshoot permissions why 'git push'
  offshoot permissions why 'edit(src/main.rs)' --approval ask";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let standing = || StandingPermissions::read(app, args.approval.as_deref(), None);
    match args.action {
        Action::List if !args.words.is_empty() => {
            Err(CommandError::usage("list takes no call").hint("offshoot permissions why CALL explains one"))
        }
        Action::List => list(app, args, &standing()?),
        Action::Remove => remove(app, args),
        Action::Why => why(app, args, &standing()?),
    }
}

fn remove(app: &App, args: &Args) -> Result<()> {
    let rule = args.words.join(" ");
    if rule.is_empty() {
        return Err(CommandError::usage("no rule is named").hint("offshoot permissions lists them"));
    }
    let removed = remove_rule(app, &rule)?;
    if args.json {
        return print_json(app, &json!({"removed": removed}));
    }
    let mut out = app.ui.text();
    writeln!(out, "removed {}", clean_lines(&rule))?;
    Ok(out.finish()?)
}

/// Removes a rule from the lists of the user. Returns how many had it.
pub(crate) fn remove_rule(app: &App, rule: &str) -> Result<usize> {
    match UserRules::of(app, &app.environment.cwd).remove(rule)? {
        0 => Err(CommandError::new(FailureKind::NotFound, format!("you have no rule {rule} here"))
            .hint("offshoot permissions lists them")),
        count => Ok(count),
    }
}

fn list(app: &App, args: &Args, standing: &StandingPermissions) -> Result<()> {
    let mode = standing.permissions.mode.as_str();
    if args.json {
        let rules: Vec<Value> = rules_here(app, standing).iter().map(ListedRule::to_json).collect();
        return print_json(app, &json!({"mode": mode, "rules": rules}));
    }
    let mut out = app.ui.text();
    for line in listed_lines(app, standing, &[]) {
        writeln!(out, "{line}")?;
    }
    Ok(out.finish()?)
}

/// The rules that count in the working folder.
fn rules_here(app: &App, standing: &StandingPermissions) -> Vec<ListedRule> {
    let written = standing.layers.permissions();
    let lists = [(DENY, &written.deny), (ASK, &written.ask), (ALLOW, &written.allow)];
    let of_settings = lists.into_iter().flat_map(|(key, rules)| rules.iter().map(move |rule| (key, rule)));
    let of_settings = of_settings.filter_map(|(key, written)| {
        let scope = match written.scope {
            Scope::Global => RuleScope::Everywhere,
            Scope::Project => RuleScope::ProjectSettings,
        };
        ListedRule::of(key, &written.text, scope)
    });
    let project = UserRules::of(app, &app.environment.cwd).project().cloned();
    let of_project = project.as_ref().and_then(|rules| rules.allowed().ok()).unwrap_or_default();
    let of_project = of_project.iter().filter_map(|rule| ListedRule::of(ALLOW, rule, RuleScope::Project));
    of_settings.chain(of_project).collect()
}

/// The mode, and the rules with what they match. The rules of a running conversation that are not kept count until its end.
pub(crate) fn listed_lines(app: &App, standing: &StandingPermissions, granted: &[Rule]) -> Vec<String> {
    let mut rules = rules_here(app, standing);
    for rule in granted.iter().map(ToString::to_string) {
        if !rules.iter().any(|listed| listed.list == "allow" && listed.rule == rule) {
            rules.extend(ListedRule::of(ALLOW, &rule, RuleScope::UntilEnd));
        }
    }
    let project = UserRules::of(app, &app.environment.cwd).project().cloned();
    let root = project.map(|rules| app.environment.short(&rules.root().display().to_string())).unwrap_or_default();
    let mut lines = vec![format!("mode   {}", standing.permissions.mode.as_str())];
    for ListedRule { list, rule, scope, matches, note } in &rules {
        let place = match scope {
            RuleScope::Everywhere => "everywhere".to_owned(),
            RuleScope::Project => format!("in {}", clean_lines(&root)),
            RuleScope::ProjectSettings => "the project's settings".to_owned(),
            RuleScope::UntilEnd => "until the end".to_owned(),
        };
        lines.push(format!("{list:<6} {}  ({place})", clean_lines(rule)));
        lines.push(format!("       {}", clean_lines(matches)));
        lines.extend(note.as_ref().map(|note| format!("       {}", clean_lines(note))));
    }
    if rules.is_empty() {
        let words = "no rules; \"always\" at a question and the settings permissions.allow, .ask and .deny add some";
        lines.push(words.to_owned());
    }
    lines
}

/// Where a rule counts.
#[derive(Clone, Copy)]
enum RuleScope {
    Everywhere,
    /// Among the user's rules for this project.
    Project,
    /// In the settings that the project brings.
    ProjectSettings,
    /// In a running conversation.
    UntilEnd,
}

/// A rule as the command lists it.
struct ListedRule {
    list: &'static str,
    rule: String,
    scope: RuleScope,
    matches: String,
    note: Option<String>,
}

impl ListedRule {
    /// `None` for a rule that is not used: the start has warned about it.
    fn of(key: &'static str, text: &str, scope: RuleScope) -> Option<Self> {
        let rule = Rule::parse(text).ok()?;
        let list = key.rsplit('.').next().unwrap_or(key);
        let note = rule.note().filter(|_| key == ALLOW);
        let matches = if key == ALLOW { rule.allows() } else { rule.matches() };
        Some(Self { list, rule: text.to_owned(), scope, matches, note })
    }

    fn to_json(&self) -> Value {
        let Self { list, rule, scope, matches, note } = self;
        let scope = match scope {
            RuleScope::Everywhere => "everywhere",
            RuleScope::Project => "project",
            RuleScope::ProjectSettings => "project-settings",
            RuleScope::UntilEnd => "session",
        };
        let mut json = json!({"list": list, "rule": rule, "scope": scope, "matches": matches});
        if let (Some(members), Some(note)) = (json.as_object_mut(), note) {
            members.insert("note".to_owned(), json!(note));
        }
        json
    }
}

fn why(app: &App, args: &Args, standing: &StandingPermissions) -> Result<()> {
    let call = NamedCall::parse(&args.words.join(" "), app)?;
    let judged = standing.judge(&call);
    let mode = standing.permissions.mode.as_str();
    if args.json {
        return print_json(app, &judged_json(&judged, mode));
    }
    let mut out = app.ui.text();
    for line in judged_lines(&judged, mode) {
        writeln!(out, "{line}")?;
    }
    Ok(out.finish()?)
}

/// What would happen to a call, and which rule or mode decides.
pub(crate) fn judged_lines(judged: &Judgement, mode: &str) -> Vec<String> {
    let (decision, by) = (decision_words(&judged.decision), by_words(judged, mode));
    let mut lines = vec![format!("{decision}: {}", clean_lines(&by))];
    for rule in rules_of(&judged.by) {
        let matches = if matches!(judged.by, DecidedBy::Allow(_)) { rule.allows() } else { rule.matches() };
        lines.push(format!("  {}: {}", clean_lines(&rule.to_string()), clean_lines(&matches)));
    }
    lines
}

fn decision_words(decision: &Decision) -> &'static str {
    match decision {
        Decision::Run | Decision::Read(_) => "runs",
        Decision::Confined => "runs in the sandbox, read-only and without a network",
        Decision::Ask { .. } => "asks",
        Decision::Refuse { .. } => "refused",
    }
}

fn by_words(judged: &Judgement, mode: &str) -> String {
    match (&judged.by, &judged.decision) {
        (DecidedBy::Deny(_), _) => "a rule denies it".to_owned(),
        (DecidedBy::Ask(_), _) => "a rule asks".to_owned(),
        (DecidedBy::Allow(rules), _) if rules.len() == 1 => "a rule allows it".to_owned(),
        (DecidedBy::Allow(_), _) => "rules allow it".to_owned(),
        (DecidedBy::Read, _) => "it only reads".to_owned(),
        (DecidedBy::Critical, Decision::Ask { reason, .. }) => format!("every mode asks, because {reason}"),
        (DecidedBy::Mode, Decision::Ask { reason, .. }) => reason.clone(),
        (DecidedBy::Critical | DecidedBy::Mode, _) => format!("approval mode {mode}"),
    }
}

fn rules_of(by: &DecidedBy) -> &[Rule] {
    match by {
        DecidedBy::Deny(rule) | DecidedBy::Ask(rule) => std::slice::from_ref(rule),
        DecidedBy::Allow(rules) => rules,
        DecidedBy::Critical | DecidedBy::Read | DecidedBy::Mode => &[],
    }
}

fn judged_json(judged: &Judgement, mode: &str) -> Value {
    let decision = match judged.decision {
        Decision::Run => "run",
        Decision::Read(_) => "read",
        Decision::Confined => "confined",
        Decision::Ask { .. } => "ask",
        Decision::Refuse { .. } => "refuse",
    };
    let by = match judged.by {
        DecidedBy::Deny(_) => "deny",
        DecidedBy::Ask(_) => "ask",
        DecidedBy::Allow(_) => "allow",
        DecidedBy::Critical => "critical",
        DecidedBy::Read => "read",
        DecidedBy::Mode => "mode",
    };
    let mut json = json!({"decision": decision, "by": by, "mode": mode});
    let rules: Vec<String> = rules_of(&judged.by).iter().map(ToString::to_string).collect();
    if let Some(members) = json.as_object_mut() {
        if !rules.is_empty() {
            members.insert("rules".to_owned(), json!(rules));
        }
        if let Decision::Ask { reason, .. } = &judged.decision {
            members.insert("reason".to_owned(), json!(reason));
        }
    }
    json
}

fn print_json(app: &App, json: &Value) -> Result<()> {
    let mut out = app.ui.raw();
    writeln!(out, "{json}")?;
    Ok(out.finish()?)
}

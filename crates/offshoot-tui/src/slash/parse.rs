//! Parses slash commands. Knows the table, not the editor.

use offshoot_protocol::{ApprovalMode, FilesAlong, SandboxMode, ThinkingLevel};

use super::alias::said_by;
use super::{ALIASES, AuthAction, FILES_OPTIONS, SlashCommand, Spec, commands, find, form};
use offshoot_settings::nearest::nearest;
use offshoot_workspace::{ArgForm, OperationOrder, OrderMistake, find_operation};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mistake {
    #[error("there is no command /{name}{} /help shows them all", meant(.suggestion))]
    Unknown { name: String, suggestion: Option<String> },
    #[error("a command's name follows the slash; /help shows them all")]
    Nameless,
    #[error("/{name} is pi's; here {instead}")]
    OfPi { name: String, instead: &'static str },
    #[error("/{} needs an argument: {}", .0.name, .0.typed())]
    Missing(&'static Spec),
    #[error("{}", too_much(.spec))]
    TooMuch { spec: &'static Spec },
    #[error("{0:?} is not a thinking level; the levels are off, minimal, low, medium, high, xhigh and max")]
    Level(String),
    #[error("/{} has no option {option}{}", .spec.name, options(.spec))]
    Option { spec: &'static Spec, option: String },
    #[error("{0:?} is not an approval mode; the modes are auto, edits, ask and read-only")]
    Mode(String),
    #[error("{0:?} is not a mode of the sandbox; the modes are off, workspace and read-only")]
    Sandbox(String),
}

fn meant(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map_or_else(|| ";".to_owned(), |name| format!(": did you mean /{name}?"))
}

fn too_much(spec: &Spec) -> String {
    match spec.argument {
        None => format!("/{} takes no argument", spec.name),
        Some(_) => format!("that is too much for /{}: {}", spec.name, spec.typed()),
    }
}

/// The commands of pi that offshoot does not have, and what replaces them.
pub(super) const OF_PI: [(&str, &str); 3] = [
    ("share", "/export writes a page that you can send"),
    ("changelog", "`offshoot --version` says which version this is"),
    ("bug", "`offshoot doctor` shows what a report needs"),
];

/// The commands and their other names.
fn names<'a>() -> impl Iterator<Item = &'a str> {
    let of_table = commands().iter().flat_map(|spec| std::iter::once(spec.name).chain(spec.aliases.iter().copied()));
    of_table.chain(ALIASES.iter().map(|(alias, _)| *alias))
}

impl Mistake {
    /// The same, with the skills and templates that may be called among the suggestions.
    #[must_use]
    pub fn with_called<'a>(self, called: impl Iterator<Item = &'a str>) -> Self {
        let Self::Unknown { name, .. } = self else { return self };
        let suggestion = nearest(&name, names().chain(called)).map(str::to_owned);
        Self::Unknown { name, suggestion }
    }
}

/// Commands that go to an entry, of which a line has nothing else but what becomes of the files.
const GOING: [&str; 4] = ["switch", "fork", "branch-here", "pop"];

/// Words that leave when nothing else is typed, as in a shell.
const LEAVING: [&str; 2] = ["exit", "quit"];

/// The name after the slash of a text that calls a command, a skill, a template or an extension. A path is no name.
pub(crate) fn called_name(text: &str) -> Option<&str> {
    let name = text.trim().strip_prefix('/')?.split(char::is_whitespace).next()?;
    (name.starts_with(char::is_alphabetic) && !name.contains(['/', '.'])).then_some(name)
}

/// Parses a command: `None` if the text is a prompt. A text that starts with a path, such as `/etc/hosts is odd`, is a
/// prompt.
#[must_use]
pub fn parse(text: &str) -> Option<Result<SlashCommand, Mistake>> {
    let text = text.trim();
    if LEAVING.iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Some(Ok(SlashCommand::Quit));
    }
    if text == "/" {
        return Some(Err(Mistake::Nameless));
    }
    let name = called_name(text)?;
    let arguments = text.get(1 + name.len()..).unwrap_or_default();
    let lower = name.to_lowercase();
    let Some(spec) = find(&lower) else {
        if let Some((name, instead)) = OF_PI.iter().find(|(of_pi, _)| *of_pi == lower) {
            return Some(Err(Mistake::OfPi { name: (*name).to_owned(), instead }));
        }
        let suggestion = nearest(&lower, names()).map(str::to_owned);
        return Some(Err(Mistake::Unknown { name: name.to_owned(), suggestion }));
    };
    let arguments = match arguments.trim() {
        "" => said_by(&lower).unwrap_or_default(),
        arguments => arguments,
    };
    Some(command(spec, arguments))
}

fn command(spec: &'static Spec, arguments: &str) -> Result<SlashCommand, Mistake> {
    let given = (!arguments.is_empty()).then(|| arguments.to_owned());
    let is_option = spec.brings_files() && arguments.starts_with("--");
    if spec.argument.is_none() && !arguments.is_empty() && !is_option {
        return Err(Mistake::TooMuch { spec });
    }
    let (going, along) = with_files(arguments);
    let last = going.rsplit(char::is_whitespace).next().unwrap_or_default();
    if GOING.contains(&spec.name) && is_option_like(last) {
        return Err(Mistake::Option { spec, option: last.to_owned() });
    }
    let going = || unquoted(Some(going));
    let missing = Mistake::Missing(spec);
    Ok(match spec.name {
        "new" => SlashCommand::New,
        "resume" => SlashCommand::Resume(given),
        "search" => SlashCommand::Search(given),
        "tree" => SlashCommand::Tree,
        "branches" => SlashCommand::Branches,
        "switch" => SlashCommand::Switch(going().ok_or(missing)?, along),
        "branch-here" | "fork" if going().is_none() && along != FilesAlong::Stay => return Err(missing),
        "branch-here" => SlashCommand::BranchHere(going(), along),
        "fork" => SlashCommand::Fork(going(), along),
        "clone" => SlashCommand::Clone,
        "pop" => SlashCommand::Pop(going(), along),
        "compare" => match words(arguments).as_slice() {
            [] => return Err(Mistake::Missing(spec)),
            [one] => SlashCommand::Compare(one.clone(), None),
            [one, other] => SlashCommand::Compare(one.clone(), Some(other.clone())),
            _ => return Err(Mistake::TooMuch { spec }),
        },
        "export-branch" => {
            let (entry, path) = first(arguments);
            SlashCommand::ExportBranch {
                entry: unquoted(Some(entry)).ok_or(Mistake::Missing(spec))?,
                path: unquoted(Some(path)),
            }
        }
        "name" if given.is_none() => SlashCommand::AskName,
        "compact" => SlashCommand::Compact { instructions: given },
        "model" => SlashCommand::Model(given),
        "thinking" => SlashCommand::Thinking(given.map(level).transpose()?),
        "session" => SlashCommand::Session,
        "export" => SlashCommand::Export(unquoted(given.as_deref())),
        "import" => SlashCommand::Import(unquoted(given.as_deref()).ok_or(Mistake::Missing(spec))?),
        "approval" => SlashCommand::Approval(given.map(mode).transpose()?),
        "sandbox" => SlashCommand::Sandbox(given.map(sandbox).transpose()?),
        "permissions" => match given.as_deref().and_then(|name| mode(name.to_owned()).ok()) {
            Some(mode) => SlashCommand::Approval(Some(mode)),
            None => SlashCommand::Permissions(given),
        },
        "background" => SlashCommand::Background,
        "agents" => SlashCommand::Agents,
        "mcp" => SlashCommand::Mcp(given),
        "login" => SlashCommand::Auth(AuthAction::Login, given),
        "logout" => SlashCommand::Auth(AuthAction::Logout, given),
        "copy" => SlashCommand::Copy,
        "settings" => SlashCommand::Settings,
        "theme" => SlashCommand::Theme,
        "reload" => SlashCommand::Reload,
        "extensions" => SlashCommand::Extensions,
        "trust" => SlashCommand::Trust,
        "scoped-models" => SlashCommand::ScopedModels,
        "help" => SlashCommand::Help,
        "quit" => SlashCommand::Quit,
        other => return operation(spec, other, arguments).map(SlashCommand::Operation),
    })
}

/// A command that is an operation of the table.
fn operation(spec: &'static Spec, name: &str, line: &str) -> Result<OperationOrder, Mistake> {
    let unknown = || Mistake::Unknown { name: name.to_owned(), suggestion: None };
    let row = find_operation(name).ok_or_else(unknown)?;
    row.order(form(name), line).map_err(|mistake| match mistake {
        OrderMistake::Missing(_) => Mistake::Missing(spec),
        OrderMistake::TooMuch => Mistake::TooMuch { spec },
        OrderMistake::Option(option) => Mistake::Option { spec, option },
    })
}

/// The options of a command, for who mistyped one.
fn options(spec: &Spec) -> String {
    if GOING.contains(&spec.name) {
        return format!("; its options are {}", FILES_OPTIONS.join(" and "));
    }
    let args = find_operation(spec.name).map(|row| row.args).unwrap_or_default();
    let flags: Vec<String> = args
        .iter()
        .filter(|arg| matches!(arg.form, ArgForm::Flag { .. }))
        .map(|arg| {
            let says = arg.says.join(" ");
            format!("--{}: {}", arg.hyphened, says.trim().to_lowercase())
        })
        .collect();
    if flags.is_empty() { String::new() } else { format!("; {}", flags.join("; ")) }
}

/// All arguments; labels with blanks are quoted.
fn words(mut rest: &str) -> Vec<String> {
    let mut words = Vec::new();
    while !rest.is_empty() {
        let (word, more) = first(rest);
        words.extend(unquoted(Some(word)));
        rest = more.trim_start();
    }
    words
}

/// Splits the first argument, which ends at a blank or a closing quote, from the second.
fn first(both: &str) -> (&str, &str) {
    let quoted = both.strip_prefix('"').and_then(|rest| rest.find('"')).map(|end| both.split_at(end + 2));
    quoted.or_else(|| both.split_once(char::is_whitespace)).unwrap_or((both, ""))
}

/// What comes before [`FILES_OPTIONS`], and what these say.
fn with_files(arguments: &str) -> (&str, FilesAlong) {
    let (mut rest, mut given) = (arguments.trim(), [false; FILES_OPTIONS.len()]);
    loop {
        let (before, last) = rest.rsplit_once(char::is_whitespace).unwrap_or(("", rest));
        let Some((_, is_given)) = FILES_OPTIONS.iter().zip(&mut given).find(|(option, _)| **option == last) else {
            let [files, across] = given;
            return (rest, FilesAlong::of(files).across_commits(across));
        };
        *is_given = true;
        rest = before.trim_end();
    }
}

/// A label that looks like this is quoted.
fn is_option_like(word: &str) -> bool {
    word.strip_prefix("--").is_some_and(|name| name.starts_with(char::is_alphabetic) && !name.ends_with('"'))
}

/// A path or a label of an entry may be quoted.
fn unquoted(text: Option<&str>) -> Option<String> {
    let text = text?.trim();
    let bare = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    (!bare.is_empty()).then(|| bare.to_owned())
}

fn mode(name: String) -> Result<ApprovalMode, Mistake> {
    ApprovalMode::parse(&name.to_lowercase()).ok_or(Mistake::Mode(name))
}

fn sandbox(name: String) -> Result<SandboxMode, Mistake> {
    match name.to_lowercase().as_str() {
        "on" => Ok(SandboxMode::Workspace),
        lower => SandboxMode::parse(lower).ok_or(Mistake::Sandbox(name)),
    }
}

fn level(name: String) -> Result<ThinkingLevel, Mistake> {
    ThinkingLevel::parse(&name.to_lowercase()).ok_or(Mistake::Level(name))
}

#[cfg(test)]
mod tests {
    use offshoot_workspace::ArgValue;

    use super::*;

    fn ordered(order: &OperationOrder) -> String {
        let mut given = order.given.clone();
        let row = find_operation(order.operation).unwrap();
        let mut words: Vec<String> = row
            .args
            .iter()
            .filter_map(|arg| {
                Some(match given.take(arg.name)? {
                    ArgValue::Flag => arg.name.to_owned(),
                    ArgValue::Text(text) => format!("{}={text}", arg.name),
                    ArgValue::Many(all) => format!("{}=[{}]", arg.name, all.join(",")),
                    ArgValue::Number(number) => format!("{}={number}", arg.name),
                    ArgValue::Path(path) => format!("{}={}", arg.name, path.display()),
                })
            })
            .collect();
        words.sort();
        [vec![order.operation.to_owned()], words].concat().join(" ")
    }

    fn said(text: &str) -> String {
        match parse(text) {
            None => "something to say".to_owned(),
            Some(Ok(SlashCommand::Operation(order))) => ordered(&order),
            Some(Ok(command)) => format!("{command:?}"),
            Some(Err(mistake)) => mistake.to_string(),
        }
    }

    #[test]
    fn each_command_of_the_table_is_understood() {
        for spec in commands() {
            for name in std::iter::once(&spec.name).chain(spec.aliases) {
                let argument = match spec.name {
                    "thinking" => "high",
                    "approval" => "ask",
                    "sandbox" => "off",
                    _ => "x",
                };
                let with = parse(&format!("/{name} {argument}"));
                let without = parse(&format!("/{name}"));
                assert_eq!(matches!(with, Some(Ok(_))), spec.argument.is_some(), "/{name} {argument}");
                assert_eq!(matches!(without, Some(Ok(_))), !spec.needs_argument(), "/{name}");
            }
        }
    }

    #[test]
    fn arguments_are_taken_as_they_stand() {
        let cases = [
            ("/new", "New"),
            ("exit", "Quit"),
            ("/exit", "Quit"),
            ("/clear", "New"),
            ("/sandbox Workspace", "Sandbox(Some(Workspace))"),
            ("/sandbox", "Sandbox(None)"),
            ("/sandbox on", "Sandbox(Some(Workspace))"),
            ("/sandbox firm", "\"firm\" is not a mode of the sandbox; the modes are off, workspace and read-only"),
            ("/permissions ask", "Approval(Some(Ask))"),
            ("/permissions why git push", "Permissions(Some(\"why git push\"))"),
            ("/mcp", "Mcp(None)"),
            ("/mcp reconnect files", "Mcp(Some(\"reconnect files\"))"),
            ("/rewind a1", "BranchHere(Some(\"a1\"), Stay)"),
            ("/exit now", "/quit takes no argument"),
            ("  /NEW  ", "New"),
            ("/resume two words", "Resume(Some(\"two words\"))"),
            ("/fork a1", "Fork(Some(\"a1\"), Stay)"),
            ("/fork a1 --files", "Fork(Some(\"a1\"), Come)"),
            ("/switch \"a label\" --files --across-commits", "Switch(\"a label\", ComeAcrossCommits)"),
            ("/pop --files", "Pop(None, Come)"),
            ("/export-branch a1 \"my file.md\"", "ExportBranch { entry: \"a1\", path: Some(\"my file.md\") }"),
            ("/switch \"the fix\"", "Switch(\"the fix\", Stay)"),
            ("/switch \"a --label\"", "Switch(\"a --label\", Stay)"),
            ("/switch a1 --fils", "/switch has no option --fils; its options are --files and --across-commits"),
            ("/fork --file --files", "/fork has no option --file; its options are --files and --across-commits"),
            ("/pop --summary", "/pop has no option --summary; its options are --files and --across-commits"),
            ("/switch the fix", "Switch(\"the fix\", Stay)"),
            ("/pop \"\"", "Pop(None, Stay)"),
            ("/export-branch \"the fix\" out.md", "ExportBranch { entry: \"the fix\", path: Some(\"out.md\") }"),
            ("/export-branch \"half", "ExportBranch { entry: \"\\\"half\", path: None }"),
            ("/compact mind\nthe tests", "Compact { instructions: Some(\"mind\\nthe tests\") }"),
            ("/thinking High", "Thinking(Some(High))"),
            ("/pick a1 \"the fix\"  b2..c3", "pick selection=[a1,the fix,b2..c3]"),
            ("/cherry-pick a1", "pick selection=[a1]"),
            ("/pick \"\"", "/pick needs an argument: /pick <entries>"),
            ("/merge a1 mind the tests", "merge instructions=mind the tests source=a1"),
            ("/compare a1", "Compare(\"a1\", None)"),
            ("/compare \"the fix\" b2", "Compare(\"the fix\", Some(\"b2\"))"),
            ("/compare a b c", "that is too much for /compare: /compare <entry> [entry]"),
            ("/undo 2", "/undo takes no argument"),
            ("/undo --files", "undo files"),
            (
                "/undo --fles",
                "/undo has no option --fles; --files: bring back the files of the entry, too; --across-commits: bring files also if git has another commit checked out than when they were recorded",
            ),
            ("/label", "label entry=@said"),
            ("/label here", "label entry=@said text=here"),
            ("/context", "context window"),
            ("/label --clear", "label clear entry=@said"),
            ("/label --claer", "/label has no option --claer; --clear: remove the label"),
            ("/ ", "a command's name follows the slash; /help shows them all"),
            ("/import \"\"", "/import needs an argument: /import <path>"),
            ("/switch", "/switch needs an argument: /switch <entry> [--files]"),
            ("/tree all", "/tree takes no argument"),
            (
                "/thinking much",
                "\"much\" is not a thinking level; the levels are off, minimal, low, medium, high, xhigh and max",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(said(text), expected, "{text}");
        }
    }

    #[test]
    fn an_unknown_command_names_the_nearest() {
        assert_eq!(said("/tere"), "there is no command /tere: did you mean /tree? /help shows them all");
        assert_eq!(said("/brnach here"), "there is no command /brnach: did you mean /branch? /help shows them all");
        assert_eq!(said("/frobnicate"), "there is no command /frobnicate; /help shows them all");
    }

    #[test]
    fn a_path_is_something_to_say() {
        for text in ["/etc/hosts is odd", "// comment", "/tmp/x", "/a.rs", "a /tree", ""] {
            assert_eq!(said(text), "something to say", "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "/?\\PC{0,30}") {
            drop(parse(&text));
        }
    }
}

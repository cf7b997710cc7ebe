//! pi's spellings of options, brought into offshoot's before a conversation's arguments are parsed.

use std::ffi::OsString;
use std::ops::Deref;
use std::path::Path;

use offshoot_app::known_flags::KnownFlags;

/// Two-letter flags, which a parser would take for one letter and its value, and other names of what is here too.
const FLAGS: &[(&str, &str)] = &[
    ("-a", "--trust"),
    ("--approve", "--trust"),
    ("-na", "--no-trust"),
    ("--no-approve", "--no-trust"),
    ("-nc", "--no-context-files"),
    ("-ne", "--no-extensions"),
    ("-np", "--no-prompt-templates"),
    ("-ns", "--no-skills"),
    ("-nt", "--no-tools"),
    ("-nbt", "--no-builtin-tools"),
    ("-xt", "--exclude-tools"),
    ("-v", "--version"),
];

/// Names and values.
pub(super) type ExtensionFlags = Vec<(String, Option<String>)>;

/// The arguments of a conversation in offshoot's spelling. Values of options, what follows `--`, and the arguments of a
/// command are left alone.
pub(super) fn translated(all: &clap::Command, arguments: &[OsString]) -> Vec<OsString> {
    let (program, words) = match arguments {
        [program, option, rest @ ..] => match command(option, rest) {
            Some(command) => return std::iter::once(program.clone()).chain(command).collect(),
            None => (program, &arguments[1..]),
        },
        _ => return arguments.to_vec(),
    };
    let mut translated = vec![program.clone()];
    let (mut is_value, mut is_print) = (false, false);
    let mut words = words.iter();
    for word in words.by_ref() {
        let text = word.to_str().unwrap_or_default();
        if is_value {
            is_value = false;
            translated.push(word.clone());
            continue;
        }
        // `chat` takes the options of a conversation.
        let is_command = !is_print && text != "chat" && all.find_subcommand(text).is_some();
        if text == "--" || is_command {
            translated.push(word.clone());
            break;
        }
        is_print |= matches!(text, "-p" | "--print");
        let known = FLAGS.iter().find(|(flag, _)| *flag == text).map(|(_, here)| *here);
        is_value = takes_value(all, known.unwrap_or(text));
        translated.push(known.map_or_else(|| word.clone(), OsString::from));
    }
    translated.extend(words.cloned());
    translated
}

fn takes_value(all: &clap::Command, option: &str) -> bool {
    let is_it = |argument: &&clap::Arg| match (option.strip_prefix("--"), option.strip_prefix('-')) {
        (Some(long), _) => argument.get_long() == Some(long),
        (None, Some(short)) => short.len() == 1 && argument.get_short() == short.chars().next(),
        (None, None) => false,
    };
    all.get_arguments().find(is_it).is_some_and(|argument| argument.get_action().takes_values())
}

/// The arguments without the options of extensions, and these with their values. Every long option that offshoot does not know
/// may be one if the command line names an extension, or if one has not been loaded yet; else only those of the known.
pub(super) fn extension_flags(
    all: &clap::Command,
    arguments: &[OsString],
    extensions: &impl Deref<Target = KnownFlags>,
) -> (Vec<OsString>, ExtensionFlags) {
    let names_extension = |word: &&OsString| {
        let word = word.to_str().unwrap_or_default();
        ["-e", "--extension", "--hook"].contains(&word)
            || word.starts_with("--extension=")
            || word.starts_with("--hook=")
    };
    let before_dashes = arguments.iter().take_while(|word| *word != "--");
    let is_named = before_dashes.clone().any(|word| names_extension(&word));
    let may_be = |name: &str| is_named || extensions.may_be_new || extensions.get(name).is_some();
    let is_flag = |name: &str| !is_known(all, name) && may_be(name);
    let (mut kept, mut flags) = (Vec::new(), Vec::new());
    let mut words = arguments.iter().peekable();
    while let Some(word) = words.next() {
        let text = word.to_str().unwrap_or_default();
        if text == "--" {
            kept.push(word.clone());
            break;
        }
        let long = text.strip_prefix("--").filter(|long| !long.is_empty());
        let (name, value) = match long.map(|long| long.split_once('=').unwrap_or((long, ""))) {
            Some((name, value)) if is_flag(name) => (name, Some(value).filter(|value| !value.is_empty())),
            _ => {
                kept.push(word.clone());
                if takes_value(all, text) {
                    kept.extend(words.next().cloned());
                }
                continue;
            }
        };
        let is_value = |next: &&OsString| next.to_str().is_some_and(|next| !next.starts_with(['-', '@']));
        let is_switch = extensions.get(name).is_some_and(|flag| flag.kind == "boolean");
        let next = if is_switch || text.contains('=') { None } else { words.next_if(is_value) };
        let value = value.or_else(|| next.and_then(|next| next.to_str())).map(str::to_owned);
        flags.push((name.to_owned(), value));
    }
    kept.extend(words.cloned());
    (kept, flags)
}

fn is_known(all: &clap::Command, name: &str) -> bool {
    ["help", "version"].contains(&name) || all.get_arguments().any(|argument| argument.get_long() == Some(name))
}

/// An option of pi that is a command here, with the words after it. Only as the first word: behind a prompt nobody could tell
/// which of them was meant.
fn command(option: &OsString, rest: &[OsString]) -> Option<Vec<OsString>> {
    match (option.to_str()?, rest) {
        ("--list-models", rest) => Some(std::iter::once("models".into()).chain(rest.iter().cloned()).collect()),
        ("--export", [session]) => {
            let page = Path::new(session).file_stem().unwrap_or_default().to_string_lossy();
            let page = format!("offshoot-session-{page}.html");
            Some(vec!["export".into(), session.clone(), "-o".into(), page.into()])
        }
        ("--export", [session, page]) => Some(vec!["export".into(), session.clone(), "-o".into(), page.clone()]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(line: &str) -> String {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let translated = translated(&super::super::command_line(), &words);
        translated.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn pis_flags_are_translated_up_to_a_command_or_dashes() {
        for (flag, here) in FLAGS.iter().filter(|(flag, _)| *flag != "-xt") {
            assert_eq!(meaning(&format!("offshoot {flag} -p x")), format!("offshoot {here} -p x"));
        }
        assert_eq!(meaning("offshoot -xt -nt -nc"), "offshoot --exclude-tools -nt --no-context-files");
        assert_eq!(meaning("offshoot -p -nt -- -nc"), "offshoot -p --no-tools -- -nc");
        assert_eq!(meaning("offshoot -p list -nt"), "offshoot -p list --no-tools");
        assert_eq!(meaning("offshoot chat -nt hi"), "offshoot chat --no-tools hi");
        assert_eq!(meaning("offshoot --then -nt -t -nc"), "offshoot --then -nt -t -nc");
        assert_eq!(meaning("offshoot list -nc"), "offshoot list -nc");
        assert_eq!(meaning("offshoot -ncp"), "offshoot -ncp");
    }

    #[test]
    fn options_that_are_commands_here_stand_first_or_are_refused() {
        assert_eq!(meaning("offshoot --list-models opus"), "offshoot models opus");
        assert_eq!(meaning("offshoot --export a/s.jsonl"), "offshoot export a/s.jsonl -o offshoot-session-s.html");
        assert_eq!(meaning("offshoot --export s.jsonl x.html"), "offshoot export s.jsonl -o x.html");
        assert_eq!(meaning("offshoot -p x --list-models"), "offshoot -p x --list-models");
        assert_eq!(meaning("offshoot"), "offshoot");
    }
}

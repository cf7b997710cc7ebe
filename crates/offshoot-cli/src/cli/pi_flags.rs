//! pi's spellings of options, brought into offshoot's before a conversation's arguments are parsed.

use std::ffi::OsString;
use std::path::Path;

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

/// The arguments in offshoot's spelling. What follows `--`, or a command's name, is left alone.
pub(super) fn translated(arguments: &[OsString], is_command: impl Fn(&str) -> bool) -> Vec<OsString> {
    let mut translated = Vec::with_capacity(arguments.len());
    let mut words = arguments.iter();
    translated.extend(words.next().cloned());
    while let Some(word) = words.next() {
        let text = word.to_str().unwrap_or_default();
        if let Some(command) = command(text, words.as_slice()) {
            translated.extend(command);
            return translated;
        }
        if text == "--" || is_command(text) {
            translated.push(word.clone());
            break;
        }
        let known = FLAGS.iter().find(|(flag, _)| *flag == text);
        translated.push(known.map_or_else(|| word.clone(), |(_, here)| OsString::from(here)));
    }
    translated.extend(words.cloned());
    translated
}

/// An option of pi that is a command here, with the words after it.
fn command(option: &str, rest: &[OsString]) -> Option<Vec<OsString>> {
    match (option, rest) {
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
        let translated = translated(&words, |word| word == "list");
        translated.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn pis_flags_are_translated_up_to_a_command_or_dashes() {
        for (flag, here) in FLAGS {
            assert_eq!(meaning(&format!("offshoot {flag} -p x")), format!("offshoot {here} -p x"));
        }
        assert_eq!(meaning("offshoot -p -nt -- -nc"), "offshoot -p --no-tools -- -nc");
        assert_eq!(meaning("offshoot list -nc"), "offshoot list -nc");
        assert_eq!(meaning("offshoot -ncp"), "offshoot -ncp");
        assert_eq!(meaning("offshoot --list-models opus"), "offshoot models opus");
        assert_eq!(meaning("offshoot --export a/s.jsonl"), "offshoot export a/s.jsonl -o offshoot-session-s.html");
        assert_eq!(meaning("offshoot --export s.jsonl x.html"), "offshoot export s.jsonl -o x.html");
    }
}

//! A first word that is not a command: the line that does here what it does in another program, or the nearest command. Reads no
//! file.

use offshoot_app::app::quoted;
use offshoot_app::error::CommandError;
use offshoot_settings::nearest::nearest_or;
use offshoot_workspace::{LATEST, is_path};

use super::{command_line, is_phrase};

/// Words of git, of shells and of other agents, with the line that does the same here.
const MEANT: &[(&[&str], &str)] = &[
    (&["continue"], "offshoot -c"),
    (&["resume"], "offshoot -r"),
    (&["new", "init"], "offshoot"),
    (&["ask", "exec", "print", "prompt", "query", "run"], ASK),
    (&["rpc"], "offshoot --mode rpc"),
    (&["server", "serve"], "offshoot api"),
    (&["version"], "offshoot --version"),
    (&["usage"], "offshoot --help"),
    (&["dir", "history", "ll", "ps", "sessions"], "offshoot list"),
    (&["find", "grep"], "offshoot search WORDS"),
    (&["cat", "less", "more", "open", "view"], "offshoot show SESSION"),
    (&["latest"], "offshoot show latest"),
    (&["cost", "info", "stat", "stats", "status", "tokens"], "offshoot show SESSION --summary"),
    (&["graph", "leaves"], "offshoot tree SESSION"),
    (&["blame", "inspect", "raw"], "offshoot entry SESSION ENTRY"),
    (&["messages", "window"], "offshoot context SESSION"),
    (&["follow", "watch"], "offshoot tail SESSION"),
    (&["branch", "reflog"], "offshoot branches SESSION"),
    (&["diff"], "offshoot compare SESSION ENTRY ENTRY"),
    (
        &["back", "cd", "co", "go", "goto", "jump", "move", "navigate", "reset", "restore", "rewind"],
        "offshoot switch SESSION ENTRY",
    ),
    (&["stash"], "offshoot pop SESSION ENTRY"),
    (&["redo", "revert", "unswitch"], "offshoot undo SESSION"),
    (&["copy", "cp", "rebase"], "offshoot pick SESSION ENTRY"),
    (&["clone", "duplicate", "split"], "offshoot fork SESSION"),
    (&["bookmark", "commit", "tag"], "offshoot label SESSION ENTRY TEXT"),
    (&["mv", "rename", "title"], "offshoot name SESSION TEXT"),
    (&["compress", "summarise", "summarize", "summary"], "offshoot compact SESSION"),
    (&["html", "publish", "push", "save", "share"], "offshoot export SESSION -o FILE"),
    (&["fetch", "pull"], "offshoot import FILE"),
    (&["gc", "prune", "vacuum"], "offshoot doctor"),
    (&["del", "delete"], "offshoot trash SESSION"),
    (&["undelete", "untrash"], "offshoot trash --restore SESSION"),
    (&["key", "keys"], "offshoot auth"),
    (&["login", "signin"], "offshoot auth login PROVIDER"),
    (&["logout", "signout"], "offshoot auth logout PROVIDER"),
    (&["model"], "offshoot models"),
    (&["fsck", "lint", "validate", "verify"], "offshoot check SESSION"),
    (&["fix-session", "recover"], "offshoot repair SESSION"),
    (&["upgrade"], "offshoot migrate SESSION"),
    (&["add"], "offshoot install PACKAGE"),
    (&["plugin", "plugins", "skills"], "offshoot packages"),
    (&["extension", "extensions"], "offshoot`, then `/extensions"),
    (&["preferences", "set", "settings"], "offshoot`, then `/settings"),
    (&["trust"], "offshoot`, then `/trust"),
    (&["exit", "quit"], "offshoot --help"),
];

/// What asks a model.
const ASK: &str = "offshoot -p WORDS";

/// Commands that take something away: a slip never suggests one.
const REMOVE: &[&str] = &["remove", "repair", "rm", "trash", "uninstall"];

/// The error for words that are neither a command nor clearly a prompt.
pub(super) fn not_a_command(words: &[&str]) -> CommandError {
    let spelled = |words: &[&str]| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let first = words.first().copied().unwrap_or_default();
    let (asked, error) = match words.iter().any(|word| is_phrase(word)) {
        true if meant(first) == Some(ASK) => {
            (words.get(1..).unwrap_or_default(), CommandError::usage(format!("{first:?} is not a command")))
        }
        true => (words, CommandError::usage("a prompt is one argument, and several were given")),
        false => {
            let error = CommandError::usage(format!("{first:?} is not a command, and a prompt needs quotes or `-p`"));
            (words, error.hint(instead(first, words.get(1..).unwrap_or_default())))
        }
    };
    let all = spelled(asked);
    error
        .hint(format!("`offshoot -p {all}` sends the words to a model and prints its answer"))
        .hint(format!("`offshoot chat {all}` starts a conversation with them"))
}

/// What a word of another program means here.
fn meant(word: &str) -> Option<&'static str> {
    MEANT.iter().find(|(known, _)| known.contains(&word)).map(|(_, meant)| *meant)
}

/// A line of the table with the words that were typed in the places of those in capitals: the latest session unless one is
/// named or it would be removed, entries where words look like entries. What has no word stays in capitals.
fn filled(line: &str, typed: &[&str]) -> String {
    let mut typed: Vec<&str> = typed.iter().copied().filter(|word| !word.starts_with('-')).collect();
    let mut take = |is_meant: &dyn Fn(&str) -> bool| {
        let at = typed.iter().position(|word| is_meant(word))?;
        Some(quoted(typed.remove(at)))
    };
    let words = line.split(' ').map(|word| match word {
        "SESSION" => take(&|word| word == LATEST || is_path(word))
            .unwrap_or_else(|| if removes(line) { word.to_owned() } else { LATEST.to_owned() }),
        "ENTRY" => take(&looks_like_an_entry).unwrap_or_else(|| word.to_owned()),
        "FILE" => take(&is_path).unwrap_or_else(|| word.to_owned()),
        "PACKAGE" | "TEXT" => take(&|_| true).unwrap_or_else(|| word.to_owned()),
        word => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a line of the table takes something away.
fn removes(line: &str) -> bool {
    line.split_whitespace().any(|word| REMOVE.contains(&word))
}

/// Whether a word can name an entry by its id or its place.
fn looks_like_an_entry(word: &str) -> bool {
    let is_id = (4..=8).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id || word.starts_with('@') || word.starts_with("HEAD")
}

/// The suggestion for a word that is not a command, and the words after it.
fn instead(word: &str, next: &[&str]) -> String {
    let command_line = command_line();
    let names: Vec<&str> =
        command_line.get_subcommands().flat_map(clap::Command::get_name_and_visible_aliases).collect();
    let plain = word.trim_start_matches('/').to_lowercase();
    let did_you_mean = |line: &str| format!("did you mean `{}`?", filled(line, next));
    if let Some(meant) = meant(&plain) {
        return did_you_mean(meant);
    }
    let file = quoted(word);
    // A short word is near too many others: only those that begin as it does.
    let is_near = |name: &&str| plain.len() > 3 || name.chars().next() == plain.chars().next();
    let others = MEANT.iter().filter(|(_, meant)| !removes(meant)).flat_map(|(known, _)| known.iter().copied());
    let known = names.iter().copied().filter(|name| !REMOVE.contains(name)).chain(["help"]);
    match nearest_or(&plain, known.filter(is_near), others.filter(is_near)) {
        Some(name) => meant(name).map_or_else(|| did_you_mean(&format!("offshoot {name}")), did_you_mean),
        None => match next.first().filter(|next| is_path(word) && names.contains(*next)) {
            Some(next) => format!("did you mean `offshoot {next} {file}`?"),
            None if is_path(word) => {
                format!("`offshoot show {file}` reads a session file, `--session {file}` continues it")
            }
            None => "`offshoot --help` lists the commands".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_another_program_means_one_thing_and_is_no_command_here() {
        let mut known: Vec<&str> = MEANT.iter().flat_map(|(words, _)| words.iter().copied()).collect();
        known.sort_unstable();
        let twice: Vec<_> = known.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
        let all = command_line();
        let commands: Vec<_> = known.into_iter().filter(|word| all.find_subcommand(word).is_some()).collect();
        assert!(commands.is_empty(), "{commands:?}");
    }

    /// Each line that is suggested is one that the program takes.
    #[test]
    fn what_is_suggested_is_a_line_that_works() {
        for (_, line) in MEANT {
            let words: Vec<_> = line.split('`').next().unwrap_or_default().split_whitespace().collect();
            let parsed = command_line().try_get_matches_from(&words);
            assert!(parsed.as_ref().err().is_none_or(|error| !error.use_stderr()), "{line}: {parsed:?}");
        }
    }

    /// `stats` was once corrected to `trash`.
    #[test]
    fn a_slip_never_suggests_a_command_that_removes() {
        for word in ["trsh", "trah", "trashh", "remov", "removed", "unistall", "repar", "rmm"] {
            let suggested = instead(word, &[]);
            let removes = REMOVE.iter().any(|name| suggested.contains(&format!("offshoot {name}")));
            assert!(!removes, "{word}: {suggested}");
        }
    }

    #[test]
    fn a_suggestion_has_the_words_that_were_typed() {
        for (words, line) in [
            (&["goto", "4e8a"][..], "offshoot switch latest 4e8a"),
            (&["goto"], "offshoot switch latest ENTRY"),
            (&["diff", "--stat", "4e8a", "HEAD~1"], "offshoot compare latest 4e8a HEAD~1"),
            (&["tag", "v1", "42e6"], "offshoot label latest 42e6 v1"),
            (&["cat", "old/one.jsonl"], "offshoot show old/one.jsonl"),
            (&["rename", "latest", "parser"], "offshoot name latest parser"),
            (&["share", "page.html"], "offshoot export latest -o FILE"),
            (&["delete"], "offshoot trash SESSION"),
        ] {
            let suggested = instead(words[0], &words[1..]);
            assert!(suggested.contains(&format!("`{line}`")), "{words:?}: {suggested}");
        }
    }
}

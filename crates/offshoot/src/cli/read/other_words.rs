//! A first word that is no command: what it means here, for those who know it from another program, and the command that was
//! probably mistyped. Reads no file.

use offshoot_app::app::quoted;
use offshoot_app::error::CommandError;
use offshoot_settings::nearest::nearest_or;
use offshoot_workspace::is_path;

use super::{command_line, is_phrase};

/// Words of git, of shells and of other agents, with the line that does the same here.
const MEANT: &[(&[&str], &str)] = &[
    (&["continue"], "offshoot -c"),
    (&["resume"], "offshoot -r"),
    (&["new", "init"], "offshoot"),
    (&["ask", "exec", "print", "prompt", "query", "run"], "offshoot -p WORDS"),
    (&["rpc"], "offshoot --mode rpc"),
    (&["server", "serve"], "offshoot api"),
    (&["version"], "offshoot --version"),
    (&["usage"], "offshoot --help"),
    (&["sessions", "history", "ps"], "offshoot list"),
    (&["find", "grep", "search"], "offshoot list --text --json"),
    (&["cat", "less", "more", "open", "view"], "offshoot show SESSION"),
    (&["latest"], "offshoot show latest"),
    (&["cost", "info", "stat", "stats", "status", "tokens"], "offshoot show SESSION --summary"),
    (&["graph", "leaves"], "offshoot tree SESSION"),
    (&["blame", "inspect", "raw"], "offshoot entry SESSION ENTRY"),
    (&["messages", "window"], "offshoot context SESSION"),
    (&["follow", "watch"], "offshoot tail SESSION"),
    (&["branch"], "offshoot branches SESSION"),
    (&["diff"], "offshoot compare SESSION ENTRY ENTRY"),
    (
        &["back", "go", "goto", "jump", "move", "navigate", "reset", "restore", "rewind"],
        "offshoot switch SESSION ENTRY",
    ),
    (&["stash"], "offshoot pop SESSION ENTRY"),
    (&["redo", "revert", "unswitch"], "offshoot undo SESSION"),
    (&["copy", "cp", "rebase"], "offshoot pick SESSION ENTRY"),
    (&["clone", "duplicate", "split"], "offshoot fork SESSION"),
    (&["bookmark", "tag"], "offshoot label SESSION ENTRY TEXT"),
    (&["mv", "rename", "title"], "offshoot name SESSION TEXT"),
    (&["summarise", "summarize", "summary"], "offshoot compact SESSION"),
    (&["html", "publish", "save", "share"], "offshoot export SESSION -o FILE"),
    (&["del", "delete"], "offshoot trash SESSION"),
    (&["undelete", "untrash"], "offshoot trash --restore SESSION"),
    (&["auth", "key", "keys", "login", "model"], "offshoot models"),
    (&["fsck", "lint", "validate", "verify"], "offshoot check SESSION"),
    (&["fix-session", "recover"], "offshoot repair SESSION"),
    (&["upgrade"], "offshoot migrate SESSION"),
    (&["add"], "offshoot install PACKAGE"),
    (&["plugin", "plugins", "skills"], "offshoot packages"),
    (&["extension", "extensions"], "offshoot`, then `/extensions"),
    (&["settings"], "offshoot`, then `/settings"),
    (&["exit", "quit"], "offshoot --help"),
];

/// Commands that take something away: a slip never suggests one.
const REMOVE: &[&str] = &["remove", "repair", "rm", "trash", "uninstall"];

/// The refusal of words that are no command, and that a person may not have meant as a prompt.
pub(super) fn not_a_command(words: &[&str]) -> CommandError {
    let all = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let first = words.first().copied().unwrap_or_default();
    let error = match words.iter().any(|word| is_phrase(word)) {
        true => CommandError::usage("a prompt is one argument, and several were given"),
        false => CommandError::usage(format!("{first:?} is not a command, and a prompt needs quotes or `-p`"))
            .hint(instead(first, words.get(1).copied().unwrap_or_default())),
    };
    error
        .hint(format!("`offshoot -p {all}` sends the words to a model and prints its answer"))
        .hint(format!("`offshoot chat {all}` starts a conversation with them"))
}

/// What a word of another program means here.
fn meant(word: &str) -> Option<&'static str> {
    MEANT.iter().find(|(known, _)| known.contains(&word)).map(|(_, meant)| *meant)
}

/// The suggestion for a word that is not a command, and the word after it.
fn instead(word: &str, next: &str) -> String {
    let command_line = command_line();
    let names: Vec<&str> =
        command_line.get_subcommands().flat_map(clap::Command::get_name_and_visible_aliases).collect();
    let plain = word.trim_start_matches('/').to_lowercase();
    if let Some(meant) = meant(&plain) {
        return format!("did you mean `{meant}`?");
    }
    let file = quoted(word);
    let removes = |meant: &str| meant.split_whitespace().any(|word| REMOVE.contains(&word));
    let others = MEANT.iter().filter(|(_, meant)| !removes(meant)).flat_map(|(known, _)| known.iter().copied());
    let known = names.iter().copied().filter(|name| !REMOVE.contains(name)).chain(["help"]);
    match nearest_or(&plain, known, others) {
        Some(name) => meant(name)
            .map_or_else(|| format!("did you mean `offshoot {name}`?"), |meant| format!("did you mean `{meant}`?")),
        None if is_path(word) && names.contains(&next) => format!("did you mean `offshoot {next} {file}`?"),
        None if is_path(word) => {
            format!("`offshoot show {file}` reads a session file, `--session {file}` continues it")
        }
        None => "`offshoot --help` lists the commands".to_owned(),
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
            let suggested = instead(word, "");
            let removes = REMOVE.iter().any(|name| suggested.contains(&format!("offshoot {name}")));
            assert!(!removes, "{word}: {suggested}");
        }
    }
}

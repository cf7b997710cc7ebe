//! Starts the pager.

use std::process::{Child, ChildStdin, Command, Stdio};

/// Keeps colours, quits at once if the text fits, and leaves it on the screen.
pub(super) const DEFAULT: &str = "less -R -F -X";

/// Starts a pager, given as words or as a shell command. `None` if it cannot start, or is disabled.
pub(super) fn start(line: &str) -> Option<(Child, ChildStdin)> {
    let mut command = command(line)?;
    command.stdin(Stdio::piped()).env("LESSCHARSET", "utf-8");
    let mut child = command.spawn().ok()?;
    let stdin = child.stdin.take()?;
    Some((child, stdin))
}

fn command(line: &str) -> Option<Command> {
    let is_for_the_shell = line.contains(['|', '&', ';', '<', '>', '(', ')', '$', '`', '"', '\'', '\\', '=', '~']);
    if is_for_the_shell {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        return Some(command);
    }
    let mut words = line.split_whitespace();
    let program = words.next().filter(|program| *program != "cat")?;
    let mut command = Command::new(program);
    command.args(words);
    Some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Option<Vec<String>> {
        let command = command(line)?;
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        Some(words.map(|word| word.to_string_lossy().into_owned()).collect())
    }

    #[test]
    fn plain_words_need_no_shell() {
        assert_eq!(words("less -R").unwrap(), ["less", "-R"]);
        assert_eq!(words("LESS=R less").unwrap(), ["sh", "-c", "LESS=R less"]);
        assert_eq!(words("cat"), None);
        assert_eq!((words(" "), words("")), (None, None));
    }

    #[test]
    fn a_pager_that_is_not_there_is_none() {
        assert!(start("no-such-pager-anywhere -x").is_none());
    }
}

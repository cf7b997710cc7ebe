//! Finds the token before the cursor: the name of a command, an argument or a file. Pure.

use std::ops::Range;

use crate::slash::{self, Argument, Spec};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// After a `/`.
    Command,
    Argument(Argument),
    File {
        /// After an `@`.
        at: bool,
    },
    /// What an extension offers.
    Foreign,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) of: Of,
    pub(super) range: Range<usize>,
    pub(super) query: String,
}

impl Of {
    pub(super) fn argument(self) -> Option<Argument> {
        match self {
            Self::Command | Self::Foreign => None,
            Self::Argument(argument) => Some(argument),
            Self::File { .. } => Some(Argument::File),
        }
    }

    pub(super) fn written(self, insert: &str) -> String {
        let quoted = |insert: &str| match insert.contains(char::is_whitespace) {
            true => format!("\"{insert}\""),
            false => insert.to_owned(),
        };
        match self {
            Self::Command => format!("/{insert} "),
            Self::File { at: true } if insert.ends_with('/') && !insert.contains(char::is_whitespace) => {
                format!("@{insert}")
            }
            Self::File { at: true } => format!("@{} ", quoted(insert)),
            Self::File { at: false } | Self::Argument(Argument::File | Argument::Entry) => quoted(insert),
            Self::Argument(_) | Self::Foreign => insert.to_owned(),
        }
    }

    /// Whether the text is now a complete command.
    pub(super) fn is_command_done(self, insert: &str) -> bool {
        match self {
            // Skills, templates and commands of extensions run at once, as in pi.
            Self::Command => slash::find(insert).is_none_or(|spec| !spec.needs_argument()),
            Self::Argument(argument) => !argument.is_open(),
            Self::File { .. } | Self::Foreign => false,
        }
    }
}

/// The token that ends at the cursor and is completed automatically.
pub(super) fn at(text: &str, cursor: usize) -> Option<Token> {
    let before = text.get(..cursor)?;
    if before.starts_with('!') {
        return None;
    }
    if let Some(rest) = before.strip_prefix('/').filter(|rest| !rest.contains('\n')) {
        return match rest.split_once(' ') {
            None if rest.contains('/') => None,
            None => Some(Token { of: Of::Command, range: 0..cursor, query: rest.to_owned() }),
            Some((name, argument)) => {
                let spec = slash::find(&name.to_lowercase());
                if let Some(token) = files_option(spec, argument, cursor) {
                    return Some(token);
                }
                let of = spec.map_or(Some(Argument::Called), |spec| spec.argument)?;
                let start = cursor - argument.trim_start().len();
                let query = argument.trim_start().trim_start_matches('"').to_owned();
                Some(Token { of: Of::Argument(of), range: start..cursor, query })
            }
        };
    }
    let start = file_start(before)?;
    let query = before.get(start + 1..)?.trim_start_matches('"').to_owned();
    Some(Token { of: Of::File { at: true }, range: start..cursor, query })
}

/// The word before the cursor if it begins an option of a command that brings files.
fn files_option(spec: Option<&Spec>, argument: &str, cursor: usize) -> Option<Token> {
    let word = argument.rsplit(char::is_whitespace).next().filter(|word| word.starts_with('-'))?;
    spec.filter(|spec| spec.brings_files())?;
    let range = cursor - word.len()..cursor;
    Some(Token { of: Of::Argument(Argument::FilesOption), range, query: word.to_owned() })
}

/// The position of an `@` that starts a file name: at the start of a word, and followed by one word or an open quote.
fn file_start(before: &str) -> Option<usize> {
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    let start = before.rfind('@').filter(|start| *start >= line)?;
    let name = before.get(start + 1..)?;
    let quoted = name.starts_with('"');
    let goes_on = if quoted { name.matches('"').count() == 1 } else { !name.contains(char::is_whitespace) };
    let begins =
        before.get(..start)?.chars().next_back().is_none_or(|at| at.is_whitespace() || "([{<\"'=,:".contains(at));
    (goes_on && begins).then_some(start)
}

pub(super) fn path(text: &str, cursor: usize) -> Token {
    let before = text.get(..cursor).unwrap_or_default();
    let start = before.rfind(|at: char| at.is_whitespace() || "\"'=!(".contains(at));
    let start =
        start.map_or(0, |at| at + before.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8));
    let query = before.get(start..).unwrap_or_default().trim_start_matches("./").to_owned();
    Token { of: Of::File { at: false }, range: start..cursor, query }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_the_word_before_the_cursor() {
        let word = |text: &str| path(text, text.len()).query;
        assert_eq!(word("!cat src/ma"), "src/ma");
        assert_eq!(word("see ./src"), "src");
        assert_eq!(word(""), "");
        assert_eq!(word("日本 x"), "x");
    }

    proptest::proptest! {
        #[test]
        fn tokens_end_at_the_cursor(text in "[/@! \"a-z日\\n]{0,24}", cut in 0_usize..60) {
            let cursor = (0..=cut.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            for token in [at(&text, cursor), Some(path(&text, cursor))].into_iter().flatten() {
                proptest::prop_assert_eq!(token.range.end, cursor);
                proptest::prop_assert!(text.get(token.range).is_some());
            }
        }
    }
}

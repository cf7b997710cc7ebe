//! The words that a query means by their beginnings, so that SQLite can look for each of them. Knows no rows.

use rusqlite::Connection;

use super::database::Sqlite;
use super::expression::phrase;
use super::terms::words_beginning;
use crate::query::{SearchQuery, Term};

/// A beginning of more words is left to SQLite.
const MOST_WORDS: usize = 256;

/// Beginnings as SQLite is asked for them, each with the words that begin so.
#[derive(Default)]
pub(super) struct Beginnings(Vec<(String, String)>);

impl Beginnings {
    /// Those of a query that stand alone: not at the end of a phrase.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn of(query: &SearchQuery, connection: &Connection) -> Sqlite<Self> {
        let mut known = Vec::new();
        for term in query.all.iter().flatten() {
            let Term::Words(term) = term else { continue };
            let [word] = term.words.as_slice() else { continue };
            if !term.is_beginning {
                continue;
            }
            let words = words_beginning(connection, word, MOST_WORDS)?.filter(|words| !words.is_empty());
            let quoted =
                |words: Vec<String>| words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" OR ");
            known.extend(words.map(|words| (phrase(term), format!("({})", quoted(words)))));
        }
        Ok(Self(known))
    }

    /// An expression with words for the beginnings that are known.
    pub(super) fn in_full(&self, expression: &str) -> String {
        self.0.iter().fold(expression.to_owned(), |expression, (beginning, words)| expression.replace(beginning, words))
    }
}

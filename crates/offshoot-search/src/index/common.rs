//! Which words of a query rank what has them. A word that very many documents have says next to nothing about one of them, and
//! SQLite would look at all of those to say so.

use rusqlite::Connection;

use super::beginnings::Beginnings;
use super::database::Sqlite;
use super::expression::{AskedWord, words_and_phrases};
use super::prepared::is_kind_word;
use super::terms::rows_with;
use crate::query::SearchQuery;

/// A word is common if more documents have it.
const COMMON: usize = 20_000;

/// By what the documents of a query are ranked.
pub(super) enum RankedBy {
    /// By all of its words.
    All,
    /// By this expression of some of them. Documents without these rank as by none.
    Some(String),
    /// By none of its words: all are common, or there are none.
    None,
}

impl RankedBy {
    /// Looks at no more than [`COMMON`] rows of a word.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn of(query: &SearchQuery, connection: &Connection, beginnings: &Beginnings) -> Sqlite<Self> {
        let mut count = connection.prepare("SELECT count(*) FROM (SELECT 1 FROM fts WHERE fts MATCH ?1 LIMIT ?2)")?;
        let limit = i64::try_from(COMMON + 1).unwrap_or(i64::MAX);
        let mut is_common = |(word, whole): &AskedWord| -> Sqlite<bool> {
            // Words for kinds are counted apart from those that somebody said.
            let whole = whole.as_deref().filter(|word| !is_kind_word(word));
            if let Some(rows) = whole.map(|word| rows_with(connection, word, COMMON)).transpose()?.flatten() {
                return Ok(rows > COMMON);
            }
            let word = beginnings.in_full(word);
            let rows: i64 = count.query_row(rusqlite::params![word, limit], |row| row.get(0))?;
            Ok(rows == limit)
        };
        let phrases = words_and_phrases(query);
        let all = phrases.len();
        let mut rare = Vec::new();
        for (phrase, words) in phrases {
            let mut is_rare = false;
            for word in &words {
                is_rare |= !is_common(word)?;
            }
            rare.extend(is_rare.then_some(phrase));
        }
        Ok(match rare.len() {
            0 => Self::None,
            count if count == all => Self::All,
            _ => Self::Some(rare.join(" OR ")),
        })
    }
}

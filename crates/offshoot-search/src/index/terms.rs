//! The words of the index that begin alike, and how many rows a word has, read from the pages of its segments. SQLite itself answers a
//! beginning only after it has gathered all rows of all such words, and counts rows by reading where their words are. Knows how FTS5 stores
//! terms; ranks nothing and writes nothing.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::database::Sqlite;

/// Terms of the words themselves begin with this byte.
const OF_WORDS: u8 = b'0';
/// No byte of UTF-8 is as high.
const AFTER_ALL: u8 = 0xFF;
/// Where the number of a segment begins in the id of a page.
const SEGMENT_SHIFT: u32 = 37;

/// The words of `fts` that begin with these letters, in order; `None` if there are more than so many, or if the pages are not of the
/// form that is known here.
///
/// # Errors
/// The database cannot be read.
pub(super) fn words_beginning(connection: &Connection, letters: &str, most: usize) -> Sqlite<Option<Vec<String>>> {
    let start = [&[OF_WORDS], letters.as_bytes()].concat();
    let end = [start.as_slice(), &[AFTER_ALL]].concat();
    let mut found = BTreeSet::new();
    let mut first =
        connection.prepare("SELECT pgno FROM fts_idx WHERE segid = ?1 AND term <= ?2 ORDER BY term DESC LIMIT 1")?;
    let mut rest = connection.prepare("SELECT pgno FROM fts_idx WHERE segid = ?1 AND term > ?2 AND term < ?3")?;
    let mut block = connection.prepare("SELECT block FROM fts_data WHERE id = ?1")?;
    for segment in segments(connection)? {
        let before: Option<i64> = first.query_row(params![segment, start], |row| row.get(0)).optional()?;
        let rest = rest.query_map(params![segment, start, end], |row| row.get(0))?.collect::<Sqlite<Vec<i64>>>()?;
        for page in before.into_iter().chain(rest) {
            // The last bit says something else.
            let id = (segment << SEGMENT_SHIFT) + (page >> 1);
            // Pages at the beginning of a segment that is being merged are gone: another segment has their terms.
            let Some(page) = block.query_row([id], |row| row.get::<_, Vec<u8>>(0)).optional()? else { continue };
            let Some(terms) = terms_of(&page) else { return Ok(None) };
            let terms = terms.into_iter().map(|placed| placed.term);
            found.extend(terms.filter(|term| (start.as_slice()..end.as_slice()).contains(&term.as_slice())));
            if found.len() > most {
                return Ok(None);
            }
        }
    }
    let word = |term: Vec<u8>| String::from_utf8(term.get(1..)?.to_vec()).ok();
    Ok(found.into_iter().map(word).collect())
}

/// Counts the rows of `fts` that have a word in any column, deleted rows included. Returns `most + 1` if there are more than `most`, and
/// `None` if the pages have an unknown form.
///
/// # Errors
/// The database cannot be read.
pub(super) fn rows_with(connection: &Connection, word: &str, most: usize) -> Sqlite<Option<usize>> {
    let term = [&[OF_WORDS], word.as_bytes()].concat();
    let mut place =
        connection.prepare("SELECT pgno FROM fts_idx WHERE segid = ?1 AND term <= ?2 ORDER BY term DESC LIMIT 1")?;
    let mut block = connection.prepare("SELECT block FROM fts_data WHERE id = ?1")?;
    let mut count = 0;
    for segment in segments(connection)? {
        let Some(page) = place.query_row(params![segment, term], |row| row.get::<_, i64>(0)).optional()? else {
            continue;
        };
        let mut id = (segment << SEGMENT_SHIFT) + (page >> 1);
        let mut part = DoclistPart::OfTerm;
        while count <= most && part != DoclistPart::Over {
            let Some(page) = block.query_row([id], |row| row.get::<_, Vec<u8>>(0)).optional()? else { break };
            let Some((rows, next)) = part.rows_of(&page, &term) else { return Ok(None) };
            (count, part, id) = (count + rows, next, id + 1);
        }
    }
    Ok(Some(count.min(most.saturating_add(1))))
}

/// Where a page is looked at for the rows of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DoclistPart {
    /// Behind the term, if the page has it.
    OfTerm,
    /// At the beginning: the page before ended within the rows of the term.
    Further,
    /// Nowhere: all rows are counted.
    Over,
}

impl DoclistPart {
    /// How many rows of a term begin on a page, and what the next page has of them.
    fn rows_of(self, page: &[u8], term: &[u8]) -> Option<(usize, Self)> {
        let end = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
        let (from, to) = match self {
            Self::Over => return Some((0, Self::Over)),
            Self::OfTerm => {
                let terms = terms_of(page)?;
                let Some(at) = terms.iter().position(|known| known.term == term) else {
                    return Some((0, Self::Over));
                };
                (terms.get(at)?.end, terms.get(at + 1).map(|next| next.begin))
            }
            Self::Further => {
                let from = usize::from(u16::from_be_bytes([*page.first()?, *page.get(1)?]));
                // Without a row that begins here, the page has positions alone.
                (if from == 0 { end } else { from }, terms_of(page)?.first().map(|next| next.begin))
            }
        };
        let rows = count_rows(page, from, to.unwrap_or(end))?;
        Some((rows, if to.is_some() { Self::Over } else { Self::Further }))
    }
}

/// The rows between two places: for each its id and twice the length of its positions, and these.
fn count_rows(page: &[u8], from: usize, to: usize) -> Option<usize> {
    let (mut at, mut rows) = (from, 0);
    while at < to {
        let mut rest = page.get(at..)?;
        let before = rest.len();
        skip_varint(&mut rest)?;
        let positions = varint(&mut rest)? >> 1;
        at += before - rest.len() + positions;
        rows += 1;
    }
    Some(rows)
}

/// The numbers of all segments.
fn segments(connection: &Connection) -> Sqlite<Vec<i64>> {
    let mut next = connection.prepare("SELECT min(segid) FROM fts_idx WHERE segid > ?1")?;
    let mut found: Vec<i64> = Vec::new();
    while let Some(segment) = next.query_row([found.last().copied().unwrap_or(-1)], |row| row.get(0))? {
        found.push(segment);
    }
    Ok(found)
}

/// The terms of a leaf page: two bytes that do not matter here, two with the place of the list of its terms, which are the distances
/// between them; each term but the first shares so many bytes with the one before.
fn terms_of(page: &[u8]) -> Option<Vec<PlacedTerm>> {
    let list = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
    let mut terms: Vec<PlacedTerm> = Vec::new();
    let (mut list, mut place) = (page.get(list..)?, 0);
    while !list.is_empty() {
        place += varint(&mut list)?;
        let mut at = page.get(place..)?;
        let shared = if terms.is_empty() { 0 } else { varint(&mut at)? };
        let length = varint(&mut at)?;
        let before = terms.last().map(|last| last.term.as_slice()).unwrap_or_default();
        let term = [before.get(..shared)?, at.get(..length)?].concat();
        terms.push(PlacedTerm { term, begin: place, end: page.len() - at.len() + length });
    }
    Some(terms)
}

/// A term, and where what a page has of it begins and ends: its rows follow.
#[derive(Debug, PartialEq, Eq)]
struct PlacedTerm {
    term: Vec<u8>,
    begin: usize,
    end: usize,
}

/// Passes over a number of up to nine bytes.
fn skip_varint(bytes: &mut &[u8]) -> Option<()> {
    let length = bytes.iter().take(8).position(|byte| byte & 0x80 == 0).map_or(9, |at| at + 1);
    *bytes = bytes.get(length..)?;
    Some(())
}

/// A number of seven bits a byte, the highest ones first. Places in a page are small.
fn varint(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    for _ in 0..4 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number = number << 7 | usize::from(byte & 0x7F);
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use rusqlite::Transaction;

    use super::*;

    const WORDS: [&str; 8] = ["function", "functional", "functor", "fun", "merge", "naïve", "éa", "zebra"];

    /// A table of random words, in several segments.
    fn filled(connection: &mut Connection, rounds: u64) {
        connection
            .execute_batch(
                "CREATE VIRTUAL TABLE fts USING fts5 (words, content='', contentless_delete=1, tokenize=\"ascii tokenchars '_'\");
                 INSERT INTO fts (fts, rank) VALUES ('pgsz', 64);
                 CREATE VIRTUAL TABLE vocabulary USING fts5vocab (fts, row);",
            )
            .unwrap();
        let put = |transaction: &Transaction<'_>, id: u64| {
            let number = id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            let word = WORDS[(number % 8) as usize];
            let text = format!("{word} {word}{} w{}", number % 97, number % 1009);
            transaction
                .execute("INSERT INTO fts (rowid, words) VALUES (?1, ?2)", params![id.cast_signed(), text])
                .unwrap();
        };
        for round in 0..rounds {
            let transaction = connection.transaction().unwrap();
            (0..40).for_each(|at| put(&transaction, round * 40 + at + 1));
            transaction.commit().unwrap();
        }
    }

    #[test]
    fn the_words_are_those_of_the_vocabulary() {
        for rounds in [0, 1, 2, 7, 60] {
            let mut connection = Connection::open_in_memory().unwrap();
            filled(&mut connection, rounds);
            let mut query = connection.prepare("SELECT term FROM vocabulary WHERE term >= ?1 AND term < ?2").unwrap();
            for letters in
                ["f", "fun", "function", "functional", "functional1", "m", "na", "naï", "é", "w1", "w10", "x", "zebra9"]
            {
                let end = format!("{letters}\u{10FFFF}");
                let all = query.query_map([letters, &end], |row| row.get::<_, String>(0)).unwrap();
                let all: Vec<String> = all.map(Result::unwrap).collect();
                let found = words_beginning(&connection, letters, 5000).unwrap();
                assert_eq!(found.as_ref(), Some(&all), "{letters} after {rounds} rounds");
                if let Some(fewer) = all.len().checked_sub(1) {
                    assert_eq!(words_beginning(&connection, letters, fewer).unwrap(), None);
                }
            }
        }
    }

    /// Texts that have a word once and texts that have it so often that its positions fill pages.
    fn repeated(connection: &Connection, texts: i64) {
        let mut put = connection.prepare("INSERT INTO fts (rowid, words) VALUES (?1, ?2)").unwrap();
        for id in 1..=texts {
            let often = format!("fun {}", "functor ".repeat(usize::try_from(id * 37 % 90).unwrap()));
            put.execute(params![(1_i64 << 40) + id * 300, often]).unwrap();
        }
    }

    #[test]
    fn rows_are_counted_as_the_vocabulary_counts_them() {
        for (rounds, texts) in [(0, 0), (1, 0), (7, 3), (60, 90), (0, 400)] {
            let mut connection = Connection::open_in_memory().unwrap();
            filled(&mut connection, rounds);
            repeated(&connection, texts);
            let mut query = connection.prepare("SELECT term, doc FROM vocabulary").unwrap();
            let all = query.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))).unwrap();
            for (term, rows) in all.map(Result::unwrap) {
                let rows = usize::try_from(rows).unwrap();
                assert_eq!(rows_with(&connection, &term, 5000).unwrap(), Some(rows), "{term} after {rounds} rounds");
                assert_eq!(rows_with(&connection, &term, rows - 1).unwrap(), Some(rows), "{term}: one more");
            }
            for term in ["", "a", "functionx", "zzz"] {
                assert_eq!(rows_with(&connection, term, 5000).unwrap(), Some(0), "{term}");
            }
        }
    }

    #[test]
    fn a_page_of_another_form_says_nothing() {
        for page in [&b""[..], b"\0\0", b"\0\0\0\x09", b"\0\0\0\x04\x7f", b"\0\0\0\x04\xff\xff\xff\xff\xff"] {
            assert_eq!(terms_of(page), None, "{page:?}");
        }
        assert_eq!(terms_of(b"\0\0\0\x04"), Some(Vec::new()));
    }
}

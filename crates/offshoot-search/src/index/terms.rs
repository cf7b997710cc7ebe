//! The words of the index that begin alike, read from the pages of its segments. SQLite itself answers a beginning only after it has
//! gathered all rows of all such words. Knows how FTS5 stores terms; ranks nothing and writes nothing.

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
            let fitting =
                terms.into_iter().filter(|term| (start.as_slice()..end.as_slice()).contains(&term.as_slice()));
            found.extend(fitting);
            if found.len() > most {
                return Ok(None);
            }
        }
    }
    let word = |term: Vec<u8>| String::from_utf8(term.get(1..)?.to_vec()).ok();
    Ok(found.into_iter().map(word).collect())
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
fn terms_of(page: &[u8]) -> Option<Vec<Vec<u8>>> {
    let list = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
    let mut terms: Vec<Vec<u8>> = Vec::new();
    let (mut list, mut place) = (page.get(list..)?, 0);
    while !list.is_empty() {
        place += varint(&mut list)?;
        let mut at = page.get(place..)?;
        let shared = if terms.is_empty() { 0 } else { varint(&mut at)? };
        let length = varint(&mut at)?;
        let before = terms.last().map(Vec::as_slice).unwrap_or_default();
        terms.push([before.get(..shared)?, at.get(..length)?].concat());
    }
    Some(terms)
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

    #[test]
    fn a_page_of_another_form_says_nothing() {
        for page in [&b""[..], b"\0\0", b"\0\0\0\x09", b"\0\0\0\x04\x7f", b"\0\0\0\x04\xff\xff\xff\xff\xff"] {
            assert_eq!(terms_of(page), None, "{page:?}");
        }
        assert_eq!(terms_of(b"\0\0\0\x04"), Some(Vec::new()));
    }
}

//! Entry ids, session ids, and their sources.
//!
//! The only file of the library that draws random bits. Knows no files and no trees.

mod short;

use std::fmt;

use smol_str::SmolStr;

use crate::clock::{Clock as _, Millis, SystemClock};

pub use short::{SHORTEST_ID, ShortIds};

/// The id of one entry: any non-empty string, unique within one file.
///
/// offshoot writes 8 lower-case hexadecimal digits. Clones are cheap.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId(SmolStr);

impl EntryId {
    /// Takes an id as written in a file.
    pub fn new(id: impl AsRef<str>) -> Self {
        Self(SmolStr::new(id))
    }

    /// The id as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EntryId({})", self.0)
    }
}

impl From<&str> for EntryId {
    fn from(id: &str) -> Self {
        Self::new(id)
    }
}

/// A source of new ids. Tests and replays pass their own; everyone else uses [`RandomIds`].
pub trait IdSource: Send + Sync {
    /// A candidate for an entry id. The caller asks again if the file already has it.
    fn entry_id(&mut self) -> EntryId;

    /// A session id, unique everywhere.
    fn session_id(&mut self) -> String;
}

/// Random ids: 8 hexadecimal digits of a version 4 UUID for entries, a version 7 UUID for sessions.
#[derive(Debug, Default, Clone, Copy)]
pub struct RandomIds;

#[expect(clippy::disallowed_methods, reason = "this is the source of ids that everything else is given")]
impl IdSource for RandomIds {
    fn entry_id(&mut self) -> EntryId {
        let hex = uuid::Uuid::new_v4().simple().to_string();
        EntryId::new(hex.get(..8).unwrap_or(&hex))
    }

    fn session_id(&mut self) -> String {
        session_id_at(SystemClock.now()).to_string()
    }
}

/// A version 7 UUID. A time before 1970 counts as 1970.
#[expect(clippy::disallowed_methods, reason = "random bits of the source of ids")]
fn session_id_at(now: Millis) -> uuid::Uuid {
    let random = uuid::Uuid::new_v4();
    let mut bits = [0; 10];
    bits.copy_from_slice(random.as_bytes().get(6..).unwrap_or_default());
    uuid::Builder::from_unix_timestamp_millis(u64::try_from(now).unwrap_or_default(), &bits).into_uuid()
}

/// Counting ids for tests and examples: `00000001`, `00000002`, …
#[derive(Debug, Default, Clone, Copy)]
pub struct CountingIds {
    entries: u64,
    sessions: u64,
}

impl IdSource for CountingIds {
    fn entry_id(&mut self) -> EntryId {
        self.entries += 1;
        EntryId::new(format!("{:08x}", self.entries))
    }

    fn session_id(&mut self) -> String {
        self.sessions += 1;
        format!("00000000-0000-7000-8000-{:012x}", self.sessions)
    }
}

/// Whether a caller may choose this session id: letters, digits, `.`, `_` and `-`, with a letter or digit at both ends
/// (pi 0.87).
pub fn is_valid_session_id(id: &str) -> bool {
    let bytes = id.as_bytes();
    let ends_are_alphanumeric = match (bytes.first(), bytes.last()) {
        (Some(first), Some(last)) => first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric(),
        _ => false,
    };
    ends_are_alphanumeric && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_entry_ids_are_eight_hex_digits() {
        let id = RandomIds.entry_id();
        assert_eq!(id.as_str().len(), 8);
        assert!(id.as_str().bytes().all(|b| b.is_ascii_hexdigit()));
    }

    /// A clock before 1970 ended the program.
    #[test]
    fn a_session_has_an_id_whatever_the_clock_says() {
        for now in [Millis::MIN, -1, 0, 1_767_225_600_000, Millis::MAX] {
            let id = session_id_at(now);
            assert_eq!(id.get_version_num(), 7, "{now}");
            assert_ne!(id, session_id_at(now), "two ids of one moment");
        }
        assert!(session_id_at(1_767_225_600_000).to_string().starts_with("019b76da-a800-7"));
    }

    #[test]
    fn session_ids_may_not_walk_out_of_their_folder() {
        assert!(is_valid_session_id("a.b_c-1"));
        for bad in ["", ".", "../x", "a/b", "-a", "a-", "a b"] {
            assert!(!is_valid_session_id(bad), "{bad}");
        }
    }
}

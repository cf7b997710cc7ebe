//! What is too large for a page.

use offshoot_session::text::{counted, one_line};

/// Entries that a warning names.
const NAMED: usize = 3;

/// What a page leaves out. The session does not change.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageLimits {
    /// Longer lines are replaced by their size and the command that prints them; `None` is 64 MiB.
    pub line: Option<u64>,
    /// Pictures with more bytes of base64 are left out; `None` leaves out none.
    pub picture: Option<usize>,
    /// Of texts with more bytes the beginning stays; `None` keeps them whole. No text of less than 1,000 bytes is cut.
    pub text: Option<usize>,
}

/// What was too large for the page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageOmissions {
    /// Entries that became a notice.
    pub lines: usize,
    /// Pictures of other entries.
    pub pictures: usize,
    /// Texts of other entries that were cut.
    pub texts: usize,
    /// Bytes of all of them.
    pub bytes: u64,
    /// How many entries something is missing of.
    pub entries: usize,
    /// The names of the first of them.
    pub named: Vec<String>,
}

impl PageOmissions {
    /// Names the entry that something is missing of.
    pub(crate) fn name(&mut self, id: &str) {
        self.entries += 1;
        if self.named.len() < NAMED {
            self.named.push(one_line(id, 40));
        }
    }

    /// Adds what is missing of later entries.
    pub(crate) fn merge(&mut self, later: Self) {
        self.lines += later.lines;
        self.pictures += later.pictures;
        self.texts += later.texts;
        self.bytes += later.bytes;
        self.entries += later.entries;
        let room = NAMED - self.named.len().min(NAMED);
        self.named.extend(later.named.into_iter().take(room));
    }

    /// How many things were left out.
    pub(crate) fn count(&self) -> usize {
        self.lines + self.pictures + self.texts
    }

    /// A sentence for people; `None` if nothing was left out.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let kinds = [
            (self.lines, "entry", "entries"),
            (self.pictures, "picture", "pictures"),
            (self.texts, "end of a long text", "ends of long texts"),
        ];
        let parts = kinds.into_iter().filter(|(count, ..)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, one, many)| counted(count as u64, one, many)).collect();
        let size = if self.bytes < 1_000_000 {
            format!("{} kB", self.bytes.div_ceil(1000))
        } else {
            format!("{} MB", self.bytes / 1_000_000)
        };
        let more = self.entries.saturating_sub(self.named.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let names = match self.named.as_slice() {
            [] => String::new(),
            [one] if more.is_empty() => format!(", of the entry {one}"),
            some => format!(", of the entries {}{more}", some.join(", ")),
        };
        (!parts.is_empty()).then(|| format!("The page leaves out {} ({size}){names}.", parts.join(" and ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_counted_and_named() {
        assert_eq!(PageOmissions::default().words(), None);
        let mut some = PageOmissions { lines: 1, pictures: 2, bytes: 2_400_000, ..PageOmissions::default() };
        some.name("1a");
        assert_eq!(some.words().unwrap(), "The page leaves out 1 entry and 2 pictures (2 MB), of the entry 1a.");
        let mut more = PageOmissions { texts: 4, bytes: 120, ..PageOmissions::default() };
        ["2b", "3c", "4d", "5e"].iter().for_each(|id| more.name(id));
        assert_eq!(
            more.words().unwrap(),
            "The page leaves out 4 ends of long texts (1 kB), of the entries 2b, 3c, 4d and 1 more."
        );
        some.merge(more);
        assert!(some.words().unwrap().ends_with("(2 MB), of the entries 1a, 2b, 3c and 2 more."), "{some:?}");
    }
}

//! What is too large for a page.

use offshoot_session::text::counted;

/// What a page leaves out. The session does not change.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// Longer lines are replaced by their size and the command that prints them; `None` is 64 MiB.
    pub line: Option<u64>,
    /// Pictures with more bytes of base64 are left out; `None` leaves out none.
    pub picture: Option<usize>,
}

/// What was too large for the page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Entries that became a notice.
    pub lines: usize,
    /// Pictures of other entries.
    pub pictures: usize,
    /// Bytes of both.
    pub bytes: u64,
}

impl LeftOut {
    /// A sentence for people; `None` if nothing was left out.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let lines = (self.lines > 0).then(|| counted(self.lines as u64, "entry", "entries"));
        let pictures = (self.pictures > 0).then(|| counted(self.pictures as u64, "picture", "pictures"));
        let parts: Vec<String> = [lines, pictures].into_iter().flatten().collect();
        let size = if self.bytes < 1_000_000 {
            format!("{} kB", self.bytes.div_ceil(1000))
        } else {
            format!("{} MB", self.bytes / 1_000_000)
        };
        (!parts.is_empty()).then(|| format!("The page leaves out {} ({size}).", parts.join(" and ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_counted() {
        assert_eq!(LeftOut::default().words(), None);
        let some = LeftOut { lines: 1, pictures: 2, bytes: 2_400_000 };
        assert_eq!(some.words().unwrap(), "The page leaves out 1 entry and 2 pictures (2 MB).");
        let picture = LeftOut { pictures: 1, bytes: 120, ..LeftOut::default() };
        assert_eq!(picture.words().unwrap(), "The page leaves out 1 picture (1 kB).");
    }
}

//! Three-way merges of texts by lines. What is changed on both sides, or side by side, is a conflict. Knows no file.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Larger texts are not merged: the work grows with the square of what differs.
const LONGEST: usize = 1 << 20;
const MOST_LINES: usize = 20_000;

/// Some lines of the base, and what one side has in their place.
struct Hunk<'a> {
    base: Range<usize>,
    lines: &'a [&'a str],
}

/// `theirs` with what changed between `base` and `ours`; `None` if that is not certain.
#[must_use]
pub(crate) fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    let text = |bytes| std::str::from_utf8(bytes).ok().filter(|text| text.len() <= LONGEST && !text.contains('\0'));
    let [base, ours, theirs] = [text(base)?, text(ours)?, text(theirs)?];
    let [base, ours, theirs] = [base, ours, theirs].map(|text| Vec::from_iter(text.split_inclusive('\n')));
    if [&base, &ours, &theirs].iter().any(|lines| lines.len() > MOST_LINES) {
        return None;
    }
    let (our_hunks, their_hunks) = (hunks(&base, &ours), hunks(&base, &theirs));
    let mut merged = String::new();
    let (mut at, mut left, mut right) = (0, our_hunks.iter().peekable(), their_hunks.iter().peekable());
    loop {
        let hunk = match (left.peek(), right.peek()) {
            (None, None) => break,
            (Some(_), None) => left.next(),
            (None, Some(_)) => right.next(),
            (Some(one), Some(other)) if one.base == other.base && one.lines == other.lines => {
                left.next();
                right.next()
            }
            // Hunks that touch are a conflict: their order is not certain.
            (Some(one), Some(other)) if one.base.start <= other.base.end && other.base.start <= one.base.end => {
                return None;
            }
            (Some(one), Some(other)) if one.base.start < other.base.start => left.next(),
            (Some(_), Some(_)) => right.next(),
        }?;
        base.get(at..hunk.base.start)?.iter().for_each(|line| merged.push_str(line));
        hunk.lines.iter().for_each(|line| merged.push_str(line));
        at = hunk.base.end;
    }
    base.get(at..)?.iter().for_each(|line| merged.push_str(line));
    Some(merged.into_bytes())
}

fn hunks<'a>(base: &[&str], other: &'a [&'a str]) -> Vec<Hunk<'a>> {
    let mut hunks: Vec<Hunk<'a>> = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, base, other) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (old, new) = (op.old_range(), op.new_range());
        hunks.push(Hunk { base: old, lines: other.get(new).unwrap_or_default() });
    }
    hunks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(base: &str, ours: &str, theirs: &str) -> Option<String> {
        merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn what_is_changed_apart_is_merged_and_what_touches_is_a_conflict() {
        let base = "1\n2\n3\n4\n5\n";
        assert_eq!(merged(base, "1\n3\n4\n5\n", "1\n2\n3\n4\nfive\n").as_deref(), Some("1\n3\n4\nfive\n"));
        assert_eq!(merged(base, base, "x\n").as_deref(), Some("x\n"));
        assert_eq!(merged(base, "0\n1\n2\n3\n4\n5\n", "1\n2\n3\n4\n5\n6\n").as_deref(), Some("0\n1\n2\n3\n4\n5\n6\n"));
        assert_eq!(merged(base, "1\nB\n3\n4\n5\n", "1\nC\n3\n4\n5\n"), None);
        assert_eq!(merged(base, "1\nB\n3\n4\n5\n", "1\n2\nC\n4\n5\n"), None, "neighbours");
        assert_eq!(merged(base, "1\nB\n3\n4\n5\n", "1\nB\n3\n4\n5\n").as_deref(), Some("1\nB\n3\n4\n5\n"));
        assert_eq!(merged("", "a\n", "b\n"), None);
        assert_eq!(merge(b"a\n\0", b"b\n\0", b"a\n\0"), None, "no text");
        assert_eq!(merge(b"a\xff", b"b", b"a"), None, "no UTF-8");
    }
}

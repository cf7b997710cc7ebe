//! The diff of an edit: as numbered lines, like pi's, and as a patch.

use std::ops::Range;

use similar::{ChangeTag, DiffOp, TextDiff};

const CONTEXT_LINES: usize = 4;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// Lines as `+12 new`, `-12 old`, ` 12 same`, with ` ... ` for omitted lines.
    pub(crate) diff: String,
    pub(crate) patch: String,
    /// The first changed line of the new text, counted from 1.
    pub(crate) first: Option<usize>,
}

pub(crate) fn change(path: &str, before: &str, after: &str) -> Change {
    let diff = TextDiff::from_lines(before, after);
    let same = match diff.ops().first() {
        Some(DiffOp::Equal { len, .. }) => *len,
        _ => 0,
    };
    Change {
        diff: numbered(&diff, before.split('\n').count().max(after.split('\n').count())),
        patch: patch(&diff, path),
        first: (before != after).then_some(same + 1),
    }
}

fn numbered(diff: &TextDiff<'_, '_, '_, str>, lines: usize) -> String {
    let width = lines.to_string().len();
    let mut shown: Vec<String> = Vec::new();
    // Counted here, because the position of a deletion in the other text is not always correct.
    let (mut old, mut new) = (1, 1);
    let ops = diff.ops();
    for (at, op) in ops.iter().enumerate() {
        let changes: Vec<_> = diff.iter_changes(op).collect();
        let skipped = match op {
            DiffOp::Equal { len, .. } => skipped(*len, at..ops.len()),
            _ => 0..0,
        };
        for (number, change) in changes.iter().enumerate() {
            let line = change.value().strip_suffix('\n').unwrap_or(change.value());
            let (sign, line_number) = match change.tag() {
                ChangeTag::Insert => ('+', new),
                ChangeTag::Delete => ('-', old),
                ChangeTag::Equal => (' ', old),
            };
            old += usize::from(change.tag() != ChangeTag::Insert);
            new += usize::from(change.tag() != ChangeTag::Delete);
            if !skipped.contains(&number) {
                shown.push(format!("{sign}{line_number:>width$} {line}"));
            } else if number == skipped.start {
                shown.push(format!(" {:width$} ...", ""));
            }
        }
    }
    shown.join("\n")
}

/// The lines to omit of `count` equal ones: those far from changes. `place` is the index of the group, and the number
/// of groups.
fn skipped(count: usize, place: Range<usize>) -> Range<usize> {
    let start = if place.start == 0 { 0 } else { CONTEXT_LINES.min(count) };
    let end = if place.start + 1 == place.end { count } else { count.saturating_sub(CONTEXT_LINES) };
    start..end.max(start)
}

fn patch(diff: &TextDiff<'_, '_, '_, str>, path: &str) -> String {
    let mut patch = format!("--- {path}\n+++ {path}\n");
    for group in diff.grouped_ops(CONTEXT_LINES) {
        // A group that starts with a change starts at the beginning of the text.
        let (old, new) = match group.first() {
            Some(DiffOp::Equal { old_index, new_index, .. }) => (*old_index, *new_index),
            _ => (0, 0),
        };
        let changes: Vec<_> = group.iter().flat_map(|op| diff.iter_changes(op)).collect();
        let range = |start: usize, other: ChangeTag| {
            let count = changes.iter().filter(|change| change.tag() != other).count();
            format!("{},{count}", start + usize::from(count > 0))
        };
        let (old, new) = (range(old, ChangeTag::Insert), range(new, ChangeTag::Delete));
        patch.push_str(&format!("@@ -{old} +{new} @@\n"));
        for change in &changes {
            let end = if change.missing_newline() { "\n\\ No newline at end of file\n" } else { "" };
            patch.push_str(&format!("{}{}{end}", change.tag(), change.value()));
        }
    }
    patch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_are_shown_with_numbers_and_some_lines_around() {
        let before: String = (1..=30).map(|n| format!("line {n}\n")).collect();
        let after =
            before.replace("line 10\n", "line ten\n").replace("line 25\n", "").replace("line 26\n", "26\nmore\n");
        let change = change("a.txt", &before, &after);
        assert_eq!(change.first, Some(10));
        insta::assert_snapshot!(change.diff, @"
            ...
          6 line 6
          7 line 7
          8 line 8
          9 line 9
        -10 line 10
        +10 line ten
         11 line 11
         12 line 12
         13 line 13
         14 line 14
            ...
         21 line 21
         22 line 22
         23 line 23
         24 line 24
        -25 line 25
        -26 line 26
        +25 26
        +26 more
         27 line 27
         28 line 28
         29 line 29
         30 line 30
        ");
        insta::assert_snapshot!(change.patch, @"
        --- a.txt
        +++ a.txt
        @@ -6,9 +6,9 @@
         line 6
         line 7
         line 8
         line 9
        -line 10
        +line ten
         line 11
         line 12
         line 13
         line 14
        @@ -21,10 +21,10 @@
         line 21
         line 22
         line 23
         line 24
        -line 25
        -line 26
        +26
        +more
         line 27
         line 28
         line 29
         line 30
        ");
    }

    #[test]
    fn a_deletion_before_a_repeated_line_is_told_where_it_is() {
        assert_eq!(change("f", "a\nb\nc\nd\n\ne\n", "a\n\n\ne\n").first, Some(2));
        assert_eq!(change("f", "a\n", "b\n").first, Some(1));
    }

    #[test]
    fn missing_line_feeds_and_new_files_are_told() {
        assert_eq!(change("f", "", "a\n").patch, "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+a\n");
        let patch = change("f", "a\nb", "a\nc").patch;
        assert!(patch.ends_with("-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"), "{patch}");
    }
}

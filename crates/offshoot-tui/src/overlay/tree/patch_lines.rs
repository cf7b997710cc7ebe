//! Patches of files as coloured lines, up to a limit. Does not use the tree.

use offshoot_agent::branch_files::FilePatch;
use offshoot_workspace::MOST_PATCH_LINES;

use crate::text::clean;
use crate::theme::Token;

/// The texts for files without a patch.
#[derive(Debug, Clone, Copy)]
pub(super) struct PatchWords {
    /// A content is not known.
    pub(super) unknown: &'static str,
    /// Nothing differs.
    pub(super) same: &'static str,
    /// There is no file.
    pub(super) none: &'static str,
}

/// The lines for the patches of files, with their colours.
pub(super) fn patch_lines(patches: &[FilePatch], words: PatchWords) -> Vec<(Token, String)> {
    let mut lines = Vec::new();
    for FilePatch { path, patch } in patches {
        lines.push((Token::Accent, format!("  {}", clean(path))));
        match patch.as_deref() {
            None => lines.push((Token::Muted, format!("  {}", words.unknown))),
            Some("") => lines.push((Token::Muted, format!("  {}", words.same))),
            Some(patch) => lines.extend(changes(patch).map(patch_line)),
        }
        lines.push((Token::Text, String::new()));
    }
    lines.pop();
    if lines.is_empty() {
        lines.push((Token::Muted, format!("  {}", words.none)));
    }
    if let Some(more) = lines.len().checked_sub(MOST_PATCH_LINES).filter(|more| *more > 0) {
        lines.truncate(MOST_PATCH_LINES);
        lines.push((Token::Muted, format!("  and {more} more lines")));
    }
    lines
}

/// A patch without the two lines before the first change, which name the file. Later lines may begin alike: a removed `-- x` is `--- x`.
fn changes(patch: &str) -> impl Iterator<Item = &str> {
    let mut lines = patch.lines().peekable();
    for name in ["--- ", "+++ "] {
        lines.next_if(|line| line.starts_with(name));
    }
    lines
}

fn patch_line(line: &str) -> (Token, String) {
    let token = match line.as_bytes().first() {
        Some(b'+') => Token::ToolDiffAdded,
        Some(b'-') => Token::ToolDiffRemoved,
        Some(b'@') => Token::Muted,
        _ => Token::ToolDiffContext,
    };
    (token, format!("  {}", clean(&line.replace('\t', "    "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: PatchWords = PatchWords { unknown: "unknown", same: "same", none: "none" };

    #[test]
    fn every_changed_line_is_shown() {
        let patch = "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- old comment\n+++ new\n same\n";
        let lines = patch_lines(&[FilePatch { path: "x.sql".to_owned(), patch: Some(patch.to_owned()) }], WORDS);
        let texts: Vec<&str> = lines.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["  x.sql", "  @@ -1,2 +1,2 @@", "  --- old comment", "  +++ new", "   same"]);
        assert_eq!(patch_lines(&[], WORDS), [(Token::Muted, "  none".to_owned())]);
    }
}

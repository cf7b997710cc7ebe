//! Patches of files as coloured lines, at most so many. Knows no tree.

use offshoot_agent::branch_files::FilePatch;

use crate::text::clean;
use crate::theme::Token;

/// More lines are not shown.
const MOST: usize = 10_000;

/// What is said where there is no patch.
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
            Some(patch) => lines.extend(patch.lines().filter(|line| !is_name(line)).map(patch_line)),
        }
        lines.push((Token::Text, String::new()));
    }
    lines.pop();
    if lines.is_empty() {
        lines.push((Token::Muted, format!("  {}", words.none)));
    }
    if let Some(more) = lines.len().checked_sub(MOST).filter(|more| *more > 0) {
        lines.truncate(MOST);
        lines.push((Token::Muted, format!("  and {more} more lines")));
    }
    lines
}

/// Whether a line names the files of a patch.
fn is_name(line: &str) -> bool {
    line.starts_with("--- ") || line.starts_with("+++ ")
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

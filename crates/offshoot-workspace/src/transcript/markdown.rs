//! Items as a Markdown document: a heading each, tool output in fences, long output folded. Stored text is kept, but what
//! cannot be seen is spelled out, so the file is safe to `cat`.

use std::io::{self, Write};

use offshoot_session::text::{spell_document, without_colours};
use offshoot_session::transcript::Item;

use super::{ItemHeading, ItemWords, Voice, say};

/// Longer output is folded.
const FOLDED: usize = 20;

/// Writes an item with its id and its label.
///
/// # Errors
/// `out` takes no more.
pub fn write(out: &mut dyn Write, item: &Item, id: &str, label: Option<&str>) -> io::Result<()> {
    let heading = ItemHeading::of(item);
    let beside = if heading.beside.is_empty() { String::new() } else { format!(", {}", heading.beside) };
    let label = label.map(|label| format!(" [{label}]")).unwrap_or_default();
    match heading.voice {
        Voice::Aside => return writeln!(out, "*{}*\n", escape(&heading.title)),
        Voice::User | Voice::Assistant | Voice::Mark => {
            writeln!(out, "## {}{}\n", escape(&heading.title), escape(&label))?;
        }
        Voice::Tool => writeln!(out, "### {}{}\n", escape(&heading.title), escape(&label))?,
    }
    writeln!(out, "<sub>{}{}</sub>\n", escape(id), escape(&beside))?;
    say(item, &mut Document { out })
}

struct Document<'a> {
    out: &'a mut dyn Write,
}

impl ItemWords for Document<'_> {
    fn text(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}\n", spell_document(text))
    }

    fn thinking(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "<details><summary>Thinking</summary>\n")?;
        fenced(self.out, text)?;
        writeln!(self.out, "</details>\n")
    }

    fn call(&mut self, line: &str) -> io::Result<()> {
        let ticks = "`".repeat(longest_run(line) + 1);
        let pad = if line.starts_with('`') || line.ends_with('`') { " " } else { "" };
        writeln!(self.out, "- {ticks}{pad}{line}{pad}{ticks}\n")
    }

    fn output(&mut self, text: &str) -> io::Result<()> {
        let text = &without_colours(text);
        let lines = text.lines().count();
        if lines <= FOLDED {
            return fenced(self.out, text);
        }
        writeln!(self.out, "<details><summary>{lines} lines</summary>\n")?;
        fenced(self.out, text)?;
        writeln!(self.out, "</details>\n")
    }

    fn block(&mut self, kind: &str) -> io::Result<()> {
        writeln!(self.out, "*({})*\n", escape(kind))
    }

    fn trouble(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.out, "**{}**\n", escape(line))
    }
}

/// A code block whose fence is longer than any run of backticks in it.
fn fenced(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let text = spell_document(text);
    let fence = "`".repeat((longest_run(&text) + 1).max(3));
    writeln!(out, "{fence}\n{}\n{fence}\n", text.trim_end())
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Text that means nothing in Markdown.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        let mut out = Vec::new();
        fenced(&mut out, "a\n````\nb").unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "`````\na\n````\nb\n`````\n\n");
    }

    #[test]
    fn long_output_is_folded() {
        let document = |lines: usize| {
            let mut out = Vec::new();
            Document { out: &mut out }.output(&"a\n".repeat(lines)).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert!(!document(FOLDED).contains("<details>"));
        let long = document(FOLDED + 1);
        assert!(long.starts_with("<details><summary>21 lines</summary>\n\n```\na\n"), "{long}");
        assert!(long.ends_with("a\n```\n\n</details>\n\n"), "{long}");
    }

    #[test]
    fn text_in_headings_means_nothing() {
        assert_eq!(escape("<b>_x_</b> `#1`"), "&lt;b&gt;\\_x\\_&lt;/b&gt; \\`\\#1\\`");
    }
}

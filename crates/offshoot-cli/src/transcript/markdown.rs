//! Turns as a Markdown document: a heading each, tool output in fences.

use std::io::{self, Write};

use super::{Part, Turn, Who};

/// Writes a turn.
pub(crate) fn write(out: &mut dyn Write, turn: &Turn, id: &str, label: Option<&str>) -> io::Result<()> {
    let beside = if turn.beside.is_empty() { String::new() } else { format!(", {}", turn.beside) };
    let label = label.map(|label| format!(" [{label}]")).unwrap_or_default();
    match turn.who {
        Who::Aside => return writeln!(out, "*{}*\n", escape(&turn.title)),
        Who::User | Who::Assistant | Who::Mark => {
            writeln!(out, "## {}{}\n", escape(&turn.title), escape(&label))?;
        }
        Who::Tool => writeln!(out, "### {}{}\n", escape(&turn.title), escape(&label))?,
    }
    writeln!(out, "<sub>{}{}</sub>\n", escape(id), escape(&beside))?;
    turn.parts.iter().try_for_each(|part| write_part(out, part))
}

fn write_part(out: &mut dyn Write, part: &Part) -> io::Result<()> {
    match part {
        Part::Text(text) => writeln!(out, "{text}\n"),
        Part::Thinking(text) => {
            writeln!(out, "<details><summary>Thinking</summary>\n")?;
            fenced(out, text)?;
            writeln!(out, "</details>\n")
        }
        Part::Call(call) => {
            let ticks = "`".repeat(longest_run(call) + 1);
            let pad = if call.starts_with('`') || call.ends_with('`') { " " } else { "" };
            writeln!(out, "- {ticks}{pad}{call}{pad}{ticks}\n")
        }
        Part::Output(text) => fenced(out, text),
        Part::Image(kind) => writeln!(out, "*({})*\n", escape(kind)),
        Part::Trouble(what) => writeln!(out, "**{}**\n", escape(what)),
    }
}

/// A code block whose fence is longer than any run of backticks in it.
fn fenced(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    writeln!(out, "{fence}\n{}\n{fence}\n", text.trim_end())
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Text whose characters mean nothing to Markdown or HTML.
pub(crate) fn escape(text: &str) -> String {
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
    fn text_in_headings_means_nothing() {
        assert_eq!(escape("<b>_x_</b> `#1`"), "&lt;b&gt;\\_x\\_&lt;/b&gt; \\`\\#1\\`");
    }
}

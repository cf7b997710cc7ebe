//! The whole text of an entry, for the preview and for the clipboard. It is read when the cursor reaches the entry.

use offshoot_session::entry::Source;
use offshoot_session::error::Result;
use offshoot_session::text::counted;
use offshoot_session::transcript::{End, Item, ItemPart};
use offshoot_session::tree::NodeIx;

use crate::markdown::plain;

/// The number of bytes of an entry that the preview keeps.
const KEPT: usize = 16 << 10;

/// The entry under the cursor.
#[derive(Debug, Default)]
pub(super) struct Preview {
    of: Option<NodeIx>,
    pub(super) text: String,
    pub(super) top: usize,
}

impl Preview {
    /// Reads an entry, unless it is already loaded.
    pub(super) fn fetch(&mut self, source: &dyn Source, ix: Option<NodeIx>) {
        if self.of == ix {
            return;
        }
        let text = ix.map(|ix| entry_text(source, ix));
        *self = Self { of: ix, text: text.unwrap_or_default(), top: 0 };
    }

    pub(super) fn scroll(&mut self, down: bool) {
        self.top = if down { self.top + 3 } else { self.top.saturating_sub(3) };
    }
}

fn entry_text(source: &dyn Source, ix: NodeIx) -> String {
    let entry = match source.entry(ix) {
        Ok(entry) => entry,
        Err(error) => return error.to_string(),
    };
    if let Some(damage) = entry.damage() {
        return format!("This line is damaged: {damage}");
    }
    let item = Item::of_entry(&entry);
    let mut text =
        item.as_ref().and_then(whole).filter(|text| !text.trim().is_empty()).unwrap_or_else(|| entry.line().to_owned());
    if text.len() > KEPT {
        let mut end = KEPT;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let more = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("\n… and {}", counted(more, "more byte", "more bytes")));
    }
    text
}

/// The whole text of an item, with its calls and results; `None` if it has no text.
fn whole(item: &Item) -> Option<String> {
    let said = |parts: &[ItemPart]| parts.iter().map(block).collect::<Vec<_>>().join("\n");
    let answered = |parts: &[ItemPart]| {
        let words = parts.iter().map(|part| match part {
            ItemPart::Text(text) => without_markdown(text),
            part => block(part),
        });
        words.collect::<Vec<_>>().join("\n")
    };
    match item {
        Item::User(parts) | Item::Note { parts, .. } | Item::System { parts, .. } => Some(said(parts)),
        Item::Answer(answer) => {
            let said = Some(answered(&answer.parts)).filter(|_| !answer.parts.is_empty());
            let all: Vec<_> = said.into_iter().chain(answer.end.words()).collect();
            Some(all.join("\n"))
        }
        Item::Result(result) => Some(said(&result.parts)),
        Item::Run(run) => Some(format!("{} {}\n{}", run.language.prompt(), run.command, run.output)),
        Item::Summary(summary) => Some(without_markdown(&summary.text)),
        Item::Notice(..) => None,
    }
}

/// The lines of a text without markdown. Code stays unchanged.
fn without_markdown(text: &str) -> String {
    let (mut lines, mut is_code) = (Vec::new(), false);
    for line in text.lines() {
        let start = line.trim_start();
        if start.starts_with("```") || start.starts_with("~~~") {
            is_code = !is_code;
        } else if is_code || start.is_empty() {
            lines.push(line.to_owned());
        } else {
            let item = start.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with(' '));
            let words = plain(item.unwrap_or(start), usize::MAX);
            let mark = if item.is_some() { "- " } else { "" };
            lines.extend(Some(format!("{mark}{words}")).filter(|_| !words.is_empty()));
        }
    }
    lines.join("\n")
}

fn block(part: &ItemPart) -> String {
    match part {
        ItemPart::Text(text) => text.clone(),
        ItemPart::Thinking(text) => format!("(thinking) {text}"),
        ItemPart::Call(call) => format!("[{}] {}", call.name, call.arguments),
        ItemPart::Picture(_) => "[image]".to_owned(),
        ItemPart::Other(kind) => format!("[{kind}]"),
    }
}

/// The text to copy from an entry: the text of a message, a command, an error or a summary.
pub(super) fn copied(source: &dyn Source, ix: NodeIx) -> Result<Option<String>> {
    let words = |parts: &[ItemPart]| {
        let texts = parts.iter().filter_map(|part| match part {
            ItemPart::Text(text) => Some(text.as_str()),
            ItemPart::Thinking(_) | ItemPart::Call(_) | ItemPart::Picture(_) | ItemPart::Other(_) => None,
        });
        texts.collect::<String>()
    };
    let text = Item::of_entry(&source.entry(ix)?).and_then(|item| match item {
        Item::User(parts) | Item::Note { parts, .. } | Item::System { parts, .. } => Some(words(&parts)),
        Item::Answer(answer) => match (words(&answer.parts), answer.end) {
            (said, End::Error(why)) if said.is_empty() => Some(why),
            (said, _) => Some(said),
        },
        Item::Result(result) => Some(words(&result.parts)),
        Item::Run(run) => Some(run.command),
        Item::Summary(summary) => Some(summary.text),
        Item::Notice(..) => None,
    });
    Ok(text.filter(|text| !text.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_words_and_code_stays() {
        let text = "## Done\n\nThe **last** page, see [`pager.rs`](src/pager.rs):\n- one *less*\n\n| pages | last |\n|---|---|\n```rust\nlet x = **y;\n```\n1 < 2 and a_b_c";
        assert_eq!(
            without_markdown(text),
            "Done\n\nThe last page, see pager.rs:\n- one less\n\npages last\nlet x = **y;\n1 < 2 and a_b_c"
        );
    }
}

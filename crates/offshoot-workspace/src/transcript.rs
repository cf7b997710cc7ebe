//! A transcript as text: the heading of an item and the order of its parts. `screen` and `markdown` render them and
//! make them harmless.

pub mod markdown;
pub mod screen;
pub(crate) mod document;

use std::io;

use offshoot_session::call_view::CallView;
use offshoot_session::text::one_line;
use offshoot_session::transcript::{Item, ItemPart, Summarised};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    User,
    Assistant,
    Tool,
    /// A compaction, a branch summary or a note.
    Mark,
    /// A setting or another small item without a body.
    Aside,
}

/// The line above an item, harmless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ItemHeading {
    pub(crate) voice: Voice,
    /// One or two words: `user`, `assistant`, the tool's name.
    pub(crate) title: String,
    pub(crate) beside: String,
}

impl ItemHeading {
    pub(crate) fn of(item: &Item) -> Self {
        let (voice, title, beside) = match item {
            Item::User(_) => (Voice::User, "user", String::new()),
            Item::Answer(answer) => (Voice::Assistant, "assistant", answer.model.clone()),
            Item::Result(result) => {
                let remarks = [result.is_error.then_some("failed"), result.duration.as_deref()];
                (Voice::Tool, result.tool.as_str(), remarks.into_iter().flatten().collect::<Vec<_>>().join(", "))
            }
            Item::Run(run) => (Voice::Tool, run.language.name(), run.remarks.join(", ")),
            Item::Summary(summary) => (Voice::Mark, summary.label, summarised(&summary.of)),
            Item::Note { label, .. } => (Voice::Mark, label.as_str(), String::new()),
            Item::Notice(_, words) => (Voice::Mark, words.as_str(), String::new()),
            Item::System { label, parts } if parts.is_empty() => (Voice::Aside, label.as_str(), String::new()),
            Item::System { label, .. } => (Voice::Mark, label.as_str(), String::new()),
        };
        Self { voice, title: one_line(title, 60), beside: one_line(&beside, 80) }
    }
}

/// Receives the parts of an item, as stored.
pub(crate) trait ItemWords {
    fn text(&mut self, text: &str) -> io::Result<()>;
    fn thinking(&mut self, text: &str) -> io::Result<()>;
    fn call(&mut self, line: &str) -> io::Result<()>;
    fn output(&mut self, text: &str) -> io::Result<()>;
    /// A picture or another block, by its type.
    fn block(&mut self, kind: &str) -> io::Result<()>;
    /// An error, on one line.
    fn trouble(&mut self, line: &str) -> io::Result<()>;
}

pub(crate) fn say(item: &Item, words: &mut dyn ItemWords) -> io::Result<()> {
    match item {
        Item::User(parts) | Item::Note { parts, .. } | Item::System { parts, .. } => say_parts(parts, words),
        Item::Answer(answer) => {
            say_parts(&answer.parts, words)?;
            answer.end.words().map_or(Ok(()), |end| words.trouble(&one_line(&end, 400)))
        }
        Item::Result(result) => result.parts.iter().try_for_each(|part| match part {
            ItemPart::Text(text) if !text.trim().is_empty() => words.output(text.trim_end()),
            part => say_part(part, words),
        }),
        Item::Run(run) => {
            words.call(&one_line(&format!("{} {}", run.language.prompt(), run.command), 400))?;
            words.output(&run.output)
        }
        Item::Summary(summary) if summary.text.trim().is_empty() => Ok(()),
        Item::Summary(summary) => words.text(summary.text.trim_end()),
        Item::Notice(..) => Ok(()),
    }
}

/// The part of the conversation that a summary replaces. A branch is named by an id that `switch` takes.
fn summarised(of: &Summarised) -> String {
    match of {
        Summarised::Unknown | Summarised::Tokens(_) => of.size_words().unwrap_or_default(),
        Summarised::BranchTo(leaf) => format!("of the branch that ended at {leaf}"),
    }
}

fn say_parts(parts: &[ItemPart], words: &mut dyn ItemWords) -> io::Result<()> {
    parts.iter().try_for_each(|part| say_part(part, words))
}

fn say_part(part: &ItemPart, words: &mut dyn ItemWords) -> io::Result<()> {
    match part {
        ItemPart::Text(text) | ItemPart::Thinking(text) | ItemPart::Other(text) if text.trim().is_empty() => Ok(()),
        ItemPart::Text(text) => words.text(text.trim_end()),
        ItemPart::Thinking(text) => words.thinking(text.trim()),
        ItemPart::Call(call) => words.call(&CallView::of_call(call).line(200)),
        ItemPart::Picture(picture) if picture.mime_type.is_empty() => words.block("image"),
        ItemPart::Picture(picture) => words.block(&one_line(&picture.mime_type, 40)),
        ItemPart::Other(kind) => words.block(&one_line(kind, 40)),
    }
}

/// How the item begins, in at most `max` characters.
#[must_use]
pub fn first_words(item: &Item, max: usize) -> String {
    let mut first = FirstWords(None);
    // Nothing is written, so nothing can fail.
    drop(say(item, &mut first));
    first.0.map(|words| one_line(&words, max)).unwrap_or_default()
}

struct FirstWords(Option<String>);

impl FirstWords {
    fn take(&mut self, words: &str) -> io::Result<()> {
        self.0.get_or_insert_with(|| words.to_owned());
        Ok(())
    }
}

impl ItemWords for FirstWords {
    fn text(&mut self, text: &str) -> io::Result<()> {
        self.take(text)
    }

    fn thinking(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn call(&mut self, line: &str) -> io::Result<()> {
        self.take(line)
    }

    fn output(&mut self, text: &str) -> io::Result<()> {
        self.take(text)
    }

    fn block(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn trouble(&mut self, line: &str) -> io::Result<()> {
        self.take(line)
    }
}

#[cfg(test)]
mod tests {
    use offshoot_session::json::Json;
    use offshoot_session::kind::Role;
    use offshoot_session::text::steers;

    use super::*;
    use crate::words::WordsBlock;

    /// Each kind of message with hostile text in every field.
    #[test]
    fn nothing_in_a_transcript_steers_a_terminal() {
        let hostile = "\\u001b[2J\\u0007\\u009b2J\\u202ex";
        for (role, message) in [
            (Role::User, format!(r#"{{"content":"{hostile}"}}"#)),
            (
                Role::Assistant,
                format!(
                    r#"{{"content":[{{"type":"toolCall","name":"{hostile}","arguments":{{"path":"{hostile}"}}}},{{"type":"thinking","thinking":"{hostile}"}},{{"type":"{hostile}"}}],"model":"{hostile}","errorMessage":"{hostile}"}}"#
                ),
            ),
            (
                Role::ToolResult,
                format!(r#"{{"toolName":"{hostile}","content":[{{"type":"text","text":"{hostile}"}}]}}"#),
            ),
            (Role::BashExecution, format!(r#"{{"command":"{hostile}","output":"{hostile}"}}"#)),
            (Role::Unknown, format!(r#"{{"role":"{hostile}","content":"{hostile}"}}"#)),
        ] {
            let item = Item::of_message(role, Json::parse(&message).unwrap());
            let (mut shown, mut written) = (String::new(), Vec::new());
            let mut say = |block: &WordsBlock| {
                shown += &block.plain().unwrap_or_default();
                Ok(())
            };
            let whole = screen::ScreenItem::of(&item, screen::Length::Whole);
            screen::TranscriptScreen::new(&mut say).item(&whole, &screen::Heading::default()).unwrap();
            markdown::write(&mut written, &item, "id", None).unwrap();
            for text in [shown, String::from_utf8(written).unwrap()] {
                assert!(!text.contains(steers) && text.contains('x'), "{text:?}");
            }
        }
    }
}

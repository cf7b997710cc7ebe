//! What an entry says, whole: for the preview, and for the clipboard. Read when the cursor comes to it.

use offshoot_session::entry::{Entry, Source, text_of};
use offshoot_session::error::Result;
use offshoot_session::json::Json;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::tree::NodeIx;

/// How much of an entry is kept for the preview.
const KEPT: usize = 16 << 10;

/// The entry under the cursor.
#[derive(Debug, Default)]
pub(super) struct Preview {
    of: Option<NodeIx>,
    pub(super) text: String,
    pub(super) top: usize,
}

impl Preview {
    /// Reads an entry, unless it is the one that was read last.
    pub(super) fn fetch(&mut self, source: &dyn Source, ix: Option<NodeIx>) {
        if self.of == ix {
            return;
        }
        let text = ix.map(|ix| said(source, ix));
        *self = Self { of: ix, text: text.unwrap_or_default(), top: 0 };
    }

    pub(super) fn scroll(&mut self, down: bool) {
        self.top = if down { self.top + 3 } else { self.top.saturating_sub(3) };
    }
}

/// What the preview shows.
fn said(source: &dyn Source, ix: NodeIx) -> String {
    let entry = match source.entry(ix) {
        Ok(entry) => entry,
        Err(error) => return error.to_string(),
    };
    if let Some(damage) = entry.damage() {
        return format!("This line is damaged: {damage}");
    }
    let mut text = whole(&entry).filter(|text| !text.trim().is_empty()).unwrap_or_else(|| entry.line().to_owned());
    if text.len() > KEPT {
        let mut end = KEPT;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let more = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("\n… and {more} bytes more"));
    }
    text
}

/// All that an entry says, with what was called and answered; `None` if it says nothing in words.
fn whole(entry: &Entry) -> Option<String> {
    match entry.kind {
        Kind::Message => {
            let message = entry.message()?;
            let mut parts: Vec<String> =
                message.str("command").map(|command| format!("$ {command}")).into_iter().collect();
            match message.get("content") {
                Some(content) if content.as_str().is_some() => parts.push(text_of(content, "")),
                Some(content) => parts.extend(content.items().filter_map(block)),
                None => {}
            }
            parts.extend(message.str("output").map(std::borrow::Cow::into_owned));
            parts.extend(message.str("errorMessage").map(|error| format!("error: {error}")));
            Some(parts.join("\n"))
        }
        Kind::CustomMessage => Some(text_of(entry.get("content")?, "\n")),
        Kind::Compaction | Kind::BranchSummary => entry.str("summary").map(std::borrow::Cow::into_owned),
        _ => None,
    }
}

/// A block of a message.
fn block(block: Json<'_>) -> Option<String> {
    Some(match block.str("type")?.as_ref() {
        "text" => block.str("text")?.into_owned(),
        "thinking" => format!("(thinking) {}", block.str("thinking")?),
        "toolCall" => {
            let arguments = block.get("arguments").map_or("", Json::text);
            format!("[{}] {arguments}", block.str("name")?)
        }
        "image" => "[image]".to_owned(),
        other => format!("[{other}]"),
    })
}

/// What is copied of an entry: the words of a message, a command, an error, a summary.
pub(super) fn copied(source: &dyn Source, ix: NodeIx) -> Result<Option<String>> {
    let entry = source.entry(ix)?;
    let text = match (entry.kind, entry.role) {
        (Kind::Message, Some(Role::BashExecution)) => {
            entry.message().and_then(|message| message.str("command").map(std::borrow::Cow::into_owned))
        }
        (Kind::Message, role) => entry.message().and_then(|message| {
            let said = message.get("content").map(|content| text_of(content, "")).filter(|said| !said.is_empty());
            let error = || message.str("errorMessage").map(std::borrow::Cow::into_owned);
            said.or_else(|| error().filter(|_| role == Some(Role::Assistant)))
        }),
        (Kind::CustomMessage, _) => entry.get("content").map(|content| text_of(content, "")),
        (Kind::Compaction | Kind::BranchSummary, _) => entry.str("summary").map(std::borrow::Cow::into_owned),
        _ => None,
    };
    Ok(text.filter(|text| !text.trim().is_empty()))
}

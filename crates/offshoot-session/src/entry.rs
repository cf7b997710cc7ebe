//! An entry with its body, and the trait through which everything above the tree reads bodies. Knows what a line says,
//! not where lines are stored.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::clock::{Millis, parse_iso};
use crate::error::Result;
use crate::facts::Facts;
use crate::id::EntryId;
use crate::json::{Json, JsonKind, Object, SyntaxError, validate_members};
use crate::kind::{Kind, Role};
use crate::tree::{NodeIx, Tree};

/// A version 3 entry: its node's envelope and its whole line.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names of the other fields say what they are")]
pub struct Entry {
    /// The entry's index in the tree.
    pub ix: NodeIx,
    /// `None` for some foreign lines.
    pub id: Option<EntryId>,
    pub kind: Kind,
    pub role: Option<Role>,
    line: String,
    damage: Option<SyntaxError>,
    message: Message,
}

/// The place of the message in the line, found while the line was checked.
#[derive(Debug, Clone)]
enum Message {
    At(Option<Range<usize>>),
    /// A member's name is escaped, so the message is searched for when needed.
    Unknown,
}

#[expect(missing_docs, reason = "the name says it")]
impl Entry {
    /// Combines a node with its line, and checks the line once.
    pub fn new(tree: &Tree, ix: NodeIx, line: String) -> Self {
        let node = tree.node(ix);
        let (mut message, mut is_plain) = (None, true);
        let damage = validate_members(line.as_bytes(), |name, value| {
            is_plain &= !name.contains(&b'\\');
            if name == b"message" {
                let start = value.as_ptr() as usize - line.as_ptr() as usize;
                message = Some(start..start + value.len());
            }
        })
        .err();
        let message = if is_plain { Message::At(message) } else { Message::Unknown };
        Self { ix, id: node.id().cloned(), kind: node.kind(), role: node.role(), line, damage, message }
    }

    /// The line, without line feed.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// The position at which the line stops being JSON. Such an entry keeps its place in the tree but has no content.
    pub fn damage(&self) -> Option<SyntaxError> {
        self.damage
    }

    /// The line, or for a damaged entry `{"type","id","parentId","timestamp":null,"damage":{"offset","message"}}`.
    pub fn to_json(&self, tree: &Tree) -> Cow<'_, str> {
        let Some(damage) = self.damage else { return Cow::Borrowed(&self.line) };
        let said = Object::new().raw("offset", damage.at).str("message", &damage.to_string()).finish();
        let object = Object::new()
            .str("type", self.kind.word().unwrap_or("unknown"))
            .str_or_null("id", self.id.as_ref().map(EntryId::as_str))
            .str_or_null("parentId", tree.parent_id(self.ix).map(EntryId::as_str))
            .raw("timestamp", "null")
            .raw("damage", said);
        Cow::Owned(object.finish())
    }

    /// A view of the line; `null` if it is damaged.
    pub fn json(&self) -> Json<'_> {
        Json::trusted(if self.damage.is_some() { "null" } else { &self.line })
    }

    /// A member of the entry's object.
    pub fn get(&self, name: &str) -> Option<Json<'_>> {
        self.json().get(name)
    }

    pub fn str(&self, name: &str) -> Option<Cow<'_, str>> {
        self.json().str(name)
    }

    /// The message of a message entry.
    pub fn message(&self) -> Option<Json<'_>> {
        let message = match &self.message {
            _ if self.damage.is_some() => None,
            Message::At(span) => span.clone().and_then(|span| self.line.get(span)).map(Json::trusted),
            Message::Unknown => self.get("message"),
        };
        message.filter(|message| !message.is_null())
    }

    /// The timestamp as JavaScript's `new Date(timestamp).getTime()` returns it; `None` for NaN.
    pub fn js_time(&self) -> Option<Millis> {
        let value = self.get("timestamp")?;
        match value.kind() {
            JsonKind::String => parse_iso(&value.as_str()?),
            JsonKind::Number => value.as_f64().map(|number| number.trunc() as Millis),
            JsonKind::Null => Some(0),
            JsonKind::Bool => Some(i64::from(value.as_bool()?)),
            JsonKind::Array | JsonKind::Object => None,
        }
    }
}

/// Provides the bodies of a tree's entries, to several threads at once.
#[expect(missing_docs, reason = "the name says it")]
pub trait Source: Sync {
    fn tree(&self) -> &Tree;

    /// Reads an entry with its body. A damaged line is not an error; see [`Entry::damage`].
    fn entry(&self, ix: NodeIx) -> Result<Entry>;

    /// The bytes of a blob that a message refers to (see [`crate::blobs`]), if the source has them.
    fn blob(&self, _hash: &str) -> Option<Vec<u8>> {
        None
    }

    /// A view of the same entries for a pass over many: what it keeps in memory is freed with it. `None` if the source
    /// itself keeps no more.
    fn view(&self) -> Option<Box<dyn Source + '_>> {
        None
    }

    /// The source's facts about all bodies; `None` if it keeps none.
    fn facts(&self) -> Result<Option<Arc<Facts>>> {
        Ok(None)
    }

    /// The first byte and the length (without line feed) of the entry's line, if the medium has it as version 3.
    fn raw_span(&self, ix: NodeIx) -> Option<(u64, u64)>;

    /// The entry's version 3 line as a range of the medium (first byte, length) and a text that follows it; `None` if
    /// more than the line's end differs.
    fn splice(&self, ix: NodeIx) -> Result<Option<(u64, u64, String)>> {
        Ok(self.raw_span(ix).map(|(offset, length)| (offset, length, String::new())))
    }
}

/// Whether JavaScript converts the value to true.
pub(crate) fn is_truthy(value: Json<'_>) -> bool {
    match value.kind() {
        JsonKind::Null => false,
        JsonKind::Bool => value.text() == "true",
        JsonKind::Number => value.as_f64().is_some_and(|number| number != 0.0),
        JsonKind::String => value.text() != "\"\"",
        JsonKind::Array | JsonKind::Object => true,
    }
}

/// The text of a message's content: the string, or its text blocks joined by `separator`.
pub fn text_of(content: Json<'_>, separator: &str) -> String {
    if let Some(text) = content.as_str() {
        return text.into_owned();
    }
    let blocks = content.items().filter(|block| block.str("type").is_some_and(|kind| kind == "text"));
    let texts: Vec<_> = blocks.map(|block| block.str("text").unwrap_or_default().into_owned()).collect();
    texts.join(separator)
}

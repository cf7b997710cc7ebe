//! One entry with its body, and the seam through which everything above the tree asks for bodies.
//!
//! Knows what a line says, not where lines are kept.

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

/// An entry as version 3 has it: its node and its whole line.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Where it stands in the tree.
    pub ix: NodeIx,
    /// Its id; a foreign line may have none.
    pub id: Option<EntryId>,
    /// Its type.
    pub kind: Kind,
    /// Its role, of a message.
    pub role: Option<Role>,
    line: String,
    damage: Option<SyntaxError>,
    message: Message,
}

/// Where in a line its message stands, as the check of the line found it.
#[derive(Debug, Clone)]
enum Message {
    At(Option<Range<usize>>),
    /// A member's name is escaped: it is looked for when it is wanted.
    Unknown,
}

impl Entry {
    /// Puts a line to its node. The line is checked once, here.
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

    /// Where the line stops being JSON, if it does: then the entry has a place in the tree but says nothing.
    pub fn damage(&self) -> Option<SyntaxError> {
        self.damage
    }

    /// The entry as one JSON object: its line, or for a damaged one an object that says who it is and where it breaks:
    /// `{"type","id","parentId","timestamp":null,"damage":{"offset","message"}}`.
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

    /// The line as a view; `null` if it is damaged.
    pub fn json(&self) -> Json<'_> {
        Json::trusted(if self.damage.is_some() { "null" } else { &self.line })
    }

    /// A member of the entry.
    pub fn get(&self, name: &str) -> Option<Json<'_>> {
        self.json().get(name)
    }

    /// A string member of the entry.
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

    /// The timestamp as JavaScript's `new Date(timestamp).getTime()` gives it; `None` is its NaN.
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

/// Gives the bodies of a tree's entries, to several threads at once.
pub trait Source: Sync {
    /// The tree.
    fn tree(&self) -> &Tree;

    /// An entry with its body.
    ///
    /// # Errors
    /// The medium cannot be read. A damaged line is no error: see [`Entry::damage`].
    fn entry(&self, ix: NodeIx) -> Result<Entry>;

    /// The bytes of a blob that a message refers to (see [`crate::blobs`]), if this source has them.
    fn blob(&self, _hash: &str) -> Option<Vec<u8>> {
        None
    }

    /// What this source knows of all its entries' bodies; `None` if it keeps no such thing.
    ///
    /// # Errors
    /// The medium cannot be read.
    fn facts(&self) -> Result<Option<Arc<Facts>>> {
        Ok(None)
    }

    /// Where the entry's line stands, if it stands there as version 3 has it: first byte and length without line feed.
    fn raw_span(&self, ix: NodeIx) -> Option<(u64, u64)>;

    /// The entry's line as version 3 has it, as bytes that stand in the medium and text behind them: first byte, length,
    /// text; `None` if more than its end is different.
    ///
    /// # Errors
    /// The medium cannot be read.
    fn splice(&self, ix: NodeIx) -> Result<Option<(u64, u64, String)>> {
        Ok(self.raw_span(ix).map(|(offset, length)| (offset, length, String::new())))
    }
}

/// Whether JavaScript takes the value for true.
pub(crate) fn is_truthy(value: Json<'_>) -> bool {
    match value.kind() {
        JsonKind::Null => false,
        JsonKind::Bool => value.text() == "true",
        JsonKind::Number => value.as_f64().is_some_and(|number| number != 0.0),
        JsonKind::String => value.text() != "\"\"",
        JsonKind::Array | JsonKind::Object => true,
    }
}

/// The text of a message's content: a string, or its text blocks joined by `separator`.
pub fn text_of(content: Json<'_>, separator: &str) -> String {
    if let Some(text) = content.as_str() {
        return text.into_owned();
    }
    let blocks = content.items().filter(|block| block.str("type").is_some_and(|kind| kind == "text"));
    let texts: Vec<_> = blocks.map(|block| block.str("text").unwrap_or_default().into_owned()).collect();
    texts.join(separator)
}

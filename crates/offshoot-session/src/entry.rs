//! An entry with its body, and the trait through which everything above the tree reads bodies. Knows what a line says,
//! not where lines are stored.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::clock::{Millis, parse_iso};
use crate::error::Result;
use crate::facts::Facts;
use crate::id::EntryId;
use crate::json::{Json, JsonKind, Level, Object, SyntaxError, validate_levels};
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
    members: Option<Members>,
}

/// Where the members of the line's object and of its message are, found while the line was checked. There is none for a
/// line with more than [`MOST_MEMBERS`] of them, or with escapes in their names: those are searched for when needed.
#[derive(Debug, Clone)]
struct Members(Vec<Member>);

/// Members that are kept of a line.
const MOST_MEMBERS: usize = 48;

#[derive(Debug, Clone)]
struct Member {
    level: Level,
    name: Range<usize>,
    value: Range<usize>,
}

impl Members {
    /// Of a line, which it checks.
    fn find(line: &str) -> (Option<Self>, Option<SyntaxError>) {
        let (mut found, mut is_plain) = (Vec::with_capacity(MOST_MEMBERS / 2), true);
        let span = |part: &[u8]| {
            let start = part.as_ptr() as usize - line.as_ptr() as usize;
            start..start + part.len()
        };
        let checked = validate_levels(line.as_bytes(), b"message", |level, name, value| {
            is_plain &= found.len() < MOST_MEMBERS && !name.contains(&b'\\');
            if is_plain {
                found.push(Member { level, name: span(name), value: span(value) });
            }
        });
        (is_plain.then_some(Self(found)), checked.err())
    }

    /// The last member of this name at or after a byte of the line.
    fn get<'a>(&self, line: &'a str, (level, from): (Level, usize), name: &str) -> Option<Json<'a>> {
        let is_it = |member: &&Member| {
            member.level == level && member.value.start >= from && line.get(member.name.clone()) == Some(name)
        };
        self.0.iter().rev().find(is_it).and_then(|member| line.get(member.value.clone())).map(Json::trusted)
    }
}

#[expect(missing_docs, reason = "the name says it")]
impl Entry {
    /// Combines a node with its line, and checks the line once.
    pub fn new(tree: &Tree, ix: NodeIx, line: String) -> Self {
        let node = tree.node(ix);
        let (members, damage) = Members::find(&line);
        Self { ix, id: node.id().cloned(), kind: node.kind(), role: node.role(), line, damage, members }
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
        match &self.members {
            _ if self.damage.is_some() => None,
            Some(members) => members.get(&self.line, (Level::Own, 0), name),
            None => self.json().get(name),
        }
    }

    pub fn str(&self, name: &str) -> Option<Cow<'_, str>> {
        self.get(name)?.as_str()
    }

    /// The message of a message entry.
    pub fn message(&self) -> Option<Json<'_>> {
        self.get("message").filter(|message| !message.is_null())
    }

    /// A member of the message, without a walk over the message.
    pub fn of_message(&self, name: &str) -> Option<Json<'_>> {
        let message = self.message()?;
        match &self.members {
            Some(members) => members.get(&self.line, (Level::Within, message.span_in(&self.line).start), name),
            None => message.get(name),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Options, Session};

    #[test]
    fn members_are_those_that_a_walk_finds() {
        let many: String = (0..100).map(|at| format!(r#""m{at}":{at},"#)).collect();
        let messages = [
            r#""message":{"role":"user","content":[{"usage":1}],"usage":{"a":2},"usage":3}"#.to_owned(),
            r#""message":{"content":1},"message":{"usage":2}"#.to_owned(),
            r#""message":{"content":1,"usage":2},"message":[{"content":3}]"#.to_owned(),
            r#""message":{"content":1},"message":null"#.to_owned(),
            r#""message":{"cont\u0065nt":1,"usage":2}"#.to_owned(),
            r#""mess\u0061ge":{"content":1},"usage":2"#.to_owned(),
            format!(r#"{many}"message":{{{many}"content":4}}"#),
            r#""message":"text""#.to_owned(),
            r#""message":{}"#.to_owned(),
            r#""content":{"message":{"content":1}}"#.to_owned(),
            r#""message":{"content":1},"message":{"content":2"#.to_owned(),
        ];
        for message in messages {
            let line = format!(r#"{{"type":"message","id":"a","parentId":null,{message}}}"#);
            let text = format!("{{\"type\":\"session\",\"version\":3,\"id\":\"s\"}}\n{line}\n");
            let session = Session::from_text(&text, Options::default()).unwrap();
            let Some(ix) = session.tree().entries().next() else { continue };
            let entry = session.entry(ix).unwrap();
            let (json, walked) = (entry.json(), entry.json().get("message").filter(|message| !message.is_null()));
            assert_eq!(entry.message(), walked, "{line}");
            for name in ["content", "usage", "role", "m0", "m99", "message", "id"] {
                assert_eq!(entry.get(name), json.get(name), "{name} of {line}");
                assert_eq!(entry.of_message(name), walked.and_then(|message| message.get(name)), "{name} in {line}");
            }
        }
    }
}

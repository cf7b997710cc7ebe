//! An entry with its body, and the trait through which everything above the tree reads bodies. Knows what a line says,
//! not where lines are stored.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::clock::{Millis, parse_iso};
use crate::error::Result;
use crate::facts::Facts;
use crate::id::EntryId;
use crate::json::{Items, Json, JsonKind, MemberLevel, MembersBelow, Object, SyntaxError, validate_levels};
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

/// Where the members of the line's object, of its message and of the message's content blocks are, found while the line
/// was checked. There is none for a line with more than [`MOST_MEMBERS`] of them, or with escapes in their names: those
/// are searched for when needed.
#[derive(Debug, Clone)]
struct Members {
    of_entry: Vec<Member>,
    /// The members of each block, and then the block.
    of_blocks: Option<Vec<Member>>,
}

/// Members that are kept of a line, and members and blocks of its content.
const MOST_MEMBERS: usize = 48;
const MOST_BLOCK_MEMBERS: usize = 256;

const MESSAGE: MembersBelow = MembersBelow { within: b"message", list: b"content" };

#[derive(Debug, Clone)]
struct Member {
    level: MemberLevel,
    name: Range<usize>,
    value: Range<usize>,
}

impl Member {
    fn is_named(&self, line: &str, name: &str) -> bool {
        self.name.len() == name.len() && line.get(self.name.clone()) == Some(name)
    }

    fn value<'a>(&self, line: &'a str) -> Json<'a> {
        Json::trusted(line.get(self.value.clone()).unwrap_or_default())
    }
}

impl Members {
    /// Of a line, which it checks.
    fn find(line: &str) -> (Option<Self>, Option<SyntaxError>) {
        let (mut of_entry, mut is_plain) = (Vec::with_capacity(MOST_MEMBERS / 3), true);
        let (mut of_blocks, mut are_plain) = (Vec::new(), true);
        let span = |part: &[u8]| {
            let start = (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
            start..start + part.len()
        };
        let checked = validate_levels(line.as_bytes(), MESSAGE, |level, name, value| {
            let (found, is_plain, most) = match level {
                MemberLevel::Own | MemberLevel::Within => (&mut of_entry, &mut is_plain, MOST_MEMBERS),
                MemberLevel::Item | MemberLevel::Block => (&mut of_blocks, &mut are_plain, MOST_BLOCK_MEMBERS),
            };
            *is_plain &= found.len() < most && !name.has_escape;
            if *is_plain {
                found.push(Member { level, name: span(name.text), value: span(value) });
            }
        });
        let of_blocks = are_plain.then_some(of_blocks);
        (is_plain.then_some(Self { of_entry, of_blocks }), checked.err())
    }

    /// The last member of this name at or after a byte of the line.
    fn get<'a>(&self, line: &'a str, (level, from): (MemberLevel, usize), name: &str) -> Option<Json<'a>> {
        let is_it =
            |member: &&Member| member.level == level && member.value.start >= from && member.is_named(line, name);
        self.of_entry.iter().rev().find(is_it).map(|member| member.value(line))
    }

    /// The blocks of content that begins at a byte of the line.
    fn blocks<'a>(&'a self, line: &'a str, from: usize) -> Option<Blocks<'a>> {
        let known = self.of_blocks.as_deref()?;
        let before = known.iter().take_while(|member| member.value.start < from).count();
        Some(Blocks::Known { line, rest: known.get(before..).unwrap_or_default() })
    }
}

/// An item of a message's content.
#[derive(Debug, Clone, Copy)]
pub struct ContentBlock<'a> {
    json: Json<'a>,
    /// The line, and where in it the members are; without them they are searched for.
    known: Option<(&'a str, &'a [Member])>,
}

impl<'a> ContentBlock<'a> {
    /// The block as it is written.
    #[must_use]
    pub fn json(self) -> Json<'a> {
        self.json
    }

    /// A member; the last one if the name is repeated.
    #[must_use]
    pub fn get(self, name: &str) -> Option<Json<'a>> {
        let Some((line, members)) = self.known else { return self.json.get(name) };
        members.iter().rev().find(|member| member.is_named(line, name)).map(|member| member.value(line))
    }

    /// The members with these names; of a name that is repeated the last one.
    #[must_use]
    pub fn pick<const N: usize>(self, names: [&str; N]) -> [Option<Json<'a>>; N] {
        match self.known {
            Some(_) => names.map(|name| self.get(name)),
            None => self.json.pick(names),
        }
    }

    /// The decoded string member with this name.
    #[must_use]
    pub fn str(self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.as_str()
    }

    /// Whether its type is this one.
    #[must_use]
    pub fn is(self, kind: &str) -> bool {
        self.str("type").is_some_and(|own| own == kind)
    }
}

impl<'a> From<Json<'a>> for ContentBlock<'a> {
    fn from(json: Json<'a>) -> Self {
        Self { json, known: None }
    }
}

/// Iterator over the blocks of a message's content; see [`Entry::blocks`].
#[derive(Debug, Clone)]
enum Blocks<'a> {
    Known { line: &'a str, rest: &'a [Member] },
    Searched(Option<Items<'a>>),
}

impl<'a> Iterator for Blocks<'a> {
    type Item = ContentBlock<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Known { line, rest } => {
                let count = rest.iter().position(|member| member.level == MemberLevel::Item)?;
                let (members, after) = rest.split_at_checked(count)?;
                let (item, after) = after.split_first()?;
                *rest = after;
                Some(ContentBlock { json: item.value(line), known: Some((line, members)) })
            }
            Self::Searched(items) => items.as_mut()?.next().map(ContentBlock::from),
        }
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
            Some(members) => members.get(&self.line, (MemberLevel::Own, 0), name),
            None => self.json().get(name),
        }
    }

    pub fn str(&self, name: &str) -> Option<Cow<'_, str>> {
        self.get(name)?.as_str()
    }

    /// The part of a branch that a summary says it merged.
    pub(crate) fn merged(&self) -> Option<Json<'_>> {
        Some(self).filter(|entry| entry.kind == Kind::BranchSummary)?.get("details")?.get("merged")
    }

    /// The message of a message entry.
    pub fn message(&self) -> Option<Json<'_>> {
        self.get("message").filter(|message| !message.is_null())
    }

    /// A member of the message, without a walk over the message.
    pub fn of_message(&self, name: &str) -> Option<Json<'_>> {
        let message = self.message()?;
        match &self.members {
            Some(members) => members.get(&self.line, (MemberLevel::Within, message.span_in(&self.line).start), name),
            None => message.get(name),
        }
    }

    /// The items of the message's content; none if it is a string.
    pub fn blocks(&self) -> impl Iterator<Item = ContentBlock<'_>> {
        let Some(content) = self.of_message("content") else { return Blocks::Searched(None) };
        let known = self.members.as_ref().and_then(|members| {
            let from = content.span_in(&self.line).start;
            members.blocks(&self.line, from)
        });
        known.unwrap_or_else(|| Blocks::Searched(Some(content.items())))
    }

    /// The text of the message's content, as [`text_of`] returns it; `None` if it has none.
    pub fn message_text(&self, separator: &str) -> Option<String> {
        if let Some(text) = self.of_message("content")?.as_str() {
            return Some(text.into_owned());
        }
        let mut texts =
            self.blocks().filter(|block| block.is("text")).map(|block| block.str("text").unwrap_or_default());
        let mut text = texts.next().unwrap_or_default().into_owned();
        for more in texts {
            text.push_str(separator);
            text.push_str(&more);
        }
        Some(text)
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
    let texts = content.items().filter_map(|block| {
        let [kind, text] = block.pick(["type", "text"]);
        kind?.as_str().filter(|kind| kind == "text")?;
        Some(text.and_then(Json::as_str).unwrap_or_default())
    });
    texts.collect::<Vec<_>>().join(separator)
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
            r#""message":{"content":[{"type":"text","text":"x"},2,[{"type":"text"}],{},{"type":"text","text":"y","text":"z"}]}"#.to_owned(),
            r#""message":{"content":[{"type":"text","text":"x"}],"content":[ {"type":"text","text":"y\nz"} ]}"#.to_owned(),
            r#""message":{"content":[{"type":"text","text":"x"}],"content":"y"}"#.to_owned(),
            r#""message":{"content":[{"type":"text","text":"x"}]},"message":{"content":{"a":[1]}}"#.to_owned(),
            r#""message":{"content":[{"type":"text","te\u0078t":"x"},{"a":1}]}"#.to_owned(),
            format!(r#""message":{{"content":[{{{many}"type":"text"}},{{{many}"text":1}},{{{many}"a":2}}]}}"#),
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
            let content = entry.of_message("content");
            let items: Vec<Json<'_>> = content.into_iter().flat_map(Json::items).collect();
            let blocks: Vec<ContentBlock<'_>> = entry.blocks().collect();
            assert_eq!(blocks.iter().map(|block| block.json()).collect::<Vec<_>>(), items, "{line}");
            for (block, item) in blocks.iter().zip(items) {
                for name in ["type", "text", "a", "m99"] {
                    assert_eq!(block.get(name), item.get(name), "{name} of {item:?} in {line}");
                }
            }
            assert_eq!(entry.message_text("|"), content.map(|content| text_of(content, "|")), "{line}");
        }
    }
}

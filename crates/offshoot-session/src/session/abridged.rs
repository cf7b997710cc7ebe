//! A session for people: an entry whose line is too long to look at is shown as its size and the command that prints it.
//! Not for models and programs, which get every byte.

use std::sync::Arc;

use super::Session;
use crate::clock::to_iso;
use crate::entry::{Entry, Source};
use crate::error::Result;
use crate::facts::Facts;
use crate::id::EntryId;
use crate::json::{Object, quote};
use crate::kind::{KindSpeech, Role};
use crate::text::shell_word;
use crate::tree::{Node, NodeIx, Tree};

/// Longer lines are not shown.
const LONGEST: u64 = 64 << 20;

/// Reads a session's entries. A short notice replaces each line of more than 64 MiB.
pub struct Abridged<'a> {
    source: &'a dyn Source,
    /// The file of the session, else its id.
    named: String,
    longest: u64,
}

impl<'a> Abridged<'a> {
    /// A view of the session.
    pub fn new(session: &'a Session) -> Self {
        Self::within(session, None)
    }

    /// A view in which lines of more than `longest` bytes are left out; `None` and larger limits are 64 MiB.
    pub fn within(session: &'a Session, longest: Option<u64>) -> Self {
        let file = session.file().map(|file| file.display().to_string());
        let longest = longest.map_or(LONGEST, |longest| longest.min(LONGEST));
        Self { source: session, named: file.unwrap_or_else(|| session.id().to_owned()), longest }
    }

    /// A view of entries that are read apart from their session. `named` is its file, else its id.
    pub fn of(source: &'a dyn Source, named: String) -> Self {
        Self { source, named, longest: LONGEST }
    }

    /// Whether the entry's line is too long.
    pub fn leaves_out(&self, ix: NodeIx) -> bool {
        self.source.tree().node(ix).length() > self.longest
    }

    /// An entry in the place of one that is left out.
    fn stand_in(&self, ix: NodeIx) -> Entry {
        let tree = self.source.tree();
        let node = tree.node(ix);
        let said = quote(&self.notice(node));
        let texts = format!(r#"[{{"type":"text","text":{said}}}]"#);
        let object = Object::new()
            .str("type", node.kind().word().unwrap_or("unknown"))
            .str_or_null("id", node.id().map(EntryId::as_str))
            .str_or_null("parentId", tree.parent_id(ix).map(EntryId::as_str))
            .str_or_null("timestamp", node.time().map(to_iso).as_deref());
        let object = match node.kind().speech() {
            KindSpeech::Message => {
                let role = node.role().and_then(Role::word).unwrap_or("unknown");
                let message = Object::new().str("role", role).raw("content", &texts).raw("summary", &said);
                object.raw("message", message.str("command", "").str("code", "").raw("output", &said).finish())
            }
            KindSpeech::Compaction | KindSpeech::BranchSummary => object.raw("summary", &said),
            KindSpeech::CustomMessage => object.raw("content", &texts).raw("display", "true"),
            KindSpeech::Nothing => object,
        };
        Entry::new(tree, ix, object.finish())
    }

    fn notice(&self, node: &Node) -> String {
        let session = &self.named;
        let size = match node.length() {
            length @ ..1_000_000 => format!("{} kB are not shown here", length.div_ceil(1000)),
            length => format!("{} MB are not shown here", length / 1_000_000),
        };
        match node.id() {
            Some(id) => format!("[{size}: offshoot entry {} {} prints them]", shell_word(session), id.as_str()),
            None => format!("[{size}: they are line {} of {session}]", node.line()),
        }
    }
}

impl Source for Abridged<'_> {
    fn tree(&self) -> &Tree {
        self.source.tree()
    }

    fn entry(&self, ix: NodeIx) -> Result<Entry> {
        if self.leaves_out(ix) { Ok(self.stand_in(ix)) } else { self.source.entry(ix) }
    }

    fn blob(&self, hash: &str) -> Option<Vec<u8>> {
        self.source.blob(hash)
    }

    fn facts(&self) -> Result<Option<Arc<Facts>>> {
        self.source.facts()
    }

    fn raw_span(&self, ix: NodeIx) -> Option<(u64, u64)> {
        self.source.raw_span(ix)
    }

    fn splice(&self, ix: NodeIx) -> Result<Option<(u64, u64, String)>> {
        self.source.splice(ix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Options;
    use crate::transcript::items;

    #[test]
    fn a_line_that_is_too_long_becomes_its_size_and_a_command() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a session.jsonl");
        let long = "word ".repeat(30);
        let mut text =
            r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}"#.to_owned();
        let message = |role: &str| {
            format!(r#""type":"message","message":{{"role":"{role}","content":"{long}","output":"{long}"}}"#)
        };
        let bodies = [
            message("user"),
            message("assistant"),
            message("toolResult"),
            message("bashExecution"),
            message("custom"),
            format!(r#""type":"compaction","summary":"{long}""#),
            format!(r#""type":"custom_message","content":"{long}","display":true"#),
        ];
        for (at, body) in bodies.iter().enumerate() {
            let parent = if at == 0 { "null".to_owned() } else { format!("\"{}\"", at - 1) };
            text += &format!(
                "\n{{\"id\":\"{at}\",\"parentId\":{parent},\"timestamp\":\"2026-01-01T00:00:00.000Z\",{body}}}"
            );
        }
        std::fs::write(&file, text + "\n").unwrap();
        let session = Session::open(&file, Options::default()).unwrap();
        let path = session.tree().path(session.leaf().unwrap());
        let short = Abridged::within(&session, Some(100));
        let shown: Vec<String> = items(&short, &path).map(|item| format!("{:?}", item.unwrap().1)).collect();
        assert_eq!(shown.len(), bodies.len(), "{shown:#?}");
        for (at, item) in shown.iter().enumerate() {
            let command = format!("[1 kB are not shown here: offshoot entry '{}' {at} prints them]", file.display());
            assert!(item.contains(&command) && !item.contains("word"), "{item}");
        }
        let whole = Abridged::new(&session);
        assert!(items(&whole, &path).all(|item| format!("{:?}", item.unwrap().1).contains("word word")));
    }
}

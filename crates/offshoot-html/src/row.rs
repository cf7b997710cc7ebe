//! The page's index: one JSON array for each entry, from which the script lays out the tree.
//!
//! `[parent, who, bits, time, id, label, text, gap, line length, beside length, cost, words, tokens, files, mark]`. Parents
//! are places on the page or -1. The first bits are filters in the order of [`Filter::NAMES`]. `gap` is the number of bytes
//! between the previous entry's line and this one. `words` are what the user or the model says there: 1 if `text` has them
//! after `: ` (or as many of them as fit, where no note quotes them), `[rest]` if it has their beginning and `…`, 0 if the
//! entry says nothing. `files` are `[path, 1 if changed]` for each call, or 0; a result that failed has those of its call
//! plus 2, and an entry that records changes of files has 4. `mark` says where a copy or a merge comes from.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

use offshoot_session::call_view::CallFile;
use offshoot_session::entry::{Entry, Source};
use offshoot_session::error::Result;
use offshoot_session::id::EntryId;
use offshoot_session::json::{Json, JsonKind, push_quoted, quote};
use offshoot_session::kind::{Kind, KindClass, Role};
use offshoot_session::outline::{Filter, RowFacts, RowTexts};
use offshoot_session::provenance;
use offshoot_session::stats;
use offshoot_session::text::one_line;
use offshoot_session::tree::{NodeIx, Tree};

use crate::picked::Picked;

/// The most calls of an answer whose files are named, and the longest path.
const MOST_CALLS: usize = 200;
const LONGEST_PATH: usize = 300;

/// Added to what a call would have done to a file.
const FAILED: u8 = 2;
/// Added where an entry records that calls changed it.
const RECORDED: u8 = 3;
/// The custom type of entries that record changes of files.
const FILES_ENTRY: &str = "offshoot.files";

const MARKER: u8 = 1 << 5;
/// The entry may share a row with other results of tool calls.
const JOINS_RUNS: u8 = 1 << 6;
const TIP: u8 = 1 << 7;

pub(crate) struct PageEntry {
    pub(crate) parent: i64,
    /// Bytes before its line that belong to no entry, and the length of the line.
    pub(crate) line: (u64, u64),
    /// The length of its [`crate::beside`] object.
    pub(crate) beside: u64,
    pub(crate) facts: RowFacts,
}

impl PageEntry {
    pub(crate) fn write(
        &self,
        session: &dyn Source,
        entry: &Entry,
        rows: &BatchRows<'_>,
        out: &mut String,
    ) -> Result<()> {
        let node = session.tree().node(entry.ix);
        let facts = self.facts;
        let bits = rows.bits(session.tree(), entry.ix, &facts);
        let files = rows.files(session, entry, &facts)?;
        let text = rows.texts.text(session, entry)?;
        let cost = facts.usage.map_or(0.0, |usage| usage.cost);
        let cost = if cost.is_finite() { cost } else { 0.0 };
        // The tokens of the context that the model answered to, with the answer.
        let tokens = facts.usage.filter(|_| entry.role == Some(Role::Assistant)).map_or(0, |usage| usage.total);
        let ((gap, length), beside) = (self.line, self.beside);
        let _always_ok = write!(out, "[{},{},{bits},", self.parent, who(entry));
        let _always_ok = match node.time() {
            Some(time) => write!(out, "{time},"),
            None => write!(out, "null,"),
        };
        push_quoted(out, node.id().map_or("", EntryId::as_str));
        out.push(',');
        match node.id().and_then(|id| session.tree().label(id)) {
            Some(label) => push_quoted(out, &label.text),
            None => out.push('0'),
        }
        out.push(',');
        push_quoted(out, &text);
        let _always_ok = write!(out, ",{gap},{length},{beside},{cost},");
        match rows.said_in_row(entry, &text) {
            true => out.push('1'),
            false => out.push_str(&said(rows.texts.words(entry), &text)),
        }
        let _always_ok = write!(out, ",{tokens},");
        push_files(out, &files);
        out.push(',');
        match provenance::mark(session, entry.ix)? {
            Some(mark) => push_quoted(out, &mark),
            None => out.push('0'),
        }
        out.push(']');
        Ok(())
    }
}

/// Writes `[path, what]` for each file, or 0.
fn push_files(out: &mut String, files: &[(CallFile, u8)]) {
    if files.is_empty() {
        return out.push('0');
    }
    for (at, (CallFile { path, is_change }, failed)) in files.iter().enumerate() {
        out.push_str(if at == 0 { "[[" } else { ",[" });
        push_quoted(out, &one_line(path, LONGEST_PATH));
        let _always_ok = write!(out, ",{}]", u8::from(*is_change) + failed);
    }
    out.push(']');
}

/// What a row needs to know of other entries.
pub(crate) struct TreeRows {
    texts: RowTexts,
    open: Option<NodeIx>,
    /// The last entry of every branch, in file order.
    tips: Vec<NodeIx>,
    labelled: HashSet<NodeIx>,
    /// Which entries' words may be the last ones of a branch, by index in the tree.
    ends: Vec<bool>,
}

impl TreeRows {
    pub(crate) fn new(session: &dyn Source, texts: RowTexts, picked: &Picked) -> Result<Self> {
        let tree = session.tree();
        let open = picked.leaf.and_then(|leaf| tree.skip_leaf_markers(leaf));
        let labelled = tree.labels().into_iter().filter_map(|(target, _)| tree.find(target.as_str())).collect();
        let (tips, ends) = (stats::tips(session, open), ends(tree, picked));
        tree.whole(Self { texts, open, tips, labelled, ends })
    }

    /// For the entries of one batch. It remembers calls of its own: threads that free each other's memory wait for each other.
    pub(crate) fn of_batch(&self) -> BatchRows<'_> {
        BatchRows { tree: self, texts: self.texts.clone() }
    }
}

/// Rows of entries that one thread reads one after the other.
pub(crate) struct BatchRows<'a> {
    tree: &'a TreeRows,
    texts: RowTexts,
}

impl BatchRows<'_> {
    /// Whether the row's text has what the model says, cut or not, and nothing needs the words in full.
    fn said_in_row(&self, entry: &Entry, text: &str) -> bool {
        entry.kind == Kind::Message
            && entry.role == Some(Role::Assistant)
            && !self.tree.ends.get(entry.ix.index()).is_some_and(|is_end| *is_end)
            && text.contains(": ")
            && has_one_text(entry)
    }

    /// The facts of an entry that has been read.
    pub(crate) fn facts(&self, tree: &Tree, entry: &Entry) -> RowFacts {
        RowFacts::of(tree, entry, self.tree.open)
    }

    /// The files that an answer's calls read and change, in order, or the one that a failed call did not; each with what is
    /// added to its number. Remembers the calls, for the rows of their results.
    fn files(&self, session: &dyn Source, entry: &Entry, facts: &RowFacts) -> Result<Vec<(CallFile, u8)>> {
        Ok(match entry.role {
            Some(Role::Assistant) => {
                let files = self.texts.remember(entry);
                files.into_iter().take(MOST_CALLS).map(|file| (file, 0)).collect()
            }
            Some(Role::ToolResult) if facts.has_failed() => {
                self.texts.files_of(session, entry)?.into_iter().map(|file| (file, FAILED)).collect()
            }
            _ => recorded(entry).into_iter().map(|path| (CallFile { path, is_change: true }, RECORDED)).collect(),
        })
    }

    fn bits(&self, tree: &Tree, ix: NodeIx, facts: &RowFacts) -> u8 {
        let bits = [
            (tree.node(ix).is_leaf_marker(), MARKER),
            (facts.is_good_result(), JOINS_RUNS),
            (self.tree.tips.binary_search(&ix).is_ok(), TIP),
        ];
        let own = bits.iter().filter(|(is_set, _)| *is_set).fold(0, |bits, (_, bit)| bits | bit);
        let is_shown =
            |filter| facts.is_shown(filter) && (filter != Filter::LabeledOnly || self.tree.labelled.contains(&ix));
        let filters = (0..).zip(Filter::NAMES).filter(|(_, (_, filter))| is_shown(*filter));
        filters.fold(own, |bits, (at, _)| bits | 1 << at)
    }
}

/// The paths that calls changed, as the entry records it.
fn recorded(entry: &Entry) -> Vec<String> {
    if entry.kind != Kind::Custom || entry.str("customType").is_none_or(|name| name != FILES_ENTRY) {
        return Vec::new();
    }
    let changes = entry.get("data").and_then(|data| data.get("changes"));
    let changes = changes.filter(|changes| changes.kind() == JsonKind::Array).map(Json::items).into_iter().flatten();
    let own = changes.filter(|change| change.str("by").is_some_and(|by| by == "calls"));
    own.filter_map(|change| change.str("path").map(Cow::into_owned)).take(MOST_CALLS).collect()
}

/// Which entries end a branch, or have no words of the user below them in one, by index in the tree. The model may speak below
/// them: only its lines could tell.
fn ends(tree: &Tree, picked: &Picked) -> Vec<bool> {
    const HAS_CHILD: u8 = 1;
    const ENDS: u8 = 2;
    let mut known = vec![0_u8; picked.entries.last().map_or(0, |last| last.index() + 1)];
    for ix in picked.entries.iter().rev() {
        let Some(own) = known.get_mut(ix.index()) else { continue };
        *own |= if *own & HAS_CHILD == 0 { ENDS } else { 0 };
        let is_end = *own & ENDS != 0;
        let speaks = tree.node(*ix).role() == Some(Role::User);
        if let Some(above) = tree.parent(*ix).and_then(|parent| known.get_mut(parent.index())) {
            *above |= if is_end && !speaks { HAS_CHILD | ENDS } else { HAS_CHILD };
        }
    }
    known.iter().map(|known| known & ENDS != 0).collect()
}

/// Whether the message's content is one text that is not blank, without a copy of it.
fn has_one_text(entry: &Entry) -> bool {
    let says = |text: Json<'_>| {
        let begin = text.text().trim_start_matches('"').trim_start();
        text.kind() == JsonKind::String && !begin.is_empty() && !begin.starts_with(['"', '\\'])
    };
    match entry.of_message("content") {
        Some(content) if content.kind() != JsonKind::Array => says(content),
        _ => {
            let mut texts = entry.blocks().filter(|block| block.is("text"));
            let is_said = texts.next().and_then(|block| block.get("text")).is_some_and(says);
            is_said && texts.next().is_none()
        }
    }
}

/// An entry's words, without what its row's text says of them.
fn said(words: Option<String>, text: &str) -> String {
    let Some(words) = words else { return "0".to_owned() };
    let Some((_, shown)) = text.split_once(": ") else { return quote(&words) };
    if words == shown {
        return "1".to_owned();
    }
    let rest = shown.strip_suffix('…').and_then(|shown| words.strip_prefix(shown));
    rest.map_or_else(|| quote(&words), |rest| format!("[{}]", quote(rest)))
}

/// The class of a row, which chooses its colour: 0 user, 1 model, 2 tool, 3 other conversation entry, 4 setting or
/// unknown entry, 5 bookkeeping, whose text the page does not show.
fn who(entry: &Entry) -> u8 {
    match (entry.kind, entry.role) {
        (Kind::Message, Some(Role::User)) => 0,
        (Kind::Message, Some(Role::Assistant)) => 1,
        (Kind::Message, Some(Role::ToolResult | Role::BashExecution | Role::PythonExecution)) => 2,
        (Kind::Unknown, _) => 4,
        (kind, _) => match kind.class() {
            KindClass::Conversation => 3,
            KindClass::Setting => 4,
            KindClass::State | KindClass::Bookkeeping => 5,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_written_once() {
        for (words, text, expected) in [
            (None, "user: a", "0"),
            (Some("a b"), "user: a b", "1"),
            (Some("a b c"), "user: a b…", r#"[" c"]"#),
            (Some("a …"), "user: a …", "1"),
            (Some("a b"), "user: a c…", r#""a b""#),
            (Some("a"), "[tool]", r#""a""#),
        ] {
            assert_eq!(said(words.map(str::to_owned), text), expected, "{words:?} in {text}");
        }
    }
}

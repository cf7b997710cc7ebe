//! The page's index: one JSON array for each entry, from which the script lays out the tree.
//!
//! `[parent, who, filters, time, id, label, text, line start, line length, beside start, beside length]`. Parents are
//! places on the page or -1. Filters are bits in the order of [`Filter::NAMES`]; one further bit marks a leaf marker.

use offshoot_session::entry::{Entry, Source as _};
use offshoot_session::id::EntryId;
use offshoot_session::json::quote;
use offshoot_session::kind::{Kind, KindClass, Role};
use offshoot_session::outline::{Filter, Outline, Scope};
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;

const MARKER: u8 = 1 << 5;

pub(crate) struct PageEntry {
    pub(crate) parent: i64,
    /// Start and length in the stream of lines.
    pub(crate) line: (u64, usize),
    /// Start and length in the stream of [`crate::beside`] objects.
    pub(crate) beside: (u64, usize),
}

impl PageEntry {
    pub(crate) fn json(&self, session: &Session, entry: &Entry, shown: &Shown, text: &str) -> String {
        let node = session.tree().node(entry.ix);
        let time = node.time().map_or("null".to_owned(), |time| time.to_string());
        let id = quote(node.id().map_or("", EntryId::as_str));
        let label =
            node.id().and_then(|id| session.tree().label(id)).map_or("0".to_owned(), |label| quote(&label.text));
        let bits = shown.of(session, entry.ix);
        let (line, beside) = (self.line, self.beside);
        let (parent, who, text) = (self.parent, who(entry), quote(text));
        format!("[{parent},{who},{bits},{time},{id},{label},{text},{},{},{},{}]", line.0, line.1, beside.0, beside.1)
    }
}

/// Which filters show which entries, by index in the tree.
pub(crate) struct Shown {
    bits: Vec<u8>,
}

impl Shown {
    pub(crate) fn new(session: &Session, outline: &mut Outline) -> Self {
        let tree = session.tree();
        let mut bits = vec![0; tree.entries().next_back().map_or(0, |last| last.index() + 1)];
        for (at, (_, filter)) in Filter::NAMES.iter().enumerate() {
            outline.arrange(tree, Scope { filter: *filter, ..Scope::default() });
            for ix in (0..outline.len()).filter_map(|row| outline.entry(row)) {
                if let Some(bits) = bits.get_mut(ix.index()) {
                    *bits |= 1 << at;
                }
            }
        }
        Self { bits }
    }

    fn of(&self, session: &Session, ix: NodeIx) -> u8 {
        let marker = if session.tree().node(ix).is_leaf_marker() { MARKER } else { 0 };
        self.bits.get(ix.index()).copied().unwrap_or(0) | marker
    }
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

//! Entries in a line: the short id of one and how it begins, and how many there are.

use offshoot_session::entry::Source as _;
use offshoot_session::entry_name::short_ids;
use offshoot_session::facts::Totals;
use offshoot_session::kind::Kind;
use offshoot_session::outline::entry_text;
use offshoot_session::session::Session;
use offshoot_session::stats::words;
use offshoot_session::text::{counted, dollars, in_short, noun, one_line};
use offshoot_session::tree::NodeIx;

use crate::failure::Result;
use crate::words::{Line, Role, TableColumn, WordsTable};

/// Names the entry, or the one above it that people see.
///
/// # Errors
/// The session cannot be read.
pub fn entry_line(session: &Session, ix: NodeIx) -> Result<Line> {
    let tree = session.tree();
    let is_seen = |ix: &NodeIx| !tree.node(*ix).is_leaf_marker() && tree.node(*ix).kind() != Kind::Label;
    let ix = tree.ancestors(ix).find(is_seen).unwrap_or(ix);
    let id = tree.node(ix).id().map_or(Ok("-".to_owned()), |id| short_id(session, id.as_str()))?;
    let said = words(&session.entry(ix)?).map_or_else(|| entry_text(session, ix), Ok)?;
    Ok(Line::of(Role::Id, one_line(&id, 40)).and(Role::Plain, format!("  {}", one_line(&said, 60))))
}

/// The shortest start of an entry's id that names it; see [`short_ids`].
///
/// # Errors
/// The session cannot be read.
pub fn short_id(session: &Session, id: &str) -> Result<String> {
    let tree = session.tree();
    Ok(short_ids(tree, tree.find(id))?.get(id).to_owned())
}

/// The session's name, or omp's title, on one line.
///
/// # Errors
/// The session cannot be read.
pub fn session_title(session: &Session) -> Result<Option<String>> {
    let name = match session.name()? {
        Some(name) => Some(name),
        None => session.title().map(str::to_owned),
    };
    Ok(name.map(|name| one_line(&name, 200)))
}

/// Messages that an operation keeps, drops or copies: its mark, the entry, who speaks, its tokens, its words.
pub(crate) fn messages_table(rows: &[(Vec<String>, Role)]) -> WordsTable {
    WordsTable {
        columns: vec![
            TableColumn::left(" ", Role::Mark),
            TableColumn::left("ENTRY", Role::Dim),
            TableColumn::left("ROLE", Role::Plain),
            TableColumn::right("TOKENS", Role::Dim).leaves(1),
            TableColumn::left("WORDS", Role::Plain),
        ],
        rows: rows.to_vec(),
    }
}

/// Entries, and if any were reported tokens and cost.
#[must_use]
pub fn totals_in_words(totals: &Totals) -> String {
    let entries = usize::try_from(totals.entries).unwrap_or(usize::MAX);
    let mut words = counted(entries, "entry", "entries");
    if totals.tokens > 0 {
        words += &format!(", {} {}", in_short(totals.tokens), noun(totals.tokens, "token", "tokens"));
    }
    if totals.cost > 0.0 {
        words += &format!(", {}", dollars(totals.cost));
    }
    words
}

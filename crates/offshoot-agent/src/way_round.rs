//! What a person does about a request that a provider or this program refuses: which entry it is about, and the command that
//! goes round it. The words are the same for both.

use offshoot_session::entry::Source as _;
use offshoot_session::entry_name::short_ids;
use offshoot_session::id::EntryId;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::session::Session;
use offshoot_session::text::shell_word;
use offshoot_session::tree::{NodeIx, Tree};

/// The words about a refusal of the message that an entry made; `None` if nobody knows which message it is.
pub(crate) fn way_round(session: &Session, entry: Option<&str>) -> String {
    let tree = session.tree();
    match entry.and_then(|id| tree.find(id)) {
        Some(ix) => {
            let short = short(tree, ix);
            match before(tree, ix) {
                Some(target) => {
                    let command = command(session, target);
                    format!(
                        "it is about entry {short}, which the session keeps: {command} goes back to the entry before it"
                    )
                }
                None => {
                    format!("it is about entry {short}, with which the session begins: a new session goes round it")
                }
            }
        }
        None => match last_prompt(session).and_then(|ix| before(tree, ix)) {
            Some(target) => {
                let command = command(session, target);
                format!(
                    "the session is kept; if it is about the last entries, {command} goes back to before the last prompt"
                )
            }
            None => "the session is kept; a new session goes round it".to_owned(),
        },
    }
}

/// What goes to an entry: in a shell, if there is a file, and in the terminal.
fn command(session: &Session, target: NodeIx) -> String {
    let short = short(session.tree(), target);
    match session.file() {
        Some(file) => {
            let file = file.display().to_string();
            format!("`offshoot switch {} {short}`, or {short} in `/tree`,", shell_word(&file))
        }
        None => format!("{short} in `/tree`"),
    }
}

/// The entry before another that people see.
fn before(tree: &Tree, ix: NodeIx) -> Option<NodeIx> {
    tree.parent(ix).and_then(|parent| tree.skip_leaf_markers(parent))
}

fn last_prompt(session: &Session) -> Option<NodeIx> {
    let tree = session.tree();
    let is_prompt = |ix: &NodeIx| tree.node(*ix).kind() == Kind::Message && tree.node(*ix).role() == Some(Role::User);
    tree.ancestors(session.leaf()?).find(is_prompt)
}

fn short(tree: &Tree, ix: NodeIx) -> String {
    let whole = tree.node(ix).id().map(EntryId::as_str).unwrap_or_default();
    // A part of the tree that cannot be read makes whole ids, which name the entry, too.
    short_ids(tree, [ix]).map_or_else(|_| whole.to_owned(), |ids| ids.get(whole).to_owned())
}

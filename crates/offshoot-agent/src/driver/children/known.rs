//! Children whose files are there from an earlier run of the program: which they are, how far they got, and what they have spent.

use std::path::Path;

use offshoot_protocol::message::{Message, StopReason, text_of};
use offshoot_session::child::ChildStart;
use offshoot_session::entry::Source as _;
use offshoot_session::error::Result;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::session::{Options, Session};

use crate::spending::Spent;
use crate::stored_message::read_message;

/// More files of a folder are not looked at.
const MOST_FILES: usize = 20_000;

/// A child of an earlier run.
pub(super) struct KnownChild {
    pub(super) beginning: ChildStart,
    /// With its own children.
    pub(super) spent: Spent,
    /// The model that answered last, as `provider/id`.
    pub(super) model: Option<String>,
}

/// How a session of a child ends.
pub(super) enum LastWords {
    /// Nothing was said yet.
    None,
    /// The model has answered, without calls.
    Answer(String),
    /// Something is to be done: calls, results or a prompt without an answer, or an answer that failed.
    Open,
}

/// The children in a folder that `is_meant` takes.
pub(super) fn known_children(folder: &Path, is_meant: impl Fn(&ChildStart) -> bool) -> Vec<KnownChild> {
    let all = sessions_of(folder);
    let spent: Vec<(String, Spent)> =
        all.iter().map(|(beginning, session)| (beginning.id.clone(), spent_in(session))).collect();
    let meant = all.into_iter().filter(|(beginning, _)| is_meant(beginning));
    meant
        .map(|(beginning, session)| {
            let below = format!("{}.", beginning.id);
            let mut sum = Spent::default();
            let own = spent.iter().filter(|(id, _)| *id == beginning.id || id.starts_with(&below));
            own.for_each(|(_, spent)| sum.add(spent));
            KnownChild { beginning, spent: sum, model: last_model(&session) }
        })
        .collect()
}

fn sessions_of(folder: &Path) -> Vec<(ChildStart, Session)> {
    let Ok(files) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = files.take(MOST_FILES).filter_map(|file| file.ok().map(|file| file.path()));
    let paths = paths.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    let opened = paths.filter_map(|path| {
        let session = Session::open(&path, Options::default()).ok()?;
        let beginning = ChildStart::of(&session).ok()??;
        // The name of the file counts: two children never share one.
        (path.file_stem()? == beginning.id.as_str()).then_some((beginning, session))
    });
    opened.collect()
}

/// The model of the last answer on the path.
fn last_model(session: &Session) -> Option<String> {
    let tree = session.tree();
    let mut path = session.leaf().into_iter().flat_map(|leaf| tree.ancestors(leaf));
    let answer = path.find(|ix| tree.node(*ix).role() == Some(Role::Assistant))?;
    let entry = session.entry(answer).ok()?;
    let message = entry.message()?;
    Some(format!("{}/{}", message.str("provider")?, message.str("model")?))
}

/// What the answers of a session have used. Each entry counts once.
fn spent_in(session: &Session) -> Spent {
    let mut sum = Spent::default();
    let tree = session.tree();
    for ix in tree.entries() {
        let node = tree.node(ix);
        if node.kind() != Kind::Message || node.role() != Some(Role::Assistant) {
            continue;
        }
        let Ok(entry) = session.entry(ix) else { continue };
        let Some(json) = entry.message() else { continue };
        if let Ok(Message::Assistant(answer)) = read_message(json.text()) {
            sum.add(&Spent::of(&answer.usage));
        }
    }
    sum
}

/// How the path to the leaf ends.
pub(super) fn last_words(session: &Session) -> Result<LastWords> {
    let tree = session.tree();
    for ix in session.leaf().into_iter().flat_map(|leaf| tree.ancestors(leaf)) {
        let node = tree.node(ix);
        match (node.kind(), node.role()) {
            // It was copied from the parent's, before the task.
            (Kind::Message | Kind::CustomMessage, _) if session.entry(ix)?.get("pickedFrom").is_some() => {
                return Ok(LastWords::None);
            }
            (Kind::Message, Some(Role::Assistant)) => {
                let entry = session.entry(ix)?;
                let text = entry.message().map(|json| json.text().to_owned()).unwrap_or_default();
                return Ok(match read_message(&text) {
                    Ok(Message::Assistant(answer)) if answer.stop_reason == StopReason::Stop => {
                        LastWords::Answer(text_of(&answer.content))
                    }
                    _ => LastWords::Open,
                });
            }
            (Kind::Message, Some(Role::System)) => {}
            (Kind::Message | Kind::CustomMessage | Kind::Compaction, _) => {
                return Ok(LastWords::Open);
            }
            _ => {}
        }
    }
    Ok(LastWords::None)
}

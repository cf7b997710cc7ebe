//! The first and last words of a session, on the path to its leaf. Reads only the bodies that are necessary.

use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

use offshoot_app::app::App;
use offshoot_app::error::Result;
use offshoot_session::entry::{Entry, Source, text_of};
use offshoot_session::kind::{Kind, Role};
use offshoot_session::stats;
use offshoot_session::tree::NodeIx;
use offshoot_tui::markdown::plain;
use offshoot_tui::overlay::sessions::{Answer, Preview, Speaker, Utterance};

use super::{SendAnswer, open};

const LAST: usize = 3;
const LONG: usize = 2000;

/// Answers requests until the channel closes; of several waiting ones only the last.
pub(super) fn serve(app: &App, wanted: &Receiver<PathBuf>, tell: &SendAnswer) {
    while let Ok(first) = wanted.recv() {
        let file = wanted.try_iter().last().unwrap_or(first);
        let preview = read(app, &file)
            .unwrap_or_else(|error| Preview { trouble: Some(error.on_one_line()), ..Preview::default() });
        tell(Answer::Preview(file, preview));
    }
}

fn read(app: &App, file: &Path) -> Result<Preview> {
    let session = open(app, file)?;
    let Some(leaf) = session.leaf() else { return Ok(Preview::default()) };
    let path: Vec<NodeIx> = session.tree().ancestors(leaf).collect();
    let mut last = Vec::new();
    let mut end = 0;
    for (at, ix) in path.iter().enumerate() {
        if last.len() == LAST {
            break;
        }
        last.extend(utterance(&session, *ix)?);
        end = at + 1;
    }
    last.reverse();
    // The first words are omitted if they are also among the last.
    let mut first = None;
    for ix in path.get(end..).unwrap_or_default().iter().rev() {
        first = utterance(&session, *ix)?;
        if first.is_some() {
            break;
        }
    }
    Ok(Preview { first: first.into_iter().collect(), last, trouble: None })
}

/// The words of an entry, if it is a message or a summary.
fn utterance(source: &dyn Source, ix: NodeIx) -> Result<Option<Utterance>> {
    let node = source.tree().node(ix);
    let by = match (node.kind(), node.role()) {
        (Kind::Message, Some(Role::User)) => Speaker::Person,
        (Kind::Message, Some(Role::Assistant)) | (Kind::Compaction | Kind::BranchSummary, _) => Speaker::Model,
        _ => return Ok(None),
    };
    let text = words(&source.entry(ix)?).unwrap_or_default();
    let text = match by {
        Speaker::Person => text.trim().chars().take(LONG).collect(),
        Speaker::Model => plain(&text, LONG),
    };
    Ok((!text.is_empty()).then_some(Utterance { by, text }))
}

fn words(entry: &Entry) -> Option<String> {
    match entry.kind {
        Kind::Message => Some(text_of(entry.message()?.get("content")?, " ")),
        _ => stats::words(entry),
    }
}

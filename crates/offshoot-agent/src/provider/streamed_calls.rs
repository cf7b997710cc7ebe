//! The calls of a Chat Completions stream: their pieces, and which piece belongs to which call.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::decoding::arguments_text;
use super::draft::AnswerDraft;

/// The calls that have begun.
#[derive(Debug, Default)]
pub(super) struct StreamedCalls(Vec<StreamedCall>);

#[derive(Debug)]
struct StreamedCall {
    index: Option<u64>,
    /// The provider's; empty if it has not come.
    id: String,
    name: String,
    place: usize,
}

/// A piece of a call as servers send it.
#[derive(Deserialize)]
pub(super) struct CallChunk<'a> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    function: Option<FunctionChunk<'a>>,
}

#[derive(Deserialize)]
struct FunctionChunk<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(default)]
    arguments: Option<Value>,
}

/// A piece of a call. What it lacks is empty.
struct CallPiece<'a> {
    index: Option<u64>,
    id: &'a str,
    name: &'a str,
    arguments: &'a str,
}

impl StreamedCalls {
    pub(super) fn add(&mut self, call: &CallChunk<'_>, draft: &mut AnswerDraft) {
        let name = call.function.as_ref().and_then(|function| function.name.as_deref()).unwrap_or_default();
        // Some servers send an object instead of its text.
        let sent = call.function.as_ref().and_then(|function| function.arguments.as_ref());
        let arguments = arguments_text(sent);
        let id = call.id.as_deref().unwrap_or_default();
        self.take(&CallPiece { index: call.index, id, name, arguments: &arguments }, draft);
    }

    fn take(&mut self, piece: &CallPiece<'_>, draft: &mut AnswerDraft) {
        let CallPiece { index, id, name, arguments } = *piece;
        let known = self.known(piece);
        // Some servers send a whole call again at its end: it runs once.
        let is_repeated = known.and_then(|at| self.0.get(at)).is_some_and(|known| {
            let is_same = (id.is_empty() || id == known.id) && name == known.name;
            is_same && !name.is_empty() && arguments == draft.arguments(known.place) && is_whole(arguments)
        });
        if is_repeated {
            return;
        }
        let known = known.filter(|at| {
            let known = self.0.get(*at);
            known.is_some_and(|known| !begins_another(known, draft.arguments(known.place), piece))
        });
        let place = match known.and_then(|at| self.0.get_mut(at)) {
            Some(known) => {
                let late_id = Some(id).filter(|id| known.id.is_empty() && !id.is_empty());
                late_id.into_iter().for_each(|id| id.clone_into(&mut known.id));
                draft.name_call(known.place, late_id, name);
                known.place
            }
            None => {
                let place = draft.call_start(id, name);
                self.0.push(StreamedCall { index, id: id.to_owned(), name: name.to_owned(), place });
                place
            }
        };
        draft.more(place, arguments);
    }

    /// The last call that a piece may continue.
    fn known(&self, piece: &CallPiece<'_>) -> Option<usize> {
        let CallPiece { index, id, name, .. } = *piece;
        let fits = |known: &StreamedCall| match (index, known.index) {
            (Some(index), Some(known)) => index == known,
            _ => !id.is_empty() && known.id == id,
        };
        let same = || self.0.iter().rposition(|known| fits(known) && !id.is_empty() && known.id == id);
        // A piece without index and id belongs to the last call.
        let nameless = index.is_none() && id.is_empty() && name.is_empty();
        let last = || self.0.len().checked_sub(1).filter(|_| nameless);
        same().or_else(|| self.0.iter().rposition(fits)).or_else(last)
    }
}

/// Whether a piece with the index or the id of a known call is the start of another one: some servers send all calls
/// with one index, some all with one id.
fn begins_another(known: &StreamedCall, written: &str, piece: &CallPiece<'_>) -> bool {
    let CallPiece { id, name, arguments, .. } = *piece;
    if name.is_empty() {
        return false;
    }
    let has_other_id = !id.is_empty() && !known.id.is_empty() && id != known.id;
    // Some servers send every piece of a call with a new id.
    let may_continue = || name == known.name && !is_whole(written);
    (has_other_id && !may_continue()) || (!arguments.trim().is_empty() && is_whole(written))
}

/// Whether nothing can follow a text of arguments.
fn is_whole(written: &str) -> bool {
    written.trim_end().ends_with('}') && serde_json::from_str::<IgnoredAny>(written).is_ok()
}

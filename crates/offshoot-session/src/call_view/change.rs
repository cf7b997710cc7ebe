//! What an edit asks to change, in every form that tools take.

use std::borrow::Cow;

use super::dialect::{CallRole, FILE_LINES};
use crate::json::{Json, JsonKind};

/// A part of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum CallChange<'a> {
    Replace {
        old: Cow<'a, str>,
        new: Cow<'a, str>,
    },
    /// A patch in the tool's own form.
    Patch(Cow<'a, str>),
}

impl CallChange<'_> {
    fn into_owned(self) -> CallChange<'static> {
        match self {
            Self::Replace { old, new } => {
                CallChange::Replace { old: Cow::Owned(old.into_owned()), new: Cow::Owned(new.into_owned()) }
            }
            Self::Patch(patch) => CallChange::Patch(Cow::Owned(patch.into_owned())),
        }
    }

    /// The files that a patch names.
    pub(super) fn files(&self) -> Vec<String> {
        let Self::Patch(patch) = self else { return Vec::new() };
        let named = |line: &str| FILE_LINES.iter().find_map(|start| line.strip_prefix(start)).map(str::to_owned);
        patch.lines().filter_map(named).filter(|path| !path.is_empty()).collect()
    }
}

/// The changes of an edit's arguments: the pair beside the path, then those of the list.
pub(super) fn changes(arguments: Json<'_>) -> Vec<CallChange<'_>> {
    let mut changes: Vec<_> = replacement(arguments).into_iter().collect();
    changes.extend(arguments.get("edits").into_iter().flat_map(listed));
    changes.extend(given(arguments, CallRole::Patch).map(CallChange::Patch));
    changes
}

/// Some models give one edit without a list, or the list as a string.
fn listed(edits: Json<'_>) -> Vec<CallChange<'_>> {
    match edits.kind() {
        JsonKind::Object => of_edit(edits).into_iter().collect(),
        JsonKind::Array => edits.items().filter_map(of_edit).collect(),
        JsonKind::String => {
            let text = edits.as_str().unwrap_or_default();
            let inner = Json::parse(&text).ok().filter(|json| json.kind() != JsonKind::String);
            inner.into_iter().flat_map(listed).map(CallChange::into_owned).collect()
        }
        JsonKind::Null | JsonKind::Bool | JsonKind::Number => Vec::new(),
    }
}

fn of_edit(edit: Json<'_>) -> Option<CallChange<'_>> {
    replacement(edit).or_else(|| edit.str("diff").map(CallChange::Patch))
}

/// `None` without a text. One that is missing counts as empty.
fn replacement(edit: Json<'_>) -> Option<CallChange<'_>> {
    let (old, new) = (given(edit, CallRole::Old), given(edit, CallRole::New));
    let is_there = old.is_some() || new.is_some();
    is_there.then(|| CallChange::Replace { old: old.unwrap_or_default(), new: new.unwrap_or_default() })
}

fn given(edit: Json<'_>, role: CallRole) -> Option<Cow<'_, str>> {
    role.members().iter().find_map(|member| edit.str(member))
}

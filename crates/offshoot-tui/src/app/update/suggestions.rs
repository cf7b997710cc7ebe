//! Completions of extensions: which text they are asked about, and the choice that the user takes.

use crate::app::cmd::{Cmd, ProgramTask};
use crate::app::extension::{Completing, ExtensionTask, ForeignSuggestions};
use crate::app::model::Model;
use crate::editor::Suggestions;

/// Where a word may begin besides after a blank, as for offshoot's own completions.
const BEFORE: &str = "([{<\"'=,:";

/// The text and the cursor, to see whether they have changed; `None` if nobody completes.
pub(super) fn text_and_cursor(model: &Model) -> Option<(String, usize)> {
    model.extensions.completing.triggers.as_ref()?;
    let (text, cursor) = model.editor.text_and_cursor();
    Some((text.to_owned(), cursor))
}

/// Asks extensions about the word before the cursor, if they may know it or the user wants it.
pub(super) fn ask(model: &mut Model, is_forced: bool) -> Option<Cmd> {
    let triggers = model.extensions.completing.triggers.as_deref()?;
    let (text, cursor) = model.editor.text_and_cursor();
    let before = text.get(..cursor)?;
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let is_known = word.trim_start_matches(|sign| BEFORE.contains(sign)).starts_with(triggers)
        || (before.starts_with('/') && !before.contains('\n'));
    if !is_known && !is_forced {
        model.extensions.completing.asked = None;
        return None;
    }
    let own = model.editor.own_suggestions().map(|own| (own.prefix, own.choices));
    let text = completing(model);
    model.extensions.completing.asked = Some(text.id);
    Some(ProgramTask::Extension(ExtensionTask::Suggest { text, own, is_forced }).into())
}

fn completing(model: &mut Model) -> Completing {
    let id = model.extensions.number();
    let (text, cursor) = model.editor.text_and_cursor();
    let before = text.get(..cursor).unwrap_or_default();
    let last = before.rsplit('\n').next().unwrap_or_default();
    Completing {
        id,
        lines: text.split('\n').map(str::to_owned).collect(),
        line: before.matches('\n').count(),
        column: last.encode_utf16().count(),
    }
}

/// Shows what extensions offer, unless the text is another by now.
pub(super) fn suggested(model: &mut Model, id: u64, found: Option<ForeignSuggestions>) {
    if model.extensions.completing.asked != Some(id) {
        return;
    }
    let shown =
        found.as_ref().map(|found| Suggestions { prefix: found.prefix.clone(), choices: found.choices.clone() });
    model.extensions.completing.suggested = found;
    model.editor.suggest(shown);
}

/// The user took a choice of an extension, which knows what it does to the text.
pub(super) fn take(model: &mut Model, at: usize) -> Vec<Cmd> {
    let Some(found) = model.extensions.completing.suggested.take() else { return Vec::new() };
    let Some(item) = found.items.get(at).cloned() else { return Vec::new() };
    let text = completing(model);
    model.extensions.completing.asked = Some(text.id);
    vec![ProgramTask::Extension(ExtensionTask::Apply { text, item, prefix: found.prefix }).into()]
}

/// Takes the text with the choice, unless the text is another by now.
pub(super) fn applied(model: &mut Model, id: u64, text: &str, cursor: usize) -> Vec<Cmd> {
    if model.extensions.completing.asked.take() != Some(id) {
        return Vec::new();
    }
    model.editor.replace_at(text, cursor);
    vec![ProgramTask::SaveDraft(model.kept_draft()).into()]
}

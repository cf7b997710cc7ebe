//! Keys in the list of calls that are asked about, and answers that were decided there. Nothing is allowed that was not on the
//! screen in full.

use offshoot_protocol::ApprovalDecision;
use ratatui::crossterm::event::{KeyCode, KeyEvent};

use crate::app::call_list::{AskedCall, CallList, CallMark};
use crate::app::model::Model;
use crate::app::view;

/// What was decided about this call in a list. It counts only for the call that was shown, asked about for the reason that was shown.
pub(super) fn decided(model: &mut Model, call: &AskedCall, once: ApprovalDecision) -> Option<ApprovalDecision> {
    let decided = model.decided.as_mut()?;
    let at = decided.iter().position(|listed| listed.call.id == call.id)?;
    let listed = decided.remove(at);
    match listed.mark {
        CallMark::Refuse => Some(ApprovalDecision::Reject),
        CallMark::Allow if once == ApprovalDecision::AllowOnce && listed.call.is_same(call) => Some(once),
        CallMark::Allow | CallMark::ByItself => None,
    }
}

/// A key in the list. `Some(Some(…))` decides about all calls, with the mark of the first; `None` leaves the key to the editor.
pub(super) fn key(
    model: &mut Model,
    (key, typed): (KeyEvent, Option<char>),
    (submits, interrupts): (bool, bool),
) -> Option<Option<CallMark>> {
    let shown = view::listed_calls_in_full(model);
    let (rows, page) = view::opened_call_rows(model);
    let list = model.question.as_mut()?.list.as_mut()?;
    for (listed, is_in_full) in list.calls.iter_mut().zip(&shown) {
        listed.was_seen |= is_in_full;
    }
    match (typed, key.code, list.opened) {
        (Some(' '), ..) => list.selected_mut()?.turn(),
        (Some('y'), ..) => {
            if list.selected_mut()?.allow() && list.opened.is_none() {
                list.go(1);
            }
        }
        (Some('o'), _, opened) => list.opened = if opened.is_none() { Some(0) } else { None },
        (Some('a'), _, None) => {
            list.calls.iter_mut().zip(&shown).filter(|(_, is_in_full)| **is_in_full).for_each(|(listed, _)| {
                listed.allow();
            });
        }
        (Some('n'), _, None) => list.calls.iter_mut().for_each(|listed| listed.mark = CallMark::Refuse),
        (Some(_), ..) => {}
        (None, _, Some(_)) if submits || interrupts => list.opened = None,
        (None, code, Some(at)) => list.opened = Some(scrolled(code, at.min(rows.saturating_sub(page)), (rows, page))?),
        (None, ..) if submits => return Some(Some(take(model)?)),
        (None, code, None) => select(list, code)?,
    }
    Some(None)
}

fn select(list: &mut CallList, code: KeyCode) -> Option<()> {
    match code {
        KeyCode::Up => list.go(-1),
        KeyCode::Down => list.go(1),
        KeyCode::PageUp | KeyCode::Home => list.go(isize::MIN),
        KeyCode::PageDown | KeyCode::End => list.go(isize::MAX),
        _ => return None,
    }
    Some(())
}

/// Closes the list. The question about the first call stays, and what was decided about the others waits for theirs.
fn take(model: &mut Model) -> Option<CallMark> {
    let list = model.question.as_mut()?.list.take()?;
    let mut calls = list.calls.into_iter();
    let first = calls.next()?;
    model.decided = Some(calls.filter(|listed| listed.mark != CallMark::ByItself).collect());
    Some(first.mark)
}

fn scrolled(code: KeyCode, at: usize, (rows, page): (usize, usize)) -> Option<usize> {
    let at = match code {
        KeyCode::Up => at.saturating_sub(1),
        KeyCode::Down => at + 1,
        KeyCode::PageUp => at.saturating_sub(page),
        KeyCode::PageDown => at + page,
        _ => return None,
    };
    Some(at.min(rows.saturating_sub(page)))
}

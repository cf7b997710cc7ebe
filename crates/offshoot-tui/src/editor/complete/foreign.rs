//! The list of an extension in place of offshoot's own.

use super::token::{Of, Token};
use super::{Choice, Completion, Popup};

/// What offshoot offers of itself; an extension may want to put its own around it.
const OWN: usize = 50;

/// Completions for the text before the cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suggestions {
    /// The end of the text before the cursor that a choice replaces.
    pub prefix: String,
    pub choices: Vec<Choice>,
}

impl Completion {
    pub(in crate::editor) fn is_foreign(&self) -> bool {
        self.popup.as_ref().is_some_and(|popup| popup.token.of == Of::Foreign)
    }

    /// Whether the open list is an extension's and still fits, until the extension has answered for the new text.
    pub(super) fn keeps_foreign(&mut self, text: &str, cursor: usize) -> bool {
        let Some(popup) = self.popup.as_mut().filter(|popup| popup.token.of == Of::Foreign) else { return false };
        let typed = text.get(popup.token.range.start..cursor).unwrap_or_default();
        popup.token.range.end = cursor;
        !typed.is_empty() && !typed.contains(char::is_whitespace)
    }

    /// What the open list offers, as it would be written.
    pub(in crate::editor) fn own(&self, text: &str) -> Option<Suggestions> {
        let popup = self.popup.as_ref().filter(|popup| popup.token.of != Of::Foreign)?;
        let token = &popup.token;
        let choice = |at: &usize| {
            let choice = self.offers.choice(token.of, *at)?;
            Some(Choice { insert: token.of.written(&choice.insert), ..choice })
        };
        let choices = popup.matches.iter().take(OWN).filter_map(choice).collect();
        Some(Suggestions { prefix: text.get(token.range.clone())?.to_owned(), choices })
    }

    /// Shows what an extension offers; without choices what offshoot has.
    pub(in crate::editor) fn suggest(&mut self, text: &str, cursor: usize, suggested: Option<Suggestions>) {
        let found = suggested.filter(|found| !found.choices.is_empty());
        let Some(Suggestions { prefix, choices }) = found else {
            if self.is_foreign() {
                self.popup = self.wanted.clone().and_then(|token| self.matching(token));
            }
            return;
        };
        let before = text.get(..cursor).unwrap_or_default();
        let start = before.strip_suffix(prefix.as_str()).map_or(cursor, str::len);
        let matches = (0..choices.len()).collect();
        self.offers.foreign = choices;
        let token = Token { of: Of::Foreign, range: start..cursor, query: String::new() };
        self.popup = Some(Popup { token, matches, selected: 0, is_chosen: false, first: 0 });
    }

    /// Takes the selected choice of an extension, by its place.
    pub(in crate::editor) fn take_foreign(&mut self) -> Option<usize> {
        let popup = self.popup.take_if(|popup| popup.token.of == Of::Foreign)?;
        (self.wanted, self.dismissed) = (None, None);
        popup.matches.get(popup.selected).copied()
    }
}

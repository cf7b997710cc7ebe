//! Completion: the token being completed, the matching choices, and the replacement when one is taken. Knows no key and
//! no screen; the program provides the choices.

mod token;
mod offers;
mod view;
mod foreign;

use std::ops::Range;

use crate::fuzzy;
use crate::slash::Argument;
pub use foreign::Suggestions;
pub use offers::{Choice, Offers};
use token::{Of, Token};

pub(super) const ROWS: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Popup {
    token: Token,
    /// The best first; indexes of the choices.
    matches: Vec<usize>,
    selected: usize,
    is_chosen: bool,
    first: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) range: Range<usize>,
    pub(super) text: String,
    /// Whether the text is now a complete command: without a required argument, or with one from a list.
    pub(super) is_command: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Completion {
    pub(super) offers: Offers,
    pub(super) rows: usize,
    popup: Option<Popup>,
    /// The token being completed, even if nothing matches yet.
    wanted: Option<Token>,
    dismissed: Option<usize>,
}

impl Default for Completion {
    fn default() -> Self {
        Self { offers: Offers::default(), rows: ROWS, popup: None, wanted: None, dismissed: None }
    }
}

impl Completion {
    pub(super) fn is_open(&self) -> bool {
        self.popup.is_some()
    }

    /// The argument being completed, even if nothing matches yet.
    pub(super) fn wants(&self) -> Option<Argument> {
        self.wanted.as_ref().and_then(|token| token.of.argument())
    }

    pub(super) fn update(&mut self, text: &str, cursor: usize) {
        let token = token::at(text, cursor);
        if token.as_ref().is_none_or(|token| self.dismissed.is_some_and(|start| start != token.range.start)) {
            self.dismissed = None;
        }
        self.wanted = token.filter(|_| self.dismissed.is_none());
        if !self.keeps_foreign(text, cursor) {
            self.popup = self.wanted.clone().and_then(|token| self.matching(token));
        }
    }

    /// The user asked to complete a path at the cursor.
    pub(super) fn ask(&mut self, text: &str, cursor: usize) {
        self.dismissed = None;
        let token = token::at(text, cursor).unwrap_or_else(|| token::path(text, cursor));
        self.wanted = Some(token.clone());
        self.popup = self.matching(token);
    }

    /// The choices changed: an open list is updated and keeps its selection.
    pub(super) fn refresh(&mut self) {
        if self.is_foreign() {
            return;
        }
        let selected = self.popup.as_ref().and_then(|popup| popup.matches.get(popup.selected).copied());
        let is_chosen = self.popup.as_ref().is_some_and(|popup| popup.is_chosen);
        self.popup = self.wanted.clone().and_then(|token| self.matching(token));
        if let (Some(popup), Some(selected)) = (&mut self.popup, selected) {
            popup.is_chosen = is_chosen;
            popup.selected = popup.matches.iter().position(|at| *at == selected).unwrap_or(0);
            popup.show(self.rows);
        }
    }

    pub(super) fn close(&mut self) {
        (self.popup, self.wanted) = (None, None);
    }

    /// The user closed the list: it stays closed for this token.
    pub(super) fn dismiss(&mut self) {
        self.dismissed = self.popup.take().map(|popup| popup.token.range.start);
        self.wanted = None;
    }

    /// Moves the selection; a single step wraps around, as in pi.
    pub(super) fn step(&mut self, by: isize) {
        let rows = self.rows;
        if let Some(popup) = &mut self.popup {
            popup.is_chosen = true;
            let count = popup.matches.len();
            let last = count.saturating_sub(1);
            popup.selected = match (popup.selected.checked_add_signed(by), by) {
                (None, -1) => last,
                (None, _) => 0,
                (Some(at), 1) if at > last => 0,
                (Some(at), _) => at.min(last),
            };
            popup.show(rows);
        }
    }

    /// Whether the typed text should be sent whatever the list contains: an argument that is omitted, complete, or
    /// allowed to be unknown, or the whole name of a skill, a template or an extension's command; false if the user
    /// selected a row.
    pub(super) fn is_typed(&self) -> bool {
        let Some(popup) = self.popup.as_ref().filter(|popup| !popup.is_chosen) else { return false };
        let query = popup.token.query.as_str();
        let Of::Argument(argument) = popup.token.of else {
            return popup.token.of == Of::Command && self.offers.is_called(query);
        };
        let is_query =
            |at: &usize| self.offers.choice(popup.token.of, *at).is_some_and(|choice| choice.insert == query);
        query.is_empty() || argument.is_open() || popup.matches.iter().any(is_query)
    }

    pub(super) fn take(&mut self) -> Option<Taken> {
        let popup = self.popup.take()?;
        self.wanted = None;
        let choice = self.offers.choice(popup.token.of, *popup.matches.get(popup.selected)?)?;
        let text = popup.token.of.written(&choice.insert);
        // A following argument is a token of its own.
        self.dismissed = None;
        let is_command = popup.token.of.is_command_done(&choice.insert);
        Some(Taken { range: popup.token.range, text, is_command })
    }

    fn matching(&self, token: Token) -> Option<Popup> {
        let count = self.offers.count(token.of);
        let matches = match token.query.is_empty() {
            true => (0..self.offers.count_listed(token.of)).collect(),
            false => self.ranked(&token, count),
        };
        (!matches.is_empty()).then_some(Popup { token, matches, selected: 0, is_chosen: false, first: 0 })
    }

    fn ranked(&self, token: &Token, count: usize) -> Vec<usize> {
        let names = (0..count).map(|at| self.offers.name(token.of, at).unwrap_or_default());
        let mut ranked = fuzzy::filter(names, &token.query);
        ranked.retain(|at| self.offers.is_offered_for(token.of, *at, &token.query));
        let meant = match token.of {
            Of::Command => self.offers.command_named(&token.query),
            Of::Argument(_) | Of::File { .. } | Of::Foreign => None,
        };
        // An exact name comes first.
        if let Some(at) = meant.and_then(|meant| ranked.iter().position(|at| *at == meant)) {
            ranked.get_mut(..=at).into_iter().for_each(|first| first.rotate_right(1));
        }
        ranked
    }
}

impl Popup {
    fn show(&mut self, rows: usize) {
        let rows = rows.max(1);
        self.first = self.first.min(self.selected).max((self.selected + 1).saturating_sub(rows));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completion() -> Completion {
        let mut completion = Completion::default();
        let files = ["src/main.rs", "src/keymap/file.rs", "docs/a file.md", "README.md"];
        completion.offers.add_files(files.map(str::to_owned));
        completion.offers.set(Argument::Model, vec![Choice::new("anthropic/opus"), Choice::new("openai/gpt")]);
        completion.offers.add_called(vec![Choice::new("greet")]);
        completion
    }

    fn taken(text: &str) -> String {
        let mut completion = completion();
        completion.update(text, text.len());
        let Some(taken) = completion.take() else { return "-".to_owned() };
        let mut text = text.to_owned();
        text.replace_range(taken.range, &taken.text);
        format!("{text}|{}", if taken.is_command { "!" } else { "" })
    }

    #[test]
    fn what_is_taken_takes_the_place_of_what_was_typed() {
        let cases = [
            ("/tr", "/tree |!"),
            ("/", "/new |!"),
            ("/swi", "/switch |"),
            ("/fork", "/fork |!"),
            ("/branch", "/fork |!"),
            ("/exit", "/quit |!"),
            ("/allowed-to", "/permissions |!"),
            ("/gre", "/greet |!"),
            ("/model gp", "/model openai/gpt|!"),
            ("/thinking hi", "/thinking high|!"),
            ("/nothing", "-"),
            ("see @main", "see @src/main.rs |"),
            ("see @kfile", "see @src/keymap/file.rs |"),
            ("(@read", "(@README.md |"),
            ("see @\"a fi", "see @\"docs/a file.md\" |"),
            ("see @afile", "see @\"docs/a file.md\" |"),
            ("mail me@main", "-"),
            ("two\n/tr", "-"),
            ("!ls @main", "-"),
            ("/import main", "/import src/main.rs|"),
        ];
        for (text, expected) in cases {
            assert_eq!(taken(text), expected, "{text}");
        }
    }

    #[test]
    fn a_closed_list_stays_closed_until_another_word() {
        let mut completion = completion();
        completion.update("@m", 2);
        assert!(completion.is_open());
        completion.dismiss();
        completion.update("@ma", 3);
        assert!(!completion.is_open());
        completion.update("@ma ", 4);
        completion.update("@ma @", 5);
        assert!(completion.is_open());
    }

    #[test]
    fn files_come_bit_by_bit_and_the_selection_stays() {
        let mut completion = Completion::default();
        completion.update("@rs", 3);
        assert!(!completion.is_open());
        assert_eq!(completion.wants(), Some(Argument::File), "files are looked for before there are any");
        completion.offers.add_files(["b.rs".to_owned(), "c.rs".to_owned()]);
        completion.refresh();
        completion.step(1);
        completion.offers.add_files(["a.rs".to_owned(), "rs".to_owned()]);
        completion.refresh();
        assert_eq!(completion.take().map(|taken| taken.text).as_deref(), Some("@c.rs "));
    }

    #[test]
    fn the_list_goes_round() {
        let mut completion = completion();
        completion.update("@", 1);
        completion.step(-1);
        assert_eq!(completion.popup.as_ref().map(|popup| popup.selected), Some(3));
        completion.step(1);
        assert_eq!(completion.popup.as_ref().map(|popup| popup.selected), Some(0));
        completion.step(-5);
        completion.step(99);
        assert_eq!(completion.popup.as_ref().map(|popup| popup.selected), Some(3));
    }

    #[test]
    fn signs_in_a_query_mean_themselves() {
        let mut completion = Completion::default();
        completion.offers.add_files(["a!b".to_owned(), "ab".to_owned(), "x$".to_owned()]);
        for (text, count) in [("@!", 1), ("@a!b", 1), ("@x$", 1), ("@^a", 0), ("@ab", 2)] {
            completion.update(text, text.len());
            assert_eq!(completion.popup.as_ref().map_or(0, |popup| popup.matches.len()), count, "{text}");
        }
    }
}

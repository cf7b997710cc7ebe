//! `/scoped-models`: ticks the models between which a key changes, and sets their order. The list does not know what a
//! model is: it has names and details.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;

use super::hint;
use super::pick::{Choice, Pick, PickOutcome};
use crate::keymap::{Action, Context, Group, Keymap};
use crate::theme::Theme;

/// A model of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeRow {
    /// `provider/id`.
    pub name: String,
    /// The thinking level of the model in the scope, as typed after its name.
    pub level: Option<String>,
    pub detail: String,
    pub is_ticked: bool,
}

/// The outcome of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeOutcome {
    /// No outcome yet.
    Open,
    Closed,
    /// Use these models in this session: names, each with its level; empty for all.
    Use(Vec<String>),
    /// Use them, and keep them in the user's settings.
    Keep(Vec<String>),
}

#[derive(Debug, Clone)]
pub struct ModelScopeList {
    rows: Vec<ScopeRow>,
    /// All models, in their first order and without levels.
    usual: Vec<String>,
    pick: Pick,
}

impl ModelScopeList {
    /// The ticked rows are shown first, in the given order.
    #[must_use]
    pub fn new(mut rows: Vec<ScopeRow>, keymap: &Keymap) -> Self {
        let usual = rows.iter().map(|row| row.name.clone()).collect();
        rows.sort_by_key(|row| !row.is_ticked);
        let hints: [hint::Hint<'_>; 4] = [
            (&[Action::SelectConfirm], "ticks"),
            (&[Action::SaveModels], "keeps"),
            (&[Action::MoveModelUp, Action::MoveModelDown], "move"),
            (&[Action::SelectCancel], "leaves"),
        ];
        let title = format!("Scoped models: {}", hint::line(keymap, &hints));
        let mut list = Self { pick: Pick::new(title, rows.iter().map(choice).collect()), rows, usual };
        list.pick.go_to(0);
        list
    }

    pub fn paste(&mut self, pasted: &str) {
        self.pick.paste(pasted);
    }

    pub fn key(&mut self, keymap: &Keymap, key: KeyEvent) -> ScopeOutcome {
        let mut actions = keymap.actions(Context::Models, key).into_iter();
        let action = actions.find(|action| action.group() == Group::Models);
        match action {
            Some(Action::SaveModels) => return ScopeOutcome::Keep(self.ticked()),
            Some(Action::TickAllModels) => self.tick(|_| true),
            Some(Action::TickNoModels) => self.tick(|_| false),
            Some(Action::TickProvider) => self.tick_provider(),
            Some(Action::MoveModelUp) => self.shift(true),
            Some(Action::MoveModelDown) => self.shift(false),
            _ => match self.pick.key(keymap, key) {
                PickOutcome::Open => return ScopeOutcome::Open,
                PickOutcome::Cancelled => return ScopeOutcome::Closed,
                PickOutcome::Picked(at) => {
                    if let Some(row) = self.rows.get_mut(at) {
                        row.is_ticked = !row.is_ticked;
                    }
                }
            },
        }
        self.show();
        ScopeOutcome::Use(self.ticked())
    }

    /// Ticks the rows that the search shows.
    fn tick(&mut self, is_ticked: impl Fn(&ScopeRow) -> bool) {
        for at in self.pick.shown() {
            if let Some(row) = self.rows.get_mut(*at) {
                row.is_ticked = is_ticked(row);
            }
        }
    }

    fn tick_provider(&mut self) {
        let provider = |row: &ScopeRow| row.name.split('/').next().map(str::to_owned);
        let Some(of) = self.pick.chosen().and_then(|at| self.rows.get(at)).map(provider) else { return };
        let is_full = self.rows.iter().filter(|row| provider(row) == of).all(|row| row.is_ticked);
        self.rows.iter_mut().filter(|row| provider(row) == of).for_each(|row| row.is_ticked = !is_full);
    }

    /// Swaps the chosen row with the one before or after it, if the list is not narrowed.
    fn shift(&mut self, is_up: bool) {
        let Some(at) = self.pick.chosen().filter(|_| self.pick.shown().len() == self.rows.len()) else { return };
        let to = if is_up { at.checked_sub(1) } else { Some(at + 1).filter(|to| *to < self.rows.len()) };
        if let Some(to) = to {
            self.rows.swap(at, to);
            self.pick.go_to(to);
        }
    }

    fn show(&mut self) {
        self.pick.change(self.rows.iter().map(choice).collect());
    }

    /// Empty if all are ticked in their first order, or none is: a scope without a model means all.
    fn ticked(&self) -> Vec<String> {
        let ticked = self.rows.iter().filter(|row| row.is_ticked);
        let named = ticked.map(|row| match &row.level {
            Some(level) => format!("{}:{level}", row.name),
            None => row.name.clone(),
        });
        let named: Vec<String> = named.collect();
        if named == self.usual { Vec::new() } else { named }
    }

    /// The number of rows that show everything at this width.
    #[must_use]
    pub fn height(&self, columns: u16) -> u16 {
        self.pick.height(columns)
    }

    /// Whether the list is long.
    #[must_use]
    pub fn is_long(&self) -> bool {
        self.pick.is_long()
    }

    /// Draws the list over the whole area.
    pub fn view(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        self.pick.view(theme, area, buf);
    }
}

fn choice(row: &ScopeRow) -> Choice {
    let level = row.level.as_ref().map(|level| format!(" • {level}")).unwrap_or_default();
    Choice { label: format!("{}{level}", row.name), detail: row.detail.clone(), is_current: row.is_ticked }
}

#[cfg(test)]
mod tests {
    use ratatui::crossterm::event::{KeyCode, KeyModifiers};

    use super::*;
    use crate::testing::screen_of;

    fn row(name: &str, level: Option<&str>, is_ticked: bool) -> ScopeRow {
        let detail = "200k context".to_owned();
        ScopeRow { name: name.to_owned(), level: level.map(str::to_owned), detail, is_ticked }
    }

    fn press(list: &mut ModelScopeList, code: KeyCode, modifiers: KeyModifiers) -> ScopeOutcome {
        list.key(&Keymap::default(), KeyEvent::new(code, modifiers))
    }

    fn used(outcome: ScopeOutcome) -> String {
        match outcome {
            ScopeOutcome::Use(names) => names.join(" "),
            ScopeOutcome::Keep(names) => format!("keep {}", names.join(" ")),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn models_are_ticked_moved_and_kept() {
        use KeyModifiers as M;
        let rows = vec![row("a/one", None, false), row("a/two", Some("high"), true), row("b/three", None, true)];
        let mut list = ModelScopeList::new(rows, &Keymap::default());
        insta::assert_snapshot!(screen_of(60, 5, |theme, area, buf| list.view(theme, area, buf)), @"
        Scoped models: enter ticks · ctrl+s keeps · alt+↑/↓ move · …
        >
        › a/two • high ✓                                200k context
          b/three ✓                                     200k context
          a/one                                         200k context
        ");
        let down = KeyCode::Down;
        assert_eq!(used(press(&mut list, KeyCode::Enter, M::NONE)), "b/three");
        assert_eq!(used(press(&mut list, KeyCode::Enter, M::NONE)), "a/two:high b/three");
        assert_eq!(used(press(&mut list, down, M::ALT)), "b/three a/two:high");
        assert_eq!(used(press(&mut list, KeyCode::Up, M::ALT)), "a/two:high b/three");
        assert_eq!(used(press(&mut list, KeyCode::Char('p'), M::CONTROL)), "a/two:high b/three a/one");
        assert_eq!(used(press(&mut list, KeyCode::Char('x'), M::CONTROL)), "");
        assert_eq!(press(&mut list, KeyCode::Char('3'), M::NONE), ScopeOutcome::Open);
        assert_eq!(press(&mut list, KeyCode::Backspace, M::NONE), ScopeOutcome::Open);
        "three".chars().for_each(|letter| drop(press(&mut list, KeyCode::Char(letter), M::NONE)));
        assert_eq!(used(press(&mut list, KeyCode::Char('a'), M::CONTROL)), "b/three", "only what is shown");
        assert_eq!(used(press(&mut list, KeyCode::Char('s'), M::CONTROL)), "keep b/three");
        assert_eq!(press(&mut list, KeyCode::Esc, M::NONE), ScopeOutcome::Closed);
    }
}

//! The agents below the rows of the calls that have started them. The cursor goes through them as it does through rows; their session
//! is opened elsewhere. Reads nothing.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;

use offshoot_session::outline::Outline;
use offshoot_session::text::one_line;
use offshoot_session::tree::{NodeIx, Tree};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::TreeSelector;
use super::list::List;
use crate::text;
use crate::theme::{Theme, Token};

/// An agent as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRow {
    /// The stem of its file. An agent that `Alpha` has started is `Alpha.Beta`.
    pub id: String,
    /// Missing if it is in memory only.
    pub file: Option<PathBuf>,
    /// The entry with the call that has started it; missing if nothing says it yet.
    pub parent_entry: Option<String>,
    /// Such as `Alpha · scout`, with blanks before that of an agent below another one.
    pub name: String,
    /// Such as `running · 3 requests · $0.0123 · bash`.
    pub standing: String,
    pub is_running: bool,
}

/// The agents of the session, and the one under the cursor.
#[derive(Debug, Default)]
pub(super) struct TreeAgents {
    rows: Vec<AgentRow>,
    /// Places in `rows`, by the row below which they are.
    below: HashMap<usize, Vec<usize>>,
    /// Which of those below the selected row the cursor is on; `None`: the row itself.
    cursor: Option<usize>,
}

impl TreeAgents {
    /// Puts each below the row of its call, or of the nearest entry above the call that has a row. Agents of whom nothing says it come
    /// after the last row; those that an agent has started come after it.
    fn place(&mut self, tree: &Tree, outline: &Outline) {
        self.below.clear();
        let Some(last) = outline.len().checked_sub(1) else { return };
        let mut firsts: HashMap<&str, Option<NodeIx>> = HashMap::new();
        for row in self.rows.iter().filter(|row| !row.id.contains('.')) {
            firsts.insert(&row.id, row.parent_entry.as_deref().and_then(|entry| tree.find(entry)));
        }
        for (at, row) in self.rows.iter().enumerate() {
            let first = row.id.split('.').next().unwrap_or_default();
            let call = firsts.get(first).copied().flatten();
            let place = call.and_then(|ix| outline.nearest(ix)).unwrap_or(last);
            self.below.entry(place).or_default().push(at);
        }
    }

    fn count(&self, row: usize) -> usize {
        self.below.get(&row).map_or(0, Vec::len)
    }

    fn at(&self, row: usize, number: usize) -> Option<&AgentRow> {
        self.rows.get(*self.below.get(&row)?.get(number)?)
    }

    /// Moves the cursor a row up or down.
    pub(super) fn step(&mut self, list: &mut List, down: bool) {
        let count = self.count(list.selected);
        self.cursor = match (down, self.cursor) {
            (true, None) if count > 0 => Some(0),
            (true, Some(at)) if at + 1 < count => Some(at + 1),
            (false, Some(0)) => None,
            (false, Some(at)) => Some((at - 1).min(count.saturating_sub(1))),
            (true, _) => {
                list.step(true);
                None
            }
            (false, None) => {
                list.step(false);
                self.count(list.selected).checked_sub(1)
            }
        };
    }

    /// The cursor is on the row of an entry.
    pub(super) fn leave(&mut self) {
        self.cursor = None;
    }

    pub(super) fn has_cursor(&self) -> bool {
        self.cursor.is_some()
    }

    /// The agent under the cursor.
    pub(super) fn chosen(&self, row: usize) -> Option<&AgentRow> {
        self.at(row, self.cursor?)
    }

    /// What is drawn of these rows: each row of an entry, and after it its agents. The cursor is among them.
    pub(super) fn window(&self, seen: Range<usize>, selected: usize, room: usize) -> Vec<(usize, Option<usize>)> {
        let all = seen
            .flat_map(|row| std::iter::once((row, None)).chain((0..self.count(row)).map(move |at| (row, Some(at)))));
        let all: Vec<_> = all.collect();
        let cursor = all.iter().position(|place| *place == (selected, self.cursor)).unwrap_or_default();
        let start = (cursor + 2).saturating_sub(room).min(all.len().saturating_sub(room));
        all.into_iter().skip(start).take(room).collect()
    }
}

impl TreeSelector {
    /// Shows these agents.
    pub fn set_agents(&mut self, rows: Vec<AgentRow>) {
        self.agents.rows = rows;
        self.fetch();
    }

    /// Puts the agents below the rows as they are now.
    pub(super) fn place_agents(&mut self) {
        if self.agents.rows.is_empty() {
            return;
        }
        self.agents.place(self.source.tree(), &self.list.outline);
        let last = self.agents.count(self.list.selected).checked_sub(1);
        self.agents.cursor = self.agents.cursor.and_then(|at| Some(at.min(last?)));
    }

    /// A row of an agent.
    pub(super) fn agent_line(
        &self,
        theme: &Theme,
        (row, number): (usize, usize),
        view: usize,
    ) -> Option<Line<'static>> {
        let agent = self.agents.at(row, number)?;
        let is_selected = row == self.list.selected && self.agents.cursor == Some(number);
        let indent = self.list.outline.columns(row).min(view / 2) + 2;
        let mark = if is_selected { "› " } else { "  " };
        let token = if agent.is_running { Token::Text } else { Token::Muted };
        let words = format!("◆ {} · {}", one_line(&agent.name, 200), one_line(&agent.standing, 200));
        let room = view.saturating_sub(indent);
        let line = Line::from(vec![
            Span::styled(mark, theme.style(Token::Accent)),
            Span::raw(" ".repeat(indent)),
            Span::styled(text::fit(&words, room).into_owned(), theme.style(token)),
        ]);
        Some(line.style(if is_selected { theme.style(Token::SelectedBg) } else { Style::default() }))
    }
}

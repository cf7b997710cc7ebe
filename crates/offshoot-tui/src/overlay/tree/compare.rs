//! The comparison of two marked entries: where their branches part, and what each branch contains alone.
//!
//! Entries are read when they are visible. The files that were read and changed are found in slices, and what differs in
//! them is worked out by the caller.

use std::ops::Range;

use offshoot_agent::branch_files::FilePatch;
use offshoot_session::clock::{Millis, ago};
use offshoot_session::compare::{Comparison, Side};
use offshoot_session::entry::Source;
use offshoot_session::error::Result;
use offshoot_session::outline::Outline;
use offshoot_session::tree::NodeIx;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::draw::{draw, held, row, rule};
use super::keys::TreeAction;
use super::patch_lines::{PatchWords, patch_lines};
use super::{AT_ONCE, Mode, TreeOutcome, TreeSelector};
use crate::keymap::{Action, Keymap};
use crate::markdown::plain;
use crate::overlay::hint;
use crate::text;
use crate::theme::{Theme, Token};

/// From this width on the branches are side by side.
const WIDE: u16 = 60;

/// Two branches, and the scroll position.
#[derive(Debug)]
pub(super) struct Compare {
    comparison: Comparison,
    /// The compared entries.
    of: [NodeIx; 2],
    /// The entries of the branches that the default filter shows.
    listed: [Vec<NodeIx>; 2],
    top: usize,
    is_reading: bool,
    patches: Patches,
}

/// One of the two branches.
#[derive(Clone, Copy)]
struct Branch<'a> {
    name: char,
    side: &'a Side,
    listed: &'a [NodeIx],
}

/// What differs in the files of the branches.
#[derive(Debug)]
enum Patches {
    NotAsked,
    /// They are being worked out.
    Asked,
    Shown(Vec<(Token, String)>),
    /// Known, but the branches are shown again.
    Hidden(Vec<(Token, String)>),
}

/// One line of a branch.
enum Item {
    Heading(String),
    Text(String),
    Entry(NodeIx),
}

/// The data for drawing, besides the branches.
pub(super) struct Given<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) outline: &'a Outline,
    pub(super) theme: &'a Theme,
    pub(super) keymap: &'a Keymap,
    pub(super) now: Millis,
}

impl Compare {
    pub(super) fn new(source: &dyn Source, outline: &Outline, of: [NodeIx; 2]) -> Result<Self> {
        let comparison = Comparison::new(source, of[0], of[1])?;
        let listed = |side: &Side| side.entries.iter().copied().filter(|ix| !outline.is_left_out(*ix)).collect();
        let listed = [listed(&comparison.sides[0]), listed(&comparison.sides[1])];
        Ok(Self { comparison, of, listed, top: 0, is_reading: true, patches: Patches::NotAsked })
    }

    /// Searches for more files. Returns whether there are more to find.
    pub(super) fn work(&mut self, source: &dyn Source, budget: usize) -> Result<bool> {
        self.is_reading = self.comparison.work(source, budget)?;
        Ok(self.is_reading)
    }

    pub(super) fn is_reading(&self) -> bool {
        self.is_reading
    }

    /// Scrolls, but not beyond the end.
    pub(super) fn scroll(&mut self, by: isize, columns: u16, room: usize) {
        let counts = (self.branch(0).count(), self.branch(1).count());
        let count = match &self.patches {
            Patches::Shown(lines) => lines.len(),
            _ if columns >= WIDE => counts.0.max(counts.1),
            _ => counts.0 + counts.1,
        };
        let last = count.saturating_sub(room);
        self.top = self.top.saturating_add_signed(by).min(last);
    }

    pub(super) fn view(&self, given: &Given<'_>, area: Rect, buf: &mut Buffer) {
        let theme = given.theme;
        let muted = theme.style(Token::Muted);
        rule(theme, "Two branches", row(area, 0), buf);
        let shared = match self.comparison.ancestor {
            Some(ix) => format!("  Common ancestor: {}", entry_text(given, ix)),
            None => "  They have different roots".to_owned(),
        };
        draw(&Line::styled(text::truncate(&shared, area.width.into(), "…").into_owned(), muted), row(area, 1), buf);
        let inner = Rect { y: area.y + 3.min(area.height), height: area.height.saturating_sub(5), ..area };
        let (first, second) = (self.branch(0), self.branch(1));
        if let Patches::Shown(lines) = &self.patches {
            for (at, (token, line)) in lines.iter().skip(self.top).take(inner.height.into()).enumerate() {
                let line = text::truncate(line, inner.width.into(), "…").into_owned();
                draw(&Line::styled(line, theme.style(*token)), row(inner, at), buf);
            }
        } else if area.width >= WIDE {
            let half = Rect { width: (area.width - 1) / 2, ..inner };
            let other = Rect { x: inner.x + half.width + 1, width: inner.width - half.width - 1, ..inner };
            let seen = self.top..self.top + usize::from(inner.height);
            column(given, first, seen.clone(), half, buf);
            column(given, second, seen, other, buf);
        } else {
            let count = first.count();
            let seen = self.top..self.top + usize::from(inner.height);
            column(given, first, seen.start..seen.end.min(count).max(seen.start), inner, buf);
            let used = count.saturating_sub(self.top).min(inner.height.into()) as u16;
            let rest = Rect { y: inner.y + used, height: inner.height - used, ..inner };
            column(given, second, seen.start.saturating_sub(count)..seen.end.saturating_sub(count), rest, buf);
        }
        let (confirms, back, reading) = match &self.patches {
            Patches::Asked => ("patches", "back to the tree", " · working out the patches…"),
            Patches::Shown(_) => ("branches", "back to the branches", ""),
            _ if self.is_reading => ("patches", "back to the tree", " · looking for files…"),
            _ => ("patches", "back to the tree", ""),
        };
        let hints: [hint::Hint<'_>; 3] = [
            (&[Action::SelectUp, Action::SelectDown], "scroll"),
            (&[Action::SelectConfirm], confirms),
            (&[Action::SelectCancel], back),
        ];
        let help = format!("  {}{reading}", hint::line(given.keymap, &hints));
        draw(&Line::styled(help, muted), row(area, usize::from(area.height).saturating_sub(2)), buf);
    }

    /// Shows the patches or the branches. Returns whether the patches must be worked out first.
    fn turn(&mut self) -> bool {
        let is_new = matches!(self.patches, Patches::NotAsked);
        self.patches = match std::mem::replace(&mut self.patches, Patches::Asked) {
            Patches::NotAsked | Patches::Asked => Patches::Asked,
            Patches::Hidden(lines) => Patches::Shown(lines),
            Patches::Shown(lines) => Patches::Hidden(lines),
        };
        self.top = 0;
        is_new
    }

    fn branch(&self, at: usize) -> Branch<'_> {
        Branch { name: ['A', 'B'][at], side: &self.comparison.sides[at], listed: &self.listed[at] }
    }
}

impl Branch<'_> {
    /// How many lines it has.
    fn count(self) -> usize {
        self.header(0).len() + self.listed.len()
    }

    /// The lines above the entries.
    fn header(self, now: Millis) -> Vec<Item> {
        let mut items = header(self.side, self.name, now);
        if !self.listed.is_empty() {
            items.push(Item::Heading("Entries".to_owned()));
        }
        items
    }
}

/// What is said of files that are compared.
const OF_BRANCHES: PatchWords = PatchWords {
    unknown: "not known: a branch changed it without having shown all of it",
    same: "the same on both branches",
    none: "neither branch changed a file",
};

impl TreeSelector {
    pub(super) fn compare(&mut self) {
        let [first, second] = self.marks.as_slice() else {
            self.notice = Some("mark two entries, then compare them".to_owned());
            return;
        };
        self.open_comparison(*first, *second);
    }

    /// Shows where two entries part, and what only each of them has.
    pub fn open_comparison(&mut self, first: NodeIx, second: NodeIx) {
        let opened = Compare::new(self.source.as_ref(), &self.list.outline, [first, second]).and_then(|mut compare| {
            compare.work(self.source.as_ref(), AT_ONCE)?;
            Ok(compare)
        });
        match opened {
            Ok(compare) => self.mode = Mode::Compare(Box::new(compare)),
            Err(error) => self.notice = Some(error.to_string()),
        }
    }

    pub(super) fn compare_key(&mut self, key: KeyEvent) -> TreeOutcome {
        let Mode::Compare(compare) = &mut self.mode else { return TreeOutcome::Stay };
        let (columns, rows) = self.setup.size;
        let room = usize::from(rows).saturating_sub(5);
        let page = isize::try_from(room).unwrap_or(isize::MAX);
        let by = match TreeAction::of(&self.setup.keymap, key) {
            Some(TreeAction::Up) => -1,
            Some(TreeAction::Down) => 1,
            Some(TreeAction::PageUp | TreeAction::Left) => -page,
            Some(TreeAction::PageDown | TreeAction::Right) => page,
            Some(TreeAction::First) => isize::MIN,
            Some(TreeAction::Last) => isize::MAX,
            Some(TreeAction::Cancel) if matches!(compare.patches, Patches::Shown(_)) => {
                compare.turn();
                return TreeOutcome::Stay;
            }
            Some(TreeAction::Cancel | TreeAction::Compare) => {
                self.mode = Mode::Browse;
                return TreeOutcome::Stay;
            }
            Some(TreeAction::Confirm) => {
                let is_new = compare.turn();
                return match self.compared() {
                    Some([first, second]) if is_new => TreeOutcome::Patches(first, second),
                    _ => TreeOutcome::Stay,
                };
            }
            _ => 0,
        };
        compare.scroll(by, columns, room);
        TreeOutcome::Stay
    }
}

impl TreeSelector {
    /// The ids of the two compared entries.
    fn compared(&self) -> Option<[String; 2]> {
        let Mode::Compare(compare) = &self.mode else { return None };
        let [first, second] = compare.of;
        Some([self.id(first)?, self.id(second)?])
    }

    /// Shows what differs in the files of two branches, if they are still compared.
    pub fn take_patches(&mut self, of: [&str; 2], patches: std::result::Result<Vec<FilePatch>, String>) {
        let is_shown = self.compared().is_some_and(|ids| ids == of);
        let Mode::Compare(compare) = &mut self.mode else { return };
        if !is_shown || !matches!(compare.patches, Patches::Asked) {
            return;
        }
        match patches {
            Ok(patches) => (compare.patches, compare.top) = (Patches::Shown(patch_lines(&patches, OF_BRANCHES)), 0),
            Err(error) => (compare.patches, self.notice) = (Patches::NotAsked, Some(error)),
        }
    }
}

/// Draws the visible lines of a branch.
fn column(given: &Given<'_>, branch: Branch<'_>, seen: Range<usize>, area: Rect, buf: &mut Buffer) {
    let theme = given.theme;
    let entries = branch.listed.iter().map(|ix| Item::Entry(*ix));
    for (at, item) in branch.header(given.now).into_iter().chain(entries).skip(seen.start).take(seen.len()).enumerate()
    {
        let (line, token) = match item {
            Item::Heading(line) => (line, Token::Accent),
            Item::Text(line) => (line, Token::Text),
            Item::Entry(ix) => (format!("  {}", entry_text(given, ix)), Token::Muted),
        };
        let line = Line::styled(text::fit(&line, area.width.into()).into_owned(), theme.style(token));
        draw(&line, row(area, at), buf);
    }
}

/// The lines about a branch.
fn header(side: &Side, name: char, now: Millis) -> Vec<Item> {
    let age = side.newest.map_or(String::new(), |time| format!(", {}", ago(time, now)));
    let mut items = vec![
        Item::Heading(format!("Only in {name}")),
        Item::Text(format!("  {}{age}", held(&side.totals, side.totals.tokens > 0))),
    ];
    // Both branches have the row, so that the headings are beside each other.
    items.push(Item::Text(format!("  over {}", side.took().unwrap_or_else(|| "0 s".to_owned()))));
    items.extend([
        Item::Heading("Last words".to_owned()),
        Item::Text(format!(
            "  {}",
            side.last_words.as_deref().map_or_else(|| "(no words)".to_owned(), |said| plain(said, 200))
        )),
    ]);
    let files = side.files();
    for (title, paths) in [("Changed", files.modified), ("Read", files.read)] {
        if !paths.is_empty() {
            items.push(Item::Heading(title.to_owned()));
            items.extend(paths.into_iter().map(|path| Item::Text(format!("  {path}"))));
        }
    }
    items
}

fn entry_text(given: &Given<'_>, ix: NodeIx) -> String {
    given.outline.text(given.source, ix).unwrap_or_else(|error| error.to_string())
}

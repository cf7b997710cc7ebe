//! Draws a session's tree, or shows it flat or as JSON.

mod child_rows;
mod flat;

use std::io::{self, Write};

use offshoot_session::children::ChildList;
use offshoot_session::clock::Millis;
use offshoot_session::entry::Source as _;
use offshoot_session::entry_name::short_ids;
use offshoot_session::id::ShortIds;
use offshoot_session::outline::{Filter, Folds, Outline, OutlineRow, OutlineScope, OutlineSetup, Sums, TreeLayout};
use offshoot_session::records;
use offshoot_session::session::{Abridged, Session};
use offshoot_session::text::{cut, one_line, width};
use offshoot_session::tree::NodeIx;

use crate::failure::Result;
use crate::given::{EntryName, SessionName};
use crate::lookup::LatestOf;
use crate::operation::{About, Finished, FrontEnd, Operation, OperationEffect, Output, ScreenSize};
use crate::place::Place;
use crate::run::open_session;
use crate::session_to_read::{SessionToRead, ShownSession};
use crate::words::{Line, Role, Say, Words, WordsBlock};
use crate::{closed_words, input};
use child_rows::{ChildRows, blank};
use offshoot_session::in_order::{batches, made_in_order};

/// The minimum width of a row's text on a narrow screen.
const LEAST: usize = 20;

/// The minimum width of a label on a narrow screen.
const LEAST_OF_LABEL: usize = 8;
/// About how many bytes a drawn row takes.
const ROW_WEIGHT: u64 = 1 << 10;
/// The rows of the screen needed besides the tree: its last line and the shell's prompt.
const AROUND: usize = 2;

const FILTERS: &[&str] =
    &[Filter::NAMES[0].0, Filter::NAMES[1].0, Filter::NAMES[2].0, Filter::NAMES[3].0, Filter::NAMES[4].0];
const LAYOUTS: &[&str] = &[TreeLayout::NAMES[0].0, TreeLayout::NAMES[1].0];

closed_words!(Filter, FILTERS);
closed_words!(TreeLayout, LAYOUTS);

input! {
    /// What `tree` gets.
    pub struct TreeInput {
        /// The session
        of: SessionToRead = group,
        /// Draw the tree as if the session continued at this entry
        at: Option<EntryName> = option ("ENTRY" conflicts ["flat", "json"]),
        /// Which entries to show
        filter: Option<Filter> = option ("FILTER" conflicts ["json"]),
        /// Open all branches and runs of tool calls
        open: bool = flag (conflicts ["json"]),
        /// How to draw the tree
        layout: Option<TreeLayout> = option ("LAYOUT" conflicts ["json"]),
        /// Leave out the column of ids
        no_ids: bool = flag (conflicts ["flat", "json"]),
        /// Print one entry per line, for deep trees and for scripts
        flat: bool = flag (conflicts ["open", "layout", "json"]),
    }
}

/// Shows the tree of a session.
#[derive(Debug)]
pub struct ShowTree;

/// What of the tree is shown.
#[derive(Debug)]
pub struct TreePlan {
    leaf: Option<NodeIx>,
    input: TreeInput,
}

/// What came of `tree`.
#[derive(Debug)]
pub struct TreeOutput {
    shown: ShownSession,
    children: ChildList,
    plan: TreePlan,
    place: Place,
}

impl Operation for ShowTree {
    type Input = TreeInput;
    type Plan = TreePlan;
    type Written = ();
    type Output = TreeOutput;

    const ABOUT: About = About {
        name: "tree",
        aliases: &[],
        title: "Show the tree of a session",
        says: "The current branch runs straight down; its entries are marked with `•`, the\n\
               entry where the session continues with `›`, labels with [text]. Every other\n\
               branch hangs below the entry that it leaves, folded to one row (`⊞`) with\n\
               its size, cost, age and last words. Successive tool calls share a row, which\n\
               stands for the last one. The first column is the shortest start of the\n\
               entry's id that is unique, with at least four characters.\n\n\
               Agents that a call of the tool task has started are below it, marked with `◆`:
\
               their names, how they ended and what they cost.

\
               If the whole tree fits the terminal, or with --open, branches are open.\n\n\
               --layout pi draws what pi and omp draw: each branch point moves everything\n\
               below it to the right. The setting `treeLayout` chooses the default.\n\n\
               --flat prints one entry per line, parents first, from depth 0:\n\n  \
               DEPTH ID TYPE [ROLE] [LABEL]\n\n\
               It shows every entry unless --filter is given, and filters by type alone.\n\n\
               --json prints the array of roots that pi's `getTree` returns:\n\n  \
               [{\"entry\", \"children\": [...], \"label\"?, \"labelTimestamp\"?}]\n\n\
               with every entry exactly as it is in the file (old versions upgraded).\n\
               An entry whose line is damaged inside is shown as\n\n  \
               {\"type\", \"id\", \"parentId\", \"timestamp\": null, \"damage\": {\"offset\", \"message\"}}\n\n\
               `offset` counts bytes from the beginning of the line.",
        examples: "Examples:\n  offshoot tree latest\n  offshoot tree latest --filter user-only\n  \
                   offshoot tree latest --open\n  offshoot tree latest --at 1a2b\n  \
                   offshoot tree session.jsonl --flat | wc -l",
        past: "shown",
        effect: OperationEffect::Reads,
    };
    const NOT_ON: &'static [FrontEnd] = &[FrontEnd::Slash];

    fn session(input: &TreeInput) -> Option<&SessionName> {
        Some(&input.of.session)
    }

    fn latest_of(input: &TreeInput) -> LatestOf {
        input.of.latest_of()
    }

    fn plan(place: &Place, at: Option<&Session>, input: &TreeInput) -> Result<TreePlan> {
        let leaf = place.entry_or_leaf(open_session(at)?, input.at.as_ref())?;
        Ok(TreePlan { leaf, input: input.clone() })
    }

    fn output(plan: TreePlan, finished: Finished<'_, ()>) -> Result<TreeOutput> {
        let session = open_session(finished.session)?;
        let children = finished.place.children_of(session);
        Ok(TreeOutput {
            shown: ShownSession::of(session, &plan.input.of)?,
            children,
            plan,
            place: finished.place.clone(),
        })
    }
}

impl TreeOutput {
    fn outline(&self, shown: &Abridged<'_>, height: Option<usize>) -> Result<Outline> {
        let TreePlan { leaf, input } = &self.plan;
        let layout = input.layout.unwrap_or_else(|| self.place.tree_layout(&self.shown.cwd));
        let home = self.place.home().map(|home| home.to_string_lossy());
        let setup = OutlineSetup {
            layout,
            filter: input.filter.unwrap_or_default(),
            home: home.as_deref(),
            plain: Some(self.place.plain_row()),
        };
        let (filter, tree) = (setup.filter, shown.tree());
        let mut outline = Outline::new(shown, *leaf, setup)?;
        if input.open {
            let folds = Folds::everything_open();
            outline.arrange(tree, OutlineScope { filter, folds: Some(&folds), ..OutlineScope::default() });
        } else if let Some(height) = height {
            outline.open_if_it_fits(tree, height.saturating_sub(AROUND));
        }
        Ok(outline)
    }

    fn draw(&self, size: ScreenSize, say: &mut Say<'_>) -> Result<()> {
        let shown = self.shown.abridged();
        let outline = self.outline(&shown, size.height)?;
        let rows = (0..outline.len()).filter_map(|at| outline.entry(at));
        let ids = if self.plan.input.no_ids { None } else { Some(short_ids(shown.tree(), rows)?) };
        let sums = match outline.layout() {
            TreeLayout::Trunk => Some(Sums::new(&shown, &outline)?),
            TreeLayout::Pi => None,
        };
        let id_width = ids.as_ref().map_or(0, ShortIds::longest);
        let has_children = !self.children.children.is_empty();
        let (ids, sums) = (ids.as_ref(), sums.as_ref());
        let drawing = RowDrawing { shown: &shown, outline: &outline, ids, id_width, sums, has_children };
        let (mut children, now) = (ChildRows::new(&self.children, shown.tree(), &outline), self.place.now());
        let make = |at| drawing.line(at, size.width, now);
        let rows = batches(std::iter::repeat_n(ROW_WEIGHT, outline.len()));
        made_in_order(&rows, make, |at, drawn| {
            let Some((line, indent)) = drawn else { return Ok(()) };
            say(line)?;
            Ok(children.after(at, indent, size.width).into_iter().try_for_each(|line| say(&line.into()))?)
        })?;
        for line in children.rest(size.width) {
            say(&line.into())?;
        }
        Ok(say(&Line::from("  ").and(Role::Dim, outline.footer()).into())?)
    }
}

impl Output for TreeOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        records::write_tree(out, &self.shown.session)
    }

    fn words(&self, words: &mut Words) {
        words.is_streamed = true;
        if !self.plan.input.flat {
            words.is_long = true;
            words.notes.push(self.shown.odd());
        }
    }

    fn stream(&self, size: ScreenSize, say: &mut Say<'_>) -> Result<()> {
        if self.plan.input.flat {
            return flat::say(&self.shown.session, self.plan.input.filter.unwrap_or(Filter::All), say);
        }
        self.draw(size, say)
    }
}

/// What rows are drawn from.
#[derive(Clone, Copy)]
struct RowDrawing<'a> {
    shown: &'a Abridged<'a>,
    outline: &'a Outline,
    ids: Option<&'a ShortIds<'a>>,
    id_width: usize,
    sums: Option<&'a Sums>,
    /// Whether agents hang below some row.
    has_children: bool,
}

impl RowDrawing<'_> {
    /// A row and the indent of the agents below it; `None` after the last one. Reads the row's entry.
    fn line(self, at: usize, width_of_screen: Option<usize>, now: Millis) -> Result<Option<(WordsBlock, String)>> {
        let Self { shown, outline, ids, id_width, sums, has_children } = self;
        let Some(row) = outline.row(shown, at)? else { return Ok(None) };
        let id = ids.map(|ids| {
            let id = shown.tree().node(row.ix).id().map_or("", |id| ids.get(id.as_str()));
            format!("{:id_width$} ", one_line(id, usize::MAX))
        });
        let mut drawn =
            DrawnRow { row: &row, id: id.unwrap_or_default(), label: String::new(), note: String::new(), room: None };
        drawn.label = label_words(&row, width_of_screen.map(|width| width.saturating_sub(drawn.used())));
        drawn.room = width_of_screen.map(|width| width.saturating_sub(drawn.used()).max(LEAST));
        if let Some(note) = sums.map_or(Ok(None), |sums| sums.note(shown, outline, at))? {
            let fitted = note.fit(width(&row.text), drawn.room, now);
            (drawn.room, drawn.note) = (Some(fitted.words), fitted.note);
        }
        let indent = has_children.then(|| {
            let column = " ".repeat(if ids.is_some() { id_width + 1 } else { 0 });
            format!("{column}  {}", blank(&drawn.row.prefix))
        });
        Ok(Some((drawn.line().into(), indent.unwrap_or_default())))
    }
}

/// A row's label in what is left of the screen: its words come after it. A part of it is always shown.
fn label_words(row: &OutlineRow, room: Option<usize>) -> String {
    let Some(label) = &row.label else { return String::new() };
    let most = room.map_or(usize::MAX, |room| room.saturating_sub(LEAST + "[] ".len()).max(LEAST_OF_LABEL));
    format!("[{}] ", cut(label, most))
}

/// [`OutlineRow::line`] with roles, cut to the screen, between the columns.
struct DrawnRow<'a> {
    row: &'a OutlineRow,
    /// With the blank after it; empty without ids.
    id: String,
    /// In brackets, with the blank after it; empty without a label.
    label: String,
    note: String,
    room: Option<usize>,
}

impl DrawnRow<'_> {
    fn parts(&self) -> (&'static str, &'static str) {
        let cursor = if self.row.is_selected { "› " } else { "  " };
        let bullet = if self.row.is_on_path { "• " } else { "" };
        (cursor, bullet)
    }

    /// The columns before the text.
    fn used(&self) -> usize {
        let (cursor, bullet) = self.parts();
        [&self.id, cursor, &self.row.prefix, bullet, &self.label].iter().map(|part| width(part)).sum()
    }

    fn line(self) -> Line {
        let (cursor, bullet) = self.parts();
        let text = match self.room {
            Some(room) => cut(&self.row.text, room),
            None => self.row.text.as_str().into(),
        };
        let (who, said) = match text.split_once(": ") {
            Some((who @ ("user" | "assistant"), _)) => text.split_at(who.len()),
            _ => ("", text.as_ref()),
        };
        let speaker = if who == "user" { Role::User } else { Role::Assistant };
        let words = match said {
            _ if self.row.is_selected => Role::Bold,
            _ if said.starts_with("[compaction: ") || said.starts_with("[branch summary]") => Role::Mark,
            _ if said.starts_with('[') => Role::Dim,
            _ => Role::Plain,
        };
        let line = Line::of(Role::Dim, self.id).and(Role::Plain, cursor).and(Role::Dim, self.row.prefix.as_str());
        let line = line.and(Role::Plain, bullet).and(Role::Label, self.label);
        line.and(speaker, who).and(words, said).and(Role::Dim, self.note)
    }
}

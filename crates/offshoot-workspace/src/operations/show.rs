//! Shows the transcript of a branch, or the facts about a session.

use std::io::{self, Write};

use offshoot_session::children::ChildList;
use offshoot_session::clock::{Millis, parse_iso, to_iso};
use offshoot_session::entry::Source as _;
use offshoot_session::entry_name::short_ids;
use offshoot_session::error;
use offshoot_session::id::{EntryId, ShortIds};
use offshoot_session::json::Object;
use offshoot_session::records;
use offshoot_session::session::Session;
use offshoot_session::stats::{Overview, overview};
use offshoot_session::text::{counted, one_line};
use offshoot_session::transcript::Item;
use offshoot_session::tree::{NodeIx, Tree};

use crate::entry_words::{session_title, totals_in_words};
use crate::failure::Result;
use crate::given::{EntryName, SessionName};
use crate::input;
use crate::lookup::LatestOf;
use crate::operation::{About, Finished, FrontEnd, Operation, OperationEffect, Output, ScreenSize};
use crate::place::Place;
use crate::run::open_session;
use crate::session_to_read::{SessionToRead, ShownSession};
use crate::transcript::screen::{Heading, Length, ScreenItem, TranscriptScreen};
use crate::when;
use crate::words::{Line, Role, Say, Words};
use offshoot_session::in_order::{batches, made_in_order};

input! {
    /// What `show` gets.
    pub struct ShowInput {
        /// The session
        of: SessionToRead = group,
        /// Show the branch up to this entry instead of the current branch
        at: Option<EntryName> = option ("ENTRY"),
        /// Show tool results and thinking in full
        full: bool = flag (conflicts ["json"]),
        /// Leave out the ids of entries
        no_ids: bool = flag (conflicts ["json"]),
        /// Show name, place, times, branches and cost instead of the transcript
        summary: bool = flag (conflicts ["at", "full", "no_ids"]),
    }
}

/// Shows a session.
#[derive(Debug)]
pub struct Show;

/// The branch that is shown.
#[derive(Debug)]
pub struct ShowPlan {
    path: Vec<NodeIx>,
    input: ShowInput,
}

/// What came of `show`.
#[derive(Debug)]
pub struct ShowOutput {
    shown: ShownSession,
    title: Option<String>,
    is: Shown,
    place: Place,
}

#[derive(Debug)]
enum Shown {
    Transcript { plan: ShowPlan, interruption: Option<Item> },
    Summary(SessionSummary),
}

/// The facts about a session.
#[derive(Debug)]
struct SessionSummary {
    overview: Overview,
    created: Option<Millis>,
    modified: Option<Millis>,
    file: String,
    leaf: Option<EntryId>,
    /// Agents that the session has started.
    children: ChildList,
}

impl Operation for Show {
    type Input = ShowInput;
    type Plan = ShowPlan;
    type Written = ();
    type Output = ShowOutput;

    const ABOUT: About = About {
        name: "show",
        aliases: &["log"],
        title: "Show the transcript of a session",
        says: "The transcript is one branch, from the first entry to the current one or to\n\
               --at: user messages, answers, one line for each tool call, and the first\n\
               lines of each result. It marks compactions and summaries of other branches.\n\
               `context` shows what the model will see.\n\n\
               --json prints the array of entries that pi's `getBranch` returns, from the\n\
               first one on, each as it is in the file (old versions upgraded).\n\n\
               --summary prints the session's name, place, times, branches and cost. The\n\
               cost is that of all branches; an entry that several branches share counts\n\
               once. Agents that the session has started are counted beside it. With --json:\n\n  \
               {\"id\", \"name\"?, \"cwd\", \"file\", \"created\", \"modified\", \"leafId\",\n   \
               \"branches\", \"entries\", \"messages\", \"tokens\", \"cost\", \"lastWords\",\n   \
               \"children\"?, \"childrenCost\"?}\n\n\
               `created`, `modified` and `leafId` may be null.",
        examples: "Examples:\n  offshoot show latest\n  offshoot show latest --at 1a2b\n  \
                   offshoot show latest --summary\n  \
                   offshoot show session.jsonl --json | jq -r '.[] | select(.type == \"message\") | .message.role'",
        past: "shown",
        effect: OperationEffect::Reads,
    };
    const NOT_ON: &'static [FrontEnd] = &[FrontEnd::Slash];

    fn session(input: &ShowInput) -> Option<&SessionName> {
        Some(&input.of.session)
    }

    fn latest_of(input: &ShowInput) -> LatestOf {
        input.of.latest_of()
    }

    fn plan(place: &Place, at: Option<&Session>, input: &ShowInput) -> Result<ShowPlan> {
        let session = open_session(at)?;
        let leaf = place.entry_or_leaf(session, input.at.as_ref())?.filter(|_| !input.summary);
        Ok(ShowPlan { path: leaf.map(|leaf| session.tree().path(leaf)).unwrap_or_default(), input: input.clone() })
    }

    fn output(plan: ShowPlan, finished: Finished<'_, ()>) -> Result<ShowOutput> {
        let session = open_session(finished.session)?;
        let (shown, title) = (ShownSession::of(session, &plan.input.of)?, session_title(session)?);
        let is = if plan.input.summary {
            Shown::Summary(SessionSummary::of(session, finished.place)?)
        } else {
            let is_current = plan.path.last().copied() == session.leaf();
            let interruption = session.interruption()?.filter(|_| is_current);
            Shown::Transcript { plan, interruption }
        };
        Ok(ShowOutput { shown, title, is, place: finished.place.clone() })
    }
}

impl SessionSummary {
    fn of(session: &Session, place: &Place) -> error::Result<Self> {
        let tree = session.tree();
        Ok(Self {
            overview: overview(session, session.leaf())?,
            created: session.header().timestamp().and_then(parse_iso),
            modified: tree.entries().filter_map(|ix| tree.node(ix).time()).max(),
            file: session.file().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default(),
            leaf: session.leaf_id().cloned(),
            children: place.children_of(session),
        })
    }
}

impl ShowOutput {
    fn summary_json(&self, summary: &SessionSummary) -> String {
        let SessionSummary { overview, created, modified, file, leaf, children } = summary;
        let totals = &overview.totals;
        let agents = &children.children;
        let object = Object::new()
            .str("id", &self.shown.id)
            .opt_str("name", self.title.as_deref())
            .str("cwd", &self.shown.cwd)
            .str("file", file)
            .str_or_null("created", created.map(to_iso).as_deref())
            .str_or_null("modified", modified.map(to_iso).as_deref())
            .str_or_null("leafId", leaf.as_ref().map(EntryId::as_str))
            .raw("branches", overview.branches)
            .raw("entries", totals.entries)
            .raw("messages", totals.messages)
            .raw("tokens", totals.tokens)
            .raw("cost", totals.cost)
            .str("lastWords", &overview.last_words);
        match agents.is_empty() {
            true => object.finish(),
            false => object.raw("children", agents.len()).raw("childrenCost", children.cost()).finish(),
        }
    }

    /// Name, id and folder, and an empty line.
    fn say_head(&self, words: &mut Words) {
        if let Some(name) = &self.title {
            words.line(Line::of(Role::Bold, name));
        }
        let about = [self.shown.id.as_str(), &self.place.short(&self.shown.cwd)].map(|word| one_line(word, 200));
        words.line(Line::of(Role::Dim, about.join("  ").trim_end()));
        words.line("");
    }

    fn say_summary(&self, summary: &SessionSummary, words: &mut Words) {
        let rows = [
            ("file", one_line(&self.place.short(&summary.file), 400)),
            ("created", summary.created.map(when::minute).unwrap_or_default()),
            ("changed", summary.modified.map(when::minute).unwrap_or_default()),
            ("branches", summary.overview.branches.to_string()),
            ("in all", totals_in_words(&summary.overview.totals)),
            ("its agents", summary.children.words().unwrap_or_default()),
            ("last words", self.place.plain(&summary.overview.last_words)),
        ];
        for (what, value) in rows.into_iter().filter(|(_, value)| !value.is_empty()) {
            words.line(Line::of(Role::Dim, format!("{what:12}")).and(Role::Plain, value));
        }
    }
}

/// The number of entries of a path, and of those on other branches.
fn totals(tree: &Tree, path: &[NodeIx]) -> String {
    let is_shown = |ix: &NodeIx| !tree.node(*ix).is_leaf_marker();
    let here = path.iter().copied().filter(is_shown).count();
    let elsewhere = tree.entries().filter(is_shown).count() - here;
    match elsewhere {
        0 => counted(here, "entry", "entries"),
        _ => format!("{}, {elsewhere} more on other branches", counted(here, "entry", "entries")),
    }
}

fn heading(tree: &Tree, ix: NodeIx, ids: Option<&ShortIds<'_>>) -> Heading {
    let node = tree.node(ix);
    let id = node.id().zip(ids).map(|(id, ids)| one_line(ids.get(id.as_str()), 40));
    Heading {
        id: id.unwrap_or_default(),
        label: node.id().and_then(|id| tree.label(id)).map(|label| one_line(&label.text, 80)),
        time: node.time(),
    }
}

impl Output for ShowOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.is {
            Shown::Transcript { plan, .. } => records::write_entries(out, &self.shown.session, &plan.path),
            Shown::Summary(summary) => out.write_all(self.summary_json(summary).as_bytes()),
        }
    }

    fn words(&self, words: &mut Words) {
        self.say_head(words);
        match &self.is {
            Shown::Transcript { .. } => (words.is_long, words.is_streamed) = (true, true),
            Shown::Summary(summary) => self.say_summary(summary, words),
        }
        words.notes.push(self.shown.odd());
    }

    fn stream(&self, _: ScreenSize, say: &mut Say<'_>) -> Result<()> {
        let Shown::Transcript { plan, interruption } = &self.is else { return Ok(()) };
        let tree = self.shown.session.tree();
        let ids = if plan.input.no_ids { None } else { Some(short_ids(tree, plan.path.iter().copied())?) };
        let length = if plan.input.full { Length::Whole } else { Length::Cut };
        let mut screen = TranscriptScreen::new(say);
        let shown = self.shown.abridged();
        let make = |at| -> Result<_> {
            match plan.path.get(at) {
                Some(ix) => Ok(Item::of_entry(&shown.entry(*ix)?)
                    .map(|item| (ScreenItem::of(&item, length), heading(tree, *ix, ids.as_ref())))),
                None => Ok(None),
            }
        };
        let parts = batches(plan.path.iter().map(|ix| tree.node(*ix).length()));
        made_in_order(&parts, make, |_, item| match item {
            Some((item, heading)) => Ok(screen.item(item, heading)?),
            None => Ok(()),
        })?;
        if let Some(notice) = interruption {
            screen.item(&ScreenItem::of(notice, length), &Heading::default())?;
        }
        Ok(screen.close(&totals(tree, &plan.path))?)
    }
}

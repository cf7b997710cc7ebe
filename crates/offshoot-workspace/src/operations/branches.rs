//! Lists the branches of a session with their counts and costs.

use std::io::{self, Write};

use offshoot_session::children::ChildList;
use offshoot_session::clock::{Millis, to_iso};
use offshoot_session::entry::Source as _;
use offshoot_session::entry_name::short_ids;
use offshoot_session::error;
use offshoot_session::facts::Totals;
use offshoot_session::id::EntryId;
use offshoot_session::json::Object;
use offshoot_session::merge::{MergeProgress, progress};
use offshoot_session::session::{Session, Snapshot};
use offshoot_session::stats::{Branch, branches, totals};
use offshoot_session::text::{dollars, in_short, one_line};
use offshoot_session::tree::NodeIx;

use crate::entry_words::totals_in_words;
use crate::failure::Result;
use crate::given::SessionName;
use crate::input;
use crate::lookup::LatestOf;
use crate::operation::{About, Finished, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::run::open_session;
use crate::session_to_read::SessionToRead;
use crate::when;
use crate::words::{Line, Note, Role, TableColumn, Words, WordsTable};

input! {
    /// What `branches` gets.
    pub struct BranchesInput {
        /// The session
        at: SessionToRead = group,
        /// Only branches with messages that the current one lacks
        unmerged: bool = flag,
        /// Leave out the column of ids
        no_ids: bool = flag (conflicts ["json"]),
    }
}

/// Lists the branches of a session.
#[derive(Debug)]
pub struct Branches;

/// The branches that are listed.
#[derive(Debug)]
pub struct BranchesPlan {
    branches: Vec<ListedBranch>,
    only_unmerged: bool,
    has_ids: bool,
    odd: Note,
}

/// What came of `branches`.
#[derive(Debug)]
pub struct BranchesOutput {
    /// In the order of the file.
    pub branches: Vec<ListedBranch>,
    /// Where a table looks up how short ids can be, which takes time; `None` if it shows none.
    ids_of: Option<Snapshot>,
    whole: Totals,
    /// Agents that the session has started.
    children: ChildList,
    place: Place,
    odd: Note,
}

/// A branch, and how much of it the current one has.
#[derive(Debug)]
pub struct ListedBranch {
    /// What is known of it.
    pub branch: Branch,
    /// How much of it the current branch has.
    pub progress: MergeProgress,
    leaf: Option<EntryId>,
    forks_from: Option<EntryId>,
}

/// Every branch of a session, in the order of the file.
///
/// # Errors
/// The session cannot be read.
pub fn all_branches(session: &Session) -> error::Result<Vec<ListedBranch>> {
    let branches = branches(session, session.leaf())?;
    let leaves: Vec<NodeIx> = branches.iter().map(|branch| branch.leaf).collect();
    let progress = progress(session.pick_end(), &leaves)?;
    let id = |ix: NodeIx| session.tree().node(ix).id().cloned();
    let listed = |(branch, progress): (Branch, MergeProgress)| ListedBranch {
        leaf: id(branch.leaf),
        forks_from: branch.forks_from.and_then(id),
        branch,
        progress,
    };
    Ok(branches.into_iter().zip(progress).map(listed).collect())
}

impl Operation for Branches {
    type Input = BranchesInput;
    type Plan = BranchesPlan;
    type Written = ();
    type Output = BranchesOutput;

    const ABOUT: About = About {
        name: "branches",
        aliases: &[],
        title: "List the branches of a session, with their sizes and costs",
        says: "A branch is the path from the first entry to one that nothing follows. `›`\n\
               marks the current branch. Entries, tokens and cost have two numbers: those\n\
               of this branch alone, and those of its whole path. The last line\n\
               counts every entry of the session once. Tokens and cost are those that\n\
               providers reported. The newest branch comes first; `switch` goes to one.\n\
               MERGED says which branches `merge` or `pick` brought to the current one, and\n\
               how many messages they have since.\n\n\
               --json prints an array, one element for each branch, in file order:\n\n  \
               [{\"leafId\", \"isOpen\", \"label\", \"lastWords\", \"time\", \"forksFrom\",\n    \
               \"merged\", \"unmergedMessages\", \"entries\", \"messages\", \"tokens\", \"cost\",\n    \
               \"own\": {\"entries\", \"messages\", \"tokens\", \"cost\"}}]\n\n\
               `isOpen` is true for the current branch. `forksFrom` is the last entry that\n\
               other branches share; it, `label` and `time` may be null. `merged` is \"no\",\n\
               \"partly\" or \"all\".",
        examples: "Examples:\n  offshoot branches latest\n  \
                   offshoot branches latest --unmerged     # what `merge` would still bring\n  \
                   offshoot branches latest --json | jq 'map(.own.cost) | add'",
        past: "shown",
        effect: OperationEffect::Reads,
    };

    fn session(input: &BranchesInput) -> Option<&SessionName> {
        Some(&input.at.session)
    }

    fn latest_of(input: &BranchesInput) -> LatestOf {
        input.at.latest_of()
    }

    fn plan(_: &Place, at: Option<&Session>, input: &BranchesInput) -> Result<BranchesPlan> {
        let session = open_session(at)?;
        let mut branches = all_branches(session)?;
        branches.retain(|listed| !input.unmerged || listed.progress.lacking > 0);
        Ok(BranchesPlan { branches, only_unmerged: input.unmerged, has_ids: !input.no_ids, odd: input.at.odd(session) })
    }

    fn nothing(plan: &BranchesPlan) -> Option<Line> {
        let is_nothing = plan.only_unmerged && plan.branches.is_empty();
        is_nothing.then(|| "no branch has messages that this one lacks".into())
    }

    fn output(plan: BranchesPlan, finished: Finished<'_, ()>) -> Result<BranchesOutput> {
        let session = open_session(finished.session)?;
        let BranchesPlan { branches, has_ids, odd, .. } = plan;
        let ids_of = if has_ids { Some(session.snapshot()?) } else { None };
        let children = finished.place.children_of(session);
        Ok(BranchesOutput { branches, ids_of, whole: totals(session)?, children, place: finished.place.clone(), odd })
    }
}

fn shown_ids(from: &Snapshot, branches: &[ListedBranch]) -> error::Result<Vec<String>> {
    let ids = short_ids(from.tree(), branches.iter().map(|listed| listed.branch.leaf))?;
    let shown = |leaf: &EntryId| one_line(ids.get(leaf.as_str()), 40);
    Ok(branches.iter().map(|listed| listed.leaf.as_ref().map_or("-".to_owned(), shown)).collect())
}

fn sums(object: Object, totals: &Totals) -> Object {
    object
        .raw("entries", totals.entries)
        .raw("messages", totals.messages)
        .raw("tokens", totals.tokens)
        .raw("cost", totals.cost)
}

impl ListedBranch {
    /// The element of the array that `branches --json` prints.
    #[must_use]
    pub fn to_json(&self) -> String {
        let Self { branch, progress, leaf, forks_from } = self;
        let object = Object::new()
            .str_or_null("leafId", leaf.as_ref().map(EntryId::as_str))
            .raw("isOpen", branch.is_open)
            .str_or_null("label", branch.label.as_deref())
            .str("lastWords", &branch.last_words)
            .str_or_null("time", branch.time.map(to_iso).as_deref())
            .str_or_null("forksFrom", forks_from.as_ref().map(EntryId::as_str))
            .str("merged", progress.word())
            .raw("unmergedMessages", progress.lacking);
        sums(object, &branch.whole).raw("own", sums(Object::new(), &branch.own).finish()).finish()
    }

    fn merged(&self) -> String {
        match (self.branch.is_open || !self.progress.is_begun, self.progress.lacking) {
            (true, _) => String::new(),
            (false, 0) => "all".to_owned(),
            (false, lacking) => format!("partly, {lacking} since"),
        }
    }

    fn cells(&self, shown_id: Option<&String>, now: Millis, said: String) -> Vec<String> {
        let (own, whole) = (&self.branch.own, &self.branch.whole);
        let tokens = format!("{}/{}", in_short(own.tokens), in_short(whole.tokens));
        let cost = format!("{}/{}", dollars(own.cost), dollars(whole.cost).trim_start_matches('$'));
        vec![
            if self.branch.is_open { "›" } else { " " }.to_owned(),
            shown_id.cloned().unwrap_or_default(),
            self.branch.time.map_or("?".to_owned(), |time| when::ago(time, now)),
            format!("{}/{}", own.entries, whole.entries),
            tokens,
            cost,
            self.merged(),
            self.branch.label.as_ref().map(|label| one_line(label, 80)).unwrap_or_default(),
            said,
        ]
    }
}

const TOKENS: usize = 4;
const COST: usize = 5;

impl BranchesOutput {
    /// The newest branch first.
    fn table(&self, shown_ids: &[String]) -> WordsTable {
        let mut newest: Vec<(usize, &ListedBranch)> = self.branches.iter().enumerate().collect();
        newest.sort_by_key(|(_, listed)| std::cmp::Reverse(listed.branch.time));
        let has_cost = self.branches.iter().any(|listed| listed.branch.whole.cost > 0.0);
        let has_tokens = self.branches.iter().any(|listed| listed.branch.whole.tokens > 0);
        let row = |(at, listed): (usize, &ListedBranch)| {
            let said = self.place.plain(&listed.branch.last_words);
            let mut cells = listed.cells(shown_ids.get(at), self.place.now(), said);
            for at in [(TOKENS, has_tokens), (COST, has_cost)].iter().filter(|(_, has)| !has).map(|(at, _)| *at) {
                cells.get_mut(at).into_iter().for_each(String::clear);
            }
            (cells, if listed.branch.is_open { Role::Bold } else { Role::Plain })
        };
        WordsTable {
            columns: vec![
                TableColumn::left(" ", Role::Mark),
                TableColumn::left("LEAF", Role::Dim),
                TableColumn::right("WHEN", Role::Dim).leaves(5),
                TableColumn::right("ENTRIES", Role::Plain).leaves(2),
                TableColumn::right("TOKENS", Role::Plain).leaves(1),
                TableColumn::right("COST", Role::Plain).leaves(3),
                TableColumn::left("MERGED", Role::Plain).leaves(4),
                TableColumn::left("LABEL", Role::Label).cut_to(16),
                TableColumn::left("LAST WORDS", Role::Plain),
            ],
            rows: newest.into_iter().map(row).collect(),
        }
    }
}

impl Output for BranchesOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let objects: Vec<String> = self.branches.iter().map(ListedBranch::to_json).collect();
        write!(out, "[{}]", objects.join(",\n"))
    }

    fn words(&self, words: &mut Words) {
        words.is_long = true;
        let shown_ids = self.ids_of.as_ref().map(|from| shown_ids(from, &self.branches)).transpose();
        let shown_ids = shown_ids.unwrap_or_else(|error| {
            words.notes.push(Note::Warning(error.to_string()));
            None
        });
        words.table(self.table(&shown_ids.unwrap_or_default()));
        if self.branches.is_empty() {
            words.notes.push(Note::Told("the session is empty".to_owned()));
        } else {
            let whole = totals_in_words(&self.whole);
            words.line(Line::of(Role::Dim, format!("the whole session: {whole}")));
            if let Some(agents) = self.children.words() {
                words.line(Line::of(Role::Dim, format!("its agents: {agents}")));
            }
        }
        words.notes.push(self.odd.clone());
    }
}

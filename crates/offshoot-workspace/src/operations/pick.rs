//! Copies entries of another branch or session to the current one.

use std::io::{self, Write};

use offshoot_files::RestoreReport;
use offshoot_session::entry::Source as _;
use offshoot_session::entry_name::short_ids;
use offshoot_session::id::EntryId;
use offshoot_session::kind::Role as Speaker;
use offshoot_session::outline::entry_text;
use offshoot_session::pick::{LeftOut, PickOptions, PickPlan};
use offshoot_session::session::{Brought, PlannedPick, Session, SpillPolicy};
use offshoot_session::stats;
use offshoot_session::text::{counted, one_line};
use offshoot_session::tree::NodeIx;

use crate::copied::{Copied, other_session};
use crate::costs::{forecast_line, sizes};
use crate::entry_words::{entry_line, messages_table};
use crate::failure::Result;
use crate::file_moves::{FileMove, FileMoveOutcome};
use crate::file_patches::patches_of;
use crate::given::{EntryName, EntryRange, SessionName};
use crate::input;
use crate::operation::{About, CommandGroup, Finished, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::run::open_session;
use crate::selecting::Selecting;
use crate::words::{Line, NextStep, Role, Words};

input! {
    /// What `pick` gets.
    pub struct PickInput {
        /// A path, an id or its unique start or end, a name, or `latest`
        session: SessionName = arg,
        /// ENTRY or A..B
        selection: Vec<EntryRange> = arg (unless ["turn"]),
        /// The user's message at or above ENTRY, and all up to the next one
        turn: Vec<EntryName> = option ("ENTRY"),
        /// Below which entry the copies go; without it below the current one
        onto: Option<EntryName> = option ("ENTRY"),
        /// The session that has the entries; without it this one
        from: Option<SessionName> = option ("OTHER"),
        /// Copy also what is here already
        again: bool = flag,
        /// Take models, thinking levels and other settings along
        settings: bool = flag,
        /// Take state of extensions along
        state: bool = flag,
        /// Put the labels of the entries on the copies
        labels: bool = flag,
        /// Bring the file changes of the entries, too
        files: bool = flag,
        /// Pick also what does not fit into the window of the model
        force: bool = flag,
    }
}

/// Copies entries of another branch or session to the current one.
#[derive(Debug)]
pub struct Pick;

/// The copies, and what is said of each.
#[derive(Debug)]
pub struct PickSteps {
    planned: PlannedPick,
    /// The rows of the table.
    listed: Vec<(Vec<String>, Role)>,
    files: Option<FileMove>,
}

/// What was written.
#[derive(Debug)]
pub struct PickWritten {
    brought: Brought,
    files: Option<RestoreReport>,
}

/// What came of `pick`.
#[derive(Debug)]
pub struct PickOutput {
    /// The copies.
    pub copied: Copied,
    onto_words: Line,
    listed: Vec<(Vec<String>, Role)>,
    files: Option<FileMoveOutcome>,
}

impl Operation for Pick {
    type Input = PickInput;
    type Plan = PickSteps;
    type Written = PickWritten;
    type Output = PickOutput;

    const ABOUT: About = About {
        name: "pick",
        aliases: &["cherry-pick"],
        title: "Copy entries of another branch, or of another session, to the end of this one",
        says: "SELECTION is ENTRY, or A..B: the entries after A, up to B, on the path of B.\n\
               Without A it begins where B and the current branch part, without B it ends at\n\
               the last entry. The copies go below the current entry or, with --onto, below\n\
               ENTRY. Nothing is removed, so `undo` takes a pick back.\n\n\
               A tool call and its results stay together: if one is selected, the others are\n\
               copied too. Entries that the model already sees are skipped, unless --again.\n\
               Compactions, settings, state of extensions and labels are left out; options\n\
               copy the last three too. The current model stays. Tokens and cost of a copy\n\
               count where they were spent.\n\n\
               Copies contain messages, not file changes; a notice lists files that are not\n\
               in this folder. With --files the changes of the copied calls come along, as\n\
               far as this folder recorded them: each is merged into the file as it is now,\n\
               or the file stays and the other content goes beside it.\n\n\
               --json prints {\"ontoId\", \"copies\": [{\"entryId\", \"type\", \"role\", \"tokens\",\n\
               \"added\", \"gone\"}], \"leftOut\": [{\"entryId\", \"reason\", \"message\"}],\n\
               \"alreadyHere\": [{\"entryId\", \"hereId\"}], \"restatedModel\", \"tokens\",\n\
               \"tokensBefore\", \"bytes\", \"imagesWrittenOut\", \"readFiles\", \"modifiedFiles\",\n\
               \"operationId\", \"entryIds\"}. The last two are null with --dry-run, and if\n\
               there is nothing to pick. With --dry-run there is \"forecast\", as `switch`\n\
               prints it. With --files there is \"files\", as `switch` prints it.",
        examples: "Examples:\n  offshoot pick latest 1a2b3c4d\n  \
                   offshoot pick latest ..1a2b3c4d --dry-run          # all that the branch has and this one lacks\n  \
                   offshoot pick latest --turn 1a2b3c4d --onto @-\n  \
                   offshoot pick latest --turn 1a2b3c4d --files\n  \
                   offshoot pick latest .. --from 0198c2aa            # all of another session",
        past: "picked",
        effect: OperationEffect::Writes {
            dry_run: "Show what would be written and left out, and write nothing",
            refused_at_work: Some("the agent is at work: stop it first"),
            moves: true,
            spill: SpillPolicy::Temporary,
        },
    };
    const GROUP: CommandGroup = CommandGroup::BringBack;

    fn session(input: &PickInput) -> Option<&SessionName> {
        Some(&input.session)
    }

    fn plan(place: &Place, at: Option<&Session>, input: &PickInput) -> Result<PickSteps> {
        let session = open_session(at)?;
        let other = other_session(place, session, input.from.as_ref())?;
        let from = other.as_ref().unwrap_or(session);
        let onto = input.onto.as_ref().map(|onto| place.entry_to_write(session, &onto.0)).transpose()?;
        let onto = onto.or(session.leaf());
        let find = |given: &str| place.entry_to_write(from, given);
        let selecting = Selecting { here: session, from: other.as_ref(), onto, find: &find };
        let given = input.selection.iter().map(|given| selecting.entries(&given.0));
        let turns = input.turn.iter().map(|turn| selecting.turn(&turn.0));
        let selections = given.chain(turns).collect::<Result<Vec<_>>>()?;
        let PickInput { again, settings, state, labels, .. } = *input;
        let options = PickOptions { again, settings, state, labels };
        let planned = selecting.pick(&selections, options)?;
        if !input.force {
            place.refuse_beyond_window(session, planned.plan.before, planned.plan.tokens)?;
        }
        let listed = listed(from, &planned.plan)?;
        let chosen: Vec<NodeIx> =
            planned.plan.copies.iter().map(|copy| copy.ix).chain(selections.into_iter().flatten()).collect();
        let files = input.files.then(|| patches_of(place, session, from, &chosen)).transpose()?;
        Ok(PickSteps { planned, listed, files })
    }

    fn nothing(PickSteps { planned, .. }: &PickSteps) -> Option<Line> {
        let plan = &planned.plan;
        let why = if plan.already.is_empty() { "the selection has no messages" } else { "all of it is here already" };
        plan.is_empty().then(|| why.into())
    }

    fn commit(_: &Place, at: &mut Session, plan: &PickSteps) -> Result<Option<PickWritten>> {
        let pick = |at: &mut Session| Ok(at.pick(&plan.planned)?);
        let (brought, files) = match &plan.files {
            Some(files) => files.run_recorded(at, "pick", pick).map(|(brought, report)| (brought, Some(report)))?,
            None => (pick(at)?, None),
        };
        Ok(brought.map(|brought| PickWritten { brought, files }))
    }

    fn output(plan: PickSteps, finished: Finished<'_, PickWritten>) -> Result<PickOutput> {
        let PickSteps { planned, listed, files } = plan;
        let Finished { place, session, written, is_dry } = finished;
        let (written, report) = written.map_or((None, None), |written| (Some(written.brought), written.files));
        let files = files.map(|files| files.into_moved(report));
        let finished = Finished { place, session, written, is_dry };
        let session = open_session(finished.session)?;
        let below = |onto| -> Result<Line> { Ok(Line::from("below ").then(entry_line(session, onto)?)) };
        let onto_words = planned.plan.onto.map_or_else(|| Ok("as the first entry".into()), below)?;
        let copied = Copied::of(planned.plan, finished)?;
        Ok(PickOutput { copied, onto_words, listed, files })
    }
}

/// What is copied, what is here, and what is left out.
fn listed(from: &Session, plan: &PickPlan) -> Result<Vec<(Vec<String>, Role)>> {
    let tree = from.tree();
    let others = plan.already.iter().map(|(id, _)| id).chain(plan.left_out.iter().map(|(id, _)| id));
    let others = others.filter_map(|id| tree.find(id.as_str()));
    let ids = short_ids(tree, plan.copies.iter().map(|copy| copy.ix).chain(others))?;
    let short = |id: &EntryId| one_line(ids.get(id.as_str()), 40);
    let mut rows = Vec::with_capacity(plan.copies.len());
    for copy in &plan.copies {
        let what = match (copy.gone, copy.is_added) {
            (Some(_), _) => "back",
            (None, true) => "with it",
            (None, false) => "pick",
        };
        let role = copy.role.and_then(Speaker::word).or(copy.kind.word()).unwrap_or("?");
        let said = stats::words(&from.entry(copy.ix)?).map_or_else(|| entry_text(from, copy.ix), Ok)?;
        let cells = [what.to_owned(), short(&copy.id), role.to_owned(), copy.tokens.to_string(), one_line(&said, 100)];
        rows.push((cells.to_vec(), Role::Plain));
    }
    for (id, here) in &plan.already {
        let why = if id == here { "here already".to_owned() } else { format!("here already, as {here}") };
        rows.push(beside("here", short(id), one_line(&why, 80)));
    }
    rows.extend(plan.left_out.iter().map(|(id, why)| beside("left out", short(id), reason(*why))));
    Ok(rows)
}

fn beside(what: &str, id: String, why: String) -> (Vec<String>, Role) {
    (vec![what.to_owned(), id, String::new(), String::new(), why], Role::Dim)
}

fn reason(why: LeftOut) -> String {
    let option = match why {
        LeftOut::Setting => ": --settings takes it along",
        LeftOut::State => ": --state takes it along",
        LeftOut::Label => ": --labels puts it on the copy",
        _ => "",
    };
    format!("{}{option}", why.text())
}

impl Output for PickOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.copied.to_json(self.files.as_ref()).as_bytes())
    }

    fn words(&self, words: &mut Words) {
        let Copied { plan, brought, forecast, missing, .. } = &self.copied;
        words.is_long = true;
        words.table(messages_table(&self.listed));
        let verb = if brought.is_some() { "picked" } else { "would pick" };
        let count = counted(plan.copies.len(), "entry", "entries");
        words.line("");
        words.line(Line::from(format!("{verb} {count} ")).then(self.onto_words.clone()));
        words.line(Line::of(Role::Dim, sizes(plan.before.messages, plan.before.messages + plan.tokens)));
        if let Some(model) = &plan.restated {
            words.line(format!("the model stays {}", one_line(model, 80)));
        }
        if plan.images > 0 {
            let images = counted(plan.images, "entry", "entries");
            words.line(format!("the pictures of {images} are written into the session, as pi keeps them"));
        }
        forecast.iter().for_each(|forecast| words.line(forecast_line(forecast)));
        match &self.files {
            Some(files) => files.words(words),
            None => words.notes.extend(missing.clone()),
        }
        if brought.is_some() {
            words.next.push(NextStep::new("undo", "takes it back"));
        }
    }
}

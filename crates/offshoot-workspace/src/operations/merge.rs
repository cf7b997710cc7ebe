//! Brings what another branch has to the current one: as a summary, or as copies.

use std::io::{self, Write};
use std::sync::Arc;

use offshoot_agent::forecast::RequestForecast;
use offshoot_agent::operate::{PlanAnswer, PlanQuestion, SummaryWish};
use offshoot_files::RestoreReport;
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::json::Object;
use offshoot_session::merge::{MergePlan, MergeRequest};
use offshoot_session::session::{Brought, PlannedMerge, PlannedPick, Session, SpillPolicy};
use offshoot_session::summariser::Drafted;
use offshoot_session::text::counted;
use offshoot_session::tokens::estimate_summary;
use offshoot_session::tree::NodeIx;

use crate::copied::{Copied, id_of, missing_files, other_session};
use crate::costs::{forecast_line, with_forecast, with_summary_cost, words_without_summary};
use crate::entry_words::entry_line;
use crate::failure::Result;
use crate::file_moves::{FileMove, FileMoveOutcome};
use crate::file_patches::patches_of;
use crate::given::{EntryName, FilledText, SessionName, Text};
use crate::input;
use crate::operation::{About, CommandGroup, Finished, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::run::open_session;
use crate::selecting::Selecting;
use crate::words::{Line, NextStep, Note, Role, Words};

input! {
    /// What `merge` gets.
    pub struct MergeInput {
        /// A path, an id or its unique start or end, a name, or `latest`
        session: SessionName = arg,
        /// An id or its unique start, a label, or a time such as 2h
        source: EntryName = arg,
        /// Below which entry the summary goes; without it below the current one
        onto: Option<EntryName> = option ("ENTRY"),
        /// The session that has the branch; without it this one
        from: Option<SessionName> = option ("OTHER"),
        /// The summary, in your words
        summary: Option<FilledText> = option ("TEXT"),
        /// Have the summary written (this is the default)
        summarize: bool = flag (conflicts ["summary"]),
        /// Copy the entries instead of a summary
        entries: bool = flag (conflicts ["summary", "summarize", "instructions"]),
        /// What the summary should say
        instructions: Option<Text> = option ("TEXT" conflicts ["summary"]),
        /// Bring the file changes of the branch, too
        files: bool = flag,
        /// Merge also what does not fit into the window of the model
        force: bool = flag,
    }
}

/// Brings what another branch has to the current one.
#[derive(Debug)]
pub struct Merge;

/// What is merged, and the files that come along.
#[derive(Debug)]
pub struct MergeSteps {
    how: MergeForm,
    files: Option<FileMove>,
}

/// What is merged, and how.
#[derive(Debug)]
pub enum MergeForm {
    /// As a summary.
    Summary(Box<SummarySteps>),
    /// As copies.
    Copies(Box<PlannedPick>),
}

/// A merge whose summary a model writes, or the user did.
#[derive(Debug)]
pub struct SummarySteps {
    planned: PlannedMerge,
    /// The session that has the branch, if it is another one.
    from: Option<Arc<Session>>,
    tip: NodeIx,
    instructions: Option<String>,
    is_forced: bool,
    /// In the user's words.
    own: Option<Drafted>,
    drafted: Option<Drafted>,
}

/// What was written.
#[derive(Debug)]
pub struct MergeWritten {
    brought: BroughtByMerge,
    files: Option<RestoreReport>,
}

/// What was merged.
#[derive(Debug)]
pub enum BroughtByMerge {
    /// The entry of the summary.
    Summary(EntryId),
    /// The copies.
    Copies(Brought),
}

/// What came of `merge`.
#[derive(Debug)]
pub struct MergeOutput {
    /// What was merged, and how.
    pub brought: MergeOutcome,
    files: Option<FileMoveOutcome>,
}

/// A merge that was written, or would be.
#[derive(Debug)]
pub enum MergeOutcome {
    /// A summary.
    Summary(Box<MergedSummary>),
    /// Copies.
    Copies(Box<Copied>),
}

/// A summary that was merged, or would be.
#[derive(Debug)]
pub struct MergedSummary {
    /// What is merged.
    pub plan: MergePlan,
    /// The entry that was written, and its text.
    pub written: Option<(EntryId, String)>,
    planned_json: Object,
    base_words: Line,
    forecast: Option<MergeForecast>,
    missing: Option<Note>,
}

/// The next request after a dry run.
#[derive(Debug)]
struct MergeForecast {
    request: RequestForecast,
    /// Whether the summary is known.
    has_summary: bool,
    summary_cost: Option<f64>,
}

impl Operation for Merge {
    type Input = MergeInput;
    type Plan = MergeSteps;
    type Written = MergeWritten;
    type Output = MergeOutput;

    const ABOUT: About = About {
        name: "merge",
        aliases: &[],
        title: "Add another branch to the end of this one, as a summary",
        says: "SOURCE is an entry of the other branch. Its entries up to SOURCE that this\n\
               branch lacks are summarised. The summary goes below the current entry or, with\n\
               --onto, below ENTRY, so the model knows what was tried there and what was\n\
               found. A later merge of the same branch adds only what is new since. Picked\n\
               entries are not summarised again. `undo` takes a merge back.\n\n\
               Without --summary a model writes it: --model, else the session's, else the\n\
               one of settings.json. Without a model offshoot extracts the summary from the\n\
               messages. --entries copies the entries instead, as `pick` does. --files\n\
               brings the file changes of the branch, as `pick --files` does.\n\n\
               --json prints {\"ontoId\", \"merged\": {\"base\", \"tip\"}, \"entries\", \"alreadyHere\",\n\
               \"isRepeated\", \"tokens\", \"tokensBefore\", \"leftOut\", \"readFiles\",\n\
               \"modifiedFiles\", \"id\", \"summary\"}. The last two are null with --dry-run, and if\n\
               nothing is new. With --entries it prints what `pick` does. With --dry-run\n\
               there is \"forecast\", as `switch` prints it, and \"summaryCost\" in US dollars,\n\
               null if no model would write the summary. With --files there is \"files\", as\n\
               `switch` prints it.",
        examples: "Examples:\n  offshoot merge latest 1a2b3c4d --dry-run\n  \
                   offshoot merge latest 1a2b3c4d --summary 'the regex crate cannot be loaded here'\n  \
                   offshoot merge latest 1a2b3c4d --entries\n  \
                   offshoot merge latest 1a2b3c4d --summary 'it works' --files",
        past: "merged",
        effect: OperationEffect::Writes {
            dry_run: "Show what would be merged, and write nothing",
            refused_at_work: Some("the agent is at work: stop it first"),
            moves: true,
            spill: SpillPolicy::Temporary,
        },
    };
    const GROUP: CommandGroup = CommandGroup::BringBack;

    const MAY_ASK: bool = true;

    fn session(input: &MergeInput) -> Option<&SessionName> {
        Some(&input.session)
    }

    fn unasked(input: &MergeInput) -> Option<&'static str> {
        (input.summary.is_some() || input.entries).then_some("no model writes a summary")
    }

    fn plan(place: &Place, at: Option<&Session>, input: &MergeInput) -> Result<MergeSteps> {
        let session = open_session(at)?;
        let other = other_session(place, session, input.from.as_ref())?;
        let onto = input.onto.as_ref().map(|onto| place.entry_to_write(session, &onto.0)).transpose()?;
        let onto = onto.or(session.leaf());
        let from = other.as_ref();
        let find = |given: &str| place.entry_to_write(from.unwrap_or(session), given);
        let selecting = Selecting { here: session, from, onto, find: &find };
        let tip = find(&input.source.0)?;
        let planned = selecting.merge(tip, 0)?;
        let files = input.files.then(|| branch_patches(place, session, &selecting, (&planned, tip))).transpose()?;
        if input.entries {
            let copies = selecting.copies(planned)?;
            if !input.force {
                place.refuse_beyond_window(session, copies.plan.before, copies.plan.tokens)?;
            }
            return Ok(MergeSteps { how: MergeForm::Copies(Box::new(copies)), files });
        }
        let own = input.summary.as_ref().map(|text| planned.plan.in_words(&text.0));
        let (from, is_forced) = (other.map(Arc::new), input.force);
        let instructions = input.instructions.as_ref().map(|text| text.0.clone());
        let steps = SummarySteps { planned, from, tip, instructions, is_forced, own, drafted: None };
        Ok(MergeSteps { how: MergeForm::Summary(Box::new(steps)), files })
    }

    fn nothing(plan: &MergeSteps) -> Option<Line> {
        let is_empty = match &plan.how {
            MergeForm::Summary(steps) => steps.planned.plan.is_empty(),
            MergeForm::Copies(copies) => copies.plan.is_empty(),
        };
        is_empty.then(|| "nothing new on that branch".into())
    }

    fn question(plan: &MergeSteps) -> Option<PlanQuestion> {
        match &plan.how {
            MergeForm::Summary(steps) if steps.own.is_none() => Some(steps.question()),
            MergeForm::Summary(_) | MergeForm::Copies(_) => None,
        }
    }

    fn complete(place: &Place, at: &Session, plan: &mut MergeSteps, answer: Option<&PlanAnswer>) -> Result<()> {
        let MergeForm::Summary(steps) = &mut plan.how else { return Ok(()) };
        let drafted = answer.and_then(|answer| answer.drafted.as_ref());
        steps.drafted = drafted.or(steps.own.as_ref()).cloned();
        let tokens = steps.drafted.as_ref().filter(|_| !steps.is_forced).map(|drafted| estimate_summary(&drafted.text));
        tokens.map_or(Ok(()), |tokens| place.refuse_beyond_window(at, steps.planned.plan.before, tokens))
    }

    fn commit(_: &Place, at: &mut Session, plan: &MergeSteps) -> Result<Option<MergeWritten>> {
        let merge = |at: &mut Session| -> Result<Option<BroughtByMerge>> {
            Ok(match &plan.how {
                MergeForm::Summary(steps) => {
                    let merged = steps.drafted.as_ref().map(|drafted| at.merge(&steps.planned, drafted));
                    merged.transpose()?.map(BroughtByMerge::Summary)
                }
                MergeForm::Copies(copies) => at.pick(copies)?.map(BroughtByMerge::Copies),
            })
        };
        let (brought, files) = match &plan.files {
            Some(files) => files.run_recorded(at, "merge", merge).map(|(brought, report)| (brought, Some(report)))?,
            None => (merge(at)?, None),
        };
        Ok(brought.map(|brought| MergeWritten { brought, files }))
    }

    fn output(plan: MergeSteps, finished: Finished<'_, MergeWritten>) -> Result<MergeOutput> {
        let Finished { place, session, written, is_dry } = finished;
        let (written, report) = written.map_or((None, None), |written| (Some(written.brought), written.files));
        let files = plan.files.map(|files| files.into_moved(report));
        let brought = match plan.how {
            MergeForm::Summary(steps) => {
                let written = written.and_then(|written| match written {
                    BroughtByMerge::Summary(id) => Some(id),
                    BroughtByMerge::Copies(_) => None,
                });
                let finished = Finished { place, session, written, is_dry };
                MergeOutcome::Summary(Box::new(MergedSummary::of(*steps, finished)?))
            }
            MergeForm::Copies(copies) => {
                let written = written.and_then(|written| match written {
                    BroughtByMerge::Copies(brought) => Some(brought),
                    BroughtByMerge::Summary(_) => None,
                });
                let copied = Copied::of(copies.plan, Finished { place, session, written, is_dry })?;
                MergeOutcome::Copies(Box::new(copied))
            }
        };
        Ok(MergeOutput { brought, files })
    }
}

/// The changes of files that a merge brings.
fn branch_patches<E: From<offshoot_session::error::Error>>(
    place: &Place,
    session: &Session,
    selecting: &Selecting<'_, E>,
    (planned, tip): (&PlannedMerge, NodeIx),
) -> Result<FileMove> {
    let from = selecting.from.unwrap_or(session);
    let entries: Vec<NodeIx> = planned.plan.entries.iter().copied().chain([tip]).collect();
    patches_of(place, session, from, &entries)
}

impl SummarySteps {
    fn question(&self) -> PlanQuestion {
        let (from, tip, onto) = (self.from.clone(), self.tip, self.planned.plan.onto);
        let branch = Arc::new(move |session: &Session, budget| {
            let request = MergeRequest { from: from.as_deref().map(Session::pick_end), tip, onto, budget };
            Ok(session.plan_merge(&request)?.plan.summary)
        });
        let summary = Some(SummaryWish::focus(self.instructions.clone()));
        PlanQuestion { branch, from: self.from.clone(), summary, moves: None }
    }
}

impl MergedSummary {
    fn of(steps: SummarySteps, finished: Finished<'_, EntryId>) -> Result<Self> {
        let Finished { place, session, written, is_dry } = finished;
        let session = open_session(session)?;
        let forecast = is_dry.then(|| MergeForecast::of(place, session, &steps)).transpose()?;
        let SummarySteps { planned: PlannedMerge { plan, .. }, from, drafted, .. } = steps;
        let source = from.as_deref().unwrap_or(session);
        let base = plan.merged.base.as_ref().and_then(|base| source.tree().find(base.as_str()));
        let base_words = base.map_or_else(|| Ok("the beginning".into()), |base| entry_line(source, base))?;
        let planned_json = plan.to_json(source, id_of(session, plan.onto).as_ref().map(EntryId::as_str));
        let missing = written.as_ref().and_then(|_| missing_files(place, session, &plan.summary.files));
        let written = written.zip(drafted.map(|drafted| drafted.text));
        Ok(Self { plan, written, planned_json, base_words, forecast, missing })
    }
}

impl MergeForecast {
    fn of(place: &Place, session: &Session, steps: &SummarySteps) -> Result<Self> {
        let own = steps.own.as_ref();
        let summary_cost = match own {
            Some(_) => None,
            None => place.summary_cost(session, &steps.question())?,
        };
        let more = own.map_or(0, |own| estimate_summary(&own.text));
        let request = place.forecast(session, steps.planned.plan.onto, more)?;
        Ok(Self { request, has_summary: own.is_some(), summary_cost })
    }
}

impl Output for MergeOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let json = match &self.brought {
            MergeOutcome::Copies(copied) => copied.to_json(self.files.as_ref()),
            MergeOutcome::Summary(merged) => {
                let object = merged
                    .planned_json
                    .clone()
                    .str_or_null("id", merged.written.as_ref().map(|(id, _)| id.as_str()))
                    .str_or_null("summary", merged.written.as_ref().map(|(_, text)| text.as_str()));
                let object = match &merged.forecast {
                    Some(MergeForecast { request, summary_cost, .. }) => {
                        with_summary_cost(with_forecast(object, Some(request)), *summary_cost)
                    }
                    None => object,
                };
                let object = self.files.iter().fold(object, |object, files| object.raw("files", files.json()));
                object.finish()
            }
        };
        out.write_all(json.as_bytes())
    }

    fn words(&self, words: &mut Words) {
        match &self.brought {
            MergeOutcome::Copies(copied) => say_copies(copied, words),
            MergeOutcome::Summary(merged) => say_summary(merged, words),
        }
        if let Some(files) = &self.files {
            // They are here now.
            words.notes.clear();
            files.words(words);
        }
    }
}

fn say_copies(copied: &Copied, words: &mut Words) {
    let Copied { plan, brought, forecast, missing, .. } = copied;
    let count = counted(plan.copies.len(), "entry", "entries");
    let verb = if forecast.is_some() { "would copy" } else { "copied" };
    words.line(format!("{verb} {count}, about {}", counted(plan.tokens, "token", "tokens")));
    forecast.iter().for_each(|forecast| words.line(forecast_line(forecast)));
    words.notes.extend(missing.clone());
    if brought.is_some() {
        words.next.push(NextStep::new("undo", "takes it back"));
    }
}

fn say_summary(merged: &MergedSummary, words: &mut Words) {
    let MergedSummary { plan, written, base_words, forecast, missing, .. } = merged;
    let count = counted(plan.entries.len(), "entry", "entries");
    words.line(match written {
        Some((id, _)) => format!("merged {count} as a summary in {id}"),
        None => {
            format!("would merge {count}, about {} to summarise", counted(plan.summary.tokens, "token", "tokens"))
        }
    });
    let since = if plan.is_repeated { "since the last merge at" } else { "after" };
    words.line(Line::of(Role::Dim, since).and(Role::Plain, " ").then(base_words.clone()));
    if plan.already > 0 {
        let already = counted(plan.already, "entry is", "entries are");
        words.line(Line::of(Role::Dim, format!("{already} here already")));
    }
    if let Some(MergeForecast { request, has_summary, summary_cost }) = forecast {
        let said = if *has_summary { request.detailed_words() } else { words_without_summary(request, *summary_cost) };
        words.line(Line::of(Role::Dim, said));
    }
    words.notes.extend(missing.clone());
    if written.is_some() {
        words.next.push(NextStep::new("undo", "takes it back"));
    }
}

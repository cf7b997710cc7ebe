//! Goes to another entry.

use std::io::{self, Write};

use offshoot_agent::forecast::RequestForecast;
use offshoot_agent::operate::{PlanAnswer, PlanQuestion, SummaryWish};
use offshoot_files::RestoreReport;
use offshoot_session::compose::NewBranchSummary;
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::session::{Session, SpillPolicy};
use offshoot_session::text::{counted, one_line};

use crate::costs::{with_summary_cost, words_without_summary};
use crate::entry_words::entry_line;
use crate::failure::{Failure, Result};
use crate::file_moves::{FileMove, FileMoveOutcome};
use crate::given::{EntryName, SessionName};
use crate::input;
use crate::lookup::Access;
use crate::moving::{AT_WORK, MoveTarget, label_move};
use crate::operation::{About, Finished, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::run::open_session;
use crate::words::{Line, Role, Words};

input! {
    /// What `switch` gets.
    pub struct SwitchInput {
        /// A path, an id or its unique start or end, a name, or `latest`
        session: SessionName = arg,
        /// An id or its unique start, a label, `@`, `@-`, or a time such as 2h
        entry: EntryName = arg,
        /// Summarise the branch that is left
        summarize: bool = flag,
        /// Bring back the files of the entry, too
        files: bool = flag,
        /// Bring files also if git has another commit checked out than when they were recorded
        across_commits: bool = flag (requires ["files"]),
    }
}

/// Goes to another entry.
#[derive(Debug)]
pub struct Switch;

/// A move to an entry.
#[derive(Debug)]
pub struct SwitchSteps {
    target: MoveTarget,
    is_there: bool,
    here: Line,
    wants_summary: bool,
    answer: PlanAnswer,
    files: Option<FileMove>,
}

/// What was written.
#[derive(Debug)]
pub struct SwitchWritten {
    entry: Option<EntryId>,
    files: Option<RestoreReport>,
}

/// What came of `switch`.
#[derive(Debug)]
pub struct SwitchOutput {
    target: MoveTarget,
    place: Line,
    /// The entry at which the session is now.
    pub written: Option<EntryId>,
    wants_summary: bool,
    has_summary: bool,
    /// Of a dry run, with the cost of the summary.
    forecast: Option<(RequestForecast, Option<f64>)>,
    is_there: bool,
    files: Option<FileMoveOutcome>,
}

impl SwitchSteps {
    fn question(&self) -> PlanQuestion {
        self.target.question(self.wants_summary.then(SummaryWish::default), None)
    }
}

impl Operation for Switch {
    type Input = SwitchInput;
    type Plan = SwitchSteps;
    type Written = SwitchWritten;
    type Output = SwitchOutput;

    const ABOUT: About = About {
        name: "switch",
        aliases: &["checkout"],
        title: "Go to another entry; the session continues from there",
        says: "Nothing is lost: the entries after it remain as another branch. offshoot\n\
               appends one small entry below the target, which trees and transcripts do\n\
               not show, so pi and oh-my-pi open there too.\n\n\
               With --summarize that entry is a summary of the branch that is left, and\n\
               the model sees it. A model writes it: --model, else the session's, else the\n\
               one of settings.json. Without a model offshoot extracts the summary from\n\
               the messages.\n\n\
               With --files the files that this session changed since come back as well, as\n\
               they were at the entry. What somebody else changed in them is merged, or\n\
               stays. Without it all files stay as they are. If git has another commit checked\n\
               out than when the files were recorded, nothing is done without\n\
               --across-commits.\n\n\
               --dry-run shows how many entries would be left behind, the tokens of the next\n\
               request, what the provider probably still caches of them, and the price\n\
               without the answer. What is not known is not shown.\n\n\
               --json prints one object: {\"id\", \"to\", \"left\"}, the entry that was written,\n\
               the target's id, and the number of entries left behind; or null if the session\n\
               is there already. With --dry-run `id` is null, and there is \"forecast\":\n\
               {\"contextTokens\", \"messageTokens\", \"overheadTokens\", \"cachedTokens\",\n\
               \"freshTokens\", \"cacheExpiresInMs\", \"costNow\",\n\
               \"costLater\"}, where null is not known. With --files there is \"files\":\n\
               {\"written\", \"removed\", \"merged\", \"conflicts\", \"left\", \"foreign\"}.",
        examples: "Examples:\n  offshoot switch latest 1a2b3c4d --dry-run\n  offshoot switch latest 1a2b3c4d\n  \
                   offshoot switch latest 1a2b3c4d --summarize\n  \
                   offshoot branches latest            # shows the branches",
        past: "moved",
        effect: OperationEffect::Writes {
            dry_run: "Show what would be left behind and what the next request would cost, and write nothing",
            refused_at_work: Some(AT_WORK),
            moves: true,
            spill: SpillPolicy::Temporary,
        },
    };

    const MAY_ASK: bool = true;

    fn session(input: &SwitchInput) -> Option<&SessionName> {
        Some(&input.session)
    }

    fn unasked(input: &SwitchInput) -> Option<&'static str> {
        (!input.summarize).then_some("--summarize has a summary written")
    }

    fn warning(input: &SwitchInput, plan: &SwitchSteps) -> Option<Failure> {
        plan.files.as_ref().filter(|_| !input.across_commits)?.across_commits()
    }

    fn plan(place: &Place, at: Option<&Session>, input: &SwitchInput) -> Result<SwitchSteps> {
        let session = open_session(at)?;
        let ix = place.last_entry(session, &input.entry.0, Access::Write)?;
        let tree = session.tree();
        let is_there = session.leaf().and_then(|leaf| tree.skip_leaf_markers(leaf)) == tree.skip_leaf_markers(ix);
        let wants_summary = input.summarize;
        let here = Line::from("the session is at ").then(entry_line(session, ix)?);
        let answer = PlanAnswer::default();
        let files = input.files.then(|| FileMove::plan(place, session, Some(ix))).transpose()?;
        Ok(SwitchSteps { target: MoveTarget::of(session, ix), is_there, here, wants_summary, answer, files })
    }

    fn nothing(plan: &SwitchSteps) -> Option<Line> {
        let brings_files = plan.files.as_ref().is_some_and(|files| !files.plan.is_empty());
        (plan.is_there && !brings_files).then(|| plan.here.clone())
    }

    fn question(plan: &SwitchSteps) -> Option<PlanQuestion> {
        Some(plan.question())
    }

    fn complete(_: &Place, _: &Session, plan: &mut SwitchSteps, answer: Option<&PlanAnswer>) -> Result<()> {
        plan.answer = answer.cloned().unwrap_or_default();
        Ok(())
    }

    fn commit(place: &Place, at: &mut Session, plan: &SwitchSteps) -> Result<Option<SwitchWritten>> {
        if let Some(files) = plan.files.as_ref().filter(|_| plan.is_there) {
            let files = Some(files.run_alone(at)?);
            return Ok(Some(SwitchWritten { entry: None, files }));
        }
        let (entry, files) = match &plan.files {
            Some(files) => files.run(at, |at| go(place, at, plan)).map(|(entry, report)| (entry, Some(report)))?,
            None => (go(place, at, plan)?, None),
        };
        Ok(Some(SwitchWritten { entry, files }))
    }

    fn output(plan: SwitchSteps, finished: Finished<'_, SwitchWritten>) -> Result<SwitchOutput> {
        let Finished { place, session, written, is_dry } = finished;
        let session = open_session(session)?;
        let cost = |steps: &SwitchSteps| match steps.wants_summary {
            true => place.summary_cost(session, &steps.question()),
            false => Ok(None),
        };
        let forecast = if is_dry { Some((plan.target.forecast(place, session)?, cost(&plan)?)) } else { None };
        let SwitchSteps { target, is_there, wants_summary, answer, files, .. } = plan;
        let (written, report) = written.map_or((None, None), |written| (written.entry, written.files));
        let files = files.filter(|_| is_dry || report.is_some()).map(|files| files.into_moved(report));
        let has_summary = answer.drafted.is_some();
        let place = entry_line(session, target.ix)?;
        Ok(SwitchOutput { target, place, written, wants_summary, has_summary, forecast, is_there, files })
    }
}

/// Moves the leaf; returns the entry at which it is then.
fn go(place: &Place, at: &mut Session, plan: &SwitchSteps) -> Result<Option<EntryId>> {
    let PlanAnswer { drafted, is_given, label, .. } = &plan.answer;
    let target = plan.target.id.as_ref().map(EntryId::as_str);
    let labelled = match drafted {
        None => {
            at.switch(plan.target.ix)?;
            target.map(str::to_owned)
        }
        Some(drafted) => {
            let usual = drafted.branch_summary();
            let from_hook = if *is_given { Some(true) } else { usual.from_hook };
            let written = at.branch_with_summary(target, &NewBranchSummary { from_hook, ..usual })?;
            Some(written.to_string())
        }
    };
    let written = at.leaf_id().cloned();
    label_move(place, at, labelled.as_deref().unwrap_or_default(), label.as_deref());
    Ok(written)
}

impl Output for SwitchOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.is_there && self.forecast.is_none() && self.files.is_none() {
            return out.write_all(b"null");
        }
        let object = self.target.json(self.written.as_ref());
        let object = match &self.forecast {
            Some((forecast, cost)) => {
                let object = if self.wants_summary { with_summary_cost(object, *cost) } else { object };
                object.raw("forecast", forecast.to_json())
            }
            None => object,
        };
        let object = self.files.iter().fold(object, |object, files| object.raw("files", files.json()));
        out.write_all(object.finish().as_bytes())
    }

    fn words(&self, words: &mut Words) {
        let left = counted(self.target.left, "entry", "entries");
        let Some((forecast, cost)) = &self.forecast else {
            words.line(Line::from("now at ").then(self.place.clone()));
            if let Some(written) = self.written.as_ref().filter(|_| self.has_summary) {
                let line = format!("{left} left behind, summarised in {written}");
                words.line(Line::of(Role::Dim, one_line(&line, 200)));
            }
            self.files.iter().for_each(|files| files.words(words));
            return;
        };
        words.line(Line::from("would go to ").then(self.place.clone()));
        words.line(Line::of(Role::Dim, format!("{left} left behind")));
        let next = if self.wants_summary { words_without_summary(forecast, *cost) } else { forecast.detailed_words() };
        words.line(Line::of(Role::Dim, next));
        self.files.iter().for_each(|files| files.words(words));
    }
}

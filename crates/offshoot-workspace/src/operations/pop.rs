//! Goes back, with a summary of what is left.

use std::io::{self, Write};

use offshoot_agent::forecast::RequestForecast;
use offshoot_agent::operate::{PlanAnswer, PlanQuestion, SummaryWish};
use offshoot_files::RestoreReport;
use offshoot_session::compose::NewBranchSummary;
use offshoot_session::error::{Error, Invalid};
use offshoot_session::session::{Popped, Session, SpillPolicy};
use offshoot_session::text::{counted, one_line};
use offshoot_session::tokens::estimate_summary;

use crate::costs::{with_forecast, with_summary_cost, words_without_summary};
use crate::entry_words::entry_line;
use crate::failure::{Failure, Result};
use crate::file_moves::{FileMove, FileMoveOutcome};
use crate::given::{EntryName, FilledText, SessionName};
use crate::input;
use crate::lookup::Access;
use crate::moving::{AT_WORK, MoveTarget, label_move};
use crate::operation::{About, Finished, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::run::open_session;
use crate::words::{Line, NextStep, Role, Words};

input! {
    /// What `pop` gets.
    pub struct PopInput {
        /// A path, an id or its unique start or end, a name, or `latest`
        session: SessionName = arg,
        /// An id or its unique start, a label, `@`, `@-`, or a time such as 2h
        entry: Option<EntryName> = arg,
        /// The summary, in your words
        summary: Option<FilledText> = option ("TEXT"),
        /// Have the summary written (this is the default)
        summarize: bool = flag (conflicts ["summary"]),
        /// Bring back the files of the entry, too
        files: bool = flag,
        /// Bring files also if git has another commit checked out than when they were recorded
        across_commits: bool = flag (requires ["files"]),
    }
}

/// Goes back, with a summary of what is left.
#[derive(Debug)]
pub struct Pop;

/// Where it goes back to.
#[derive(Debug)]
pub struct PopSteps {
    target: MoveTarget,
    /// The summary in the user's words.
    own: Option<String>,
    answer: PlanAnswer,
    files: Option<FileMove>,
}

/// What was written.
#[derive(Debug)]
pub struct PopWritten {
    popped: Popped,
    files: Option<RestoreReport>,
}

/// What came of `pop`; `None` if there was nothing to go back to.
#[derive(Debug)]
pub struct PopOutput(Option<PoppedBack>);

/// What was gone back to, or would be.
#[derive(Debug)]
struct PoppedBack {
    target: MoveTarget,
    place: Line,
    written: Option<Popped>,
    summary: Option<String>,
    files: Option<FileMoveOutcome>,
    /// Of a dry run, with the cost of the summary.
    forecast: Option<(RequestForecast, Option<f64>)>,
}

impl PopSteps {
    fn question(&self) -> PlanQuestion {
        self.target.question(self.own.is_none().then(SummaryWish::default), None)
    }
}

impl Operation for Pop {
    type Input = PopInput;
    type Plan = Option<PopSteps>;
    type Written = PopWritten;
    type Output = PopOutput;

    const ABOUT: About = About {
        name: "pop",
        aliases: &[],
        title: "Go back, with a summary of the branch you leave",
        says: "Goes back to the last user message that has messages after it, or to ENTRY.\n\
               Another pop goes one user message further back. The entries after it remain\n\
               as another branch. A summary of them becomes the next entry, so the model\n\
               knows what was tried.\n\n\
               Without --summary a model writes it: --model, else the session's, else the\n\
               one of settings.json. Without a model offshoot extracts the summary from the\n\
               messages: goal, requests, files read and changed, errors, last words.\n\n\
               With --files the files of the entry come back as well (see `switch`).\n\n\
               --json prints {\"id\", \"to\", \"left\", \"summary\"}: the entry of the summary, the\n\
               target, the number of entries left behind, and the text; or null if there is\n\
               nothing to go back to. With --dry-run `id` and `summary` are null, unless\n\
               --summary gives the text, and there is \"forecast\", as `switch` prints it, and\n\
               \"summaryCost\" in US dollars, null if no model would write the summary.",
        examples: "Examples:\n  offshoot pop latest\n  offshoot pop latest --dry-run\n  \
                   offshoot pop latest 1a2b3c4d --summary 'the cache was a dead end: invalidation is too hard'",
        past: "moved",
        effect: OperationEffect::Writes {
            dry_run: "Show where it would go and what the next request would cost, and write nothing",
            refused_at_work: Some(AT_WORK),
            moves: true,
            spill: SpillPolicy::Temporary,
        },
    };

    const MAY_ASK: bool = true;

    fn session(input: &PopInput) -> Option<&SessionName> {
        Some(&input.session)
    }

    fn unasked(input: &PopInput) -> Option<&'static str> {
        input.summary.as_ref().map(|_| "without --summary a model writes it")
    }

    fn warning(input: &PopInput, plan: &Option<PopSteps>) -> Option<Failure> {
        plan.as_ref()?.files.as_ref().filter(|_| !input.across_commits)?.across_commits()
    }

    fn plan(place: &Place, at: Option<&Session>, input: &PopInput) -> Result<Option<PopSteps>> {
        let session = open_session(at)?;
        let given = input.entry.as_ref().map(|given| place.last_entry(session, &given.0, Access::Write)).transpose()?;
        let target = match session.pop_target(given) {
            Ok(target) => MoveTarget::of(session, target),
            Err(Error::Invalid(Invalid::NothingLeft)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let own = input.summary.as_ref().map(|text| text.0.clone());
        let files = input.files.then(|| FileMove::plan(place, session, Some(target.ix))).transpose()?;
        Ok(Some(PopSteps { target, own, answer: PlanAnswer::default(), files }))
    }

    fn nothing(plan: &Option<PopSteps>) -> Option<Line> {
        plan.is_none().then(|| Invalid::NothingLeft.to_string().into())
    }

    fn question(plan: &Option<PopSteps>) -> Option<PlanQuestion> {
        plan.as_ref().map(PopSteps::question)
    }

    fn complete(_: &Place, _: &Session, plan: &mut Option<PopSteps>, answer: Option<&PlanAnswer>) -> Result<()> {
        let Some(steps) = plan else { return Ok(()) };
        steps.answer = answer.cloned().unwrap_or_default();
        // The branch has entries, but nothing that a summary could say.
        let is_known = steps.own.is_some() || steps.answer.drafted.is_some();
        if is_known { Ok(()) } else { Err(Error::Invalid(Invalid::NothingLeft).into()) }
    }

    fn commit(place: &Place, at: &mut Session, plan: &Option<PopSteps>) -> Result<Option<PopWritten>> {
        let Some(PopSteps { target, own, answer, files }) = plan else { return Ok(None) };
        let own = own.as_deref().map(|summary| NewBranchSummary { summary, ..NewBranchSummary::default() });
        let drafted = answer.drafted.as_ref().map(|drafted| drafted.branch_summary());
        let Some(usual) = own.or(drafted) else { return Ok(None) };
        let from_hook = if answer.is_given { Some(true) } else { usual.from_hook };
        let new = NewBranchSummary { from_hook, ..usual };
        let (popped, files) = match files {
            Some(files) => {
                let (popped, report) = files.run(at, |at| Ok(at.pop(target.ix, &new)?))?;
                (popped, Some(report))
            }
            None => (at.pop(target.ix, &new)?, None),
        };
        label_move(place, at, popped.summary.as_str(), answer.label.as_deref());
        Ok(Some(PopWritten { popped, files }))
    }

    fn output(plan: Option<PopSteps>, finished: Finished<'_, PopWritten>) -> Result<PopOutput> {
        let Finished { place, session, written, is_dry } = finished;
        let (session, Some(steps)) = (open_session(session)?, plan) else { return Ok(PopOutput(None)) };
        let forecast = || -> Result<_> {
            let more = steps.own.as_deref().map_or(0, estimate_summary);
            let cost = match &steps.own {
                Some(_) => None,
                None => place.summary_cost(session, &steps.question())?,
            };
            Ok((place.forecast(session, Some(steps.target.ix), more)?, cost))
        };
        let forecast = is_dry.then(forecast).transpose()?;
        let place = entry_line(session, steps.target.ix)?;
        let (written, report) = written.map_or((None, None), |written| (Some(written.popped), written.files));
        let files = steps.files.map(|files| files.into_moved(report));
        let summary = steps.own.or(steps.answer.drafted.map(|drafted| drafted.text));
        Ok(PopOutput(Some(PoppedBack { target: steps.target, place, written, summary, files, forecast })))
    }
}

impl Output for PopOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(PoppedBack { target, written, summary, forecast, files, .. }) = &self.0 else {
            return out.write_all(b"null");
        };
        let object = target.json(written.as_ref().map(|popped| &popped.summary));
        let object = object.str_or_null("summary", summary.as_deref());
        let object = match forecast {
            Some((forecast, cost)) => with_forecast(with_summary_cost(object, *cost), Some(forecast)),
            None => object,
        };
        let object = files.iter().fold(object, |object, files| object.raw("files", files.json()));
        out.write_all(object.finish().as_bytes())
    }

    fn words(&self, words: &mut Words) {
        let Some(PoppedBack { target, place, written, summary, forecast, files }) = &self.0 else { return };
        let left = counted(target.left, "entry", "entries");
        if let Some(popped) = written {
            words.line(Line::from("back at ").then(place.clone()));
            let line = format!("{left} left behind, summarised in {}", popped.summary);
            words.line(Line::of(Role::Dim, one_line(&line, 200)));
            words.next.push(NextStep::new("switch", "goes back to what was left").with(popped.left.to_string()));
        }
        if let Some((forecast, cost)) = forecast {
            words.line(Line::from("would go back to ").then(place.clone()));
            words.line(Line::of(Role::Dim, format!("{left} left behind, to be summarised")));
            let is_known = summary.as_deref().is_some_and(|summary| estimate_summary(summary) > 0);
            let next = if is_known { forecast.detailed_words() } else { words_without_summary(forecast, *cost) };
            words.line(Line::of(Role::Dim, next));
        }
        files.iter().for_each(|files| files.words(words));
    }
}

//! Moves the leaf to where it was before the last operation.

use std::io::{self, Write};

use offshoot_agent::forecast::RequestForecast;
use offshoot_files::RestoreReport;
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::json::Object;
use offshoot_session::session::{Session, SpillPolicy, UndoPlan};
use offshoot_session::tree::NodeIx;

use crate::entry_words::entry_line;
use crate::failure::{Failure, Hint, Result};
use crate::file_moves::{FileMove, FileMoveOutcome};
use crate::given::SessionName;
use crate::input;
use crate::operation::{About, CommandGroup, Finished, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::run::open_session;
use crate::words::{Line, NextStep, Role, Words};

input! {
    /// What `undo` gets.
    pub struct UndoInput {
        /// A path, an id or its unique start or end, a name, or `latest`
        session: SessionName = arg,
        /// Bring back the files of the entry, too
        files: bool = flag,
        /// Bring files also if git has another commit checked out than when they were recorded
        across_commits: bool = flag (requires ["files"]),
    }
}

/// Moves the leaf to where it was before the last operation.
#[derive(Debug)]
pub struct Undo;

/// What is undone, with the files that come.
#[derive(Debug)]
pub struct UndoSteps {
    plan: UndoPlan,
    files: Option<FileMove>,
}

/// What was written.
#[derive(Debug)]
pub struct UndoWritten {
    entry: Option<EntryId>,
    files: Option<RestoreReport>,
}

/// What came of `undo`.
#[derive(Debug)]
pub struct UndoOutput {
    /// What was undone; `None` if there was nothing.
    pub undone: Option<Undone>,
}

/// What was undone, or would be.
#[derive(Debug)]
pub struct Undone {
    /// The operation's word.
    pub operation: Option<&'static str>,
    /// Such as `a switch`.
    pub words: &'static str,
    /// The entry from which the leaf goes.
    pub from: Option<EntryId>,
    /// The entry to which it goes; `None` before the first one.
    pub to: Option<EntryId>,
    /// The entry that was written.
    pub written: Option<EntryId>,
    to_words: Line,
    files: Option<FileMoveOutcome>,
    /// Of a dry run.
    forecast: Option<RequestForecast>,
}

impl Operation for Undo {
    type Input = UndoInput;
    type Plan = Option<UndoSteps>;
    type Written = UndoWritten;
    type Output = UndoOutput;

    const ABOUT: About = About {
        name: "undo",
        aliases: &[],
        title: "Go back to before the last operation",
        says: "Operations are switch, pop, pick, merge, compact and undo itself: undo twice\n\
               is redo. Nothing is removed; the session continues from the entry at which it\n\
               was, and what the operation wrote remains as another branch.\n\n\
               Labels, names and settings written since are kept. If messages were added\n\
               since, `undo` refuses (exit code 5), and a hint names the `switch` that goes\n\
               back anyway. Sessions without a recorded operation have nothing to\n\
               undo, which is not an error.\n\n\
               With --files the files of the entry come back as well (see `switch`).\n\n\
               --json prints {\"operation\", \"from\", \"to\", \"id\"}, or null if there is nothing\n\
               to undo. `to` is null before the first entry; `id` is the entry that was\n\
               written, null with --dry-run. With --dry-run there is \"forecast\", as `switch`\n\
               prints it.",
        examples: "Examples:\n  offshoot undo latest\n  offshoot undo latest --dry-run",
        past: "undone",
        effect: OperationEffect::Writes {
            dry_run: "Show what would be undone, and write nothing",
            refused_at_work: Some("the agent is at work: stop it first"),
            moves: true,
            spill: SpillPolicy::Temporary,
        },
    };
    const GROUP: CommandGroup = CommandGroup::BringBack;

    fn session(input: &UndoInput) -> Option<&SessionName> {
        Some(&input.session)
    }

    fn warning(input: &UndoInput, plan: &Option<UndoSteps>) -> Option<Failure> {
        plan.as_ref()?.files.as_ref().filter(|_| !input.across_commits)?.across_commits()
    }

    fn plan(place: &Place, at: Option<&Session>, input: &UndoInput) -> Result<Option<UndoSteps>> {
        let session = open_session(at)?;
        let plan = session.plan_undo().map_err(|error| match Failure::said_since(&error) {
            Some(before) => {
                let goes = NextStep::new("switch", "goes back anyway").with(before);
                let goes = if input.files { goes.with("--files") } else { goes };
                Failure::from(error).hint(Hint::Step(goes))
            }
            None => error.into(),
        })?;
        let Some(plan) = plan else { return Ok(None) };
        let files = input.files.then(|| FileMove::plan(place, session, plan.target)).transpose()?;
        Ok(Some(UndoSteps { plan, files }))
    }

    fn nothing(plan: &Option<UndoSteps>) -> Option<Line> {
        plan.is_none().then(|| "there is nothing to undo".into())
    }

    fn commit(_: &Place, at: &mut Session, plan: &Option<UndoSteps>) -> Result<Option<UndoWritten>> {
        let Some(UndoSteps { plan, files }) = plan else { return Ok(None) };
        let (entry, files) = match files {
            Some(files) => files.run(at, |at| Ok(at.undo(plan)?)).map(|(entry, report)| (entry, Some(report)))?,
            None => (at.undo(plan)?, None),
        };
        Ok(Some(UndoWritten { entry, files }))
    }

    fn output(plan: Option<UndoSteps>, finished: Finished<'_, UndoWritten>) -> Result<UndoOutput> {
        let Finished { place, session, written, is_dry } = finished;
        let (session, Some(UndoSteps { plan, files })) = (open_session(session)?, plan) else {
            return Ok(UndoOutput { undone: None });
        };
        let (written, report) = written.map_or((None, None), |written| (written.entry, written.files));
        let files = files.map(|files| files.into_moved(report));
        let tree = session.tree();
        let id = |ix: Option<NodeIx>| ix.and_then(|ix| tree.node(ix).id().cloned());
        let shown = plan.target.and_then(|to| tree.skip_leaf_markers(to));
        let to_words = shown.map_or_else(|| Ok("the beginning of the session".into()), |to| entry_line(session, to))?;
        let forecast = if is_dry { Some(place.forecast(session, plan.target, 0)?) } else { None };
        let undone = Undone {
            operation: plan.operation.word(),
            words: plan.operation.with_article(),
            from: id(plan.left),
            to: id(plan.target),
            written,
            to_words,
            files,
            forecast,
        };
        Ok(UndoOutput { undone: Some(undone) })
    }
}

impl Output for UndoOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(undone) = &self.undone else { return out.write_all(b"null") };
        let object = Object::new()
            .opt_str("operation", undone.operation)
            .str_or_null("from", undone.from.as_ref().map(EntryId::as_str))
            .str_or_null("to", undone.to.as_ref().map(EntryId::as_str))
            .str_or_null("id", undone.written.as_ref().map(EntryId::as_str));
        let object = undone.forecast.iter().fold(object, |object, forecast| object.raw("forecast", forecast.to_json()));
        let object = undone.files.iter().fold(object, |object, files| object.raw("files", files.json()));
        out.write_all(object.finish().as_bytes())
    }

    fn words(&self, words: &mut Words) {
        let Some(undone) = &self.undone else { return };
        let said = match &undone.forecast {
            Some(_) => format!("would undo {} and go to ", undone.words),
            None => format!("undid {}; now at ", undone.words),
        };
        let mut line = Line::from(said);
        line.0.extend(undone.to_words.0.iter().cloned());
        words.line(line);
        undone.files.iter().for_each(|files| files.words(words));
        match &undone.forecast {
            Some(forecast) => words.line(Line::of(Role::Dim, forecast.detailed_words())),
            None => words.next.push(NextStep::new("undo", "again is redo")),
        }
    }
}

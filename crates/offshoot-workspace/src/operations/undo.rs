//! Moves the leaf to where it was before the last operation.

use std::io::{self, Write};

use offshoot_agent::forecast::RequestForecast;
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::json::Object;
use offshoot_session::session::{Session, SpillPolicy, UndoPlan};
use offshoot_session::tree::NodeIx;

use crate::entry_words::entry_line;
use crate::failure::{Failure, Hint, Result};
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
    }
}

/// Moves the leaf to where it was before the last operation.
#[derive(Debug)]
pub struct Undo;

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
    /// Of a dry run.
    forecast: Option<RequestForecast>,
}

impl Operation for Undo {
    type Input = UndoInput;
    type Plan = Option<UndoPlan>;
    type Written = Option<EntryId>;
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

    fn plan(_: &Place, at: Option<&Session>, _: &UndoInput) -> Result<Option<UndoPlan>> {
        open_session(at)?.plan_undo().map_err(|error| match Failure::said_since(&error) {
            Some(before) => {
                let goes = NextStep::new("switch", "goes back anyway").with(before);
                Failure::from(error).hint(Hint::Step(goes))
            }
            None => error.into(),
        })
    }

    fn nothing(plan: &Option<UndoPlan>) -> Option<Line> {
        plan.is_none().then(|| "there is nothing to undo".into())
    }

    fn commit(_: &Place, at: &mut Session, plan: &Option<UndoPlan>) -> Result<Option<Option<EntryId>>> {
        Ok(plan.as_ref().map(|plan| at.undo(plan)).transpose()?)
    }

    fn output(plan: Option<UndoPlan>, finished: Finished<'_, Option<EntryId>>) -> Result<UndoOutput> {
        let Finished { place, session, written, is_dry } = finished;
        let (session, Some(plan)) = (open_session(session)?, plan) else { return Ok(UndoOutput { undone: None }) };
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
            written: written.flatten(),
            to_words,
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
        match &undone.forecast {
            Some(forecast) => words.line(Line::of(Role::Dim, forecast.detailed_words())),
            None => words.next.push(NextStep::new("undo", "again is redo")),
        }
    }
}

//! Continues as if the newest compaction had never happened.

use std::io::{self, Write};

use offshoot_session::session::{Brought, PlannedPick, Session, SpillPolicy};
use offshoot_session::text::counted;

use crate::copied::Copied;
use crate::costs::forecast_line;
use crate::entry_words::entry_line;
use crate::failure::Result;
use crate::given::SessionName;
use crate::input;
use crate::operation::{About, Finished, FrontEnd, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::run::open_session;
use crate::words::{Line, NextStep, Words};

input! {
    /// What `uncompact` gets.
    pub struct UncompactInput {
        /// A path, an id or its unique start or end, a name, or `latest`
        session: SessionName = arg,
        /// Also if the result does not fit into the window of the model
        force: bool = flag,
    }
}

/// Continues as if the newest compaction had never happened.
#[derive(Debug)]
pub struct Uncompact;

/// What came of `uncompact`.
#[derive(Debug)]
pub struct UncompactOutput {
    /// The copies of what followed the compaction; `None` if there was none.
    pub copied: Option<Copied>,
    onto_words: Line,
}

impl Operation for Uncompact {
    type Input = UncompactInput;
    type Plan = Option<PlannedPick>;
    type Written = Brought;
    type Output = UncompactOutput;

    const ABOUT: About = About {
        name: "uncompact",
        aliases: &[],
        title: "Take the newest compaction back",
        says: "The session continues before it, with copies of everything that was said since.",
        examples: "Examples:\n  offshoot compact latest --undo",
        past: "undone",
        effect: OperationEffect::Writes {
            dry_run: "Show what would be copied, and write nothing",
            refused_at_work: Some("the agent is at work: stop it first"),
            moves: true,
            spill: SpillPolicy::Temporary,
        },
    };

    const NOT_ON: &'static [FrontEnd] = &[FrontEnd::CommandLine];
    const OPTION_OF: Option<(&'static str, &'static str)> = Some(("compact", "undo"));

    fn session(input: &UncompactInput) -> Option<&SessionName> {
        Some(&input.session)
    }

    fn plan(place: &Place, at: Option<&Session>, input: &UncompactInput) -> Result<Option<PlannedPick>> {
        let session = open_session(at)?;
        let planned = session.plan_uncompact()?;
        if let Some(planned) = planned.as_ref().filter(|_| !input.force) {
            place.refuse_beyond_window(session, planned.plan.before, planned.plan.tokens)?;
        }
        Ok(planned)
    }

    fn nothing(plan: &Option<PlannedPick>) -> Option<Line> {
        plan.is_none().then(|| "the current branch has no compaction".into())
    }

    fn commit(_: &Place, at: &mut Session, plan: &Option<PlannedPick>) -> Result<Option<Brought>> {
        Ok(plan.as_ref().map(|planned| at.uncompact(planned)).transpose()?)
    }

    fn output(plan: Option<PlannedPick>, finished: Finished<'_, Brought>) -> Result<UncompactOutput> {
        let Some(PlannedPick { plan, .. }) = plan else {
            return Ok(UncompactOutput { copied: None, onto_words: Line::default() });
        };
        let session = open_session(finished.session)?;
        let onto_words = plan.onto.map_or_else(|| Ok("the beginning".into()), |onto| entry_line(session, onto))?;
        Ok(UncompactOutput { copied: Some(Copied::of(plan, finished)?), onto_words })
    }
}

impl Output for UncompactOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let json = self.copied.as_ref().map_or_else(|| "null".to_owned(), |copied| copied.to_json(None));
        out.write_all(json.as_bytes())
    }

    fn words(&self, words: &mut Words) {
        let Some(Copied { plan, brought, forecast, .. }) = &self.copied else { return };
        let verb = if brought.is_some() { "continued" } else { "would continue" };
        words.line(Line::from(format!("{verb} before the compaction, after ")).then(self.onto_words.clone()));
        let count = counted(plan.copies.len(), "entry", "entries");
        let tokens = counted(plan.before.messages + plan.tokens, "token", "tokens");
        words.line(format!("{count} copied, about {tokens} of messages in all"));
        forecast.iter().for_each(|forecast| words.line(forecast_line(forecast)));
        if brought.is_some() {
            words.next.push(NextStep::new("undo", "goes back to the compacted branch"));
        }
    }
}

//! `compact --undo`: a branch on which the newest compaction never happened.

use std::io::Write as _;

use offshoot_app::app::{App, quoted};
use offshoot_app::error::Result;
use offshoot_app::next_request;
use offshoot_app::ui::style::{DIM, Painted};
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::text::counted;

use super::{Args, nothing_to_do};
use offshoot_workspace::{with_brought, with_forecast};

use crate::bring_back;
use crate::commands::switch::place;

pub(super) fn run(app: &App, args: &Args) -> Result<()> {
    let mut session = if args.dry_run { app.open(&args.session)? } else { app.open_to_write(&args.session)? };
    let Some(planned) = session.plan_uncompact()? else {
        return nothing_to_do(app, args, "the current branch has no compaction");
    };
    if !args.force {
        bring_back::refuse_too_big(app, &session, planned.plan.before, planned.plan.tokens)?;
    }
    let brought = if args.dry_run { None } else { Some(session.uncompact(&planned)?) };
    let plan = &planned.plan;
    let forecast = args.dry_run.then(|| next_request::after(app, &session, plan.onto, plan.tokens)).transpose()?;
    if args.json {
        let onto = plan.onto.and_then(|onto| session.tree().node(onto).id()).map(EntryId::as_str);
        let mut out = app.ui.raw();
        let object = with_brought(plan.to_json(onto), brought.as_ref());
        writeln!(out, "{}", with_forecast(object, forecast.as_ref()).finish())?;
        return Ok(out.finish()?);
    }
    let onto = plan.onto.map_or_else(|| Ok("the beginning".to_owned()), |onto| place(&session, onto))?;
    let count = counted(plan.copies.len(), "entry", "entries");
    let verb = if brought.is_some() { "continued" } else { "would continue" };
    let mut out = app.ui.text();
    writeln!(out, "{verb} before the compaction, after {onto}")?;
    let tokens = counted(plan.before.messages + plan.tokens, "token", "tokens");
    writeln!(out, "{count} copied, about {tokens} of messages in all")?;
    if let Some(forecast) = forecast {
        writeln!(out, "{}", Painted(DIM, &forecast.detailed_words()))?;
    }
    out.finish()?;
    if brought.is_some() {
        app.ui.hint(&format!("`offshoot undo {}` goes back to the compacted branch", quoted(&args.session)));
    }
    Ok(())
}

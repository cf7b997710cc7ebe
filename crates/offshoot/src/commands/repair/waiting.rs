//! Entries that wait outside their sessions: lists, copies and discards them.

use std::io::Write as _;
use std::path::Path;

use offshoot_app::app::App;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::ui::style::{BOLD, DIM, ID, Painted};
use offshoot_session::json::{Json, Object};
use offshoot_session::session::{Session, discard_spill, spill_file};
use offshoot_session::text::{counted, one_line};
use offshoot_session::transcript::Item;

use super::Args;
use offshoot_workspace::is_path;

use crate::spills::{Spill, spills};
use offshoot_workspace::new_file::check_free;
use offshoot_workspace::transcript::first_words;

/// Without a session, so many entries of each are listed.
const SHOWN: usize = 5;

/// The spill files of a session, or all of them.
fn waiting(app: &App, given: Option<&str>) -> Result<Vec<Spill>> {
    let Some(folder) = &app.environment.spill else { return Ok(Vec::new()) };
    let (mut all, unread) = spills(folder);
    unread.iter().for_each(|unread| app.ui.warning(unread));
    let Some(given) = given else { return Ok(all) };
    let named = if is_path(given) { Ok(app.environment.path(given)) } else { app.file_to_write(given) };
    let place = named.as_ref().ok().map(|file| spill_file(folder, file));
    all.retain(|spill| {
        Some(&spill.path) == place.as_ref() || spill.path == Path::new(given) || spill.session_id == given
    });
    match (all.is_empty(), named) {
        (true, Err(error)) => Err(error),
        _ => Ok(all),
    }
}

pub(super) fn list(app: &App, args: &Args) -> Result<()> {
    let found = waiting(app, args.session.as_deref())?;
    if args.json {
        let objects = found.iter().map(json).collect::<Result<Vec<_>>>()?;
        let mut out = app.ui.raw();
        writeln!(out, "[{}]", objects.join(",\n"))?;
        return Ok(out.finish()?);
    }
    if found.is_empty() {
        return app.ui.nothing_to_do("no entries wait outside their session");
    }
    let most = if args.session.is_some() { usize::MAX } else { SHOWN };
    let mut out = app.ui.paged();
    for spill in &found {
        let lines = lines(spill)?;
        writeln!(out, "{}: {}", Painted(BOLD, &one_line(&spill.file, 4096)), counted(lines.len(), "entry", "entries"))?;
        for line in lines.iter().take(most) {
            let entry = Json::parse(line).ok();
            let part = |name: &str| entry.and_then(|entry| entry.str(name)).map(|part| one_line(&part, 40));
            let (id, kind) = (part("id").unwrap_or_default(), part("type").unwrap_or_else(|| "damaged".to_owned()));
            let words = Item::of_line(line).map(|item| first_words(&item, 100)).unwrap_or_default();
            writeln!(out, "  {}  {kind}  {words}", Painted(ID, &id))?;
        }
        if lines.len() > most {
            writeln!(out, "  {}", Painted(DIM, &format!("and {} more", lines.len() - most)))?;
        }
    }
    Ok(out.finish()?)
}

fn lines(spill: &Spill) -> Result<Vec<String>> {
    spill.lines().map_err(|error| CommandError::io(format!("read {}", spill.path.display()), &error))
}

fn json(spill: &Spill) -> Result<String> {
    let object = Object::new().str("file", &spill.file).str("sessionId", &spill.session_id);
    let object = object.str("spill", &spill.path.to_string_lossy());
    Ok(object.raw("entries", format!("[{}]", lines(spill)?.join(","))).finish())
}

pub(super) fn discard(app: &App, args: &Args) -> Result<()> {
    let found = waiting(app, args.session.as_deref())?;
    if found.is_empty() {
        return app.ui.nothing_to_do("no entries wait outside this session");
    }
    let mut out = app.ui.text();
    for spill in &found {
        discard_spill(&spill.path)?;
        writeln!(
            out,
            "{}: {} discarded",
            Painted(BOLD, &one_line(&spill.file, 4096)),
            counted(spill.entries, "entry", "entries")
        )?;
    }
    Ok(out.finish()?)
}

pub(super) fn copy(app: &App, given: &str, copy: &Path) -> Result<()> {
    check_free(copy).map_err(|failure| CommandError::of_operation(failure, None))?;
    let path = app.environment.path(given);
    let unborn =
        if is_path(given) && !path.exists() { Session::open_spilled(&path, app.options_for(&path))? } else { None };
    let session = match unborn {
        Some(session) => session,
        None => app.open(given)?,
    };
    if session.file().is_none() {
        return Err(CommandError::new(FailureKind::Failed, "the session is in no file"));
    }
    let ids = session.copy_with_spilled(copy)?;
    let mut out = app.ui.text();
    let name = one_line(&copy.to_string_lossy(), 4096);
    writeln!(
        out,
        "{}: a copy of the session, with {} that waited outside it",
        Painted(BOLD, &name),
        counted(ids.len(), "entry", "entries")
    )?;
    Ok(out.finish()?)
}

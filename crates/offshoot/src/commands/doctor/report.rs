//! The report of `doctor`, as text and as JSON.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use offshoot_app::app::App;
use offshoot_app::error::Result;
use offshoot_app::ui::style::{BOLD, DIM, HINT, Painted, WARNING};
use offshoot_session::json::{Object, quote};
use offshoot_session::text::{counted, one_line};
use offshoot_settings::PeerUse;

use super::overview::{Rest, Standings};
use super::peer_folder::PeerStanding;
use super::reason::HiddenReason;
use super::search::Candidate;
use super::searched_roots::owner;

pub(super) type Everything = (Vec<Standings>, Rest, Vec<(PathBuf, u32)>);

pub(super) fn found(app: &App, is_json: bool, given: &str, found: (&[Candidate], &[String])) -> Result<()> {
    let (candidates, unread) = found;
    if is_json {
        let all: Vec<String> = candidates.iter().map(candidate_json).collect();
        let object = Object::new().str("session", given).raw("found", array(&all)).raw("unread", texts(unread));
        return print(app, object);
    }
    let mut out = app.ui.paged();
    for (at, candidate) in candidates.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", Painted(BOLD, &shown(&candidate.path)))?;
        let who = [("id", &candidate.who.id), ("name", &candidate.who.name)];
        let who: Vec<String> =
            who.iter().filter_map(|(what, text)| Some(format!("{what} {}", one_line(text.as_deref()?, 200)))).collect();
        let fits = format!("fits by {}", candidate.fits.as_str());
        let line = std::iter::once(fits).chain(who).collect::<Vec<_>>().join(", ");
        writeln!(out, "  {}", Painted(DIM, &line))?;
        for reason in &candidate.reasons {
            writeln!(out, "  {}", one_line(&reason.message(), 1000))?;
        }
        for command in commands(candidate) {
            writeln!(out, "    {}", Painted(HINT, &one_line(&command, 8192)))?;
        }
    }
    out.finish()?;
    unread.iter().for_each(|text| app.ui.warning(text));
    Ok(())
}

pub(super) fn everything(app: &App, is_json: bool, all: &Everything) -> Result<()> {
    let (roots, rest, open) = all;
    if is_json {
        let roots: Vec<String> = roots.iter().map(root_json).collect();
        let open = open.iter().map(|(path, mode)| {
            Object::new().str("path", &path.to_string_lossy()).str("mode", &format!("{mode:04o}")).finish()
        });
        let open: Vec<String> = open.collect();
        let object = Object::new().raw("roots", array(&roots));
        return print(app, rest_json(object, rest).raw("open", array(&open)));
    }
    let mut out = app.ui.paged();
    roots.iter().try_for_each(|root| root_text(&mut out, root))?;
    rest_text(&mut out, rest)?;
    for (path, mode) in open {
        writeln!(out, "{} {mode:04o} {}", Painted(WARNING, "others may read"), shown(path))?;
    }
    if !open.is_empty() {
        writeln!(out, "    {}", Painted(HINT, "chmod go= FILE"))?;
    }
    out.finish()?;
    let unread = roots.iter().flat_map(|root| &root.unread).chain(&rest.unread);
    unread.for_each(|text| app.ui.warning(text));
    Ok(())
}

fn root_text(out: &mut dyn Write, root: &Standings) -> io::Result<()> {
    let place = &root.place;
    let state = match (root.exists, &place.passed_over) {
        (false, _) => "not there".to_owned(),
        (true, None) => counted(root.sessions, "session", "sessions"),
        (true, Some(why)) => format!("{}, not listed: {why}", counted(root.sessions, "session", "sessions")),
    };
    let path = shown(&place.root.folder);
    writeln!(
        out,
        "{}  {state} {}",
        Painted(BOLD, &path),
        Painted(DIM, &format!("({}, {})", owner(place), place.named_by))
    )?;
    let mut codes: Vec<&HiddenReason> = Vec::new();
    for (_, reason) in &root.hidden {
        if !codes.iter().any(|known| known.code() == reason.code()) {
            codes.push(reason);
        }
    }
    for reason in codes {
        let same: Vec<&(PathBuf, HiddenReason)> =
            root.hidden.iter().filter(|(_, other)| other.code() == reason.code()).collect();
        for (path, reason) in same.iter().take(SAID) {
            let message = one_line(&reason.message(), 1000);
            let code = format!("[{}]", reason.code());
            writeln!(out, "  {}: {message} {}", shown(path), Painted(DIM, &code))?;
        }
        if same.len() > SAID {
            let code = reason.code();
            writeln!(out, "  and {} more [{code}]; `offshoot doctor --json` names them all", same.len() - SAID)?;
        }
    }
    Ok(())
}

/// More hidden files of one kind are counted, not named.
const SAID: usize = 3;

fn rest_text(out: &mut dyn Write, rest: &Rest) -> io::Result<()> {
    if !rest.keys.is_empty() {
        let named = |(provider, from): &(String, &str)| format!("{} ({from})", one_line(provider, 40));
        let keys: Vec<String> = rest.keys.iter().map(named).collect();
        writeln!(out, "{}  {}", Painted(BOLD, "keys"), keys.join(", "))?;
    }
    if let Some((path, files, bytes)) = &rest.index {
        let files = counted(*files, "file", "files");
        writeln!(
            out,
            "{}  {files}, {} {}",
            Painted(BOLD, &shown(path)),
            counted(*bytes, "byte", "bytes"),
            Painted(DIM, "(side indexes)")
        )?;
    }
    if let Some((path, state)) = &rest.catalogue {
        let (word, why) = state.health.words();
        let why = why.map(|why| format!(": {}", one_line(why, 200))).unwrap_or_default();
        let sessions = counted(state.sessions, "session", "sessions");
        let path = shown(path);
        let said = format!("{word}{why}, {sessions}, {}", counted(state.size, "byte", "bytes"));
        writeln!(out, "{}  {said} {}", Painted(BOLD, &path), Painted(DIM, "(catalogue)"))?;
    }
    if let Some(path) = &rest.spill {
        let waiting: usize = rest.waiting.iter().map(|spill| spill.entries).sum();
        let path = shown(path);
        writeln!(
            out,
            "{}  {} {}",
            Painted(BOLD, &path),
            counted(waiting, "entry", "entries"),
            Painted(DIM, "(could not be written)")
        )?;
    }
    for (peer, standing) in &rest.peers {
        let Some(PeerStanding { folder, state, counts, to_copy, does_not_count }) = standing else { continue };
        let state = match state {
            PeerUse::On => "counts after offshoot's own",
            PeerUse::Off => "does not count",
            PeerUse::Ask => "does not count yet: the first conversation asks",
        };
        let whose = format!("({}'s folder, {})", peer.as_str(), peer.setting());
        writeln!(out, "{}  {state} {}", Painted(BOLD, &shown(&folder.path)), Painted(DIM, &whose))?;
        counts.iter().try_for_each(|what| writeln!(out, "  {}", one_line(what, 1000)))?;
        if !to_copy.is_empty() {
            writeln!(out, "  `offshoot migrate-from pi` copies: {}", one_line(&to_copy.join(", "), 1000))?;
        }
        does_not_count.iter().try_for_each(|what| writeln!(out, "  not: {}", one_line(what, 1000)))?;
    }
    for spill in &rest.waiting {
        let reason = HiddenReason::Spilled(spill.file.clone(), spill.entries);
        writeln!(out, "  {}: {}", shown(&spill.path), one_line(&reason.message(), 4096))?;
        for command in reason.commands(&spill.path, &spill.session_id) {
            writeln!(out, "    {}", Painted(HINT, &one_line(&command, 8192)))?;
        }
    }
    Ok(())
}

/// The commands that reach a candidate, each once.
fn commands(candidate: &Candidate) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let id = id_of(candidate);
    for command in candidate.reasons.iter().flat_map(|reason| reason.commands(&candidate.path, &id)) {
        if !all.contains(&command) {
            all.push(command);
        }
    }
    all
}

/// The session's id; if unknown, the end of the file's name.
fn id_of(candidate: &Candidate) -> String {
    let stem = || candidate.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let named = || stem().rsplit('_').next().map(str::to_owned).unwrap_or_default();
    candidate.who.id.clone().unwrap_or_else(named)
}

fn candidate_json(candidate: &Candidate) -> String {
    let reasons: Vec<String> = candidate.reasons.iter().map(|reason| reason_object(reason).finish()).collect();
    Object::new()
        .str("path", &candidate.path.to_string_lossy())
        .str("fits", candidate.fits.as_str())
        .str_or_null("id", candidate.who.id.as_deref())
        .str_or_null("name", candidate.who.name.as_deref())
        .str_or_null("cwd", candidate.who.cwd.as_deref())
        .raw("reasons", array(&reasons))
        .raw("commands", texts(&commands(candidate)))
        .finish()
}

fn reason_object(reason: &HiddenReason) -> Object {
    Object::new().str("code", reason.code()).str("message", &reason.message())
}

fn root_json(root: &Standings) -> String {
    let hidden = root.hidden.iter().map(|(path, reason)| {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let id = stem.rsplit('_').next().unwrap_or_default();
        let object = Object::new().str("path", &path.to_string_lossy()).str("code", reason.code());
        object.str("message", &reason.message()).raw("commands", texts(&reason.commands(path, id))).finish()
    });
    let hidden: Vec<String> = hidden.collect();
    Object::new()
        .str("path", &root.place.root.folder.to_string_lossy())
        .str("of", owner(&root.place))
        .str("namedBy", root.place.named_by)
        .raw("listed", root.place.passed_over.is_none())
        .raw("exists", root.exists)
        .raw("sessions", root.sessions)
        .raw("hidden", array(&hidden))
        .raw("unread", texts(&root.unread))
        .finish()
}

fn rest_json(object: Object, rest: &Rest) -> Object {
    let path = |path: &Path| Object::new().str("path", &path.to_string_lossy());
    let index = rest.index.as_ref();
    let index = index.map(|(folder, files, bytes)| path(folder).raw("files", files).raw("bytes", bytes).finish());
    let catalogue = rest.catalogue.as_ref().map(|(file, state)| {
        let (word, why) = state.health.words();
        let object = path(file).str("state", word).str_or_null("why", why);
        object.raw("sessions", state.sessions).raw("bytes", state.size).finish()
    });
    let spill = rest.spill.as_ref().map(|folder| {
        let files = rest.waiting.iter().map(|spill| {
            let object = path(&spill.path).str("file", &spill.file).str("id", &spill.session_id);
            object.raw("entries", spill.entries).finish()
        });
        let files: Vec<String> = files.collect();
        path(folder).raw("files", array(&files)).raw("unread", texts(&rest.unread)).finish()
    });
    let or_null = |object: Option<String>| object.unwrap_or_else(|| "null".to_owned());
    let peer = |standing: &PeerStanding| {
        let object = path(&standing.folder.path).str("state", standing.state.as_str());
        let object = object.raw("counts", texts(&standing.counts)).raw("toCopy", texts(&standing.to_copy));
        object.raw("doesNotCount", texts(&standing.does_not_count)).finish()
    };
    let object = object.raw("index", or_null(index)).raw("catalogue", or_null(catalogue));
    let key = |(provider, from): &(String, &str)| Object::new().str("provider", provider).str("from", from).finish();
    let keys: Vec<String> = rest.keys.iter().map(key).collect();
    let object = object.raw("spill", or_null(spill));
    let of_peers = rest.peers.iter();
    let object =
        of_peers.fold(object, |object, (of, found)| object.raw(of.as_str(), or_null(found.as_ref().map(peer))));
    object.raw("keys", array(&keys))
}

fn print(app: &App, object: Object) -> Result<()> {
    let mut out = app.ui.raw();
    writeln!(out, "{}", object.finish())?;
    Ok(out.finish()?)
}

fn array(items: &[String]) -> String {
    format!("[{}]", items.join(","))
}

fn texts(texts: &[String]) -> String {
    array(&texts.iter().map(|text| quote(text)).collect::<Vec<_>>())
}

fn shown(path: &Path) -> String {
    one_line(&path.to_string_lossy(), 4096)
}

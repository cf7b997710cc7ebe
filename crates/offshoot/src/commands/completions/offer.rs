//! What can be typed for an argument: sessions, entries, models, files. Reads sessions and caches, writes neither.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use clap::builder::StyledStr;
use clap::{Arg, ValueHint};
use clap_complete::CompletionCandidate;
use clap_complete::engine::{ArgValueCompleter, PathCompleter, ValueCompleter as _};
use offshoot_app::app::App;
use offshoot_app::models::ModelTable;
use offshoot_protocol::ThinkingLevel;
use offshoot_session::entry::Source as _;
use offshoot_session::entry_name::SHORT_IDS_UP_TO;
use offshoot_session::kind::Role;
use offshoot_session::list::{SessionInfo, header};
use offshoot_session::medium::{FileMedium, Medium as _, read_exact_at};
use offshoot_session::session::{Durability, IndexAccess, Options, Session, is_indexed};
use offshoot_session::stats;
use offshoot_session::store::{Scope, Store as _};
use offshoot_session::tree::NodeIx;

use super::is_harmless;
use super::typed::TypedLine;
use offshoot_workspace::when;
use offshoot_workspace::{LATEST, is_path, known_session};

/// How many sessions, and how many entries, are offered.
const SESSIONS: usize = 200;
const ENTRIES: usize = 50;
/// Ends of branches, and starts of ids in long sessions, are looked for among this many entries at the end of the file.
const SCANNED: usize = 10_000;
/// A larger file without an index is not read as a whole, but only its end.
const READ_WHOLE: u64 = 16 << 20;
const READ_END: u64 = 2 << 20;

/// Adds what can be typed to every argument that has values.
pub(super) fn with_candidates(command: clap::Command, app: App, typed: TypedLine) -> clap::Command {
    let app = App { session_dir: typed.session_dir.clone().or(app.session_dir), ..app };
    with(command, &Arc::new(Known { app, typed }))
}

fn with(command: clap::Command, known: &Arc<Known>) -> clap::Command {
    command.mut_args(|arg| with_values(arg, known)).mut_subcommands(|command| with(command, known))
}

fn with_values(arg: Arg, known: &Arc<Known>) -> Arg {
    let known = Arc::clone(known);
    let name = arg.get_value_names().and_then(<[_]>::first).map(|name| name.as_str().to_owned());
    let completer = match (name.as_deref(), arg.get_id().as_str()) {
        (Some("SESSION"), _) => ArgValueCompleter::new(move |typed: &OsStr| known.sessions(typed)),
        (Some("ENTRY"), _) => ArgValueCompleter::new(move |typed: &OsStr| fitting(typed, known.entries(typed))),
        (Some("MODEL" | "SEARCH"), _) => ArgValueCompleter::new(move |typed: &OsStr| fitting(typed, known.models())),
        (_, "provider") => ArgValueCompleter::new(move |typed: &OsStr| fitting(typed, known.providers())),
        (_, "thinking") => words(&ThinkingLevel::ALL.map(ThinkingLevel::as_str)),
        (_, "durability") => words(&Durability::ALL.map(Durability::as_str)),
        (_, "words") => ArgValueCompleter::new(move |typed: &OsStr| known.attachments(typed)),
        (Some("FILE"), _) => return arg.value_hint(ValueHint::AnyPath),
        (Some("DIR"), _) => return arg.value_hint(ValueHint::DirPath),
        _ => return arg,
    };
    arg.add(completer)
}

fn words(all: &[&'static str]) -> ArgValueCompleter {
    let all = all.to_vec();
    ArgValueCompleter::new(move |typed: &OsStr| fitting(typed, all.iter().map(CompletionCandidate::new).collect()))
}

fn fitting(typed: &OsStr, all: Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    let typed = typed.as_encoded_bytes();
    let fits = |found: &CompletionCandidate| found.get_value().as_encoded_bytes().starts_with(typed);
    all.into_iter().filter(fits).collect()
}

fn candidate(value: &str, help: String) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(StyledStr::from(help)))
}

struct Known {
    app: App,
    typed: TypedLine,
}

impl Known {
    /// Sessions of this folder by name or id; those of all folders if none of these fits; session files.
    fn sessions(&self, typed: &OsStr) -> Vec<CompletionCandidate> {
        let mut found = match typed.to_str() {
            Some(text) if !is_path(text) => {
                let mut found = vec![candidate(LATEST, "the newest session of this folder".to_owned())];
                found.extend(self.named(&self.newest(Some(&self.app.cwd())), text));
                let mut found = fitting(typed, found);
                if found.is_empty() {
                    found = fitting(typed, self.named(&self.newest(None), text));
                }
                found
            }
            _ => Vec::new(),
        };
        if self.is_session_optional() {
            found.extend(fitting(typed, self.entries(typed)));
        }
        found.extend(session_files(&self.app.environment.cwd, typed));
        found
    }

    /// Whether the next word may be ENTRY, because a variable gives SESSION.
    fn is_session_optional(&self) -> bool {
        let takes_entry = matches!(self.typed.command.as_deref(), Some("entry" | "label" | "switch" | "checkout"));
        takes_entry && self.typed.session.is_none() && self.app.environment.session.is_some()
    }

    fn newest(&self, cwd: Option<&str>) -> Vec<SessionInfo> {
        let Ok(store) = self.app.store() else { return Vec::new() };
        match self.app.catalogue() {
            Some(catalogue) => catalogue.newest(&store, cwd, self.app.now(), SESSIONS).unwrap_or_default(),
            None => store.list(Scope { cwd, with_text: false }, &mut |_, _| {}).unwrap_or_default().0,
        }
    }

    /// One candidate a session: its name if that names it alone and begins as typed, else its id.
    fn named(&self, sessions: &[SessionInfo], typed: &str) -> Vec<CompletionCandidate> {
        let names = |name: &str| sessions.iter().filter(|info| info.name.as_deref() == Some(name)).count();
        let one = |info: &SessionInfo| {
            let usable = |name: &&str| is_harmless(name) && !name.starts_with('-') && !is_path(name) && *name != LATEST;
            let name = info.name.as_deref().filter(usable).filter(|name| name.starts_with(typed) && names(name) == 1);
            let when = info.modified.map(|time| when::ago(time, self.app.now())).unwrap_or_default();
            let said = info.name.as_deref().filter(|_| name.is_none()).unwrap_or(&info.first_message);
            candidate(name.unwrap_or(&info.id), format!("{when} · {said}"))
        };
        sessions.iter().map(one).collect()
    }

    fn session(&self) -> Option<Session> {
        let given = self.typed.session.as_deref().or(self.app.environment.session.as_deref())?;
        let file = if is_path(given) {
            self.app.environment.path(given)
        } else {
            let here = self.newest(Some(&self.app.cwd()));
            match given {
                LATEST => here.first()?.path.clone(),
                _ => known_session(&here, given).or_else(|| known_session(&self.newest(None), given))?,
            }
        };
        let index = self.app.index_folder();
        let is_small = std::fs::metadata(&file).ok()?.len() <= READ_WHOLE;
        if is_small || index.as_ref().is_some_and(|folder| is_indexed(&file, folder)) {
            return Session::open(&file, Options { index, index_access: IndexAccess::ReadOnly, ..Options::default() })
                .ok();
        }
        newest_part(&file)
    }

    /// Labels, the current entry and the last ones before it, the ends of branches; any entry whose id begins as typed.
    fn entries(&self, typed: &OsStr) -> Vec<CompletionCandidate> {
        let Some(session) = self.session() else { return Vec::new() };
        let tree = session.tree();
        let mut found = Vec::new();
        let current = session.leaf().and_then(|leaf| tree.skip_leaf_markers(leaf));
        for (name, ix) in [("@", current), ("@-", current.and_then(|leaf| tree.parent(leaf)))] {
            found.extend(ix.map(|ix| candidate(name, described(&session, ix))));
        }
        for (target, label) in tree.labels().into_iter().rev().take(ENTRIES) {
            let usable = is_harmless(&label.text) && !label.text.starts_with('-');
            let ix = tree.find(target.as_str()).filter(|_| usable);
            found.extend(ix.map(|ix| candidate(&label.text, described(&session, ix))));
        }
        let is_said = |ix: &NodeIx| message_words(&session, *ix).is_some();
        let path = current.into_iter().flat_map(|leaf| tree.ancestors(leaf)).filter(is_said).take(ENTRIES);
        let ends = tree.entries().rev().take(SCANNED).filter(|ix| tree.is_leaf(*ix));
        let ends = ends.filter_map(|leaf| tree.skip_leaf_markers(leaf)).take(ENTRIES);
        let mut named: Vec<NodeIx> = path.chain(ends).collect();
        if let Some(typed) = typed.to_str().filter(|typed| !typed.is_empty()) {
            let begins = |ix: &NodeIx| tree.node(*ix).id().is_some_and(|id| id.as_str().starts_with(typed));
            let scanned = if tree.len() > SHORT_IDS_UP_TO { SCANNED } else { usize::MAX };
            named.extend(tree.find(typed));
            named.extend(tree.entries().rev().take(scanned).filter(begins).take(ENTRIES));
        }
        let mut seen = HashSet::new();
        for ix in named.into_iter().filter(|ix| seen.insert(*ix)) {
            let id = tree.node(ix).id();
            found.extend(id.map(|id| candidate(id.as_str(), described(&session, ix))));
        }
        found
    }

    /// The models with a key first.
    fn models(&self) -> Vec<CompletionCandidate> {
        let (table, _) = ModelTable::read(&self.app);
        let mut models: Vec<_> = table.models.all().collect();
        models.sort_by_key(|model| !table.can_ask(model));
        let whole =
            models.iter().map(|model| candidate(&format!("{}/{}", model.provider, model.id), model.name.clone()));
        let short = models.iter().map(|model| candidate(&model.id, model.name.clone()).hide(true));
        whole.chain(short).collect()
    }

    fn providers(&self) -> Vec<CompletionCandidate> {
        let (table, _) = ModelTable::read(&self.app);
        table.models.providers().into_iter().map(CompletionCandidate::new).collect()
    }

    /// Files after the `@` of a prompt.
    fn attachments(&self, typed: &OsStr) -> Vec<CompletionCandidate> {
        let Some(name) = typed.to_str().and_then(|typed| typed.strip_prefix('@')) else { return Vec::new() };
        let files = PathCompleter::any().current_dir(&self.app.environment.cwd).complete(OsStr::new(name));
        files.into_iter().map(|file| file.add_prefix("@")).collect()
    }
}

/// The header and the newest entries of a session file, as a session.
fn newest_part(file: &Path) -> Option<Session> {
    let medium = FileMedium::open(file).ok()?;
    let header = header(&medium).ok()?;
    let end = READ_END.min(medium.len().ok()?);
    let bytes = read_exact_at(&medium, medium.len().ok()? - end, usize::try_from(end).ok()?).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let (_, whole_lines) = text.split_once('\n')?;
    Session::from_text(&format!("{}\n{whole_lines}", header.line()), Options::default()).ok()
}

/// Session files, and the folders that begin as typed.
fn session_files(cwd: &Path, typed: &OsStr) -> Vec<CompletionCandidate> {
    let is_session = |path: &Path| path.extension().is_some_and(|end| end == "jsonl");
    let files = PathCompleter::any().filter(is_session).current_dir(cwd).complete(typed);
    let is_folder = |found: &CompletionCandidate| found.get_value().as_encoded_bytes().ends_with(b"/");
    files.into_iter().filter(|found| !typed.is_empty() || !is_folder(found)).collect()
}

/// The words of a message by the user or the model.
fn message_words(session: &Session, ix: NodeIx) -> Option<String> {
    let role = session.tree().node(ix).role().filter(|role| matches!(role, Role::User | Role::Assistant))?;
    let words = session.entry(ix).ok().and_then(|entry| stats::words(&entry))?;
    Some(format!("{}: {words}", role.word().unwrap_or_default()))
}

fn described(session: &Session, ix: NodeIx) -> String {
    let node = session.tree().node(ix);
    let kind = || node.role().and_then(Role::word).or_else(|| node.kind().word());
    message_words(session, ix).or_else(|| kind().map(str::to_owned)).unwrap_or_default()
}

//! Imports a session of another agent: a new session of one's own, or what the source has more than the one that is there. Its subagents
//! become sessions beside it.

mod target;

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use offshoot_foreign::{
    Agent, ImportReport, ImportWish, KeptVersions, OpenEnd, RebuiltSource, SubagentsOf, found_subagents,
    import_foreign, kept_rows, lacking_files, rebuilt, source_of,
};
use offshoot_session::clock::Millis;
use offshoot_session::entry::Source as _;
use offshoot_session::error::Error;
use offshoot_session::id::EntryId;
use offshoot_session::json::{Json, Object};
use offshoot_session::kind::{HIDDEN, IMPORT_MARKER, LEAF_MARKER};
use offshoot_session::medium::{FileMedium, Medium as _, Stamp};
use offshoot_session::session::{Session, SpillPolicy};

use crate::failure::{Failure, FailureKind, Hint, Result};
use crate::new_file;
use crate::place::Place;
use target::{ChildOf, ImportTargets};

/// A source that was still for so long has no entry that grows.
const STILL: Millis = 10 * 60 * 1000;
/// Sessions that somebody continued get a number behind the id; no source has more of them.
const MOST_COPIES: u32 = 1000;
/// A hint names no more ranges of records.
const MOST_SHOWN: usize = 20;

/// What would be imported, and where to.
#[derive(Debug)]
pub(crate) struct ForeignImport {
    agent: Agent,
    source: PathBuf,
    target: PathBuf,
    /// The id, where it is not the usual one.
    id: Option<String>,
    /// The ids of the session that is there already.
    known: HashSet<String>,
    /// Its length, if it is there.
    length: Option<u64>,
    /// Of an agent that changes its records in place: those that are there already.
    versions: KeptVersions,
    end: OpenEnd,
    note: Option<String>,
    /// With those of the subagents.
    pub(crate) report: ImportReport,
    /// What made the session, if it is a subagent's.
    child: Option<ChildOf>,
    children: Vec<ForeignImport>,
}

/// A source that is to be imported.
#[derive(Debug, Clone, Copy)]
struct ForeignSource<'a> {
    agent: Agent,
    path: &'a Path,
    session: &'a Session,
    native: &'a str,
    end: OpenEnd,
}

impl<'a> ForeignSource<'a> {
    fn of(session: &'a Session, agent: Agent, path: &'a Path, end: OpenEnd) -> Self {
        Self { agent, path, session, native: session.id(), end }
    }
}

/// Whether what may still grow is taken: if the source was still, or somebody said so.
fn ends(place: &Place, source: &Path, is_now: bool) -> OpenEnd {
    let stamp = std::fs::metadata(source).ok().and_then(|meta| Stamp::of(&meta).modified_at());
    let is_still = stamp.is_none_or(|modified| place.now().saturating_sub(modified) > STILL);
    if is_still || is_now { OpenEnd::Taken } else { OpenEnd::Held }
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct ForeignImported {
    pub(crate) target: PathBuf,
    pub(crate) note: Option<String>,
}

/// A session of one's own in the place of another agent's: it is imported, or what is new of it. Another file stays as it is.
/// Also says what was done.
///
/// # Errors
/// It cannot be imported.
pub fn own_session_of(place: &Place, file: &Path) -> Result<(PathBuf, Option<String>)> {
    let Some(agent) = place.agent_of(file) else { return Ok((file.to_path_buf(), None)) };
    let done = ForeignImport::plan(place, agent, file, true)?.make(place)?;
    let told = format!("imported from {}: this session is yours, the agent's own stays as it is", agent.title());
    Ok((done.target, Some(told)))
}

impl ForeignImport {
    /// Looks at the source and at what is there of it.
    pub(crate) fn plan(place: &Place, agent: Agent, source: &Path, is_now: bool) -> Result<Self> {
        let session = place.open_to_read(source)?;
        let foreign = ForeignSource::of(&session, agent, source, ends(place, source, is_now));
        let mut plan = Self::plan_at(place, &foreign, None, &target::InStore { place, foreign: &foreign })?;
        let parent = plan.id.clone().unwrap_or_default();
        let of = SubagentsOf { agent, path: source, session: Some(&session), now: place.now() };
        let (found, mut left_out) = found_subagents(of);
        for found in found {
            let child = target::child_of(agent, &parent, &plan.target, &found);
            let read = place.open_to_read(&found.path);
            let planned = read.and_then(|session| {
                let foreign = ForeignSource::of(&session, agent, &found.path, ends(place, &found.path, is_now));
                let beside = target::BesideParent { parent: &plan.target, name: &found.id, foreign: &foreign };
                Self::plan_at(place, &foreign, Some(child), &beside)
            });
            match planned {
                Ok(planned) => {
                    plan.report.add(&planned.report);
                    plan.report.subagents += 1;
                    plan.children.push(planned);
                }
                // One that is damaged, or has said nothing yet, does not keep the others here.
                Err(_) => left_out += 1,
            }
        }
        if left_out > 0 {
            plan.report.losses.insert("subagent-left-out".to_owned(), (left_out as u64, 1));
        }
        Ok(plan)
    }

    fn plan_at(
        place: &Place,
        foreign: &ForeignSource<'_>,
        child: Option<ChildOf>,
        targets: &dyn ImportTargets,
    ) -> Result<Self> {
        let ForeignSource { agent, path, native, end, .. } = *foreign;
        let (ids, report) = ids_of(agent, path, end)?;
        if ids.is_empty() {
            let why = format!("{} has no message yet", path.display());
            return Err(Failure::refused(FailureKind::Failed, why));
        }
        let mut plan = Self {
            agent,
            source: path.to_path_buf(),
            target: PathBuf::new(),
            id: None,
            known: HashSet::new(),
            length: None,
            versions: KeptVersions::default(),
            end,
            note: None,
            report,
            child,
            children: Vec::new(),
        };
        for number in 1..MOST_COPIES {
            let target = targets.at(number)?;
            plan.id = Some(target.id.clone());
            if !target.is_there {
                plan.target = target.file;
                return Ok(plan);
            }
            let path = target.file;
            let there = place.open_file(&path, SpillPolicy::Temporary)?;
            if !is_import_of(&there, agent, native)? {
                plan.note = Some(format!("{} has the id {} already", path.display(), target.id));
                continue;
            }
            let known: HashSet<String> = all_ids(&there);
            let only_appends = agent.only_appends(&source_of(foreign.path));
            // Rows may have changed although all ids are there.
            let is_all_there = only_appends && ids.iter().all(|id| known.contains(id));
            if !is_all_there && was_continued(&there, &known, &ids)? {
                plan.note =
                    Some(format!("{} was continued here, so what is new is in a session beside it", path.display()));
                continue;
            }
            if only_appends {
                plan.versions = KeptVersions::of_ends(&there)?;
            } else {
                plan.versions = KeptVersions::of(&there)?;
                // What is gone or has a newer version is known by what is there.
                plan.report = plan.as_it_is(&known)?;
            }
            (plan.target, plan.known, plan.length) = (path, known, Some(there.raw_length()));
            return Ok(plan);
        }
        Err(Failure::refused(FailureKind::Conflict, format!("there are too many copies of {}", foreign.path.display())))
    }

    /// The file that is or would be there.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// What there is to say before anything is written.
    pub(crate) fn note(&self) -> Option<String> {
        self.note.clone()
    }

    /// Writes the session, or appends what is new.
    pub(crate) fn make(&self, place: &Place) -> Result<ForeignImported> {
        let mut written = self.write(place)?;
        for child in &self.children {
            written += child.write(place)?;
        }
        let nothing = || "everything is there already".to_owned();
        let note = self.note.clone().or_else(|| (written == 0).then(nothing));
        Ok(ForeignImported { target: self.target.clone(), note })
    }

    fn write(&self, place: &Place) -> Result<u64> {
        if self.length.is_some() { self.append() } else { self.create(place) }
    }

    fn wish(&self) -> ImportWish<'_> {
        let Self { agent, source, id, end, known, versions, .. } = self;
        let child = self.child.as_ref().map(ChildOf::linked);
        ImportWish { agent: *agent, path: source, id: id.as_deref(), end: *end, known, versions, child }
    }

    fn as_it_is(&self, known: &HashSet<String>) -> Result<ImportReport> {
        Ok(import_foreign(ImportWish { known, ..self.wish() }, &mut |_| Ok(()))?)
    }

    fn create(&self, place: &Place) -> Result<u64> {
        let folder = self.target.parent().unwrap_or(Path::new("."));
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|error| Failure::io(format!("create folder {}", folder.display()), &error))?;
        let mut lines = 0;
        new_file::create(&self.target, |out| {
            import_foreign(self.wish(), &mut |line| {
                lines += 1;
                writeln!(out, "{}", line.text).map_err(Error::io("write", &self.target))
            })?;
            Ok(())
        })?;
        if self.child.is_none() {
            place.store()?.note_import(&self.target)?;
        }
        Ok(lines)
    }

    /// Appends under the lock of the session's writers, if nobody wrote since the plan.
    fn append(&self) -> Result<u64> {
        let (mut new, mut lines) = (String::new(), 0);
        let mut leaf = String::new();
        import_foreign(self.wish(), &mut |line| {
            if line.is_leaf {
                leaf.push_str(line.text);
                leaf.push('\n');
            } else {
                new.push_str(line.text);
                new.push('\n');
                lines += 1;
            }
            Ok(())
        })?;
        // A place alone is no news, but new lines would move it. Rows that are gone move it too.
        if lines == 0 && (self.agent.only_appends(&source_of(&self.source)) || leaf.is_empty()) {
            return Ok(0);
        }
        new.push_str(&leaf);
        let failed = |action: &'static str| Error::io(action, &self.target);
        let mut medium = FileMedium::open(&self.target).map_err(failed("open"))?;
        let state = medium.lock().map_err(failed("lock"))?;
        let appended = if Some(state.length) == self.length {
            medium.append(new.as_bytes()).and_then(|()| medium.sync()).map_err(failed("append to"))
        } else {
            Err(failed("append to")(std::io::Error::other("another program has just written to it: try again")))
        };
        medium.unlock().map_err(failed("unlock"))?;
        appended?;
        Ok(lines)
    }

    /// Rebuilds the source and the files beside it from what was imported, those of its subagents too, and compares.
    pub(crate) fn verify(&self, place: &Place) -> Result<RebuiltSource> {
        for child in &self.children {
            child.verify_one(place)?;
        }
        self.verify_one(place)
    }

    fn verify_one(&self, place: &Place) -> Result<RebuiltSource> {
        let session = place.open_file(&self.target, SpillPolicy::Temporary)?;
        let lacking =
            if self.end == OpenEnd::Taken { lacking_files(self.agent, &self.source, &session)? } else { Vec::new() };
        if !lacking.is_empty() {
            let why = format!("{} does not give back files beside {}", self.target.display(), self.source.display());
            let files = format!("files that cannot be rebuilt: {}", lacking.join(", "));
            return Err(Failure::refused(FailureKind::Damaged, why).hint(Hint::Text(files)));
        }
        if !self.agent.only_appends(&source_of(&self.source)) {
            return self.compared(kept_rows(self.agent, &self.source, &session)?, true);
        }
        let mut source = offshoot_foreign::SourceBytes::open(self.agent, &self.source)?;
        let mut is_equal = true;
        let rebuilt = rebuilt(&session, &mut |bytes| {
            is_equal &= source.continues_with(bytes)?;
            Ok(())
        })?;
        self.compared(rebuilt, is_equal)
    }

    fn compared(&self, rebuilt: RebuiltSource, is_equal: bool) -> Result<RebuiltSource> {
        if is_equal && rebuilt.lacking.is_empty() {
            return Ok(rebuilt);
        }
        let why = format!("{} does not give back the bytes of {}", self.target.display(), self.source.display());
        let failure = Failure::refused(FailureKind::Damaged, why);
        Err(match lacking_words(&rebuilt.lacking) {
            Some(words) => failure.hint(Hint::Text(words)),
            None => failure,
        })
    }
}

/// The first records that cannot be rebuilt, and how many more there are.
fn lacking_words(lacking: &[RangeInclusive<u64>]) -> Option<String> {
    let words = |range: &RangeInclusive<u64>| match (range.start(), range.end()) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first} to {last}"),
    };
    let shown: Vec<String> = lacking.iter().take(MOST_SHOWN).map(words).collect();
    let rest = lacking.len().saturating_sub(MOST_SHOWN);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    (!shown.is_empty()).then(|| format!("records that cannot be rebuilt: {}{more}", shown.join(", ")))
}

/// The report as JSON.
pub(crate) fn report_json(report: &ImportReport) -> String {
    let losses: Vec<String> = report
        .losses
        .iter()
        .map(|(code, (count, first))| Object::new().str("code", code).raw("count", count).raw("first", first).finish())
        .collect();
    Object::new()
        .raw("records", report.records)
        .raw("entries", report.entries)
        .raw("kept", report.kept)
        .raw("held", report.held)
        .raw("files", report.files)
        .raw("subagents", report.subagents)
        .raw("losses", format!("[{}]", losses.join(",")))
        .finish()
}

/// The ids of all lines that an import has.
fn ids_of(agent: Agent, source: &Path, end: OpenEnd) -> Result<(HashSet<String>, ImportReport)> {
    let mut ids = HashSet::new();
    let versions = KeptVersions::default();
    let wish =
        ImportWish { agent, path: source, id: None, end, known: &HashSet::new(), versions: &versions, child: None };
    let report = import_foreign(wish, &mut |line| {
        ids.extend(line.id.filter(|_| !line.is_leaf).map(str::to_owned));
        Ok(())
    })?;
    Ok((ids, report))
}

fn all_ids(session: &Session) -> HashSet<String> {
    let tree = session.tree();
    tree.entries().filter_map(|ix| tree.node(ix).id().map(|id| id.as_str().to_owned())).collect()
}

/// Whether a session was imported from this one.
fn is_import_of(session: &Session, agent: Agent, native: &str) -> Result<bool> {
    // What made a subagent comes before it.
    for ix in session.tree().entries().take(2) {
        let entry = session.entry(ix)?;
        let data = entry.get("data").unwrap_or(Json::NULL);
        let is = |name: &str, value: &str| data.str(name).is_some_and(|own| own == value);
        if entry.str("customType").is_some_and(|custom| custom == IMPORT_MARKER) {
            return Ok(is("agent", agent.word()) && is("nativeId", native));
        }
    }
    Ok(false)
}

/// Whether somebody wrote to an imported session: it has an entry that neither the source has nor a record that was kept.
fn was_continued(session: &Session, known: &HashSet<String>, ids: &HashSet<String>) -> Result<bool> {
    let tree = session.tree();
    for ix in tree.entries() {
        let Some(id) = tree.node(ix).id().map(EntryId::as_str).filter(|id| !ids.contains(*id)) else { continue };
        let record = id.split_once(['.', '~']).map_or(id, |(record, _)| record);
        if known.contains(&format!("{id}.s")) || known.contains(&format!("{record}.s")) {
            continue;
        }
        // What has no id at the agent has one made of what it said then; those of one's own entries are shorter.
        let record = id.split_once(['-', '.']).map_or(id, |(record, _)| record);
        if record.len() == 16 && record.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            continue;
        }
        let custom = session.entry(ix)?.str("customType").map(std::borrow::Cow::into_owned);
        let is_own = custom.is_none_or(|custom| {
            !HIDDEN.contains(&custom.as_str()) || custom == LEAF_MARKER && !id.starts_with("leaf-")
        });
        if is_own {
            return Ok(true);
        }
    }
    Ok(false)
}

//! Imports a session file of any agent, and rebuilds its source from what was imported.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::Path;

use offshoot_session::entry::Source as _;
use offshoot_session::error::{Error, Result};
use offshoot_session::json::Json;
use offshoot_session::kind::{Kind, SOURCE_RECORD};
use offshoot_session::medium::{Medium as _, read_exact_at};
use offshoot_session::session::Session;
use sha2::{Digest as _, Sha256};

use crate::agent::Agent;
use crate::composing::SideFiles;
use crate::foreign_medium::ForeignMedium;
use crate::import::{ImportAs, ImportReport, ImportedChild, ImportedLine, OpenEnd, import};
use crate::kept_copy::source_of;
use crate::mapper::Mapper;
use crate::record::for_each_record;
use crate::source_record::{PayloadTexts, file_name, rebuild};
use crate::sources::{SessionVisitor, medium_of, visit};
use crate::versions::KeptVersions;

/// What is imported.
#[derive(Debug, Clone, Copy)]
pub struct ImportWish<'a> {
    /// Whose session it is.
    pub agent: Agent,
    /// Its file.
    pub path: &'a Path,
    /// The id of the imported session; the agent's own if it is `None` and fits.
    pub id: Option<&'a str>,
    /// Whether an entry that may still grow is taken.
    pub end: OpenEnd,
    /// Ids of lines that are there already: they are passed over.
    pub known: &'a HashSet<String>,
    /// Of an agent that changes its records in place: the records that are there already.
    pub versions: &'a KeptVersions,
    /// What made the session, if it is a subagent's.
    pub child: Option<ImportedChild<'a>>,
}

/// Passes the lines of an imported session on, the header first. Nothing comes before the first message is there.
///
/// # Errors
/// The source cannot be read; those of `take`.
pub fn import_foreign(
    wish: ImportWish<'_>,
    take: &mut dyn FnMut(ImportedLine<'_>) -> Result<()>,
) -> Result<ImportReport> {
    let ImportWish { agent, path, id, end, known, versions, child } = wish;
    let medium = medium_of(agent, path).map_err(Error::io("read", path))?;
    // A copy of a session says where it was.
    let source = source_of(path);
    let how = ImportAs { agent, path: &source, id, end, known, versions, child };
    visit(agent, path, medium, ImportVisitor { how, take })
}

struct ImportVisitor<'a, 't> {
    how: ImportAs<'a>,
    take: &'t mut dyn FnMut(ImportedLine<'_>) -> Result<()>,
}

impl SessionVisitor for ImportVisitor<'_, '_> {
    type Out = Result<ImportReport>;

    fn visit<M: Mapper + Send + Sync + 'static>(
        self,
        medium: ForeignMedium,
        mapper: M,
        side: Box<dyn SideFiles>,
    ) -> Self::Out {
        import(&medium, mapper, side.as_ref(), &self.how, self.take)
    }
}

/// The bytes of a source, one after another.
#[derive(Debug)]
pub struct SourceBytes {
    medium: ForeignMedium,
    at: u64,
}

impl SourceBytes {
    /// Those of a session's file, and of the files before it that it continues.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn open(agent: Agent, path: &Path) -> Result<Self> {
        let medium = medium_of(agent, path).map_err(Error::io("read", path))?;
        Ok(Self { medium, at: 0 })
    }

    /// Whether these are the next bytes; they are passed over.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn continues_with(&mut self, bytes: &[u8]) -> Result<bool> {
        let at = self.at;
        self.at += bytes.len() as u64;
        let length = self.medium.len().map_err(Error::io("read", self.medium.path()))?;
        if self.at > length {
            return Ok(false);
        }
        let found = read_exact_at(&self.medium, at, bytes.len()).map_err(Error::io("read", self.medium.path()))?;
        Ok(found == bytes)
    }
}

/// The bytes that an imported session keeps of its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuiltSource {
    /// How many bytes there are.
    pub bytes: u64,
    /// How many records.
    pub records: u64,
    /// The sha256 of all bytes, as hexadecimal digits.
    pub sha256: String,
    /// Numbers of records that cannot be rebuilt, or are missing.
    pub lacking: Vec<RangeInclusive<u64>>,
}

impl RebuiltSource {
    fn lack(&mut self, numbers: RangeInclusive<u64>) {
        match self.lacking.last_mut() {
            Some(last) if last.end().saturating_add(1) == *numbers.start() => *last = *last.start()..=*numbers.end(),
            _ => self.lacking.push(numbers),
        }
    }
}

/// Rebuilds the source of an imported session, record by record, and passes its bytes on.
///
/// # Errors
/// The session cannot be read; those of `take`.
pub fn rebuilt(session: &Session, take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<RebuiltSource> {
    let tree = session.tree();
    let mut kept = Vec::new();
    for ix in tree.entries().filter(|ix| tree.node(*ix).kind() == Kind::Custom && tree.node(*ix).is_leaf_marker()) {
        let entry = session.entry(ix)?;
        let is_file = entry.get("data").and_then(file_name).is_some();
        if !is_file && entry.str("customType").is_some_and(|custom| custom == SOURCE_RECORD) {
            let number = entry.get("data").and_then(|data| data.get("n")).and_then(Json::as_f64);
            kept.push((number.unwrap_or_default().max(0.0) as u64, ix));
        }
    }
    kept.sort_by_key(|(number, _)| *number);
    kept.dedup_by_key(|(number, _)| *number);
    let mut found = RebuiltSource { bytes: 0, records: kept.len() as u64, sha256: String::new(), lacking: Vec::new() };
    let (mut hash, mut next) = (Sha256::new(), 1);
    let mut payloads = PayloadTexts::new(session);
    for (number, ix) in &kept {
        if next < *number {
            found.lack(next..=*number - 1);
        }
        // A number is whatever the file says.
        next = number.saturating_add(1);
        let entry = session.entry(*ix)?;
        let record = entry.get("data").and_then(|data| rebuild(data, &mut |id| payloads.get(id)));
        match record.filter(|record| record.at == found.bytes) {
            Some(record) => {
                hash.update(&record.bytes);
                found.bytes += record.bytes.len() as u64;
                take(&record.bytes)?;
            }
            None => found.lack(*number..=*number),
        }
    }
    found.sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(found)
}

/// Whether an imported session has every record of a source as it is now, where records change in place.
///
/// # Errors
/// The session or the source cannot be read.
pub fn kept_rows(agent: Agent, path: &Path, session: &Session) -> Result<RebuiltSource> {
    let medium = medium_of(agent, path).map_err(Error::io("read", path))?;
    let kept = KeptVersions::of(session)?;
    let mut found = RebuiltSource { bytes: 0, records: 0, sha256: String::new(), lacking: Vec::new() };
    let mut hash = Sha256::new();
    for_each_record(&medium, |raw| {
        let whole = [raw.bytes, if raw.is_terminated { b"\n" } else { b"" }].concat();
        hash.update(&whole);
        found.bytes += whole.len() as u64;
        found.records += 1;
        if !kept.has(&whole) {
            found.lack(u64::from(raw.span.number)..=u64::from(raw.span.number));
        }
        Ok(())
    })
    .map_err(Error::io("read", path))?;
    found.sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(found)
}

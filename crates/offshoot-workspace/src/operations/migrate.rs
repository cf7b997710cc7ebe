//! Upgrades files of old versions.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use offshoot_session::header::CURRENT_VERSION;
use offshoot_session::json::Object;
use offshoot_session::session::{Session, SpillPolicy};
use offshoot_session::text::{counted, one_line};

use crate::failure::{Failure, Result};
use crate::given::SessionName;
use crate::input;
use crate::lookup::Access;
use crate::operation::{About, CommandGroup, Finished, FrontEnd, Operation, OperationEffect, Output, nothing_to_do};
use crate::place::Place;
use crate::several::FailedInputs;
use crate::words::{Line, Role, Words};

input! {
    /// What `migrate` gets.
    pub struct MigrateInput {
        /// Paths, ids, names, or `latest`
        session: Vec<SessionName> = arg (needed),
    }
}

/// Upgrades files of old versions.
#[derive(Debug)]
pub struct Migrate;

/// The sessions that can be read.
#[derive(Debug)]
pub struct MigratePlan {
    /// How many were named.
    named: usize,
    sessions: Vec<FoundVersion>,
    failed: FailedInputs,
}

#[derive(Debug)]
struct FoundVersion {
    file: PathBuf,
    version: u32,
}

/// The old files of those that were upgraded, in the order of the plan.
#[derive(Debug)]
pub struct KeptFiles(Vec<Option<PathBuf>>, FailedInputs);

/// What came of `migrate`.
#[derive(Debug)]
pub struct MigrateOutput {
    named: usize,
    rows: Vec<(FoundVersion, Option<PathBuf>)>,
    is_dry: bool,
    failed: FailedInputs,
    failure: Option<Failure>,
}

impl FoundVersion {
    fn is_old(&self) -> bool {
        self.version < CURRENT_VERSION
    }
}

impl Operation for Migrate {
    type Input = MigrateInput;
    type Plan = MigratePlan;
    type Written = KeptFiles;
    type Output = MigrateOutput;

    const ABOUT: About = About {
        name: "migrate",
        aliases: &[],
        title: "Upgrade sessions of an old version",
        says: "offshoot reads old versions without this command, and the first change to an\n\
               old session upgrades it. The new file replaces the old one in one step; the\n\
               old bytes are kept as FILE.v1.bak or FILE.v2.bak. A session that cannot be\n\
               upgraded is reported, and the others still are.\n\n\
               --json prints one object for each session that can be read: {\"path\",\n\
               \"version\", \"backup\"}. `version` is the one that was found, `backup` the old\n\
               file, null if nothing was done.",
        examples: "Examples:\n  offshoot migrate latest\n  offshoot migrate old/*.jsonl",
        past: "upgraded",
        effect: OperationEffect::Makes { dry_run: "Show what would be upgraded, and write nothing" },
    };
    const GROUP: CommandGroup = CommandGroup::Maintain;
    // The open session may be among them.
    const NOT_ON: &'static [FrontEnd] = &[FrontEnd::Rpc, FrontEnd::Slash];

    fn session(_: &MigrateInput) -> Option<&SessionName> {
        None
    }

    fn plan(place: &Place, _: Option<&Session>, input: &MigrateInput) -> Result<MigratePlan> {
        let mut failed = FailedInputs::none_of(input.session.len());
        let mut sessions = Vec::new();
        for SessionName(given) in &input.session {
            sessions.extend(failed.catch(found(place, given))?);
        }
        Ok(MigratePlan { named: input.session.len(), sessions, failed })
    }

    fn make(place: &Place, _: Option<&mut Session>, plan: &MigratePlan) -> Result<Option<KeptFiles>> {
        let mut failed = FailedInputs::none_of(plan.named);
        let mut kept = Vec::new();
        for found in &plan.sessions {
            let upgraded = if found.is_old() { upgraded(place, &found.file) } else { Ok(None) };
            kept.push(failed.catch(upgraded)?.flatten());
        }
        Ok(Some(KeptFiles(kept, failed)))
    }

    fn output(plan: MigratePlan, finished: Finished<'_, KeptFiles>) -> Result<MigrateOutput> {
        let MigratePlan { named, sessions, mut failed } = plan;
        let mut kept = Vec::new().into_iter();
        if let Some(KeptFiles(files, more)) = finished.written {
            kept = files.into_iter();
            failed.join(more);
        }
        let failure = failed.end(("session", "sessions"), "upgraded");
        let rows = sessions.into_iter().map(|found| (found, kept.next().flatten())).collect();
        Ok(MigrateOutput { named, rows, is_dry: finished.is_dry, failed, failure })
    }
}

fn found(place: &Place, given: &str) -> Result<FoundVersion> {
    let file = place.file(given, Access::Write)?;
    place.note_opened(&file);
    let version = place.open_file(&file, SpillPolicy::Temporary)?.version();
    Ok(FoundVersion { file, version })
}

fn upgraded(place: &Place, file: &Path) -> Result<Option<PathBuf>> {
    Ok(place.open_file(file, SpillPolicy::Temporary)?.upgrade_and_close()?)
}

impl MigrateOutput {
    fn is_upgraded(&self, (found, backup): &(FoundVersion, Option<PathBuf>)) -> bool {
        backup.is_some() || (self.is_dry && found.is_old())
    }
}

impl Output for MigrateOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        for (at, (FoundVersion { file, version }, backup)) in self.rows.iter().enumerate() {
            let object = Object::new().str("path", &file.to_string_lossy()).raw("version", version);
            let backup = backup.as_deref().map(Path::to_string_lossy);
            let line = if at == 0 { "" } else { "\n" };
            write!(out, "{line}{}", object.str_or_null("backup", backup.as_deref()).finish())?;
        }
        Ok(())
    }

    fn words(&self, words: &mut Words) {
        let name = |file: &Path| one_line(&file.to_string_lossy(), 4096);
        for row in &self.rows {
            let (found @ FoundVersion { file, version }, backup) = row;
            let said = match backup {
                Some(backup) => format!("upgraded from version {version}; the old file is {}", name(backup)),
                None if self.is_upgraded(row) => format!("would be upgraded from version {version}"),
                // It failed.
                None if found.is_old() => continue,
                None => nothing_to_do(format_args!("version {version}")),
            };
            words.line(Line::of(Role::Bold, name(file)).and(Role::Plain, format!(": {said}")));
        }
        let failed = self.failed.all().len();
        if self.named > 1 {
            let upgraded = self.rows.iter().filter(|row| self.is_upgraded(row)).count();
            let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
            let would = if self.is_dry { "would be " } else { "" };
            words.line(format!("{}: {upgraded} {would}upgraded{failed}", counted(self.named, "session", "sessions")));
        }
    }

    fn failed(&self) -> &[Failure] {
        self.failed.all()
    }

    fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }
}

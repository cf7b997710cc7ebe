//! Writes a session, a branch or a subtree to a file, or to whoever reads the output.

mod format;
mod back;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use offshoot_foreign::BackReport;
use offshoot_session::children::carry_children;
use offshoot_session::entry::Source as _;
use offshoot_session::error::Diagnostic;
use offshoot_session::json::Object;
use offshoot_session::kind::Kind;
use offshoot_session::medium::open_regular;
use offshoot_session::session::{NewFork, Session, SessionPart};
use offshoot_session::text::{counted, one_line};
use tempfile::TempDir;

use crate::failure::{Failure, Result};
use crate::given::{ByteSize, EntryName, FileName, SessionName};
use crate::input;
use crate::lookup::Access;
use crate::new_file;
use crate::next_request::PageOrder;
use crate::operation::{About, CommandGroup, Finished, FrontEnd, Operation, OperationEffect, Output};
use crate::operations::context::write_as_sent;
use crate::operations::fork::nothing_to_copy;
use crate::place::Place;
use crate::run::open_session;
use crate::session_to_read::with_short_ids;
use crate::transcript::document;
use crate::words::{Note, Words};

pub use back::ExportTarget;
pub use format::ExportFormat;

use back::BackPlan;

input! {
    /// What `export` gets.
    pub struct ExportInput {
        /// A path, an id or its unique start or end, a name, or `latest`
        session: SessionName = arg,
        /// The file to write: .jsonl, .html, .md or .json; `-` writes to standard output
        output: Option<FileName> = option ("FILE" 'o' unless ["format", "to"]),
        /// The format: jsonl, html, md or json; without --output it goes to standard output
        format: Option<ExportFormat> = option ("FORMAT"),
        /// For another agent, which can continue it: claude or codex
        to: Option<ExportTarget> = option ("AGENT" conflicts ["format", "subtree", "max_inline", "no_images", "no_files", "theme"]),
        /// With --to: a new file in the agent's own folder
        install: bool = flag (requires ["to"] conflicts ["output"]),
        /// Only the path from the root to this entry
        at: Option<EntryName> = option ("ENTRY"),
        /// Only this entry and everything below it
        subtree: Option<EntryName> = option ("ENTRY" conflicts ["at"]),
        /// Leave out of a page pictures of more than SIZE bytes, such as 200k or 1.5M, and the ends of longer texts
        max_inline: Option<ByteSize> = option ("SIZE"),
        /// Leave out all pictures of a page
        no_images: bool = flag (conflicts ["max_inline"]),
        /// Leave out what differs in the files of a page; their paths stay
        no_files: bool = flag,
        /// A theme file with the colours of the page
        theme: Option<FileName> = option ("FILE"),
    }
}

impl ExportInput {
    /// The file that is written; `None` for standard output.
    fn file(&self, place: &Place) -> Option<PathBuf> {
        let file = self.output.as_ref().filter(|file| file.0 != Path::new("-"));
        file.map(|file| place.path(&file.0))
    }

    /// The part of the session, of which a transcript and a context are always a path.
    fn part(&self, place: &Place, session: &Session, format: ExportFormat) -> Result<SessionPart> {
        Ok(match (&self.at, &self.subtree) {
            (Some(EntryName(given)), _) => SessionPart::Path(place.last_entry(session, given, Access::Read)?),
            (None, Some(EntryName(given))) => SessionPart::Subtree(place.entry(session, given)?),
            (None, None) if format.is_path() || self.to.is_some() => {
                SessionPart::Path(session.leaf().ok_or_else(nothing_to_copy)?)
            }
            (None, None) => SessionPart::Everything,
        })
    }
}

/// Writes a session, a branch or a subtree.
#[derive(Debug)]
pub struct Export;

/// What is written, and where to.
#[derive(Debug)]
pub struct ExportPlan {
    input: ExportInput,
    format: ExportFormat,
    part: SessionPart,
    /// `None` for whoever reads the output.
    file: Option<PathBuf>,
    /// What is written for another agent.
    back: Option<BackPlan>,
}

/// What was written.
#[derive(Debug)]
pub struct Exported {
    /// The folder and the file with what goes to whoever reads the output.
    text: Option<(TempDir, PathBuf)>,
    /// Says what a page lacks.
    left_out: Option<String>,
    odd: Vec<Diagnostic>,
    /// What another agent's file says of itself.
    back: Option<BackReport>,
}

/// What came of `export`.
#[derive(Debug)]
pub struct ExportOutput {
    plan: ExportPlan,
    entries: usize,
    written: Option<Exported>,
    odd: Vec<Diagnostic>,
}

impl Operation for Export {
    type Input = ExportInput;
    type Plan = ExportPlan;
    type Written = Exported;
    type Output = ExportOutput;

    const ABOUT: About = About {
        name: "export",
        aliases: &[],
        title: "Export a session, a branch or a subtree to a file",
        says: "The extension of the file, or --format, selects the format:\n\n  \
               .jsonl  A session file. Without other options it is the whole session,\n          \
               byte for byte (an old version is upgraded). --at takes the path\n          \
               to ENTRY, --subtree takes ENTRY and everything below it; both\n          \
               make a new session.\n  \
               .html   A page for a browser: the tree, every branch, and the session\n          \
               file to download. It needs no network. --at and --subtree work\n          \
               as above.\n  \
               .md     The transcript of the current branch, or of the path to --at,\n          \
               with front matter. Thinking and output of more than 20 lines\n          \
               are folded. Text is kept as it is, but control characters are\n          \
               spelt out (\\u001b), so `cat` is safe.\n  \
               .json   The context as it is sent to a model, at the current entry or at\n          \
               --at: what `offshoot context --llm` prints.\n\n\
               A page and a transcript leave out lines of more than 64 MiB, and say how\n\
               to print them. A warning counts what a page leaves out, and names the\n\
               first entries.\n\n\
               A page shows which files each turn changed, and what differs, as far as\n\
               the store on this machine has it: the newest 200 files and 10,000 lines.\n\
               --no-files leaves out what differs.\n\n\
               --theme takes the colours of a page from the member `export` of a theme\n\
               file, as in pi: `pageBg`, `cardBg` and `infoBg`. Without it they come from\n\
               the theme that the settings name, or from the light and the dark one.\n\n\
               --to writes the path for Claude Code or Codex, which list, open and continue\n\
               it as a session of theirs. The agent's own records of a path that came from it\n\
               are written as they were. Otherwise answers, calls, results, pictures and\n\
               compactions are; thinking is if the agent's provider signed it. The file goes\n\
               to --output, to standard output, or with --install into the agent's folder,\n\
               as a new file, which is named first. --json then has \"session\", \"open\", \"native\",\n\
               \"lines\" and \"losses\" as well.\n\n\
               An existing file is never replaced. A session without entries is refused.\n\n\
               --json prints {\"path\", \"format\", \"entries\", \"leftOut\"}: `leftOut` is the\n\
               warning, or null. Without a file `path` is null, and \"text\" is what would go\n\
               to standard output.",
        examples: "Examples:\n  offshoot export latest -o copy.jsonl\n  \
                   offshoot export latest -o branch.jsonl --at 1a2b3c4d\n  offshoot export latest -o page.html\n  \
                   offshoot export latest -o small.html --max-inline 200k\n  \
                   offshoot export latest -o transcript.md\n  offshoot export latest -o context.json\n  \
                   offshoot export latest --format md | less\n  \
                   offshoot export latest --to claude -o transcript-of-claude.jsonl",
        past: "exported",
        effect: OperationEffect::Makes { dry_run: "Show what would be written, and write nothing" },
    };
    const GROUP: CommandGroup = CommandGroup::Write;
    // Their own commands run it on the session's file, beside the agent: a long page must not keep that from its work.
    const NOT_ON: &'static [FrontEnd] = &[FrontEnd::Rpc, FrontEnd::Slash];

    fn session(input: &ExportInput) -> Option<&SessionName> {
        Some(&input.session)
    }

    fn check(place: &Place, input: &ExportInput) -> Result<()> {
        let file = input.file(place);
        if input.to.is_none() {
            input.check(ExportFormat::of(input.format, file.as_deref())?)?;
        }
        file.map_or(Ok(()), |file| new_file::check_free(&file))
    }

    fn plan(place: &Place, at: Option<&Session>, input: &ExportInput) -> Result<ExportPlan> {
        let (session, file) = (open_session(at)?, input.file(place));
        // A file of another agent is one of lines too, whatever its name.
        let format = match input.to {
            Some(_) => ExportFormat::Jsonl,
            None => ExportFormat::of(input.format, file.as_deref())?,
        };
        if session.leaf().is_none() {
            return Err(nothing_to_copy());
        }
        let back = input.to.map(|target| BackPlan::of(place, session, input, target)).transpose()?;
        let file = back.as_ref().and_then(BackPlan::installed).or(file);
        Ok(ExportPlan { part: input.part(place, session, format)?, input: input.clone(), format, file, back })
    }

    fn make(place: &Place, at: Option<&mut Session>, plan: &ExportPlan) -> Result<Option<Exported>> {
        let Some(session) = at else { return Ok(None) };
        let mut written = Exported { text: None, left_out: None, odd: Vec::new(), back: None };
        let file = match &plan.file {
            Some(file) => file.clone(),
            None => {
                let folder = tempfile::tempdir().map_err(|error| Failure::io("create a temporary folder", &error))?;
                let file = folder.path().join("export");
                written.text = Some((folder, file.clone()));
                file
            }
        };
        if let (Some(back), SessionPart::Path(leaf)) = (&plan.back, plan.part) {
            back.prepare(place, &file)?;
            written.back = Some(back.write(place, session, leaf, &file)?);
            return Ok(Some(written));
        }
        match plan.format {
            ExportFormat::Jsonl => {
                copy(session, plan.part, &file)?;
                // Whoever reads the output gets one file.
                plan.file.iter().try_for_each(|file| carry_children(session, plan.part, file).map(drop))?;
            }
            _ => new_file::create(&file, |out| plan.write(place, session, out, &mut written))?,
        }
        Ok(Some(written))
    }

    fn output(plan: ExportPlan, finished: Finished<'_, Exported>) -> Result<ExportOutput> {
        let session = open_session(finished.session)?;
        // What a copy or a dry run does not look at is not reported with it.
        let is_read = finished.written.is_some() && plan.format != ExportFormat::Jsonl;
        let odd = if is_read { with_short_ids(session, session.diagnostics().to_vec()) } else { Vec::new() };
        Ok(ExportOutput { entries: entries(session, plan.part), plan, written: finished.written, odd })
    }
}

/// A session file of a part. A copy of the whole keeps the session's id.
fn copy(session: &mut Session, part: SessionPart, file: &Path) -> Result<()> {
    match part {
        SessionPart::Everything => session.copy_to(file)?,
        part => {
            let fork = NewFork { part, ..NewFork::default() };
            session.export(&fork, |_, _| file.to_path_buf()).map(drop)?;
        }
    }
    Ok(())
}

/// The entries of a part, without labels.
fn entries(session: &Session, part: SessionPart) -> usize {
    let tree = session.tree();
    let is_written = |ix: &_| !tree.node(*ix).is_leaf_marker() && tree.node(*ix).kind() != Kind::Label;
    match part {
        SessionPart::Path(ix) => tree.ancestors(ix).filter(is_written).count(),
        SessionPart::Everything => tree.entries().filter(is_written).count(),
        SessionPart::Subtree(top) => {
            let (mut open, mut count) = (vec![top], 0);
            while let Some(ix) = open.pop() {
                count += usize::from(is_written(&ix));
                open.extend(tree.children(ix));
            }
            count
        }
    }
}

impl ExportPlan {
    /// Writes a page, a transcript or a context.
    fn write(&self, place: &Place, session: &Session, out: &mut dyn Write, written: &mut Exported) -> Result<()> {
        let leaf = match self.part {
            SessionPart::Path(leaf) => Some(leaf),
            SessionPart::Everything | SessionPart::Subtree(_) => session.leaf(),
        };
        match self.format {
            ExportFormat::Jsonl => Ok(()),
            ExportFormat::Html => {
                let bytes = if self.input.no_images { Some(0) } else { self.input.max_inline.map(|size| size.0) };
                let order = PageOrder {
                    part: self.part,
                    file: self.file.clone(),
                    theme: self.input.theme.as_ref().map(|theme| place.path(&theme.0)),
                    largest_picture: bytes,
                    longest_text: self.input.max_inline.map(|size| size.0),
                    no_files: self.input.no_files,
                };
                written.left_out = place.page(session, &order, out)?;
                Ok(())
            }
            ExportFormat::Md => {
                let path = leaf.map(|leaf| session.tree().path(leaf)).ok_or_else(nothing_to_copy)?;
                let text = document::markdown_of(session, &path)?;
                out.write_all(text.as_bytes()).map_err(|error| not_written(self.file.as_deref(), error))
            }
            ExportFormat::Json => {
                let context = session.context_at(leaf)?;
                write_as_sent(session, &context, out)?;
                out.write_all(b"\n")?;
                written.odd = context.diagnostics;
                Ok(())
            }
        }
    }
}

/// The file, or the reader of the output, takes no more.
pub fn not_written(file: Option<&Path>, error: io::Error) -> Failure {
    match file {
        Some(file) => Failure::io(format!("write {}", file.display()), &error),
        None => error.into(),
    }
}

impl ExportOutput {
    fn left_out(&self) -> Option<&str> {
        self.written.as_ref().and_then(|written| written.left_out.as_deref())
    }

    fn report(&self) -> Option<&BackReport> {
        self.written.as_ref()?.back.as_ref()
    }

    fn text(&self) -> Option<io::Result<std::fs::File>> {
        self.written.as_ref().and_then(|written| written.text.as_ref()).map(|(_, file)| open_regular(file))
    }
}

impl Output for ExportOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let path = self.plan.file.as_ref().map(|file| file.to_string_lossy());
        let object = Object::new()
            .str_or_null("path", path.as_deref())
            .str("format", self.plan.back.as_ref().map_or(self.plan.format.word(), BackPlan::word))
            .raw("entries", self.entries)
            .str_or_null("leftOut", self.left_out());
        let object = match &self.plan.back {
            Some(plan) => back::json_of(object, plan, self.report()),
            None => object,
        };
        let Some(text) = self.text() else { return out.write_all(object.finish().as_bytes()) };
        let mut bytes = Vec::new();
        io::copy(&mut text?, &mut bytes)?;
        out.write_all(object.str("text", &String::from_utf8_lossy(&bytes)).finish().as_bytes())
    }

    fn words(&self, words: &mut Words) {
        let file = self.plan.file.as_ref().map(|file| one_line(&file.to_string_lossy(), 4096));
        match (&self.written, file) {
            (None, file) => {
                let (count, file) = (counted(self.entries, "entry", "entries"), file.as_deref());
                words.line(format!("would write {count} with their labels to {}", file.unwrap_or("standard output")));
            }
            (Some(_), Some(file)) => words.notes.push(Note::Told(format!("written to {file}"))),
            (Some(_), None) => words.is_exact = true,
        }
    }

    fn bytes(&self, out: &mut dyn Write) -> io::Result<()> {
        self.text().map_or(Ok(()), |text| io::copy(&mut text?, out).map(drop))
    }

    fn notes(&self) -> Vec<Note> {
        let warning = self.left_out().map(|words| Note::Warning(words.to_owned()));
        let name = &self.plan.input.session.0;
        let told = |odd: &[Diagnostic]| Note::OddOf(name.clone(), odd.to_vec());
        let of_context = self.written.iter().map(|written| told(&written.odd));
        let back = self.plan.back.as_ref().zip(self.report()).into_iter().flat_map(|(plan, report)| {
            let opens = self.plan.input.install.then(|| Note::Helps(format!("`{}` opens it", plan.opened_by())));
            [Note::Told(back::words_of(report))].into_iter().chain(opens)
        });
        warning.into_iter().chain(of_context).chain([told(&self.odd)]).chain(back).collect()
    }
}

//! `offshoot export`: writes a session, a branch or a subtree to a file.

use std::io::Write;
use std::path::{Path, PathBuf};

use offshoot_app::app::App;
use offshoot_app::error::{CommandError, Result};
use offshoot_app::lookup;
use offshoot_html::{LeftOut, Limits, PageColours, PageThemes};
use offshoot_session::clock::to_iso;
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::json::quote;
use offshoot_session::kind::Kind;
use offshoot_session::medium::open_regular;
use offshoot_session::session::{Abridged, NewFork, Session, SessionPart};
use offshoot_session::text::{counted, one_line, spell_document};
use offshoot_session::transcript::items;
use offshoot_session::tree::{Node, NodeIx};
use offshoot_settings::Settings;
use offshoot_tui::theme::{PageTheme, Themes};

use crate::new_file;
use crate::theme_files::theme_files;
use crate::themes;
use offshoot_workspace::Access;
use offshoot_workspace::context::write_as_sent;
use offshoot_workspace::fork::nothing_to_copy;
use offshoot_workspace::session_title;
use offshoot_workspace::transcript::markdown;

/// Write a session, a branch or a subtree into a file
///
/// The extension of the file, or --format, selects the format:
///
///   .jsonl  A session file. Without other options it is the whole session,
///           byte for byte (an old version is upgraded). --at takes the path
///           to ENTRY, --subtree takes ENTRY and everything below it; both
///           make a new session.
///   .html   A page for a browser: the tree, every branch, and the session
///           file to download. It needs no network. --at and --subtree work
///           as above.
///   .md     The transcript of the current branch, or of the path to --at,
///           with front matter. Thinking and output of more than 20 lines
///           are folded. Text is kept as it is, but control characters are
///           spelt out (\u001b), so `cat` is safe.
///   .json   The context as it is sent to a model, at the current entry or at
///           --at: what `offshoot context --llm` prints.
///
/// A page and a transcript leave out lines of more than 64 MiB, and say how
/// to print them. A warning counts what a page leaves out, and names the
/// first entries.
///
/// --theme takes the colours of a page from the member `export` of a theme
/// file, as in pi: `pageBg`, `cardBg` and `infoBg`. Without it they come from
/// the theme that the settings name, or from the light and the dark one.
///
/// An existing file is never replaced. A session without entries is refused.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    session: String,

    /// The file to write: .jsonl, .html, .md or .json; `-` writes to standard output
    #[arg(short, long, value_name = "FILE", required_unless_present = "format")]
    output: Option<PathBuf>,

    /// The format: jsonl, html, md or json; without --output it goes to standard output
    #[arg(long, value_enum, hide_possible_values = true)]
    format: Option<ExportFormat>,

    /// Only the path from the root to this entry
    #[arg(long, value_name = "ENTRY")]
    at: Option<String>,

    /// Only this entry and everything below it
    #[arg(long, value_name = "ENTRY", conflicts_with = "at")]
    subtree: Option<String>,

    /// Leave out of a page pictures of more than SIZE bytes, such as 200k or 1.5M, and the ends of longer texts
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_inline: Option<u64>,

    /// Leave out all pictures of a page
    #[arg(long, conflicts_with = "max_inline")]
    no_images: bool,

    /// A theme file with the colours of the page
    #[arg(long, value_name = "FILE")]
    theme: Option<PathBuf>,

    /// Show what would be written, and write nothing
    #[arg(long, requires = "output")]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    Jsonl,
    Html,
    Md,
    Json,
}

impl Args {
    /// `None` for standard output.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|file| *file != Path::new("-"))
    }

    /// The most letters of base64 of a picture.
    fn largest_picture(&self) -> Option<usize> {
        let bytes = if self.no_images { Some(0) } else { self.max_inline };
        bytes.map(|bytes| usize::try_from(bytes.div_ceil(3).saturating_mul(4)).unwrap_or(usize::MAX))
    }

    /// The most bytes of a text.
    fn longest_text(&self) -> Option<usize> {
        self.max_inline.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    /// Refuses options that say nothing about this format.
    fn check(&self, format: ExportFormat) -> Result<()> {
        if self.subtree.is_some() && matches!(format, ExportFormat::Md | ExportFormat::Json) {
            let what = if format == ExportFormat::Md { "transcript" } else { "context" };
            let error =
                CommandError::usage(format!("a {what} has no branches: --subtree needs a .jsonl or .html file"));
            return Err(error.hint(format!("--at ENTRY writes the {what} up to an entry")));
        }
        let given = [
            ("--max-inline", self.max_inline.is_some()),
            ("--no-images", self.no_images),
            ("--theme", self.theme.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given && format != ExportFormat::Html) {
            Some((name, _)) => Err(CommandError::usage(format!("{name} is for pages: it needs a .html file"))),
            None => Ok(()),
        }
    }
}

/// A number of bytes: `500`, `200k`, `1.5M`.
fn size(text: &str) -> std::result::Result<u64, String> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text.get(number.len()..).unwrap_or_default().to_ascii_lowercase().as_str() {
        "" | "b" => 1e0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        unit => return Err(format!("{unit:?} is not a unit: use k, M or G")),
    };
    match number.parse::<f64>() {
        Ok(number) if number >= 0.0 && number.is_finite() => Ok((number * unit) as u64),
        _ => Err("give a number of bytes, such as 500, 200k or 1.5M".to_owned()),
    }
}

const EXAMPLES: &str = "\
Examples:
  offshoot export latest -o copy.jsonl
  offshoot export latest -o branch.jsonl --at 1a2b3c4d
  offshoot export latest -o page.html
  offshoot export latest -o small.html --max-inline 200k
  offshoot export latest -o transcript.md
  offshoot export latest -o context.json
  offshoot export latest --format md | less";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let named = |file: &PathBuf| app.environment.path(file);
    let args = &Args { output: args.output.as_ref().map(named), theme: args.theme.as_ref().map(named), ..args.clone() };
    let format = format(args)?;
    args.check(format)?;
    if let Some(file) = args.file() {
        new_file::check_free(file)?;
    }
    let session = app.open(&args.session)?;
    if session.leaf().is_none() {
        return Err(empty());
    }
    if let Some(file) = args.file().filter(|_| args.dry_run) {
        return would_write(app, &session, args, file);
    }
    match format {
        ExportFormat::Jsonl => jsonl(app, session, args),
        ExportFormat::Html => page(app, &session, args),
        ExportFormat::Md => document(app, &session, args),
        ExportFormat::Json => context(app, &session, args),
    }
}

fn would_write(app: &App, session: &Session, args: &Args, file: &Path) -> Result<()> {
    let tree = session.tree();
    let is_written = |ix: &NodeIx| !tree.node(*ix).is_leaf_marker() && tree.node(*ix).kind() != Kind::Label;
    let count = match part(app, session, args)? {
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
    };
    let mut out = app.ui.text();
    let (count, file) = (counted(count, "entry", "entries"), one_line(&file.to_string_lossy(), 4096));
    writeln!(out, "would write {count} with their labels to {file}")?;
    Ok(out.finish()?)
}

fn format(args: &Args) -> Result<ExportFormat> {
    if let Some(format) = args.format {
        return Ok(format);
    }
    let Some(file) = args.file() else {
        let error = CommandError::usage("standard output has no ending that says what is written");
        return Err(error.hint("--format jsonl, html, md or json says it"));
    };
    match file.extension().map(|extension| extension.to_string_lossy().to_lowercase()).as_deref() {
        Some("jsonl") => Ok(ExportFormat::Jsonl),
        Some("html" | "htm") => Ok(ExportFormat::Html),
        Some("md") => Ok(ExportFormat::Md),
        Some("json") => Ok(ExportFormat::Json),
        _ => Err(CommandError::usage(format!("the name {} does not say the format", file_name(file).display()))
            .hint("end the name with .jsonl for a session file, .html for a page, .md for a transcript, or .json for the context")
            .hint("--format sets the format for any name")),
    }
}

fn file_name(file: &Path) -> &Path {
    file.file_name().map_or(file, Path::new)
}

/// The extension of a page that shows a whole session.
pub(crate) const PAGE: &str = "html";

/// Writes the page of the session in a file; the name of the page ends with `html`.
pub(crate) fn write_page(app: &App, session: &Path, output: PathBuf) -> Result<()> {
    write(app, session, output, None)
}

/// `run`, for a session file and an entry's id.
pub(crate) fn write(app: &App, session: &Path, output: PathBuf, at: Option<String>) -> Result<()> {
    let session = session.display().to_string();
    run(app, &Args { session, output: Some(output), at, ..Args::default() })
}

fn part(app: &App, session: &Session, args: &Args) -> Result<SessionPart> {
    Ok(match (&args.at, &args.subtree) {
        (Some(given), _) => SessionPart::Path(lookup::last_entry(app, session, given, Access::Read)?),
        (None, Some(given)) => SessionPart::Subtree(lookup::entry(app, session, given)?),
        (None, None) => SessionPart::Everything,
    })
}

fn jsonl(app: &App, mut session: Session, args: &Args) -> Result<()> {
    let part = part(app, &session, args)?;
    let mut copy = |file: &Path| match part {
        // A copy keeps the session's id.
        SessionPart::Everything => session.copy_to(file),
        part => {
            let fork = NewFork { part, ..NewFork::default() };
            session.export(&fork, |_, _| file.to_path_buf()).map(drop)
        }
    };
    if let Some(file) = args.file() {
        return Ok(copy(file)?);
    }
    // Copies are files, so that the system can copy ranges.
    let folder = tempfile::tempdir().map_err(|error| CommandError::io("create a temporary folder", &error))?;
    let file = folder.path().join("session.jsonl");
    copy(&file)?;
    let mut text = open_regular(&file).map_err(|error| CommandError::io(format!("open {}", file.display()), &error))?;
    let mut out = app.ui.raw();
    std::io::copy(&mut text, &mut out)?;
    Ok(out.finish()?)
}

fn page(app: &App, session: &Session, args: &Args) -> Result<()> {
    let options = offshoot_html::Options {
        part: part(app, session, args)?,
        home: app.environment.home.as_ref().map(|home| home.to_string_lossy().into_owned()),
        plain: Some(offshoot_tui::markdown::plain_row),
        limits: Limits { picture: args.largest_picture(), text: args.longest_text(), ..Limits::default() },
        themes: match &args.theme {
            Some(file) => PageThemes::one(colours(app, file)?),
            None => themes_of_settings(app, session).unwrap_or_default(),
        },
    };
    let mut left_out = LeftOut::default();
    output(app, args, |mut out| match offshoot_html::render(session, &options, &mut out) {
        Ok(what) => {
            left_out = what;
            Ok(())
        }
        Err(offshoot_html::Error::Read(error)) => Err(error.into()),
        Err(offshoot_html::Error::Write(error)) => Err(not_written(args, error)),
    })?;
    if let Some(words) = left_out.words() {
        app.ui.warning(&words.trim_end_matches('.').replacen("The", "the", 1));
    }
    app.report(session, &args.session);
    Ok(())
}

/// The colours of pages in a theme file.
fn colours(app: &App, file: &Path) -> Result<PageColours> {
    let (PageTheme { page, card, info }, problems) = themes::of_page(file)?;
    problems.iter().for_each(|problem| app.ui.warning(problem));
    Ok(PageColours { page, card, info })
}

/// The colours of pages in the themes that the settings name, as far as these are files. What is wrong with them is a
/// warning: nobody asked for them here.
fn themes_of_settings(app: &App, session: &Session) -> Option<PageThemes> {
    let warn = |error: &CommandError| app.ui.warning(&error.with_hints_on_one_line());
    let layers = app.layers(session).inspect_err(warn).ok()?;
    let (light, dark) = Themes::named(Some(&Settings::from(&layers).theme?)).ok()?;
    let files = theme_files(app, &layers, &app.folder_of(session));
    let of = |name: &str| {
        let file = themes::page_file(&files, name);
        file.and_then(|file| colours(app, file).inspect_err(warn).ok()).unwrap_or_default()
    };
    let light_colours = of(&light);
    if light == dark {
        return Some(PageThemes::one(light_colours));
    }
    Some(PageThemes { light: light_colours, dark: of(&dark) })
}

/// The context as it is sent to a model.
fn context(app: &App, session: &Session, args: &Args) -> Result<()> {
    let context = session.context_at(leaf(app, session, args)?)?;
    output(app, args, |out| {
        write_as_sent(session, &context, out)?;
        Ok(out.write_all(b"\n")?)
    })?;
    app.report_all(&context.diagnostics, &args.session);
    app.report(session, &args.session);
    Ok(())
}

/// The session has no entry.
fn empty() -> CommandError {
    CommandError::of_operation(nothing_to_copy(), None)
}

/// The entry of `--at`, or the current one.
fn leaf(app: &App, session: &Session, args: &Args) -> Result<Option<NodeIx>> {
    match &args.at {
        Some(given) => Ok(Some(lookup::last_entry(app, session, given, Access::Read)?)),
        None => Ok(session.leaf()),
    }
}

fn document(app: &App, session: &Session, args: &Args) -> Result<()> {
    let path = leaf(app, session, args)?.map(|leaf| session.tree().path(leaf)).ok_or_else(empty)?;
    let text = markdown_of(session, &path)?;
    output(app, args, |out| out.write_all(text.as_bytes()).map_err(|error| not_written(args, error)))?;
    app.report(session, &args.session);
    Ok(())
}

fn markdown_of(session: &Session, path: &[NodeIx]) -> Result<String> {
    let mut out = Vec::new();
    let tree = session.tree();
    let name = session_title(session)
        .map_err(|failure| CommandError::of_operation(failure, None))?
        .unwrap_or_else(|| format!("Session {}", one_line(session.id(), 60)));
    front_matter(session, path, &name, &mut out)?;
    writeln!(out, "# {}\n", markdown::escape(&name))?;
    let shown = Abridged::new(session);
    for item in items(&shown, path) {
        let (ix, item) = item?;
        let id = tree.node(ix).id();
        let label = id.and_then(|id| tree.label(id)).map(|label| one_line(&label.text, 80));
        let id = id.map_or("-", EntryId::as_str);
        markdown::write(&mut out, &item, &one_line(id, 40), label.as_deref())?;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// Facts about a path as YAML. Texts are JSON strings, which YAML reads.
fn front_matter(session: &Session, path: &[NodeIx], name: &str, out: &mut Vec<u8>) -> Result<()> {
    let tree = session.tree();
    let text = |text: &str| spell_document(&quote(&one_line(text, 4096))).into_owned();
    let end = path.last().map(|end| tree.node(*end));
    let id = end.and_then(|end| end.id()).map(|id| text(id.as_str()));
    let counted = path.iter().filter(|ix| !tree.node(**ix).is_leaf_marker()).count();
    let reported = session.facts()?.map(|facts| {
        path.iter().map(|ix| facts.usage(*ix)).fold((0_u64, 0.0), |(tokens, cost), (more_tokens, more_cost)| {
            (tokens.saturating_add(more_tokens), cost + more_cost)
        })
    });
    let members = [
        ("title", Some(text(name))),
        ("session", Some(text(session.id()))),
        ("folder", session.cwd().map(text)),
        ("started", session.header().timestamp().map(text)),
        ("last", end.and_then(Node::time).map(|time| text(&to_iso(time)))),
        ("entry", id),
        ("entries", Some(counted.to_string())),
        ("tokens", reported.map(|(tokens, _)| tokens.to_string())),
        ("cost", reported.filter(|(_, cost)| cost.is_finite()).map(|(_, cost)| format!("{cost:.4}"))),
    ];
    writeln!(out, "---")?;
    for (name, value) in members {
        if let Some(value) = value {
            writeln!(out, "{name}: {value}")?;
        }
    }
    Ok(writeln!(out, "---\n")?)
}

fn output(app: &App, args: &Args, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let Some(path) = args.file() else {
        let mut out = app.ui.raw();
        write(&mut out)?;
        return Ok(out.finish()?);
    };
    new_file::create(path, write)
}

fn not_written(args: &Args, error: std::io::Error) -> CommandError {
    match args.file() {
        Some(path) => CommandError::io(format!("write {}", path.display()), &error),
        None => error.into(),
    }
}

//! `offshoot bisect`: finds the turn that broke something, by a test that runs in a folder of its own. Knows no way to search.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use offshoot_app::app::App;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::lookup;
use offshoot_app::session_words::session_words;
use offshoot_session::json::{Object, quote};
use offshoot_session::medium::{append_or_create_regular, make_private_folder, read_regular};
use offshoot_session::session::Session;
use offshoot_session::text::{clean_lines, counted, one_line};
use offshoot_session::tree::NodeIx;
use offshoot_workspace::{
    Access, BisectRange, BisectSearch, ChangedAt, GitCopy, Place, SecondFolder, Verdict, both_verdicts,
};

/// The exit code of a test that says nothing, as git has it.
const SKIP: i32 = 125;
/// How much of a test's output is shown if it ends a bisection.
const SHOWN_LINES: usize = 20;
const LONGEST_OUTPUT: u64 = 1 << 20;

/// Find the turn that broke something, with a test
///
/// CMD runs in a copy of this folder, with the files as they were after a turn:
/// exit code 0 means good, 125 that it says nothing about these files, any other
/// one below 128 bad. offshoot halves the turns from GOOD to BAD until it has
/// the first bad one. This folder and the session stay as they are.
///
/// Each state is tested twice. If the two results differ, the test is flaky: that
/// is reported, and the state is skipped. GOOD may be on another branch than BAD;
/// then the entry where the two part is tested first.
///
/// Files that no turn changed are as they are in this folder, also ignored ones
/// such as installed packages. --setup runs a shell command before each test; if
/// it fails, the state is skipped.
///
/// --json prints {"firstBad", "turn", "suspects": [{"id", "turn", "calls",
/// "paths"}], "skipped", "flaky", "tests"}. `firstBad` and `turn` are null if
/// skipped states leave more than one suspect; the exit code is then 1.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    #[arg(value_parser = session_words())]
    session: String,

    /// An entry at which the test passes
    #[arg(long, value_name = "ENTRY")]
    good: String,

    /// An entry at which it fails
    #[arg(long, value_name = "ENTRY")]
    bad: String,

    /// What runs before each test, for `sh -c`
    #[arg(long, value_name = "CMD")]
    setup: Option<String>,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    /// The test, with its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    test: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  offshoot bisect latest --good 1a2b3c4d --bad @ -- cargo test
  offshoot bisect latest --good 1a2b3c4d --bad @ --setup 'npm run build' -- node check.js";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let session = app.open(&args.session)?;
    let entry = |given: &str| lookup::last_entry(app, &session, given, Access::Read);
    let (good, bad) = (entry(&args.good)?, entry(&args.bad)?);
    let range = BisectRange::between(&session, good, bad).map_err(|failure| failed(&failure))?;
    let place = BisectPlace::make(app)?;
    let folder = SecondFolder::make(&app.place(), &session, &place.folder, GitCopy::Taken);
    let folder = folder.map_err(|failure| failed(&failure))?;
    if folder.foreign > 0 {
        let count = counted(folder.foreign, "entry", "entries");
        app.ui.warning(&format!("{count} recorded elsewhere: their files are as they are in this folder"));
    }
    let mut run = BisectRun {
        app,
        args,
        session: &session,
        folder: &folder,
        output: place.output(),
        tests: 0,
        flaky: Vec::new(),
        why_skipped: String::new(),
    };
    let searched = run.search(&range, (good, bad));
    let (tests, flaky) = (run.tests, std::mem::take(&mut run.flaky));
    folder.remove();
    place.remove();
    let (search, skipped) = searched?;
    let suspects = search.suspects().filter_map(|state| range.entry(state));
    let suspects = suspects.map(|ix| ChangedAt::read(&session, ix)).collect::<offshoot_workspace::Result<Vec<_>>>();
    let found = Found { suspects: suspects.map_err(|failure| failed(&failure))?, skipped, flaky, tests };
    found.print(app, args.json)
}

fn failed(failure: &offshoot_workspace::Failure) -> CommandError {
    CommandError::of_failure(failure, None)
}

/// Where the copy is, held by a lock so that one that was left behind can be told from one in use.
struct BisectPlace {
    folder: PathBuf,
    lock: PathBuf,
    _held: File,
}

impl BisectPlace {
    fn make(app: &App) -> Result<Self> {
        let data = app.environment.data.as_ref();
        let data = data.ok_or_else(|| CommandError::new(FailureKind::Failed, "there is no folder for a copy"))?;
        let all = data.join("bisect");
        let cannot = |error: &std::io::Error| CommandError::io(format!("make {}", all.display()), error);
        make_private_folder(&all).map_err(|error| cannot(&error))?;
        remove_left_behind(&app.place(), &all);
        for number in 0..1000 {
            let lock = all.join(format!("{number}.lock"));
            let held = append_or_create_regular(&lock).map_err(|error| cannot(&error))?;
            let folder = lock.with_extension("");
            if held.try_lock().is_ok() && !folder.exists() {
                return Ok(Self { folder, lock, _held: held });
            }
        }
        Err(CommandError::new(FailureKind::Failed, format!("{} is full", all.display())))
    }

    fn output(&self) -> PathBuf {
        self.folder.with_extension("output")
    }

    fn remove(self) {
        for file in [self.output(), self.lock] {
            drop(fs::remove_file(file));
        }
    }
}

/// Removes copies whose program was killed.
fn remove_left_behind(place: &Place, all: &Path) {
    for entry in fs::read_dir(all).into_iter().flatten().filter_map(std::result::Result::ok) {
        let lock = entry.path();
        if lock.extension().is_none_or(|extension| extension != "lock") {
            continue;
        }
        let Ok(held) = append_or_create_regular(&lock) else { continue };
        if held.try_lock().is_ok() {
            SecondFolder::remove_left_behind(place, &lock.with_extension(""));
            drop(fs::remove_file(lock.with_extension("output")));
            drop(fs::remove_file(&lock));
        }
    }
}

struct BisectRun<'a> {
    app: &'a App,
    args: &'a Args,
    session: &'a Session,
    folder: &'a SecondFolder,
    /// The file of what the last test printed.
    output: PathBuf,
    tests: usize,
    /// The ids of states where the two results differed.
    flaky: Vec<String>,
    /// Why the last state that was skipped was.
    why_skipped: String,
}

impl BisectRun<'_> {
    /// Tests both ends, and then the states in between. Returns the ids of skipped states as well.
    fn search(&mut self, range: &BisectRange, (good, bad): (NodeIx, NodeIx)) -> Result<(BisectSearch, Vec<String>)> {
        self.expect(bad, "bad", Verdict::Bad)?;
        self.expect(good, "good", Verdict::Good)?;
        let mut skipped = Vec::new();
        if range.is_parted {
            match self.state(range.start, "where the branches part")? {
                Verdict::Good => {}
                Verdict::Skipped => self.app.ui.warning("it may have broken before the branches part"),
                Verdict::Bad => {
                    let what = "the entry where the branches part is bad, too: the good branch repaired it";
                    return Err(CommandError::new(FailureKind::Conflict, what)
                        .hint("choose an entry before it as the good one"));
                }
            }
        }
        let mut search = BisectSearch::new(range.changed.len());
        while let Some(state) = search.next() {
            let left = counted(search.left(), "test", "tests");
            let verdict = self.state(range.entry(state), &format!("about {left} left"))?;
            search.take(state, verdict);
            if verdict == Verdict::Skipped {
                skipped.extend(range.entry(state).map(|ix| self.id(Some(ix))));
            }
        }
        Ok((search, skipped))
    }

    fn id(&self, at: Option<NodeIx>) -> String {
        use offshoot_session::entry::Source as _;
        at.and_then(|at| self.session.tree().node(at).id()).map(ToString::to_string).unwrap_or_default()
    }

    /// Tests an end, which must be what the user says.
    fn expect(&mut self, at: NodeIx, name: &str, expected: Verdict) -> Result<()> {
        let found = self.state(Some(at), &format!("must be {name}"))?;
        if found == expected {
            return Ok(());
        }
        let output = read_regular(&self.output, LONGEST_OUTPUT).unwrap_or_default();
        let output = clean_lines(&String::from_utf8_lossy(&output)).into_owned();
        let lines: Vec<&str> = output.lines().collect();
        for line in lines.iter().skip(lines.len().saturating_sub(SHOWN_LINES)) {
            self.app.ui.note(line);
        }
        let (is, hint) = match found {
            Verdict::Good => ("good", "name an entry at which the test fails with --bad"),
            Verdict::Bad => ("bad", "name an entry at which the test passes with --good"),
            Verdict::Skipped => ("neither good nor bad", "name an entry at which the test can say something"),
        };
        let what = format!("the {name} entry is {is}: nothing can be searched");
        Err(CommandError::new(FailureKind::Conflict, what).hint(hint))
    }

    /// Brings the files of an entry and tests them twice.
    fn state(&mut self, at: Option<NodeIx>, why: &str) -> Result<Verdict> {
        let report = self.folder.bring(self.session, at).map_err(|failure| failed(&failure))?;
        let id = self.id(at);
        if !report.left.is_empty() || !report.conflicts.is_empty() {
            let count = counted(report.left.len() + report.conflicts.len(), "file is", "files are");
            self.app.ui.warning(&format!("{count} not as at {}", one_line(&id, 8)));
        }
        let first = self.test(&id)?;
        let (verdict, is_flaky) = match first {
            Verdict::Skipped => (first, false),
            Verdict::Good | Verdict::Bad => both_verdicts(first, self.test(&id)?),
        };
        let said = match verdict {
            Verdict::Good => "good".to_owned(),
            Verdict::Bad => "bad".to_owned(),
            Verdict::Skipped if is_flaky => "flaky: it passed once and failed once; skipped".to_owned(),
            Verdict::Skipped => format!("skipped: {}", self.why_skipped),
        };
        self.flaky.extend(is_flaky.then(|| id.clone()));
        self.app.ui.note(&format!("{} ({why}): {said}", one_line(&id, 8)));
        Ok(verdict)
    }

    fn test(&mut self, id: &str) -> Result<Verdict> {
        self.tests += 1;
        if let Some(setup) = &self.args.setup {
            let status = self.execute("sh".as_ref(), &["-c".into(), setup.into()], id)?;
            if !status.success() {
                self.why_skipped = format!("--setup failed ({status})");
                return Ok(Verdict::Skipped);
            }
        }
        let (program, words) = self.args.test.split_first().ok_or_else(|| CommandError::usage("no test was given"))?;
        let status = self.execute(program, words, id)?;
        match status.code() {
            Some(0) => Ok(Verdict::Good),
            Some(SKIP) => {
                self.why_skipped = format!("the test ended with exit code {SKIP}");
                Ok(Verdict::Skipped)
            }
            Some(1..128) => Ok(Verdict::Bad),
            // Somebody stopped it, or it crashed.
            Some(_) | None => {
                Err(CommandError::new(FailureKind::Failed, format!("the test ended with {status}: stopped")))
            }
        }
    }

    fn execute(&self, program: &std::ffi::OsStr, words: &[OsString], id: &str) -> Result<ExitStatus> {
        let cannot =
            |what: &str, error: &std::io::Error| CommandError::io(format!("{what} {}", program.display()), error);
        let output = File::create(&self.output).map_err(|error| cannot("keep the output of", &error))?;
        let errors = output.try_clone().map_err(|error| cannot("keep the output of", &error))?;
        let mut command = Command::new(program);
        command.args(words).current_dir(self.folder.path()).env("PWD", self.folder.path());
        command.env("OFFSHOOT_BISECT_ENTRY", id).stdin(Stdio::null()).stdout(output).stderr(errors);
        command.status().map_err(|error| cannot("run", &error))
    }
}

/// The result.
struct Found {
    suspects: Vec<ChangedAt>,
    skipped: Vec<String>,
    flaky: Vec<String>,
    tests: usize,
}

impl Found {
    fn print(&self, app: &App, as_json: bool) -> Result<()> {
        let mut out = if as_json { app.ui.raw() } else { app.ui.text() };
        if as_json {
            writeln!(out, "{}", self.json())?;
        } else {
            let is_one = self.suspects.len() == 1;
            if !is_one {
                writeln!(out, "the first bad entry is one of these; those before the last were skipped")?;
            }
            for suspect in &self.suspects {
                let ChangedAt { short, calls, paths, turn_words, .. } = suspect;
                let first = if is_one { "first bad: " } else { "" };
                writeln!(out, "{first}{}  {}", one_line(short, 40), one_line(&calls.join(", "), 100))?;
                if let Some(words) = turn_words {
                    writeln!(out, "  in the turn {words}")?;
                }
                for path in paths.iter().take(SHOWN_LINES) {
                    writeln!(out, "  changed {path}")?;
                }
            }
            if !self.flaky.is_empty() {
                let count = counted(self.flaky.len(), "state", "states");
                writeln!(out, "the test is flaky: {count} passed once and failed once")?;
            }
        }
        out.finish()?;
        match self.suspects.len() {
            1 => Ok(()),
            many => {
                let what = format!("skipped states leave {}", counted(many, "suspect", "suspects"));
                Err(CommandError::new(FailureKind::Failed, what))
            }
        }
    }

    fn json(&self) -> String {
        let strings =
            |items: &[String]| format!("[{}]", items.iter().map(|item| quote(item)).collect::<Vec<_>>().join(","));
        let suspect = |suspect: &ChangedAt| {
            Object::new()
                .str("id", &suspect.id)
                .str_or_null("turn", suspect.turn.as_deref())
                .raw("calls", strings(&suspect.calls))
                .raw("paths", strings(&suspect.paths))
                .finish()
        };
        let only = self.suspects.first().filter(|_| self.suspects.len() == 1);
        let suspects: Vec<String> = self.suspects.iter().map(suspect).collect();
        Object::new()
            .str_or_null("firstBad", only.map(|only| only.id.as_str()))
            .str_or_null("turn", only.and_then(|only| only.turn.as_deref()))
            .raw("suspects", format!("[{}]", suspects.join(",")))
            .raw("skipped", strings(&self.skipped))
            .raw("flaky", strings(&self.flaky))
            .raw("tests", self.tests)
            .finish()
    }
}

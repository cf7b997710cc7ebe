//! Every operation of a script fails once in every way. Everything acknowledged stays, and work continues.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::panic::AssertUnwindSafe;

use offshoot_session::check::check;
use offshoot_session::compose::{NewCompaction, NewEntry};
use offshoot_session::entry::Source as _;
use offshoot_session::error::{Code, Conflict, Error, Result, Severity};
use offshoot_session::id::EntryId;
use offshoot_session::json::Json;
use offshoot_session::merge::MergeRequest;
use offshoot_session::pick::{PickOptions, PickRequest};
use offshoot_session::session::{Durability, Options, Session};
use offshoot_session::testing::{Fault, FaultMedium, Loss, Operation, fixed_options};

use super::common::{HEADER, at, open_messages, text};

/// Appends, a batch, a branch from a place, a switch (a leaf marker), and a label.
const SCRIPT: &[Step] = &[
    Step::Say,
    Step::Batch,
    Step::SayBelow("a"),
    Step::Switch("b"),
    Step::Say,
    Step::Label("a"),
    Step::SayLong,
    Step::SayBelow("b"),
    Step::Batch,
];

/// Operations of one line and of several, of which either all is current or nothing.
const OPERATIONS: &[Step] = &[Step::Say, Step::Pick, Step::Merge, Step::Undo, Step::Compact, Step::Uncompact];

#[derive(Debug, Clone, Copy)]
enum Step {
    Say,
    /// Longer than a page of the disk.
    SayLong,
    Batch,
    SayBelow(&'static str),
    Switch(&'static str),
    Label(&'static str),
    /// Copies of the first two entries below the last one: a marker and two lines.
    Pick,
    /// A summary of the newest entry, below the first: a marker and a line.
    Merge,
    Undo,
    Compact,
    Uncompact,
}

/// One run of the script over a disk: what was attempted and what was acknowledged.
struct Run {
    disk: FaultMedium,
    steps: &'static [Step],
    durability: Durability,
    attempts: usize,
    /// Id, parent and text.
    acknowledged: Vec<(EntryId, Option<EntryId>, String)>,
    trouble: Vec<Operation>,
}

impl Run {
    fn over(disk: FaultMedium, durability: Durability) -> Self {
        Self { disk, steps: SCRIPT, durability, attempts: 0, acknowledged: Vec::new(), trouble: Vec::new() }
    }

    /// A run of operations instead.
    fn of_operations(disk: FaultMedium) -> Self {
        Self { steps: OPERATIONS, ..Self::over(disk, Durability::Data) }
    }

    fn open(&self) -> Result<Session> {
        let options = Options { durability: self.durability, ..fixed_options() };
        Session::over_medium(Box::new(self.disk.clone()), &at("/w"), options)
    }

    /// Opens the session, again if a fault hits the opening; after a crash, restarts the machine first.
    fn opened(&mut self) -> Session {
        for _ in 0..4 {
            if self.disk.is_crashed() {
                self.disk.restart();
            }
            match self.open() {
                Ok(session) => return session,
                Err(Error::Io { .. }) => self.trouble.extend(self.disk.log().last()),
                Err(error) => panic!("the file does not open: {error}"),
            }
        }
        panic!("the file does not open");
    }

    /// Runs all steps, and repeats failed ones after opening the session again if it asks for that.
    fn script(&mut self) {
        let mut session = self.opened();
        for step in self.steps {
            for attempt in 0.. {
                assert!(attempt < 5, "{step:?} never works again");
                let before = self.disk.bytes();
                let outcomes = self.outcomes(*step);
                let Err(error) = self.step(&mut session, *step) else { break };
                match error {
                    Error::Io { action, .. } => {
                        self.trouble.extend(self.disk.log().last());
                        if !self.disk.is_crashed() && action != "sync" && self.still_works(&mut session) {
                            assert_eq!(self.disk.bytes(), before, "{step:?}: a failed append leaves no trace");
                        }
                    }
                    Error::Conflict { why: Conflict::SyncFailed | Conflict::UnlockFailed, .. } => {}
                    other => panic!("{step:?}: {other}"),
                }
                if self.disk.is_crashed() || attempt > 0 {
                    session = self.opened();
                    self.compare(&session);
                }
                let now = self.context();
                assert!(outcomes.is_none_or(|outcomes| outcomes.contains(&now)), "{step:?} left {now:?}");
            }
        }
    }

    /// The context that the next one to open the file has, on a disk without faults.
    fn context(&self) -> Vec<String> {
        open_messages(&Self::over(FaultMedium::new(self.disk.bytes()), self.durability).open().unwrap())
    }

    /// The contexts before an operation and after it.
    fn outcomes(&self, step: Step) -> Option<[Vec<String>; 2]> {
        let run = Self::over(FaultMedium::new(self.disk.bytes()), self.durability);
        let mut session = run.open().unwrap();
        run.operate(&mut session, step)?.unwrap();
        Some([self.context(), run.context()])
    }

    /// `None` for steps that are no operations.
    fn operate(&self, session: &mut Session, step: Step) -> Option<Result<()>> {
        match step {
            Step::Pick => Some(pick(session)),
            Step::Merge => Some(merge(session)),
            Step::Undo => Some(session.plan_undo().and_then(|plan| match plan {
                Some(plan) => session.undo(&plan).map(drop),
                None => Ok(()),
            })),
            Step::Compact => Some(compact(session)),
            Step::Uncompact => Some(session.plan_uncompact().and_then(|plan| match plan {
                Some(plan) => session.uncompact(&plan).map(drop),
                None => Ok(()),
            })),
            _ => None,
        }
    }

    /// The operations of a script without faults.
    fn logged(mut self) -> Vec<Operation> {
        self.script();
        self.disk.log()
    }

    /// Whether the session takes appends, tested with an empty one.
    fn still_works(&self, session: &mut Session) -> bool {
        session.append_all(&[]).is_ok()
    }

    fn words(&mut self, step: Step) -> (String, NewEntry) {
        self.attempts += 1;
        let more = if matches!(step, Step::SayLong) { ".".repeat(9000) } else { String::new() };
        let words = format!("attempt {} of the script, long enough to be torn{more}", self.attempts);
        let message = format!(r#"{{"role":"user","content":"{words}"}}"#);
        (words, NewEntry::message(Json::parse(&message).unwrap()).unwrap())
    }

    fn step(&mut self, session: &mut Session, step: Step) -> Result<()> {
        if let Some(operated) = self.operate(session, step) {
            return operated;
        }
        let count = if matches!(step, Step::Batch) { 3 } else { 1 };
        let (said, new): (Vec<String>, Vec<NewEntry>) = (0..count).map(|_| self.words(step)).unzip();
        let leaf = session.leaf_id().cloned();
        let given = match step {
            Step::Say | Step::SayLong | Step::Batch => session.append_all(&new).map(|ids| (ids, leaf)),
            Step::SayBelow(parent) => {
                let parent_ix = session.find(parent)?;
                let ix = session.append_below(&new[0], Some(parent_ix))?;
                Ok((session.tree().node(ix).id().cloned().into_iter().collect(), Some(EntryId::new(parent))))
            }
            Step::Switch(to) => {
                let to = session.find(to)?;
                return session.switch(to);
            }
            Step::Label(target) => return session.append(&NewEntry::label(target, Some("x"))).map(drop),
            Step::Pick | Step::Merge | Step::Undo | Step::Compact | Step::Uncompact => unreachable!("operated"),
        };
        let (ids, mut parent) = given?;
        assert_eq!(ids.len(), said.len(), "all or nothing");
        for (id, said) in ids.into_iter().zip(said) {
            self.acknowledged.push((id.clone(), parent.replace(id), said));
        }
        Ok(())
    }

    /// Everything acknowledged is in its place, and nothing was invented.
    fn compare(&self, session: &Session) {
        for (id, parent, said) in &self.acknowledged {
            let ix = session.find(id.as_str()).unwrap_or_else(|_| panic!("{id} was acknowledged and is lost"));
            assert_eq!(session.tree().parent_id(ix), parent.as_ref(), "{id}");
            assert!(session.entry(ix).unwrap().line().contains(said), "{id}");
        }
        let mut found: Vec<String> = Vec::new();
        for ix in session.tree().entries().filter(|ix| !session.tree().node(*ix).is_copy()) {
            let entry = session.entry(ix).unwrap();
            let message =
                entry.get("message").and_then(|message| message.str("content").map(std::borrow::Cow::into_owned));
            found.extend(message);
        }
        let count = found.len();
        found.sort();
        found.dedup();
        assert_eq!(found.len(), count, "an entry is there twice");
    }

    /// Ends a run and reads the file again.
    fn finish(mut self, what: &str) -> Vec<Code> {
        let mut session = self.opened();
        self.compare(&session);
        self.step(&mut session, Step::Say).unwrap();
        let again = self.opened();
        self.compare(&again);
        let errors: Vec<Code> =
            check(&self.disk).unwrap().iter().filter(|d| d.severity() == Severity::Error).map(|d| d.code).collect();
        let is_expected = |code: &Code| matches!(code, Code::MalformedLine | Code::TornTail | Code::NulBytes);
        assert!(errors.iter().all(is_expected), "{what}: {errors:?}");
        errors
    }
}

fn pick(session: &mut Session) -> Result<()> {
    let options = PickOptions { again: true, ..PickOptions::default() };
    let selections = [vec![session.find("a")?, session.find("b")?]];
    let request = PickRequest { from: None, selections: &selections, onto: session.leaf(), options };
    let planned = session.plan_pick(&request)?;
    assert_eq!(session.pick(&planned)?.unwrap().entries.len(), 2);
    Ok(())
}

fn merge(session: &mut Session) -> Result<()> {
    let (tip, onto) = (session.leaf().unwrap(), Some(session.find("a")?));
    let planned = session.plan_merge(&MergeRequest { from: None, tip, onto, budget: 0 })?;
    session.merge(&planned, &planned.plan.in_words("merged")).map(drop)
}

fn compact(session: &mut Session) -> Result<()> {
    let leaf = session.leaf_id().cloned();
    let first_kept = leaf.as_ref().map(EntryId::as_str);
    let new = NewCompaction { summary: "S", first_kept, tokens_before: 9, ..NewCompaction::default() };
    session.append(&NewEntry::compaction(&new, session.dialect())).map(drop)
}

fn beginnings() -> Vec<String> {
    let whole = text(&["a - U", "b a A"]);
    vec![whole.clone(), whole.trim_end().to_owned(), format!("{whole}{{\"type\":\"mess")]
}

/// The number of operations of a script without faults.
fn operations(beginning: &str, durability: Durability) -> usize {
    let disk = FaultMedium::new(beginning.as_bytes().to_vec());
    let mut run = Run::over(disk.clone(), durability);
    run.script();
    let count = disk.log().len();
    assert!([Operation::Append, Operation::Lock, Operation::Read].iter().all(|kind| disk.log().contains(kind)));
    run.finish("nothing goes wrong");
    count
}

#[test]
fn every_operation_may_fail_once() {
    for beginning in beginnings() {
        let is_torn = beginning.ends_with("mess");
        for durability in [Durability::Os, Durability::Data] {
            for at in 0..operations(&beginning, durability) {
                for fault in [Fault::Fail, Fault::Short] {
                    let disk = FaultMedium::new(beginning.clone().into_bytes()).with_fault(at, fault);
                    let mut run = Run::over(disk, durability);
                    run.script();
                    let what = format!("{fault:?} at {at}");
                    assert_eq!(run.finish(&what).len(), usize::from(is_torn), "{what}: no line is damaged");
                }
            }
        }
    }
}

/// A short write, and then a fault while it is undone.
#[test]
fn taking_back_may_fail_too() {
    let beginning = &beginnings()[0];
    let mut cut = 0;
    for first in 0..operations(beginning, Durability::Data) {
        for second in 1..6 {
            for fault in [Fault::Fail, Fault::Crash(Loss::Nothing), Fault::Crash(Loss::HalfOfUnsynced)] {
                let disk = FaultMedium::new(beginning.clone().into_bytes());
                let disk = disk.with_fault(first, Fault::Short).with_fault(first + second, fault);
                let mut run = Run::over(disk.clone(), Durability::Data);
                run.script();
                cut += usize::from(disk.log().get(first + second) == Some(&Operation::Truncate));
                run.finish(&format!("short at {first}, {fault:?} {second} later"));
            }
        }
    }
    assert!(cut > 0, "no truncation was hit");
}

#[test]
fn after_a_crash_everything_acknowledged_is_there() {
    let losses = [Loss::Nothing, Loss::Unsynced, Loss::HalfOfUnsynced, Loss::ZeroedUnsynced, Loss::FirstUnsyncedPage];
    for beginning in beginnings() {
        for loss in losses {
            // Data that did not reach the disk survives only the end of the process.
            let durability = if loss == Loss::Nothing { Durability::Os } else { Durability::Data };
            for at in 0..operations(&beginning, durability) {
                let fault = Fault::Crash(loss);
                let disk = FaultMedium::new(beginning.clone().into_bytes()).with_fault(at, fault);
                let mut run = Run::over(disk, durability);
                run.script();
                run.finish(&format!("{fault:?} at {at}"));
            }
        }
    }
}

/// A failed sync may have lost data: the session trusts nothing until it is opened again.
#[test]
fn after_a_failed_sync_the_session_is_opened_again() {
    for fault in [Fault::Fail, Fault::Forget] {
        for at in 0..operations(&beginnings()[0], Durability::Data) {
            let disk = FaultMedium::new(beginnings()[0].clone().into_bytes()).with_fault(at, fault);
            let mut run = Run::over(disk.clone(), Durability::Data);
            let mut session = run.opened();
            let refused = (0..SCRIPT.len()).find_map(|step| run.step(&mut session, SCRIPT[step]).err());
            if disk.log().get(at) == Some(&Operation::Sync) {
                assert!(matches!(refused, Some(Error::Io { action: "sync", .. })), "{refused:?}");
                let again = session.append(&NewEntry::session_info("x"));
                assert!(matches!(again, Err(Error::Conflict { why: Conflict::SyncFailed, .. })), "{again:?}");
            }
            run.finish(&format!("{fault:?} at {at}"));
        }
    }
}

/// The first append to an empty file writes its header. A crash may leave half a header; nothing was acknowledged then.
#[test]
fn an_empty_file_that_does_not_open_after_a_crash_held_nothing() {
    let (mut opened, mut refused) = (0, 0);
    for at in 0..12 {
        for loss in [Loss::Nothing, Loss::Unsynced, Loss::HalfOfUnsynced] {
            let disk = FaultMedium::default().with_fault(at, Fault::Crash(loss));
            let mut run = Run::over(disk.clone(), Durability::Data);
            let said = run.open().and_then(|mut session| run.step(&mut session, Step::Say));
            if !disk.is_crashed() {
                continue; // over before it
            }
            disk.restart();
            match run.open() {
                Ok(session) => {
                    run.compare(&session);
                    opened += 1;
                }
                Err(Error::NotASession { .. }) => {
                    assert!(said.is_err() && HEADER.len() > disk.bytes().len() / 2);
                    refused += 1;
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert!(opened > refused, "{opened} opened, {refused} did not");
}

const FAULTS: [(&str, Fault); 8] = [
    ("fail", Fault::Fail),
    ("short write", Fault::Short),
    ("lost at sync", Fault::Forget),
    ("killed", Fault::Crash(Loss::Nothing)),
    ("crash: unsynced", Fault::Crash(Loss::Unsynced)),
    ("crash: torn", Fault::Crash(Loss::HalfOfUnsynced)),
    ("crash: NULs", Fault::Crash(Loss::ZeroedUnsynced)),
    ("crash: lost page", Fault::Crash(Loss::FirstUnsyncedPage)),
];

/// For each operation and fault: how often tried, how often lost.
type Matrix = BTreeMap<(String, usize), (usize, usize)>;

fn note(matrix: &mut Matrix, cell: (String, usize), run: Run) {
    let survived = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let mut run = run;
        run.script();
        run.finish("the matrix");
    }));
    let (tried, lost) = matrix.entry(cell).or_default();
    *tried += 1;
    *lost += usize::from(survived.is_err());
}

fn table(matrix: &Matrix) -> String {
    let mut table = String::from("operation");
    FAULTS.iter().for_each(|(name, _)| table += &format!(" | {name}"));
    let mut row = "";
    for ((operation, _), (tried, lost)) in matrix {
        if operation != row {
            table += &format!("\n{operation}");
            row = operation;
        }
        table += &format!(" | {tried} {} {lost}", tried - lost);
    }
    table
}

/// Picks, merges, undos, compactions and their taking back: after each fault the session opens before the operation or
/// after it.
#[test]
fn the_matrix_of_picks_merges_and_undos() {
    let disk = || FaultMedium::new(beginnings()[0].clone().into_bytes());
    let log = Run::of_operations(disk()).logged();
    let mut matrix = Matrix::new();
    for (at, operation) in log.iter().enumerate() {
        for (column, (_, fault)) in FAULTS.iter().enumerate() {
            note(&mut matrix, (format!("{operation:?}"), column), Run::of_operations(disk().with_fault(at, *fault)));
        }
    }
    let mut out = std::io::stderr();
    writeln!(out, "picks, merges and undos: tried, survived, lost:\n{}", table(&matrix)).unwrap();
    let lost: usize = matrix.values().map(|(_, lost)| lost).sum();
    assert_eq!((lost, matrix[&("Append".to_owned(), 0)].0), (0, OPERATIONS.len()), "{}", table(&matrix));
}

/// Every operation with every fault: how often tried, survived and lost. `cargo xtask faults` prints it.
#[test]
fn the_matrix_of_operations_and_faults() {
    let mut matrix = Matrix::new();
    for beginning in beginnings() {
        let log = Run::over(FaultMedium::new(beginning.clone().into_bytes()), Durability::Data).logged();
        for (at, operation) in log.iter().enumerate() {
            for (column, (_, fault)) in FAULTS.iter().enumerate() {
                let disk = FaultMedium::new(beginning.clone().into_bytes());
                let run = Run::over(disk.with_fault(at, *fault), Durability::Data);
                note(&mut matrix, (format!("{operation:?}"), column), run);
                // The undo of a short write may fail as well.
                for second in (at + 1..at + 5).filter(|_| *operation == Operation::Append) {
                    let disk = FaultMedium::new(beginning.clone().into_bytes()).with_fault(at, Fault::Short);
                    let disk = disk.with_fault(second, *fault);
                    let place = ["look", "read", "truncate", "unlock"][second - at - 1];
                    let run = Run::over(disk, Durability::Data);
                    note(&mut matrix, (format!("{place}, behind a short write"), column), run);
                }
            }
        }
    }
    let table = table(&matrix);
    let mut out = std::io::stderr();
    writeln!(out, "tried, survived, lost:\n{table}").unwrap();
    insta::assert_snapshot!(table, @"
    operation | fail | short write | lost at sync | killed | crash: unsynced | crash: torn | crash: NULs | crash: lost page
    Append | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0
    Len | 30 30 0 | 30 30 0 | 30 30 0 | 30 30 0 | 30 30 0 | 30 30 0 | 30 30 0 | 30 30 0
    Lock | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0
    Read | 12 12 0 | 12 12 0 | 12 12 0 | 12 12 0 | 12 12 0 | 12 12 0 | 12 12 0 | 12 12 0
    Sync | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0
    Unlock | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0
    look, behind a short write | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0
    read, behind a short write | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0
    truncate, behind a short write | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0
    unlock, behind a short write | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0 | 27 27 0
    ");
}

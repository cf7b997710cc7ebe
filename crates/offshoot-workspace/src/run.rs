//! Runs operations: on a session that is opened for the run, or step by step for whoever holds the session.

use std::any::Any;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use offshoot_agent::operate::{AfterPlan, PlanAnswer, PlanQuestion, PresentModel, Steps};
use offshoot_agent::request_queue::Operate;
use offshoot_session::entry::Source as _;
use offshoot_session::session::Session;

use crate::failure::{Failure, FailureKind, Result};
use crate::given::{Arg, ArgKind, Given};
use crate::inputs::Input as _;
use crate::lookup::{Access, LatestOf};
use crate::next_request::RequestOfAgent;
use crate::operation::{About, CommandGroup, Finished, FrontEnd, Operation, OperationEffect, Outcome, Output};
use crate::place::Place;
use crate::words::Note;

/// One run of an operation. The outcome goes to whoever began it, with its own type: who runs the steps never sees it.
struct Run<O: Operation> {
    place: Place,
    input: O::Input,
    is_dry: bool,
    plan: Option<O::Plan>,
    answered: Option<PlanAnswer>,
    answer: SyncSender<Result<Outcome<O::Output>>>,
}

impl<O: Operation> Run<O> {
    fn plan_it(&mut self, at: Option<&Session>) -> Result<AfterPlan> {
        let mut plan = whole(at, O::plan(&self.place, at, &self.input)?)?;
        let makes = matches!(O::ABOUT.effect, OperationEffect::Makes { .. });
        let has_effect = makes || O::access(&self.input) == Access::Write;
        let writes = !self.is_dry && O::nothing(&plan).is_none() && has_effect;
        if let Some(warning) = O::warning(&self.input, &plan).filter(|_| writes) {
            return Err(warning);
        }
        let next = match (at, O::question(&plan)) {
            _ if writes && makes => AfterPlan::Write,
            (Some(_), Some(question)) if writes => AfterPlan::Ask(question),
            (Some(at), None) if writes => {
                self.answered = O::prepare(&self.place, at, &plan)?;
                O::complete(&self.place, at, &mut plan, self.answered.as_ref())?;
                AfterPlan::Write
            }
            _ => AfterPlan::Tell,
        };
        self.plan = Some(plan);
        Ok(next)
    }

    fn take_answer(&mut self, at: &Session, answer: PlanAnswer) -> Result<()> {
        let plan = self.plan.as_mut().ok_or_else(gone)?;
        O::complete(&self.place, at, plan, Some(&answer))?;
        self.answered = Some(answer);
        Ok(())
    }

    fn write_it(&mut self, mut at: Option<&mut Session>) -> Result<Outcome<O::Output>> {
        let mut plan = self.plan.take().ok_or_else(gone)?;
        if matches!(O::ABOUT.effect, OperationEffect::Makes { .. }) {
            let made = O::make(&self.place, at.as_deref_mut(), &plan)?;
            return self.outcome(plan, at.as_deref(), made);
        }
        let at = at.ok_or_else(gone)?;
        if self.place.upgrade(at)? {
            plan = whole(Some(at), O::plan(&self.place, Some(at), &self.input)?)?;
            O::complete(&self.place, at, &mut plan, self.answered.as_ref())?;
        }
        let written = O::commit(&self.place, at, &plan)?;
        self.outcome(plan, Some(at), written)
    }

    fn outcome(
        &self,
        plan: O::Plan,
        session: Option<&Session>,
        written: Option<O::Written>,
    ) -> Result<Outcome<O::Output>> {
        let nothing = O::nothing(&plan);
        let finished = Finished { place: &self.place, session, written, is_dry: self.is_dry };
        let output = whole(session, Box::new(O::output(plan, finished)?))?;
        Ok(match nothing {
            Some(why) => Outcome::Nothing { why, output },
            None => Outcome::Done(output),
        })
    }

    fn tell_it(&mut self, at: Option<&Session>) -> Result<Outcome<O::Output>> {
        let plan = self.plan.take().ok_or_else(gone)?;
        self.outcome(plan, at, None)
    }

    fn answer(&self, outcome: Result<Outcome<O::Output>>) {
        // Who no longer waits does not hear of it.
        drop(self.answer.try_send(outcome));
    }
}

impl<O: Operation> Steps for Run<O> {
    fn plan(&mut self, at: &Session, with: Option<&PresentModel>) -> AfterPlan {
        if let Some(with) = with {
            let (with, now) = (with.clone(), self.place.now());
            self.place = self.place.with_next_request(Arc::new(RequestOfAgent { with, now }));
        }
        self.plan_it(Some(at)).unwrap_or_else(|failure| {
            self.answer(Err(failure));
            AfterPlan::End
        })
    }

    fn answered(&mut self, at: &Session, answer: PlanAnswer) -> bool {
        answer.warning.clone().into_iter().for_each(|why| self.place.tell(Note::Warning(why)));
        match self.take_answer(at, answer) {
            Ok(()) => true,
            Err(failure) => {
                self.answer(Err(failure));
                false
            }
        }
    }

    fn write(&mut self, at: &mut Session) {
        let outcome = self.write_it(Some(at));
        self.answer(outcome);
    }

    fn tell(&mut self, at: &Session) {
        let outcome = self.tell_it(Some(at));
        self.answer(outcome);
    }
}

/// What an operation found, unless a part of the session's tree could not be read meanwhile: operations need not ask.
fn whole<T>(session: Option<&Session>, found: T) -> Result<T> {
    match session {
        Some(session) => Ok(session.tree().whole(found)?),
        None => Ok(found),
    }
}

/// The answer where no agent holds the session: there are no extensions.
fn answer_here(place: &Place, session: &Session, question: &PlanQuestion) -> Result<PlanAnswer> {
    let is_empty = question.moves.is_some() && !(question.branch)(session, 0)?.has_messages();
    let wish = question.summary.as_ref().filter(|_| !is_empty);
    let drafted = wish.map(|wish| place.summary(session, question, wish)).transpose()?;
    let label = question.moves.as_ref().and_then(|moves| moves.label.clone());
    Ok(PlanAnswer { drafted, label, ..PlanAnswer::default() })
}

/// The session that an operation with a session gets.
///
/// # Errors
/// There is none: nobody holds it any more.
pub(crate) fn open_session(at: Option<&Session>) -> Result<&Session> {
    at.ok_or_else(gone)
}

fn gone() -> Failure {
    Failure::refused(FailureKind::Failed, "the session is not open any more")
}

type Wait = Box<dyn FnOnce() -> Result<Outcome<dyn Output>> + Send>;

/// What a row begins.
struct Begun {
    /// The name of its session, and what that is opened for.
    session: Option<(String, LatestOf, Access)>,
    /// Why no model is asked.
    unasked: Option<&'static str>,
    steps: Box<dyn Steps>,
    wait: Wait,
}

/// An operation in the table: what front ends know of it, and how it begins.
pub struct Row {
    /// What all front ends show.
    pub about: About,
    /// Its arguments.
    pub args: &'static [Arg],
    /// The group of its command.
    pub group: CommandGroup,
    not_on: &'static [FrontEnd],
    /// Whether a command line prints what is otherwise JSON, byte for byte.
    pub is_raw: bool,
    /// The command and the option by which a command line calls it, if it has no command of its own.
    pub option_of: Option<(&'static str, &'static str)>,
    /// Whether it may ask a model, which is chosen by options then.
    pub may_ask: bool,
    begin: fn(Given, &Place, bool) -> Result<Begun>,
}

/// The name of the argument that is the session.
pub const SESSION_ARG: &str = "session";

/// The name of the option that is the entry to look at.
const ENTRY_ARG: &str = "at";

impl Row {
    /// The row of an operation.
    #[must_use]
    pub const fn of<O: Operation>() -> Self {
        let (args, not_on, is_raw) = (O::Input::ARGS, O::NOT_ON, O::IS_RAW);
        let (option_of, may_ask) = (O::OPTION_OF, O::MAY_ASK);
        Self { about: O::ABOUT, args, group: O::GROUP, not_on, is_raw, option_of, may_ask, begin: begin::<O> }
    }

    /// Whether it works on a session.
    #[must_use]
    pub fn has_session(&self) -> bool {
        self.args.iter().any(|arg| arg.name == SESSION_ARG && arg.kind == ArgKind::Session && !arg.is_many)
    }

    /// Its arguments where the session is the open one.
    pub fn args_of_open(&self) -> impl Iterator<Item = &'static Arg> + use<> {
        let is_open = self.has_session();
        let names_it = move |arg: &&Arg| is_open && (arg.name == SESSION_ARG || arg.requires.contains(&SESSION_ARG));
        self.args.iter().filter(move |arg| !names_it(arg))
    }

    /// Whether this front end has it.
    #[must_use]
    pub fn is_on(&self, front_end: FrontEnd) -> bool {
        !self.not_on.contains(&front_end)
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Row").field("name", &self.about.name).finish_non_exhaustive()
    }
}

fn erased<T: Output>(outcome: Outcome<T>) -> Outcome<dyn Output> {
    match outcome {
        Outcome::Done(output) => Outcome::Done(output),
        Outcome::Nothing { why, output } => Outcome::Nothing { why, output },
    }
}

fn answered<T>(answer: &Receiver<Result<T>>) -> Result<T> {
    // Who ran the steps let them go before they were told.
    answer.recv().unwrap_or(Err(Failure::Stopped))
}

fn begin<O: Operation>(given: Given, place: &Place, is_dry: bool) -> Result<Begun> {
    let input = O::Input::take(given)?;
    O::check(place, &input)?;
    let access = if is_dry { Access::Read } else { O::access(&input) };
    let session = O::session(&input).map(|name| (name.0.clone(), O::latest_of(&input), access));
    let unasked = O::unasked(&input);
    let (answer, answers) = sync_channel(1);
    let mut run = Run::<O> { place: place.clone(), input, is_dry, plan: None, answered: None, answer };
    if session.is_none() {
        let done = run.plan_it(None).and_then(|then| match then {
            AfterPlan::Write => run.write_it(None),
            AfterPlan::Ask(_) | AfterPlan::Tell | AfterPlan::End => run.tell_it(None),
        });
        run.answer(done);
    }
    let wait = Box::new(move || answered(&answers).map(erased));
    Ok(Begun { session, unasked, steps: Box::new(run), wait })
}

impl Row {
    /// Runs the operation on the session that its input names, which is opened for the run.
    ///
    /// # Errors
    /// The arguments do not make an input, or the operation failed: then nothing was written, or what is there is complete.
    pub fn run(&self, mut given: Given, place: &Place, is_dry: bool) -> Result<Outcome<dyn Output>> {
        self.take_hit_apart(&mut given, place);
        let Begun { session, unasked, mut steps, wait } = (self.begin)(given, place, is_dry)?;
        if let Some(why) = unasked {
            place.refuse_model(why)?;
        }
        if let Some((name, latest, access)) = session {
            let mut session = place.open_of(latest, &name, access, self.about.effect.spill())?;
            match steps.plan(&session, None) {
                AfterPlan::End => {}
                AfterPlan::Tell => steps.tell(&session),
                AfterPlan::Write => steps.write(&mut session),
                AfterPlan::Ask(question) => {
                    if steps.answered(&session, answer_here(place, &session, &question)?) {
                        steps.write(&mut session);
                    }
                }
            }
        }
        wait()
    }

    /// Makes of `SESSION:ENTRY`, as a search prints it, the session and the entry to look at. What names a session as a whole
    /// stays.
    fn take_hit_apart(&self, given: &mut Given, place: &Place) {
        let has_entry = self.args.iter().any(|arg| arg.name == ENTRY_ARG && arg.kind == ArgKind::Entry);
        if !has_entry || given.has(ENTRY_ARG) {
            return;
        }
        let Some((session, entry)) = given.text(SESSION_ARG).and_then(|named| place.parts_of_hit(named)) else {
            return;
        };
        given.put_text(SESSION_ARG, session);
        given.put_text(ENTRY_ARG, entry);
    }

    /// Begins the operation for whoever holds the session, which needs no name. The outcome comes after the holder has run its
    /// steps.
    ///
    /// # Errors
    /// The arguments do not make an input.
    pub fn hold(&self, mut given: Given, place: &Place, is_dry: bool) -> Result<(Operate, OutcomeWait)> {
        if self.has_session() {
            given.put_text(SESSION_ARG, "");
        }
        let Begun { steps, wait, .. } = (self.begin)(given, place, is_dry)?;
        let refused_at_work = match self.about.effect {
            OperationEffect::Reads | OperationEffect::Makes { .. } => None,
            OperationEffect::Writes { refused_at_work, .. } => refused_at_work.filter(|_| !is_dry),
        };
        Ok((Operate::new(steps, refused_at_work), OutcomeWait(wait)))
    }
}

/// Runs an operation for a caller that wants its own output.
///
/// # Errors
/// As [`Row::run`].
pub fn run_as<O: Operation>(given: Given, place: &Place) -> Result<O::Output> {
    let (Outcome::Done(output) | Outcome::Nothing { output, .. }) = Row::of::<O>().run(given, place, false)?;
    let output: Box<dyn Any> = output;
    output.downcast().map(|output| *output).map_err(|_| gone())
}

/// The outcome of an operation that somebody else runs.
#[expect(missing_debug_implementations, reason = "it holds a closure")]
pub struct OutcomeWait(Wait);

impl OutcomeWait {
    /// Its outcome, after the holder has run the steps. If it did not, the operation counts as not done.
    ///
    /// # Errors
    /// The operation failed, or the holder has ended.
    pub fn outcome(self) -> Result<Outcome<dyn Output>> {
        (self.0)()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "tests")]
mod tests {
    use std::io::{self, Write};
    use std::path::Path;

    use offshoot_session::session::Options;

    use super::*;
    use crate::given::SessionName;
    use crate::place::PlaceOptions;
    use crate::words::Words;

    crate::input! {
        struct CountInput {
            /// Which session
            session: SessionName = arg,
        }
    }

    struct Count(usize);

    impl Output for Count {
        fn json(&self, out: &mut dyn Write) -> io::Result<()> {
            write!(out, "{}", self.0)
        }

        fn words(&self, _: &mut Words) {}
    }

    /// Counts roots while it plans, and says nothing of parts that it could not read.
    struct CountRoots;

    impl Operation for CountRoots {
        type Input = CountInput;
        type Plan = usize;
        type Written = ();
        type Output = Count;
        const ABOUT: About = About {
            name: "count",
            aliases: &[],
            title: "",
            says: "",
            examples: "",
            past: "counted",
            effect: OperationEffect::Reads,
        };

        fn session(input: &CountInput) -> Option<&SessionName> {
            Some(&input.session)
        }

        fn plan(_: &Place, at: Option<&Session>, _: &CountInput) -> Result<usize> {
            Ok(open_session(at)?.tree().roots().count())
        }

        fn output(plan: usize, _: Finished<'_, ()>) -> Result<Count> {
            Ok(Count(plan))
        }
    }

    fn place(folder: &Path) -> Place {
        Place::new(PlaceOptions::in_folder(folder))
    }

    /// A session of which a side index is kept.
    fn indexed(folder: &Path) -> Session {
        let file = folder.join("s.jsonl");
        let entry = |at: usize| {
            let text = "x".repeat(1000);
            let time = "2026-01-01T00:00:01.000Z";
            format!(
                r#"{{"type":"message","id":"e{at}","parentId":null,"timestamp":"{time}","message":{{"role":"user","content":"{text}"}}}}"#
            )
        };
        let header = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
        let lines: Vec<String> = std::iter::once(header.to_owned()).chain((0..2000).map(entry)).collect();
        std::fs::write(&file, lines.join("\n") + "\n").unwrap();
        let options = || Options { index: Some(folder.join("cache")), ..Options::default() };
        drop(Session::open(&file, options()).unwrap());
        for index in std::fs::read_dir(folder.join("cache")).unwrap() {
            let index = index.unwrap().path();
            let mut bytes = std::fs::read(&index).unwrap();
            bytes[10] ^= 1;
            std::fs::write(&index, bytes).unwrap();
        }
        Session::open(&file, options()).unwrap()
    }

    fn counted(folder: &Path, session: &Session) -> Result<Outcome<dyn Output>> {
        let mut given = Given::default();
        given.put_text(SESSION_ARG, "");
        let mut begun = begin::<CountRoots>(given, &place(folder), false)?;
        match begun.steps.plan(session, None) {
            AfterPlan::Tell => begun.steps.tell(session),
            AfterPlan::End | AfterPlan::Write | AfterPlan::Ask(_) => {}
        }
        (begun.wait)()
    }

    /// The side index was damaged, and then the file was emptied: an operation answered a small part of the session as its whole.
    #[test]
    fn an_operation_that_could_not_read_the_whole_tree_fails() {
        let folder = tempfile::tempdir().unwrap();
        let session = indexed(folder.path());
        std::fs::File::options().write(true).open(folder.path().join("s.jsonl")).unwrap().set_len(0).unwrap();
        let Err(refused) = counted(folder.path(), &session) else { panic!("a part was answered") };
        assert!(refused.to_string().contains("side index is damaged"), "{refused}");
    }
}

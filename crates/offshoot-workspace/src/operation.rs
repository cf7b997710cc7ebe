//! What an operation is. Knows no front end, and no particular operation.

use std::any::Any;
use std::fmt::Display;
use std::io::{self, Write};

use offshoot_agent::operate::{PlanAnswer, PlanQuestion};
use offshoot_session::session::{Session, SpillPolicy};

use crate::failure::{Failure, Result};
use crate::given::SessionName;
use crate::inputs::Input;
use crate::lookup::{Access, LatestOf};
use crate::place::Place;
use crate::words::{Line, Note, Say, Words};

/// What all front ends show of an operation.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// Its name, with hyphens.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// What it does, in one line.
    pub title: &'static str,
    /// The rest of its help.
    pub says: &'static str,
    /// Examples of a command line.
    pub examples: &'static str,
    /// Its past participle, such as `undone`.
    pub past: &'static str,
    /// What it touches.
    pub effect: OperationEffect,
}

/// What an operation touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationEffect {
    /// Nothing is changed.
    Reads,
    /// Entries are appended, or the leaf moves.
    Writes {
        /// What the option `--dry-run` says.
        dry_run: &'static str,
        /// Why it is refused while an agent works; `None` if it begins all the same.
        refused_at_work: Option<&'static str>,
        /// Whether another entry becomes the current one, or the current branch grows.
        moves: bool,
        /// What is kept of entries that cannot be written.
        spill: SpillPolicy,
    },
    /// Files are made or moved; no open session is written.
    Makes {
        /// What the option `--dry-run` says.
        dry_run: &'static str,
    },
}

impl OperationEffect {
    /// What sessions are opened for.
    #[must_use]
    pub fn access(self) -> Access {
        match self {
            Self::Reads | Self::Makes { .. } => Access::Read,
            Self::Writes { .. } => Access::Write,
        }
    }

    pub(crate) fn spill(self) -> SpillPolicy {
        match self {
            Self::Reads | Self::Makes { .. } => SpillPolicy::default(),
            Self::Writes { spill, .. } => spill,
        }
    }

    /// The group of a command that says no other.
    const fn group(self) -> CommandGroup {
        match self {
            Self::Reads => CommandGroup::Look,
            Self::Writes { moves: true, .. } => CommandGroup::Move,
            Self::Writes { moves: false, .. } | Self::Makes { .. } => CommandGroup::Write,
        }
    }

    /// What the option `--dry-run` says; `None` if there is none.
    #[must_use]
    pub fn dry_run(self) -> Option<&'static str> {
        match self {
            Self::Reads => None,
            Self::Writes { dry_run, .. } | Self::Makes { dry_run } => Some(dry_run),
        }
    }
}

/// What commands are for: a help lists them in these groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandGroup {
    /// They show sessions.
    Look,
    /// They go to another place.
    Move,
    /// They bring work of other branches.
    BringBack,
    /// They change a session, or make one.
    Write,
    /// They are about models.
    Agent,
    /// They are about packages.
    Packages,
    /// They keep files in order.
    Maintain,
}

/// What came of an operation.
pub trait Output: Any + Send {
    /// Writes it as JSON, without a line end.
    ///
    /// # Errors
    /// `out` takes no more.
    fn json(&self, out: &mut dyn Write) -> io::Result<()>;

    /// Says it.
    fn words(&self, words: &mut Words);

    /// Says what may be long while it is made, if the words are [streamed](Words::is_streamed).
    ///
    /// # Errors
    /// The session cannot be read, or nobody listens any more.
    fn stream(&self, _: ScreenSize, _: &mut Say<'_>) -> Result<()> {
        Ok(())
    }

    /// Writes the output byte for byte, if the words are [exact](Words::is_exact).
    ///
    /// # Errors
    /// `out` takes no more.
    fn bytes(&self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// What is told after it, in words and as JSON.
    fn notes(&self) -> Vec<Note> {
        Vec::new()
    }

    /// Does what is better done after it was shown than before, by a program that ends then.
    fn afterwards(&self) {}

    /// The inputs that failed while the others went on.
    fn failed(&self) -> &[Failure] {
        &[]
    }

    /// The failure with which it ends although there is an output.
    fn failure(&self) -> Option<&Failure> {
        None
    }
}

/// The size of a screen; `None` where lines may be long, and many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScreenSize {
    /// In columns.
    pub width: Option<usize>,
    /// In rows.
    pub height: Option<usize>,
}

/// A kind of front end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontEnd {
    /// The command line.
    CommandLine,
    /// Lines of JSON about the open session.
    Rpc,
    /// What is typed after a `/` in a conversation.
    Slash,
}

/// A plan that was committed, or that was only made.
#[derive(Debug)]
pub struct Finished<'a, W> {
    /// Where it ran.
    pub place: &'a Place,
    /// The session, if it has one, as it is now.
    pub session: Option<&'a Session>,
    /// What was written; `None` of a dry run, and if there was nothing to do.
    pub written: Option<W>,
    /// Whether nothing was to be written.
    pub is_dry: bool,
}

/// An operation: its input becomes a plan, the plan is committed, and both become the output. A dry run is the plan.
pub trait Operation: Send + Sync + 'static {
    /// What it gets.
    type Input: Input;
    /// What would be done: made where the session is, checked again when it is written.
    type Plan: Send + 'static;
    /// What was written.
    type Written: Send + 'static;
    /// What came of it.
    type Output: Output;
    /// What front ends show of it.
    const ABOUT: About;
    /// The group of its command.
    const GROUP: CommandGroup = Self::ABOUT.effect.group();
    /// The front ends that do not have it.
    const NOT_ON: &'static [FrontEnd] = &[];
    /// Whether a command line prints what is otherwise JSON, byte for byte.
    const IS_RAW: bool = false;
    /// The command and the option by which a command line calls it, if it has no command of its own.
    const OPTION_OF: Option<(&'static str, &'static str)> = None;
    /// Whether it may ask a model, which is chosen by options then.
    const MAY_ASK: bool = false;

    /// The session that it works on.
    fn session(input: &Self::Input) -> Option<&SessionName>;

    /// Of which folders it is, if it is named `latest`.
    fn latest_of(_: &Self::Input) -> LatestOf {
        LatestOf::ThisFolder
    }

    /// What the session is opened for.
    fn access(_: &Self::Input) -> Access {
        Self::ABOUT.effect.access()
    }

    /// Refuses an input before a session is opened for it.
    ///
    /// # Errors
    /// It can never be done.
    fn check(_: &Place, _: &Self::Input) -> Result<()> {
        Ok(())
    }

    /// Looks names up and plans. Writes nothing.
    ///
    /// # Errors
    /// Something that was named does not exist, or the operation is not possible.
    fn plan(place: &Place, at: Option<&Session>, input: &Self::Input) -> Result<Self::Plan>;

    /// Why there is nothing to do: the only words for it.
    fn nothing(_: &Self::Plan) -> Option<Line> {
        None
    }

    /// Why it is not done with this input as long as the person has not said so: before a model is asked, and before anything is written. A dry run
    /// shows the plan.
    fn warning(_: &Self::Input, _: &Self::Plan) -> Option<Failure> {
        None
    }

    /// Why no model is asked with this input, for who chose one all the same.
    fn unasked(_: &Self::Input) -> Option<&'static str> {
        None
    }

    /// What is asked first: a model for a summary, and extensions about a move.
    fn question(_: &Self::Plan) -> Option<PlanQuestion> {
        None
    }

    /// Has what the plan needs written where no question is asked.
    ///
    /// # Errors
    /// The model that was chosen cannot be asked.
    fn prepare(_: &Place, _: &Session, _: &Self::Plan) -> Result<Option<PlanAnswer>> {
        Ok(None)
    }

    /// Takes the answer into the plan, and refuses what does not fit, before anything is written.
    ///
    /// # Errors
    /// It does not fit.
    fn complete(_: &Place, _: &Session, _: &mut Self::Plan, _: Option<&PlanAnswer>) -> Result<()> {
        Ok(())
    }

    /// Writes the plan in one step, or nothing.
    ///
    /// # Errors
    /// The session changed since the plan, or cannot be written.
    fn commit(_: &Place, _: &mut Session, _: &Self::Plan) -> Result<Option<Self::Written>> {
        Ok(None)
    }

    /// Makes or moves the files of a plan, if that is its [effect](OperationEffect::Makes).
    ///
    /// # Errors
    /// A file cannot be made or moved: then nothing was.
    fn make(_: &Place, _: Option<&mut Session>, _: &Self::Plan) -> Result<Option<Self::Written>> {
        Ok(None)
    }

    /// Makes the output of a plan and of what was written.
    ///
    /// # Errors
    /// The session cannot be read.
    fn output(plan: Self::Plan, finished: Finished<'_, Self::Written>) -> Result<Self::Output>;
}

/// Says that there is nothing to do, and why.
pub fn nothing_to_do(why: impl Display) -> String {
    format!("nothing to do: {why}")
}

/// The end of an operation that did not fail.
#[derive(Debug)]
pub enum Outcome<T: ?Sized> {
    /// It is done, or was planned.
    Done(Box<T>),
    /// There was nothing to do.
    Nothing {
        /// Why.
        why: Line,
        /// The output all the same.
        output: Box<T>,
    },
}

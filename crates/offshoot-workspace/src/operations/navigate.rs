//! Goes to an entry as front ends with an editor do, and pi: before a message of the user, which can then be said otherwise.

use std::io::{self, Write};

use offshoot_agent::operate::{PlanAnswer, PlanQuestion, SummaryWish};
use offshoot_files::RestoreReport;
use offshoot_session::compose::NewBranchSummary;
use offshoot_session::entry::{Source as _, text_of};
use offshoot_session::id::EntryId;
use offshoot_session::json::{Json, Object};
use offshoot_session::kind::{Kind, Role as Speaker};
use offshoot_session::session::{Session, SpillPolicy};
use offshoot_session::tree::NodeIx;

use crate::copied::id_of;
use crate::failure::{Failure, Result};
use crate::file_moves::{FileMove, FileMoveOutcome, FilesPreview};
use crate::given::{EntryName, SessionName, Text};
use crate::input;
use crate::moving::{AT_WORK, MoveTarget, label_move};
use crate::operation::{About, Finished, FrontEnd, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::run::open_session;
use crate::words::Words;

input! {
    /// What `navigate` gets.
    pub struct NavigateInput {
        /// A path, an id or its unique start or end, a name, or `latest`
        session: SessionName = arg,
        /// The entry; without it the last message of the user that has messages after it
        entry: Option<EntryName> = arg,
        /// Go behind the entry even if it is a message of the user
        behind: bool = flag,
        /// Summarise the branch that is left
        summarize: bool = flag,
        /// What the summary should say
        instructions: Option<Text> = option ("TEXT"),
        /// Let the instructions replace the usual ones
        replace_instructions: bool = flag,
        /// A label for the summary, or without one for the entry
        label: Option<Text> = option ("TEXT"),
        /// Bring back the files of the entry, too
        files: bool = flag,
        /// Bring files also if git has another commit checked out than when they were recorded
        across_commits: bool = flag (requires ["files"]),
    }
}

/// Goes to an entry, or before a message of the user.
#[derive(Debug)]
pub struct Navigate;

/// Where the leaf goes, and what is said there.
#[derive(Debug)]
pub struct NavigateSteps {
    target: MoveTarget,
    is_there: bool,
    /// `None` before the first entry.
    leaf: Option<NodeIx>,
    to_edit: Option<String>,
    summary: Option<SummaryWish>,
    label: Option<String>,
    answer: PlanAnswer,
    files: Option<FileMove>,
}

/// What was written.
#[derive(Debug)]
pub struct NavigateWritten {
    summary: Option<EntryId>,
    files: Option<RestoreReport>,
}

/// What came of `navigate`.
#[derive(Debug)]
pub struct NavigateOutput {
    /// The text of the user's message before which the leaf is now.
    pub to_edit: Option<String>,
    /// The entry of the summary.
    pub summary: Option<EntryId>,
    files: Option<FileMoveOutcome>,
}

impl Operation for Navigate {
    type Input = NavigateInput;
    type Plan = NavigateSteps;
    type Written = NavigateWritten;
    type Output = NavigateOutput;

    const ABOUT: About = About {
        name: "navigate",
        aliases: &[],
        title: "Go to an entry, or before a message of the user to say it otherwise",
        says: "",
        examples: "",
        past: "moved",
        effect: OperationEffect::Writes {
            dry_run: "Show nothing",
            refused_at_work: Some(AT_WORK),
            moves: true,
            spill: SpillPolicy::Temporary,
        },
    };

    const MAY_ASK: bool = true;

    // There other commands go to entries.
    const NOT_ON: &'static [FrontEnd] = &[FrontEnd::CommandLine, FrontEnd::Rpc, FrontEnd::Slash];

    fn session(input: &NavigateInput) -> Option<&SessionName> {
        Some(&input.session)
    }

    fn warning(input: &NavigateInput, plan: &NavigateSteps) -> Option<Failure> {
        plan.files.as_ref().filter(|_| !input.across_commits)?.across_commits()
    }

    fn plan(place: &Place, at: Option<&Session>, input: &NavigateInput) -> Result<NavigateSteps> {
        let session = open_session(at)?;
        let ix = match &input.entry {
            Some(entry) => place.entry_to_write(session, &entry.0)?,
            None => session.pop_target(None)?,
        };
        let is_there = session.leaf() == Some(ix);
        let (leaf, to_edit) = if is_there || input.behind { (Some(ix), None) } else { leaf_and_text(session, ix)? };
        let summary = match (input.summarize, &input.instructions) {
            (false, _) => None,
            (true, Some(text)) if input.replace_instructions => Some(SummaryWish::Instead(text.0.clone())),
            (true, text) => Some(SummaryWish::focus(text.as_ref().map(|text| text.0.clone()))),
        };
        let label = input.label.as_ref().map(|label| label.0.clone());
        let (target, answer) = (MoveTarget::of(session, ix), PlanAnswer::default());
        let files = input.files.then(|| FileMove::plan(place, session, leaf)).transpose()?;
        Ok(NavigateSteps { target, is_there, leaf, to_edit, summary, label, answer, files })
    }

    fn question(plan: &NavigateSteps) -> Option<PlanQuestion> {
        Some(plan.target.question(plan.summary.clone(), plan.label.clone()))
    }

    fn complete(_: &Place, _: &Session, plan: &mut NavigateSteps, answer: Option<&PlanAnswer>) -> Result<()> {
        plan.answer = answer.cloned().unwrap_or_default();
        Ok(())
    }

    fn commit(place: &Place, at: &mut Session, plan: &NavigateSteps) -> Result<Option<NavigateWritten>> {
        let (summary, files) = match &plan.files {
            Some(files) if plan.is_there => (go(place, at, plan)?, Some(files.run_alone(at)?)),
            Some(files) => files.run(at, |at| go(place, at, plan)).map(|(summary, report)| (summary, Some(report)))?,
            None => (go(place, at, plan)?, None),
        };
        Ok(Some(NavigateWritten { summary, files }))
    }

    fn output(plan: NavigateSteps, finished: Finished<'_, NavigateWritten>) -> Result<NavigateOutput> {
        let (summary, report) = finished.written.map_or((None, None), |written| (written.summary, written.files));
        let files = plan.files.map(|files| files.into_moved(report));
        Ok(NavigateOutput { to_edit: plan.to_edit, summary, files })
    }
}

/// Moves the leaf, and returns the entry of the summary.
fn go(place: &Place, at: &mut Session, plan: &NavigateSteps) -> Result<Option<EntryId>> {
    let NavigateSteps { target, is_there, leaf, answer, .. } = plan;
    let summary = match (&answer.drafted, leaf) {
        (Some(drafted), leaf) => {
            let id = id_of(at, *leaf);
            let new = NewBranchSummary { from_hook: Some(answer.is_given), ..drafted.branch_summary() };
            Some(at.branch_with_summary(id.as_ref().map(EntryId::as_str), &new)?)
        }
        (None, _) if *is_there => None,
        (None, Some(leaf)) => {
            at.switch(*leaf)?;
            None
        }
        // There is no entry to mark: the next message becomes a new root.
        (None, None) => {
            at.reset_leaf();
            None
        }
    };
    let labelled = summary.as_ref().or(target.id.as_ref()).map(ToString::to_string).unwrap_or_default();
    label_move(place, at, &labelled, answer.label.as_deref());
    Ok(summary)
}

/// What the files of an entry would change if one went there.
///
/// # Errors
/// The session or a file cannot be read.
pub fn files_preview(place: &Place, session: &Session, ix: NodeIx) -> Result<FilesPreview> {
    let at = if session.leaf() == Some(ix) { Some(ix) } else { leaf_and_text(session, ix)?.0 };
    FilesPreview::read(place, session, at)
}

/// The new leaf: before a user or custom message, whose text is returned, else the entry itself.
fn leaf_and_text(session: &Session, ix: NodeIx) -> Result<(Option<NodeIx>, Option<String>)> {
    let tree = session.tree();
    let node = tree.node(ix);
    let is_user = node.role() == Some(Speaker::User);
    if !is_user && node.kind() != Kind::CustomMessage {
        return Ok((Some(ix), None));
    }
    let entry = session.entry(ix)?;
    let content = match is_user {
        true => entry.message().and_then(|message| message.get("content")),
        false => entry.get("content"),
    };
    let text = content.map(|content: Json<'_>| text_of(content, ""));
    Ok((tree.parent(ix), text))
}

impl Output for NavigateOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let object = Object::new()
            .str_or_null("editorText", self.to_edit.as_deref())
            .str_or_null("summaryEntryId", self.summary.as_ref().map(EntryId::as_str));
        out.write_all(object.finish().as_bytes())
    }

    fn words(&self, words: &mut Words) {
        words.to_edit.clone_from(&self.to_edit);
        self.files.iter().for_each(|files| files.words(words));
    }
}

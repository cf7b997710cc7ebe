//! Shows, sets or removes a label.

use std::io::{self, Write};

use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::error::Error;
use offshoot_session::id::EntryId;
use offshoot_session::json::Object;
use offshoot_session::session::{Session, SpillPolicy};
use offshoot_session::text::one_line;

use crate::failure::{Failure, FailureKind, Hint, Result};
use crate::given::{EntryName, SessionName, Text};
use crate::input;
use crate::lookup::Access;
use crate::operation::{About, Finished, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::run::open_session;
use crate::words::{Line, NextStep, Role, Words};

input! {
    /// What `label` gets.
    pub struct LabelInput {
        /// A path, an id or its unique start or end, a name, or `latest`
        session: SessionName = arg,
        /// An id or its unique start, a label, `@`, `@-`, or a time such as 2h
        entry: EntryName = arg,
        /// The new label
        text: Option<Text> = arg (conflicts ["clear"]),
        /// Remove the label
        clear: bool = flag,
    }
}

impl LabelInput {
    fn is_question(&self) -> bool {
        self.text.is_none() && !self.clear
    }
}

/// Shows, sets or removes a label.
#[derive(Debug)]
pub struct Label;

/// A label that is set, removed or only shown.
#[derive(Debug)]
pub struct LabelPlan {
    entry: EntryId,
    label: Option<String>,
    /// Whether it is so already, and that was no question.
    is_there: bool,
}

/// What came of `label`.
#[derive(Debug)]
pub struct LabelOutput {
    /// The entry that has the label.
    pub entry: EntryId,
    /// Its label now, or after what was planned.
    pub label: Option<String>,
    /// The entry that was written.
    pub written: Option<EntryId>,
    is_planned: bool,
}

impl Operation for Label {
    type Input = LabelInput;
    type Plan = LabelPlan;
    type Written = EntryId;
    type Output = LabelOutput;

    const ABOUT: About = About {
        name: "label",
        aliases: &[],
        title: "Label an entry, or show its label",
        says: "Trees, transcripts and `branches` show labels. An entry has at most one.\n\
               Without TEXT the command prints the label and changes nothing.\n\n\
               --json prints {\"entryId\", \"label\", \"id\"}: the label is null if there is none,\n\
               `id` is the entry that was written, null if none was.",
        examples: "Examples:\n  offshoot label latest 1a2b3c4d 'tests pass here'\n  offshoot label latest 1a2b3c4d\n  \
                   offshoot tree latest --filter labeled-only\n  offshoot label latest 1a2b3c4d --clear",
        past: "labelled",
        effect: OperationEffect::Writes {
            dry_run: "Show what would be labelled, and write nothing",
            refused_at_work: None,
            moves: false,
            spill: SpillPolicy::Temporary,
        },
    };

    fn session(input: &LabelInput) -> Option<&SessionName> {
        Some(&input.session)
    }

    fn access(input: &LabelInput) -> Access {
        if input.is_question() { Access::Read } else { Access::Write }
    }

    fn plan(place: &Place, at: Option<&Session>, input: &LabelInput) -> Result<LabelPlan> {
        let text = input.text.as_ref().map(|text| text.0.trim().to_owned());
        if text.as_deref() == Some("") {
            let removes = NextStep::new("label", "removes the label").with(&input.entry.0).with("--clear");
            return Err(Failure::refused(FailureKind::Usage, "the label is empty").hint(Hint::Step(removes)));
        }
        let session = open_session(at)?;
        let named = &input.entry.0;
        let found =
            if input.is_question() { place.entry(session, named) } else { place.entry_to_write(session, named) };
        let entry = session.tree().node(found?).id().cloned();
        let entry = entry.ok_or_else(|| Error::EntryNotFound { id: named.clone() })?;
        if input.is_question() {
            let label = session.tree().label(&entry).map(|label| label.text.clone());
            return Ok(LabelPlan { entry, label, is_there: false });
        }
        Ok(LabelPlan { is_there: session.is_labelled(&entry, text.as_deref()), entry, label: text })
    }

    fn nothing(plan: &LabelPlan) -> Option<Line> {
        plan.is_there.then(|| line(&plan.entry, plan.label.as_deref()))
    }

    fn commit(_: &Place, at: &mut Session, plan: &LabelPlan) -> Result<Option<EntryId>> {
        Ok(Some(at.append(&NewEntry::label(plan.entry.as_str(), plan.label.as_deref()))?))
    }

    fn output(plan: LabelPlan, finished: Finished<'_, EntryId>) -> Result<LabelOutput> {
        let LabelPlan { entry, label, is_there } = plan;
        Ok(LabelOutput { entry, label, written: finished.written, is_planned: finished.is_dry && !is_there })
    }
}

fn line(entry: &EntryId, label: Option<&str>) -> Line {
    let shown = Line::of(Role::Id, one_line(entry.as_str(), 40));
    match label {
        Some(label) => shown.and(Role::Plain, " ").and(Role::Label, format!("[{}]", one_line(label, 200))),
        None => shown.and(Role::Plain, " has no label"),
    }
}

impl Output for LabelOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let object = Object::new().str("entryId", self.entry.as_str()).str_or_null("label", self.label.as_deref());
        let written = self.written.as_ref().map(EntryId::as_str);
        out.write_all(object.str_or_null("id", written).finish().as_bytes())
    }

    fn words(&self, words: &mut Words) {
        let mut said = line(&self.entry, self.label.as_deref());
        if self.is_planned {
            said.0.insert(0, (Role::Plain, "would be ".to_owned()));
        }
        words.line(said);
    }
}

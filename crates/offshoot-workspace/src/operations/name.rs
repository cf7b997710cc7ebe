//! Names a session.

use std::io::{self, Write};

use offshoot_session::compose::NewEntry;
use offshoot_session::header::Dialect;
use offshoot_session::id::EntryId;
use offshoot_session::json::Object;
use offshoot_session::session::{Session, SpillPolicy};
use offshoot_session::text::one_line;

use crate::failure::Result;
use crate::given::{SessionName, Text};
use crate::input;
use crate::operation::{About, Finished, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::run::open_session;
use crate::words::{Line, Note, Role, Words};

input! {
    /// What `name` gets.
    pub struct NameInput {
        /// A path, an id or its unique start or end, a name, or `latest`
        session: SessionName = arg,
        /// The name
        text: Text = arg,
    }
}

/// Names a session.
#[derive(Debug)]
pub struct Name;

/// The name that a session gets.
#[derive(Debug)]
pub struct NamePlan {
    /// As it was given.
    text: String,
    /// The name that the session has, if it is the same.
    same: Option<Option<String>>,
}

/// What came of `name`.
#[derive(Debug)]
pub struct NameOutput {
    /// The session's name now, or after what was planned.
    pub name: Option<String>,
    /// The entry that was written.
    pub written: Option<EntryId>,
    is_dry: bool,
    is_omp: bool,
}

impl Operation for Name {
    type Input = NameInput;
    type Plan = NamePlan;
    type Written = EntryId;
    type Output = NameOutput;

    const ABOUT: About = About {
        name: "name",
        aliases: &[],
        title: "Name a session",
        says: "`list` shows the name, and commands take it for SESSION. An empty name\nremoves it.\n\n\
               --json prints {\"name\", \"id\"}: the name is null if there is none, `id` is the\n\
               entry that was written, null if none was.",
        examples: "Examples:\n  offshoot name latest 'fix the login test'\n  offshoot show 'fix the login test'\n  \
                   offshoot name latest ''",
        past: "named",
        effect: OperationEffect::Writes {
            dry_run: "Show what would be named, and write nothing",
            refused_at_work: None,
            moves: false,
            spill: SpillPolicy::Temporary,
        },
    };

    fn session(input: &NameInput) -> Option<&SessionName> {
        Some(&input.session)
    }

    fn plan(_: &Place, at: Option<&Session>, input: &NameInput) -> Result<NamePlan> {
        let (session, text) = (open_session(at)?, input.text.0.clone());
        let same = if session.is_named(&text)? { Some(session.name()?) } else { None };
        Ok(NamePlan { text, same })
    }

    fn nothing(plan: &NamePlan) -> Option<Line> {
        plan.same.as_ref().map(|name| said("is", name.as_deref()))
    }

    fn commit(_: &Place, at: &mut Session, plan: &NamePlan) -> Result<Option<EntryId>> {
        Ok(Some(at.append(&NewEntry::session_info(&plan.text))?))
    }

    fn output(plan: NamePlan, finished: Finished<'_, EntryId>) -> Result<NameOutput> {
        let Finished { session, written, is_dry, .. } = finished;
        let session = open_session(session)?;
        let planned = Some(plan.text.trim()).filter(|name| !name.is_empty()).map(str::to_owned);
        let name = if is_dry { planned } else { session.name()? };
        Ok(NameOutput { name, written, is_dry, is_omp: session.dialect() == Dialect::Omp })
    }
}

fn said(verb: &str, name: Option<&str>) -> Line {
    match name {
        Some(name) => Line::from(format!("the session {verb} named ")).and(Role::Bold, one_line(name, 200)),
        None if verb == "is" => "the session has no name".into(),
        None => "the session would have no name".into(),
    }
}

impl Output for NameOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let object = Object::new().str_or_null("name", self.name.as_deref());
        let written = self.written.as_ref().map(EntryId::as_str);
        out.write_all(object.str_or_null("id", written).finish().as_bytes())
    }

    fn words(&self, words: &mut Words) {
        words.line(said(if self.is_dry { "would be" } else { "is" }, self.name.as_deref()));
        if self.is_omp {
            words.notes.push(Note::Told("oh-my-pi keeps showing the session's own title".to_owned()));
        }
    }
}

//! Shows or changes the todo list of a branch.

use std::io::{self, Write};

use offshoot_agent::tool::{TodoEdit, todo_words};
use offshoot_session::id::EntryId;
use offshoot_session::json::Object;
use offshoot_session::session::{Session, SpillPolicy};
use offshoot_session::todo::TodoList;

use crate::closed_words;
use crate::failure::{Failure, FailureKind, Result};
use crate::given::{SessionName, Text};
use crate::input;
use crate::lookup::Access;
use crate::operation::{About, Finished, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::run::open_session;
use crate::words::{Line, Words};

closed_words!(TodoEdit, TodoEdit::WORDS);

input! {
    /// What `todo` gets.
    pub struct TodoInput {
        /// A path, an id or its unique start or end, a name, or `latest`
        session: SessionName = arg,
        /// What is done to a task; without it the list is shown
        change: Option<TodoEdit> = arg,
        /// The task: its text, or a part that no other has
        text: Option<Text> = arg,
    }
}

/// Shows or changes the todo list of a branch.
#[derive(Debug)]
pub struct ShowTodo;

/// The list that is to be.
#[derive(Debug)]
pub struct TodoPlan {
    list: TodoList,
    is_question: bool,
    is_same: bool,
}

/// What came of `todo`.
#[derive(Debug)]
pub struct TodoOutput {
    /// The list now, or after what was planned.
    pub list: TodoList,
    /// The entry that was written.
    pub written: Option<EntryId>,
    is_planned: bool,
}

impl Operation for ShowTodo {
    type Input = TodoInput;
    type Plan = TodoPlan;
    type Written = EntryId;
    type Output = TodoOutput;

    const ABOUT: About = About {
        name: "todo",
        aliases: &["todos"],
        title: "Show or change the todo list of the branch",
        says: "The list is that of the current branch: the model keeps it with the tool `todo`,\n\
               and what you change counts from then on. Going back brings the old list back.\n\
               A new task goes into the phase that is worked on.\n\n\
               --json prints {\"phases\", \"id\"}: `id` is the entry that was written, null if\n\
               none was.",
        examples: "Examples:\n  offshoot todo latest\n  offshoot todo latest add 'write the docs'\n  \
                   offshoot todo latest done docs",
        past: "changed",
        effect: OperationEffect::Writes {
            dry_run: "Show the list as it would be, and write nothing",
            refused_at_work: None,
            moves: false,
            spill: SpillPolicy::Temporary,
        },
    };

    fn session(input: &TodoInput) -> Option<&SessionName> {
        Some(&input.session)
    }

    fn access(input: &TodoInput) -> Access {
        if input.change.is_none() { Access::Read } else { Access::Write }
    }

    fn plan(_: &Place, at: Option<&Session>, input: &TodoInput) -> Result<TodoPlan> {
        let session = open_session(at)?;
        let list = TodoList::at(session, session.leaf())?.unwrap_or_default();
        let Some(change) = input.change else { return Ok(TodoPlan { list, is_question: true, is_same: true }) };
        let text = input.text.as_ref().map_or("", |text| text.0.as_str());
        let changed = change.of(&list, text).map_err(|why| Failure::refused(FailureKind::Usage, why))?;
        Ok(TodoPlan { is_same: changed == list, list: changed, is_question: false })
    }

    fn nothing(plan: &TodoPlan) -> Option<Line> {
        (plan.is_same && !plan.is_question).then(|| "the list is so already".into())
    }

    fn commit(_: &Place, at: &mut Session, plan: &TodoPlan) -> Result<Option<EntryId>> {
        if plan.is_question {
            return Ok(None);
        }
        Ok(Some(at.append(&plan.list.edited())?))
    }

    fn output(plan: TodoPlan, finished: Finished<'_, EntryId>) -> Result<TodoOutput> {
        Ok(TodoOutput { list: plan.list, written: finished.written, is_planned: finished.is_dry && !plan.is_same })
    }
}

impl Output for TodoOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let written = self.written.as_ref().map(EntryId::as_str);
        let object = Object::new().raw("phases", self.list.to_json()).str_or_null("id", written);
        out.write_all(object.finish().as_bytes())
    }

    fn words(&self, words: &mut Words) {
        if self.is_planned {
            words.line("would be:");
        } else if self.written.is_some() {
            // Whoever has changed it knows the list.
            return words.line(todo_words(&self.list).lines().next().unwrap_or_default().to_owned());
        }
        (words.is_long, words.is_answer) = (true, !self.is_planned);
        for line in todo_words(&self.list).lines() {
            words.line(line.to_owned());
        }
    }
}

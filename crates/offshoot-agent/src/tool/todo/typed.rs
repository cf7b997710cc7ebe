//! Changes of the list as a person types them: a word and a text, where the beginning of a task's text is enough.

use offshoot_session::todo::{TodoList, TodoStatus};

use super::change::{ONLY_PHASE, changed};
use super::{TodoInput, TodoOperation};

/// What a person does to the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub enum TodoEdit {
    /// A new task, in the phase that is worked on.
    Add,
    Start,
    Done,
    Drop,
    Block,
    Unblock,
    Rm,
    /// Removes all tasks.
    Clear,
}

impl TodoEdit {
    /// The words that a person types.
    pub const WORDS: &[&str] = &["add", "start", "done", "drop", "block", "unblock", "rm", "clear"];

    /// From such a word.
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "add" => Self::Add,
            "start" => Self::Start,
            "done" => Self::Done,
            "drop" => Self::Drop,
            "block" => Self::Block,
            "unblock" => Self::Unblock,
            "rm" => Self::Rm,
            "clear" => Self::Clear,
            _ => return None,
        })
    }

    /// The list after a change. `text` is a new task's text, or that of a task: all of it, or what only this one has.
    ///
    /// # Errors
    /// What is wrong, as a sentence; nothing is changed then.
    pub fn of(self, list: &TodoList, text: &str) -> Result<TodoList, String> {
        let text = text.trim();
        let op = match self {
            Self::Clear => return Ok(TodoList::default()),
            Self::Add => TodoOperation::Append,
            Self::Start => TodoOperation::Start,
            Self::Done => TodoOperation::Done,
            Self::Drop => TodoOperation::Drop,
            Self::Block => TodoOperation::Block,
            Self::Unblock => TodoOperation::Unblock,
            Self::Rm => TodoOperation::Rm,
        };
        if text.is_empty() {
            return Err("the text of a task is missing".to_owned());
        }
        let call = match self {
            Self::Add => {
                TodoInput { phase: Some(phase(list)), items: Some(vec![text.to_owned()]), ..TodoInput::of(op) }
            }
            _ => TodoInput { task: Some(task(list, text)?), ..TodoInput::of(op) },
        };
        changed(list, &call)
    }
}

/// Where a new task goes.
fn phase(list: &TodoList) -> String {
    let has = |status| list.phases.iter().find(|phase| phase.tasks.iter().any(|task| task.status == status));
    let at = has(TodoStatus::InProgress).or_else(|| list.phases.last());
    at.map_or_else(|| ONLY_PHASE.to_owned(), |phase| phase.name.clone())
}

/// The task that is meant: whole texts first, then beginnings, then parts.
fn task(list: &TodoList, text: &str) -> Result<String, String> {
    let small = text.to_lowercase();
    let fits: [&dyn Fn(&str) -> bool; 3] =
        [&|content| content == text, &|content| content.to_lowercase().starts_with(&small), &|content| {
            content.to_lowercase().contains(&small)
        }];
    for fits in fits {
        let found: Vec<&str> = list.tasks().map(|task| task.content.as_str()).filter(|content| fits(content)).collect();
        match found.as_slice() {
            [] => {}
            [only] => return Ok((*only).to_owned()),
            [first, second, ..] => return Err(format!("{text:?} could be {first:?} or {second:?}")),
        }
    }
    Err(format!("there is no task {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_names_tasks_by_what_only_they_have() {
        let mut list = TodoList::default();
        for text in ["Write the tests", "Write the docs", "Ship"] {
            list = TodoEdit::Add.of(&list, text).unwrap();
        }
        list = TodoEdit::Done.of(&list, "ship").unwrap();
        list = TodoEdit::Drop.of(&list, "docs").unwrap();
        let states: Vec<&str> = list.tasks().map(|task| task.status.as_str()).collect();
        assert_eq!(states, ["in_progress", "abandoned", "completed"]);
        let unclear = TodoEdit::Done.of(&list, "write").unwrap_err();
        assert_eq!(unclear, r#""write" could be "Write the tests" or "Write the docs""#);
        assert_eq!(TodoEdit::Done.of(&list, "sing").unwrap_err(), r#"there is no task "sing""#);
        assert_eq!(TodoEdit::Rm.of(&list, " ").unwrap_err(), "the text of a task is missing");
        assert_eq!(TodoEdit::Clear.of(&list, "").unwrap(), TodoList::default());
    }
}

//! What a contestant's output comes to, so that speed is never compared between different answers.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::contestants::Task;

#[derive(Deserialize)]
struct Context {
    messages: Vec<IgnoredAny>,
}

/// Messages, nodes, leaves or sessions in the output; `None` when the task has no count or it cannot be
/// read.
pub(super) fn count(task: Task, output: &Path) -> Option<usize> {
    let file = File::open(output).ok()?;
    match task {
        Task::Context => {
            serde_json::from_reader(BufReader::new(file)).ok().map(|context: Context| context.messages.len())
        }
        Task::Branches | Task::List => {
            serde_json::from_reader(BufReader::new(file)).ok().map(|list: Vec<IgnoredAny>| list.len())
        }
        Task::Tree => lines(file),
        Task::Check => None,
    }
}

/// What the counted things are.
pub(super) fn unit(task: Task) -> &'static str {
    match task {
        Task::Context => "messages",
        Task::Tree => "nodes",
        Task::Branches => "leaves",
        Task::Check => "",
        Task::List => "sessions",
    }
}

fn lines(mut file: File) -> Option<usize> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    Some(memchr::memchr_iter(b'\n', &bytes).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(task: Task, output: &str) -> Option<usize> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        #[expect(clippy::disallowed_methods, reason = "a scratch file")]
        std::fs::write(&path, output).unwrap();
        count(task, &path)
    }

    #[test]
    fn each_kind_of_answer_is_counted() {
        assert_eq!(counted(Task::Context, r#"{"messages":[{"a":1},{}],"model":null}"#), Some(2));
        assert_eq!(counted(Task::List, "[{},{},{}]"), Some(3));
        assert_eq!(counted(Task::Tree, "a\nb\n"), Some(2));
        assert_eq!(counted(Task::Context, "not json"), None);
    }
}

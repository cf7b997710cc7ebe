//! Counts the items of a contestant's answer, so that speed is never compared between different answers.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::BRANCHED;
use super::contestants::Task;

#[derive(Deserialize)]
struct Context {
    messages: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
struct PickedCopies {
    copies: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
struct MergedEntries {
    entries: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
struct ComparedSides {
    sides: Vec<ComparedSide>,
}

#[derive(Deserialize)]
struct ComparedSide {
    entries: usize,
}

/// The line of a JSON-RPC session that answers `createBranchedSession`.
#[derive(Deserialize)]
struct Answer {
    id: u64,
    result: Option<serde_json::Value>,
}

/// The number of items in an answer; `None` if it is not an answer. `folder` is where the program ran.
pub(super) fn count(task: Task, output: &Path, folder: &Path) -> Option<usize> {
    let text = || fs::read_to_string(output).ok();
    match task {
        Task::Context | Task::Latest => parsed(output).map(|context: Context| context.messages.len()),
        Task::Branches | Task::List | Task::ListAll => parsed(output).map(|list: Vec<IgnoredAny>| list.len()),
        Task::Tree | Task::AppendOs => lines(output),
        Task::AppendData => lines(output).map(|answers| answers - 1),
        Task::Fork | Task::ForkAll => lines(Path::new(text()?.trim())),
        Task::Branched => {
            let answer = text()?.lines().find_map(|line| {
                serde_json::from_str::<Answer>(line).ok().filter(|answer| answer.id == BRANCHED).and_then(|a| a.result)
            });
            lines(Path::new(answer.as_ref().and_then(serde_json::Value::as_str).unwrap_or(text()?.trim())))
        }
        Task::Migrate => {
            let upgraded = folder.join(super::COPY);
            // omp writes a title before the header.
            let mut first = BufReader::new(File::open(&upgraded).ok()?).lines().take(2).map_while(Result::ok);
            first.any(|line| line.contains("\"version\":3")).then(|| lines(&upgraded)).flatten()
        }
        Task::Pick => parsed(output).map(|plan: PickedCopies| plan.copies.len()),
        Task::MergePlan => parsed(output).map(|plan: MergedEntries| plan.entries.len()),
        Task::Compare => {
            parsed(output).map(|compared: ComparedSides| compared.sides.iter().map(|side| side.entries).sum())
        }
        Task::Undo => parsed(output).map(|_: IgnoredAny| 1),
        Task::TreeFirst
        | Task::Check
        | Task::Drawn
        | Task::Show
        | Task::ShowFirst
        | Task::Page
        | Task::OneById
        | Task::Open => None,
    }
}

fn parsed<T: for<'a> Deserialize<'a>>(output: &Path) -> Option<T> {
    serde_json::from_reader(BufReader::new(File::open(output).ok()?)).ok()
}

pub(super) fn unit(task: Task) -> &'static str {
    match task {
        Task::Context | Task::Latest | Task::AppendOs | Task::AppendData => "messages",
        Task::Tree => "nodes",
        Task::Branches => "leaves",
        Task::Fork | Task::ForkAll | Task::Branched | Task::Migrate => "lines",
        Task::Pick | Task::MergePlan | Task::Compare => "entries",
        Task::Undo => "operation",
        Task::TreeFirst
        | Task::Check
        | Task::Drawn
        | Task::Show
        | Task::ShowFirst
        | Task::Page
        | Task::OneById
        | Task::Open => "",
        Task::List | Task::ListAll => "sessions",
    }
}

fn lines(path: &Path) -> Option<usize> {
    let mut file = File::open(path).ok()?;
    let mut block = vec![0; 1 << 20];
    let mut count = 0;
    loop {
        match file.read(&mut block).ok()? {
            0 => return Some(count),
            read => count += memchr::memchr_iter(b'\n', &block[..read]).count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(task: Task, output: &str) -> Option<usize> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        #[expect(clippy::disallowed_methods, reason = "a scratch file")]
        std::fs::write(&path, output).unwrap();
        count(task, &path, folder.path())
    }

    #[test]
    fn each_kind_of_answer_is_counted() {
        assert_eq!(counted(Task::Context, r#"{"messages":[{"a":1},{}],"model":null}"#), Some(2));
        assert_eq!(counted(Task::List, "[{},{},{}]"), Some(3));
        assert_eq!(counted(Task::Tree, "a\nb\n"), Some(2));
        assert_eq!(counted(Task::Context, "not json"), None);
        assert_eq!(counted(Task::Fork, "/no/such/file\n"), None);
    }
}

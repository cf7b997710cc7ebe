//! Begins operations of the table.

use offshoot_protocol::FilesAlong;
use offshoot_workspace::{ArgValue, Given, OperationOrder};

use super::{LEAVING, MERGING};
use crate::app::cmd::{Cmd, ProgramTask};
use crate::app::model::Model;

pub(super) fn begin(model: &mut Model, order: OperationOrder) -> Vec<Cmd> {
    if let Some(job) = job(&order) {
        model.begin_job(job);
    }
    vec![ProgramTask::Operate(order).into()]
}

/// The flags by which files come along.
pub(super) fn file_flags(along: FilesAlong) -> &'static [&'static str] {
    match along {
        FilesAlong::Stay => &[],
        FilesAlong::Come => &["files"],
        FilesAlong::ComeAcrossCommits => &["files", "across_commits"],
    }
}

/// The order to go to an entry, with these flags.
pub(super) fn going(entry: Option<String>, flags: &[&'static str]) -> OperationOrder {
    let mut given = Given::default();
    entry.into_iter().for_each(|entry| given.put_text("entry", entry));
    flags.iter().for_each(|flag| given.put(flag, ArgValue::Flag));
    OperationOrder::new("navigate", given)
}

/// What the row says while a model writes for an operation.
fn job(order: &OperationOrder) -> Option<&'static str> {
    let has = |name: &str| order.given.has(name);
    match order.operation {
        "merge" if !has("summary") && !has("entries") => Some(MERGING),
        "navigate" if has("summarize") => Some(LEAVING),
        _ => None,
    }
}

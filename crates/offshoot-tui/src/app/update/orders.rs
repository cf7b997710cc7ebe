//! Begins operations of the table.

use offshoot_workspace::OperationOrder;

use super::MERGING;
use crate::app::cmd::{Cmd, ProgramTask};
use crate::app::model::Model;

pub(super) fn begin(model: &mut Model, order: OperationOrder) -> Vec<Cmd> {
    if let Some(job) = job(&order) {
        model.begin_job(job);
    }
    vec![ProgramTask::Operate(order).into()]
}

/// What the row says while a model writes for an operation.
fn job(order: &OperationOrder) -> Option<&'static str> {
    let has = |name: &str| order.given.has(name);
    match order.operation {
        "merge" if !has("summary") && !has("entries") => Some(MERGING),
        _ => None,
    }
}

//! What the call of a task results in: the last words of each child for the model, and omp's details for people and programs.

use offshoot_protocol::{ChildState, ChildStatus};
use offshoot_session::text::one_line;
use serde_json::{Value, json};

use crate::spending::Spent;
use crate::tool::ToolOutcome;
use crate::tool::truncate;

/// A longer text of one child is cut for the model; the file has all of it.
const LONGEST: usize = 50 * 1024;

/// What a child does, in the row that shows it: on most screens it stays one row.
const LONGEST_DOING: usize = 28;

/// A child that has ended, or has not been started.
#[derive(Debug, Clone)]
pub(super) struct ChildReport {
    pub(super) state: ChildState,
    pub(super) output: String,
    pub(super) spent: Spent,
    pub(super) milliseconds: u64,
}

impl ChildReport {
    /// Of a child that has done nothing yet.
    pub(super) fn new(state: ChildState) -> Self {
        Self { state, output: String::new(), spent: Spent::default(), milliseconds: 0 }
    }
}

/// The result of a call whose children go on.
pub(super) fn begun(reports: &[ChildReport], milliseconds: u64) -> ToolOutcome {
    let (ended, running): (Vec<_>, Vec<_>) = reports.iter().cloned().partition(|report| report.state.status.is_end());
    let row = |report: &ChildReport| format!("{} ({}) works in the background.", report.state.id, report.state.agent);
    let mut parts: Vec<String> = running.iter().map(row).collect();
    if !running.is_empty() {
        parts.push("What each says last comes with a later prompt, when it has ended. Do not wait for it.".to_owned());
    }
    let text = [parts.join("\n"), ended.iter().map(words).collect::<Vec<_>>().join("\n\n")];
    let text = text.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
    let mut details = details(&ended, milliseconds);
    if let Some(details) = details.as_object_mut() {
        let ids: Vec<&str> = running.iter().map(|report| report.state.id.as_str()).collect();
        details.insert("inBackground".to_owned(), json!(ids));
    }
    ToolOutcome { details: Some(details), is_error: running.is_empty(), ..ToolOutcome::text(text) }
}

/// The result of a call, or what it shows so far.
pub(super) fn outcome(reports: &[ChildReport], milliseconds: u64) -> ToolOutcome {
    let is_running = reports.iter().any(|report| !report.state.status.is_end());
    let text = match is_running {
        true => reports.iter().map(row).collect::<Vec<_>>().join("\n"),
        false => reports.iter().map(words).collect::<Vec<_>>().join("\n\n"),
    };
    let all_failed = !reports.is_empty() && reports.iter().all(|report| report.state.status == ChildStatus::Failed);
    ToolOutcome { details: Some(details(reports, milliseconds)), is_error: all_failed, ..ToolOutcome::text(text) }
}

/// Where a child stands, for people.
fn row(report: &ChildReport) -> String {
    let state = &report.state;
    let requests = match state.requests {
        0 => None,
        1 => Some("1 request".to_owned()),
        many => Some(format!("{many} requests")),
    };
    let money = (state.cost > 0.0).then(|| format!("${:.4}", state.cost));
    let said = |text: &String| one_line(text, LONGEST_DOING);
    let doing = state.current_tool.clone().or_else(|| state.last_text.as_ref().map(said));
    let parts = [
        Some(state.id.clone()),
        Some(state.agent.clone()),
        Some(state.status.as_str().to_owned()),
        requests,
        money,
        doing,
    ];
    format!("◆ {}", parts.into_iter().flatten().collect::<Vec<_>>().join(" · "))
}

/// What a child said last, and how it ended, for the model.
pub(super) fn words(report: &ChildReport) -> String {
    let ChildReport { state, output, .. } = report;
    let why = state.why.as_deref().unwrap_or("for an unknown reason");
    let ended = match state.status {
        ChildStatus::Completed => String::new(),
        ChildStatus::Pending => "waits until others have ended".to_owned(),
        ChildStatus::Running => "is at work".to_owned(),
        ChildStatus::Failed => format!("failed: {why}"),
        ChildStatus::Aborted => "was stopped".to_owned(),
        ChildStatus::Limit => why.to_owned(),
    };
    let last = match state.status {
        ChildStatus::Completed => "",
        _ if output.is_empty() => "",
        _ => "\nIt said last:\n",
    };
    let output = cut(output, state.file.as_deref());
    let body =
        if state.status == ChildStatus::Completed && output.is_empty() { "(no words)".to_owned() } else { output };
    let open =
        format!("<task-result id=\"{}\" agent=\"{}\" status=\"{}\">", state.id, state.agent, state.status.as_str());
    format!("{open}\n{ended}{last}{body}\n</task-result>")
}

fn cut(output: &str, file: Option<&str>) -> String {
    if output.len() <= LONGEST {
        return output.trim_end().to_owned();
    }
    let mut end = LONGEST;
    while !output.is_char_boundary(end) {
        end -= 1;
    }
    let (whole, shown) = (truncate::size(output.len() as u64), truncate::size(end as u64));
    let rest = file.map(|file| format!("; all of it is in {file}")).unwrap_or_default();
    format!("{}\n[the first {shown} of {whole}{rest}]", &output[..end])
}

fn details(reports: &[ChildReport], milliseconds: u64) -> Value {
    let mut sum = Spent::default();
    for report in reports {
        sum.add(&report.spent);
    }
    let results: Vec<Value> = reports.iter().map(result).collect();
    let paths: Vec<&str> = reports.iter().filter_map(|report| report.state.file.as_deref()).collect();
    let is_running = reports.iter().any(|report| !report.state.status.is_end());
    let progress = is_running.then(|| reports.iter().map(|report| json!(report.state)).collect::<Vec<_>>());
    let mut details = json!({
        "projectAgentsDir": null, "results": results, "totalDurationMs": milliseconds,
        "usage": sum.usage, "outputPaths": paths,
    });
    if let (Some(progress), Some(details)) = (progress, details.as_object_mut()) {
        details.insert("progress".to_owned(), Value::Array(progress));
    }
    details
}

/// omp's `SingleResult`, with the file and the status.
fn result(report: &ChildReport) -> Value {
    let ChildReport { state, output, spent, milliseconds } = report;
    let is_well = matches!(state.status, ChildStatus::Completed | ChildStatus::Limit);
    let mut result = json!({
        "index": state.index, "id": state.id, "agent": state.agent, "agentSource": "bundled", "task": state.task,
        "exitCode": if is_well { 0 } else { 1 }, "output": cut(output, state.file.as_deref()), "stderr": "",
        "truncated": output.len() > LONGEST, "durationMs": milliseconds, "tokens": spent.tokens,
        "requests": spent.requests, "resolvedModel": state.model, "status": state.status.as_str(),
        "aborted": state.status == ChildStatus::Aborted, "usage": spent.usage,
    });
    if let Some(result) = result.as_object_mut() {
        let why = state.why.clone().map(Value::from);
        let named = if state.status == ChildStatus::Failed { "error" } else { "abortReason" };
        result.extend(why.map(|why| (named.to_owned(), why)));
        result.extend(state.file.clone().map(|file| ("sessionFile".to_owned(), Value::from(file))));
    }
    result
}

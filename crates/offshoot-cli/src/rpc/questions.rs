//! Approval questions for clients that know pi's `extension_ui_request`: a choice by its words.

use offshoot_agent::approval::ApprovalDecision;
use offshoot_agent::event::Event;
use offshoot_session::json::{Object, quote};

use super::request::UiResponse;

const PREFIX: &str = "approval-";

/// The request that asks the question; `None` for other events.
pub(super) fn request(event: &Event) -> Option<String> {
    let Event::ApprovalRequest { id, tool_name, args, reason, rule, options, .. } = event else { return None };
    let what = args.get("command").or(args.get("path")).and_then(|value| value.as_str()).unwrap_or_default();
    let title = format!("{tool_name} {what}: {reason}. Run it?");
    let options: Vec<String> = options.iter().map(|option| quote(&words(*option, rule.as_deref()))).collect();
    Some(
        Object::new()
            .str("type", "extension_ui_request")
            .str("id", &format!("{PREFIX}{id}"))
            .str("method", "select")
            .str("title", &title)
            .raw("options", format!("[{}]", options.join(",")))
            .finish(),
    )
}

fn words(option: ApprovalDecision, rule: Option<&str>) -> String {
    let rule = rule.unwrap_or_default();
    match option {
        ApprovalDecision::AllowOnce => "yes, once".to_owned(),
        ApprovalDecision::AllowSession => format!("yes, {rule} until the end"),
        ApprovalDecision::AllowAlways => format!("yes, {rule} always"),
        ApprovalDecision::OnceUnsandboxed => "yes, once outside the sandbox".to_owned(),
        ApprovalDecision::Reject => "no".to_owned(),
    }
}

/// The question's number and its answer. Whatever is no yes is no.
pub(super) fn decision(response: &UiResponse) -> Option<(u64, ApprovalDecision)> {
    let id = response.id.strip_prefix(PREFIX)?.parse().ok()?;
    let value = response.value.as_deref().filter(|_| response.cancelled != Some(true)).unwrap_or_default();
    let decision = match value {
        "yes, once" => ApprovalDecision::AllowOnce,
        "yes, once outside the sandbox" => ApprovalDecision::OnceUnsandboxed,
        value if value.starts_with("yes, ") && value.ends_with(" until the end") => ApprovalDecision::AllowSession,
        value if value.starts_with("yes, ") && value.ends_with(" always") => ApprovalDecision::AllowAlways,
        _ if response.confirmed == Some(true) => ApprovalDecision::AllowOnce,
        _ => ApprovalDecision::Reject,
    };
    Some((id, decision))
}

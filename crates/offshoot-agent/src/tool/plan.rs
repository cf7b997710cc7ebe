//! The tool `plan`: puts the model's plan to the person, who lets the work begin, wants another plan, or does neither. Of use in the
//! approval mode `plan` alone. Who keeps an accepted plan and changes the mode is not known here.

use std::collections::BTreeMap;
use std::sync::Arc;

use offshoot_protocol::{ApprovalMode, FieldAnswer, FieldKind, Form, FormAnswer, FormField, FormOption, FormSource};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::{AcceptedPlan, Running, Tier, Tool, ToolContext, ToolOutcome, args};
use crate::provider::ToolSpec;

/// In the approval mode plan: show the user your plan, and ask whether to begin.
#[derive(Debug, Deserialize, JsonSchema)]
struct PlanInput {
    /// The whole plan.
    markdown: String,
}

/// The name of [`PlanTool`].
pub const PLAN_TOOL: &str = "plan";
/// Bytes. A longer plan would fill the context each time that it is repeated.
pub(crate) const LONGEST_PLAN: usize = 64 << 10;
/// The field of the form.
const GO: &str = "go";
const NO: &str = "No";
/// The modes in which the work may begin, with the answer that chooses each and what it lets run.
const GOES: [(&str, ApprovalMode, &str); 3] = [
    ("Yes, edits run", ApprovalMode::Edits, "files in this folder may be changed, the rest asks"),
    ("Yes, ask each time", ApprovalMode::Ask, "every change and every command asks"),
    ("Yes, everything runs", ApprovalMode::Auto, "all but critical commands"),
];

/// The tool `plan`.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlanTool;

impl Tool for PlanTool {
    fn name(&self) -> &str {
        PLAN_TOOL
    }

    fn spec(&self) -> ToolSpec {
        args::spec::<PlanInput>(PLAN_TOOL)
    }

    fn summary(&self) -> Option<&str> {
        Some("show a plan, and ask whether to begin")
    }

    fn needs_person(&self) -> bool {
        true
    }

    /// What follows it would be decided by a mode that may have changed.
    fn is_sequential(&self) -> bool {
        true
    }

    /// It changes nothing.
    fn tier(&self, _arguments: &Value, _place: &ToolContext) -> Tier {
        Tier::Read(Vec::new())
    }

    fn run(&self, arguments: Value, place: Arc<ToolContext>, _: UnboundedSender<ToolOutcome>) -> Running {
        Box::pin(async move {
            let PlanInput { markdown } = match args::parse(PLAN_TOOL, arguments) {
                Ok(input) => input,
                Err(failed) => return failed,
            };
            if let Err(why) = check(&markdown) {
                return ToolOutcome::failed(why);
            }
            let conversation = &place.conversation;
            let Some(keeper) = conversation.plans().filter(|keeper| keeper.is_planning()) else {
                return ToolOutcome::text("The approval mode is not plan: nothing waits for a plan. Do the work.");
            };
            let Some(asker) = conversation.asker() else {
                return ToolOutcome::failed("Nobody can be asked here. Answer with the plan.");
            };
            let chosen = match asker.ask(form()).await {
                FormAnswer::Send(answers) => chosen(answers),
                FormAnswer::Decline | FormAnswer::Cancel => Choice::No,
            };
            match chosen {
                Choice::Go(mode) => {
                    let plan = AcceptedPlan { markdown, mode };
                    if let Err(why) = keeper.accept(plan).await {
                        return ToolOutcome::failed(format!("The user accepted the plan, but {why}."));
                    }
                    let text = format!(
                        "The user has accepted the plan. The approval mode is {} from now on: do the work.",
                        mode.as_str()
                    );
                    ToolOutcome {
                        details: Some(json!({"answer": "go", "mode": mode.as_str()})),
                        ..ToolOutcome::text(text)
                    }
                }
                Choice::Change(words) => {
                    let text = format!("The user wants another plan: {words}");
                    ToolOutcome { details: Some(json!({"answer": "change"})), ..ToolOutcome::text(text) }
                }
                Choice::No => {
                    let text = "The user did not accept the plan. Wait for what they say.";
                    ToolOutcome { ends_run: true, details: Some(json!({"answer": "no"})), ..ToolOutcome::text(text) }
                }
            }
        })
    }
}

enum Choice {
    Go(ApprovalMode),
    /// In the person's words.
    Change(String),
    No,
}

fn check(markdown: &str) -> Result<(), String> {
    if markdown.trim().is_empty() {
        return Err("The plan is empty.".to_owned());
    }
    if markdown.len() > LONGEST_PLAN {
        return Err(format!("The plan has {} bytes: {LONGEST_PLAN} are the most. Shorten it.", markdown.len()));
    }
    Ok(())
}

fn form() -> Form {
    let option = |label: &str, description: Option<&str>| FormOption {
        label: label.to_owned(),
        description: description.map(str::to_owned),
        preview: None,
    };
    let options = GOES.iter().map(|(label, _, lets)| option(label, Some(lets)));
    let options = options.chain([option(NO, Some("the mode stays plan"))]).collect();
    let kind = FieldKind::Choice {
        options,
        multi: false,
        recommended: None,
        other: true,
        chosen: Vec::new(),
        minimum: None,
        maximum: None,
    };
    let question = "Begin with this plan? Other words ask for another one.".to_owned();
    let field = FormField { id: GO.to_owned(), header: None, question, kind, required: true };
    Form { source: FormSource::Tool(PLAN_TOOL.to_owned()), message: None, fields: vec![field] }
}

/// Words of the person come before an option that they have chosen, too.
fn chosen(mut answers: BTreeMap<String, FieldAnswer>) -> Choice {
    let FieldAnswer { selected, text } = answers.remove(GO).unwrap_or_default();
    if let Some(words) = text.filter(|words| !words.trim().is_empty()) {
        return Choice::Change(words);
    }
    let go = GOES.iter().find(|(label, ..)| selected.iter().any(|chosen| chosen == label));
    go.map_or(Choice::No, |(_, mode, _)| Choice::Go(*mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_a_change_and_nothing_is_a_no() {
        let words = |selected: &[&str], text: Option<&str>| {
            let selected = selected.iter().map(|label| (*label).to_owned()).collect();
            let answer = FieldAnswer { selected, text: text.map(str::to_owned) };
            match chosen(BTreeMap::from([(GO.to_owned(), answer)])) {
                Choice::Go(mode) => mode.as_str().to_owned(),
                Choice::Change(words) => format!("change: {words}"),
                Choice::No => "no".to_owned(),
            }
        };
        assert_eq!(words(&["Yes, edits run"], None), "edits");
        assert_eq!(words(&["Yes, ask each time"], Some(" ")), "ask");
        assert_eq!(words(&["Yes, everything runs"], None), "auto");
        assert_eq!(words(&["Yes, everything runs"], Some("but no tests")), "change: but no tests");
        assert_eq!(words(&[NO], None), "no");
        assert_eq!(words(&["maybe"], None), "no");
        assert!(matches!(chosen(BTreeMap::new()), Choice::No));
    }
}

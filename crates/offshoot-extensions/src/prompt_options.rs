//! What the system prompt is made of, in pi's shape. It asks nobody.

use offshoot_agent::request_queue::AgentState;
use offshoot_agent::resources::{Resource, Skill};
use serde_json::{Map, Value, json};

/// `cwd` is JSON. Instructions of the folder are not among it.
pub(crate) fn system_prompt_options(state: &AgentState, cwd: &str) -> Value {
    let cwd: Value = serde_json::from_str(cwd).unwrap_or_default();
    let (mut snippets, mut guidelines) = (Map::new(), Map::new());
    let active = state.tools.0.iter().filter(|tool| state.active_tools.iter().any(|name| name == tool.name()));
    for tool in active {
        tool.summary().into_iter().for_each(|summary| drop(snippets.insert(tool.name().to_owned(), json!(summary))));
        let rules = tool.guidelines();
        if !rules.is_empty() {
            guidelines.insert(tool.name().to_owned(), json!(rules));
        }
    }
    let skill = |skill: &Skill| {
        let Resource { name, description, file, .. } = &skill.about;
        json!({
            "name": name, "description": description, "filePath": file, "baseDir": file.parent(),
            "disableModelInvocation": skill.is_for_person_only
        })
    };
    json!({
        "cwd": cwd, "selectedTools": state.active_tools, "toolSnippets": snippets, "toolGuidelines": guidelines,
        "promptGuidelines": [], "appendSystemPrompt": "", "sections": {}, "contextFiles": [],
        "skills": state.resources.skills.iter().map(skill).collect::<Vec<_>>()
    })
}

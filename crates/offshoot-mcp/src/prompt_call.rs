//! A prompt of a server that a person calls: which one a typed name means, what is missing, and its text.

use std::collections::BTreeMap;
use std::sync::Arc;

use offshoot_protocol::{FieldKind, Form, FormAnswer, FormField, FormSource};
use offshoot_session::text::one_line;
use serde_json::json;

use crate::prompt::{PromptArgument, PromptDefinition, arguments, prompt_text};
use crate::server::Server;
use crate::tool_name::{in_name, tool_names};

/// How a typed word names a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling<'a> {
    /// `mcp__SERVER__PROMPT`, as in Claude Code.
    Whole(&'a str),
    /// `SERVER:PROMPT`, as in oh-my-pi: something else may be meant.
    Short(&'a str),
}

/// How a word names a prompt of this server, if it does.
pub(crate) fn spelled<'a>(server: &Server, called: &'a str) -> Option<Spelling<'a>> {
    if called
        .strip_prefix("mcp__")
        .and_then(|rest| rest.strip_prefix(&in_name(server.name()))?.strip_prefix("__"))
        .is_some()
    {
        return Some(Spelling::Whole(called));
    }
    called.split_once(':').filter(|(name, _)| *name == server.name()).map(|(_, prompt)| Spelling::Short(prompt))
}

/// The prompts with the names of their commands.
pub(crate) fn named_prompts<'a>(
    server: &str,
    prompts: &'a [PromptDefinition],
) -> impl Iterator<Item = (String, &'a PromptDefinition)> {
    let names: Vec<&str> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
    tool_names(server, &names).into_iter().zip(prompts)
}

/// The text of the prompt that is called. `None` if another command may be meant.
pub(crate) async fn called_prompt(
    server: &Arc<Server>,
    spelling: Spelling<'_>,
    typed: &str,
) -> Option<Result<String, String>> {
    let of_server = |why: String| format!("the MCP server {}: {why}", server.name());
    let prompts = match server.prompts() {
        Some(prompts) => Ok(prompts),
        None => server.list_prompts().await,
    };
    let prompts = match prompts {
        Ok(prompts) => prompts,
        Err(error) => return Some(Err(of_server(error.to_string()))),
    };
    let mut named = named_prompts(server.name(), &prompts);
    let found = named.find(|(name, prompt)| match spelling {
        Spelling::Whole(called) => name == called,
        Spelling::Short(called) => prompt.name == called,
    });
    match (found, spelling) {
        (Some((_, prompt)), _) => Some(text(server, prompt, typed).await.map_err(of_server)),
        (None, Spelling::Short(_)) => None,
        (None, Spelling::Whole(called)) => {
            let names: Vec<String> = named_prompts(server.name(), &prompts).map(|(name, _)| name).collect();
            let there =
                if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
            Some(Err(of_server(format!("there is no prompt {}; {there}", one_line(called, 100)))))
        }
    }
}

async fn text(server: &Arc<Server>, prompt: &PromptDefinition, typed: &str) -> Result<String, String> {
    let mut given = prompt.read(typed);
    let missing = prompt.missing(&given);
    if !missing.is_empty() {
        let asked = ask(server, prompt, &missing).await;
        given.extend(asked.ok_or_else(|| {
            let names: Vec<String> = missing.iter().map(|argument| one_line(&argument.name, 100)).collect();
            format!("its prompt {} needs {}", one_line(&prompt.name, 100), names.join(", "))
        })?);
    }
    let params = json!({"name": prompt.name, "arguments": arguments(given)});
    let result = server.ask("prompts/get", params).await.map_err(|error| error.to_string())?;
    prompt_text(&result)
}

/// Asks for what is missing. `None` if nobody answers.
async fn ask(
    server: &Server,
    prompt: &PromptDefinition,
    missing: &[&PromptArgument],
) -> Option<BTreeMap<String, String>> {
    let field = |argument: &&PromptArgument| {
        let name = one_line(&argument.name, 100);
        let question = if argument.description.is_empty() { name.clone() } else { argument.description.clone() };
        let kind = FieldKind::any_text();
        FormField { id: argument.name.clone(), header: Some(name), question, kind, required: true }
    };
    let message = format!("For the prompt {}:", one_line(&prompt.name, 100));
    let source = FormSource::Mcp(server.name().to_owned());
    let form = Form { source, message: Some(message), fields: missing.iter().map(field).collect() };
    match server.asker()?.ask(form).await {
        FormAnswer::Send(answers) => {
            Some(answers.into_iter().filter_map(|(name, answer)| Some((name, answer.text?))).collect())
        }
        FormAnswer::Decline | FormAnswer::Cancel => None,
    }
}

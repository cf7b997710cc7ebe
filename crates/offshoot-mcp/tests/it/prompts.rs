//! Prompts of servers, called as commands.

use std::collections::BTreeMap;
use std::sync::Arc;

use offshoot_agent::tool::LiveTools as _;
use offshoot_protocol::{FieldAnswer, FormAnswer};
use serde_json::json;

use crate::run::{Run, run};

const TEXT: &str = r#""greet-all" {"style":"very warm","who":"Ann"}"#;

fn expected(words: &str) -> Option<Result<String, String>> {
    Some(Ok(format!("{words}\n\n> Yes?")))
}

#[test]
fn a_prompt_is_called_in_either_spelling_and_what_is_missing_is_asked() {
    run(async {
        let run = Run::new("prompts", json!({}));
        let answers = BTreeMap::from([("who".to_owned(), FieldAnswer::text("Ann"))]);
        *run.agent.answer.lock().unwrap() = Some(Arc::new(move |_| FormAnswer::Send(answers.clone())));
        run.start().await;
        let seen = run.servers.prompts_changed(None).await;
        let prompts = run.servers.prompts();
        let [prompt] = prompts.as_slice() else { panic!("{prompts:?}") };
        assert_eq!((prompt.name.as_str(), prompt.short.as_str()), ("mcp__odd__greet_all", "odd:greet-all"));
        assert_eq!((prompt.description.as_str(), prompt.usage.as_str()), ("says hello", "who [style]"));
        for typed in [
            "/mcp__odd__greet_all Ann very warm",
            "/odd:greet-all style='very warm' who=Ann",
            "/odd:greet-all style=\"very warm\"",
        ] {
            assert_eq!(run.servers.expand(typed).await, expected(TEXT), "{typed}");
        }
        let asked = run.agent.asked.lock().unwrap().forms.len();
        assert_eq!(asked, 1, "only what is missing");
        for (typed, error) in
            [("/mcp__odd__no", "the MCP server odd: there is no prompt mcp__odd__no; it has mcp__odd__greet_all")]
        {
            assert_eq!(run.servers.expand(typed).await, Some(Err(error.to_owned())));
        }
        // Something else may be meant.
        for typed in ["/odd:no", "/other:greet-all", "/mcp__other__greet_all", "mcp__odd__greet_all", "/odd"] {
            assert_eq!(run.servers.expand(typed).await, None, "{typed}");
        }
        // The call makes the server announce another one.
        assert_eq!(run.echo("x").await, ("x".to_owned(), false));
        run.servers.prompts_changed(Some(seen)).await;
        assert_eq!(run.servers.prompts().len(), 2);
        run.servers.close().await;
    });
}

#[test]
fn where_nobody_answers_a_prompt_says_what_it_needs() {
    run(async {
        let run = Run::new("prompts", json!({}));
        *run.agent.answer.lock().unwrap() = Some(Arc::new(|_| FormAnswer::Cancel));
        run.start().await;
        let error = "the MCP server odd: its prompt greet-all needs who";
        assert_eq!(run.servers.expand("/odd:greet-all").await, Some(Err(error.to_owned())));
        run.servers.close().await;
    });
}

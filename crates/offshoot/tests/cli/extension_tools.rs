//! Tools of extensions, and the options that choose tools.

use offshoot_agent::testing::script::Reply;
use serde_json::{Value, json};

use crate::agent::Talk;
use crate::extensions::{command, extension, has_node, run};
use crate::rpc_client::RpcClient;

/// `delegate` starts a child agent as pi's example `subagent` does.
const TOOLS: &str = r#"
import { execFile } from "node:child_process";
const parameters = { type: "object", properties: { tools: { type: "string" } }, required: [] };
const text = (text) => ({ content: [{ type: "text", text }], details: {} });
export default (pi) => {
  pi.registerTool({ name: "lookup", label: "lookup", description: "looks up", parameters, async execute() { return text("found"); } });
  pi.registerTool({ name: "delegate", label: "delegate", description: "delegates", parameters, execute: (id, params) => new Promise((resolve) => {
    const args = [process.argv[1], "--mode", "json", "-p", "--no-session", "--tools", params.tools, "Task: look"];
    execFile(process.execPath, args, (error, out, err) => {
      const messages = out.split("\n").filter(Boolean).map((line) => JSON.parse(line)).filter(({ type }) => type === "message_end");
      resolve(text(error ? `exit ${error.code}: ${err}` : messages.at(-1).message.content[0].text));
    }).stdin.end();
  }) });
};
"#;

/// The tools of each request.
fn sent(talk: &Talk) -> Vec<String> {
    let names = |body: &str| {
        let body: Value = serde_json::from_str(body).unwrap();
        let tools = body["tools"].as_array().cloned().unwrap_or_default();
        let name = |tool: &Value| tool["name"].as_str().or(tool["function"]["name"].as_str()).unwrap().to_owned();
        tools.iter().map(name).collect::<Vec<_>>().join(",")
    };
    talk.server.seen().iter().map(|seen| names(&seen.body)).collect()
}

/// The options were checked before extensions had loaded: their tools were refused, and sent in spite of `--no-tools`.
#[test]
fn options_choose_tools_of_extensions() {
    if !has_node() {
        return;
    }
    let cases: [(&[&str], &str); 9] = [
        (&[], "read,bash,edit,write,todo,task,lookup,delegate"),
        (&["--tools", "read,lookup"], "read,lookup"),
        (&["--tools", "look*"], "lookup"),
        (&["--tools", "+ls,-delegate"], "read,bash,edit,write,todo,task,ls,lookup"),
        (&["--exclude-tools", "delegate,bash"], "read,edit,write,todo,task,lookup"),
        (&["--no-tools"], ""),
        (&["--no-tools", "--tools", "lookup"], "lookup"),
        (&["--no-builtin-tools"], "lookup,delegate"),
        (&["--tools", ""], ""),
    ];
    let talk = Talk::new(cases.map(|_| Reply::text("Yes.")));
    extension(&talk, "tools.js", TOOLS);
    for (options, _) in cases {
        let printed = run(&talk, &[&["-p", "go", "--no-session"], options].concat());
        assert_eq!(printed, "Yes.\n", "{options:?}");
    }
    let expected: Vec<&str> = cases.iter().map(|(_, tools)| *tools).collect();
    assert_eq!(sent(&talk), expected);
}

/// A session that stores a tool of an extension gave it to a later run with `--no-tools`.
#[test]
fn options_win_over_the_tools_that_a_session_stores() {
    if !has_node() {
        return;
    }
    let talk = Talk::new([Reply::text("Yes."), Reply::text("Yes."), Reply::text("Yes.")]);
    extension(&talk, "tools.js", TOOLS);
    for options in [&["-p", "go", "--tools", "lookup"][..], &["-c", "-p", "on"], &["-c", "-p", "on", "--no-tools"]] {
        run(&talk, options);
    }
    assert_eq!(sent(&talk), ["lookup", "lookup", ""]);
}

#[test]
fn a_name_that_no_tool_has_is_reported_when_extensions_have_loaded() {
    if !has_node() {
        return;
    }
    let talk = Talk::new([Reply::text("Yes.")]);
    extension(&talk, "tools.js", TOOLS);
    let printed = run(&talk, &["-p", "go", "--tools", "read,lookpu", "--exclude-tools", "delegate,mcp__*"]);
    let warning = "there is no tool \"lookpu\" (did you mean lookup?); \
                   there are read, bash, edit, write, grep, find, ls, ask, todo, plan, task, bash_output, bash_stop, bash_list, lookup, delegate";
    assert!(printed.starts_with("Yes.\n") && printed.contains(warning), "{printed}");
    assert_eq!(sent(&talk), ["read"]);
}

#[test]
fn a_tool_starts_a_child_agent_with_tools_of_the_extension() {
    if !has_node() {
        return;
    }
    let call = Reply::call("delegate", "c1", json!({"tools": "read,lookup"}));
    let talk = Talk::new([call, Reply::text("The child's answer."), Reply::text("Done.")]);
    extension(&talk, "tools.js", TOOLS);
    assert_eq!(run(&talk, &["--approval", "auto", "-p", "go"]), "Done.\n");
    let all = "read,bash,edit,write,todo,task,lookup,delegate";
    assert_eq!(sent(&talk), [all, "read,lookup", all]);
    let last = talk.server.seen().last().unwrap().body.clone();
    assert!(last.contains("The child's answer."), "{last}");
}

/// Regression: the agent stayed after its client had closed the input, because a command of an extension never returned.
#[test]
fn the_end_of_the_input_ends_rpc_while_a_command_of_an_extension_hangs() {
    if !has_node() {
        return;
    }
    let talk = Talk::new([]);
    let hanging = r#"export default (pi) => {
      pi.registerCommand("hang", { handler: async (args, ctx) => {
        ctx.ui.notify("hangs", "info");
        if (args === "ask") await ctx.ui.confirm("Title", "Really?");
        await new Promise(() => {});
      } });
    };"#;
    extension(&talk, "hanging.js", hanging);
    for message in ["/hang", "/hang ask"] {
        let mut client = RpcClient::of(command(&talk, &["--mode", "rpc"]), &["--no-session"]);
        client.send(&json!({"id": 1, "type": "prompt", "message": message}));
        client.until(|record| record["method"] == "notify");
        let (records, code) = client.end();
        assert_eq!(code, Some(0), "{records:#?}");
        assert_eq!(records.iter().filter(|record| record["id"] == 1).count(), 1, "it is answered: {records:#?}");
        assert!(records.iter().any(|record| record["type"] == "session_shutdown"), "{records:#?}");
    }
}

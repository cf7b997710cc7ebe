//! An extension that does not load and may be a guard: nothing runs as if it had been there.

use offshoot_agent::testing::script::Reply;
use serde_json::{Value, json};

use crate::agent::Talk;
use crate::extensions::{command, extension, has_node, run};
use crate::rpc_client::RpcClient;

const GUARD: &str =
    "import \"./not-there\";\nexport default (pi) => { pi.on(\"tool_call\", () => ({ block: true })); };\n";

/// Its text, without the event of a guard.
fn harmless() -> String {
    GUARD.replace("tool_call", "turn_start")
}

#[test]
fn print_mode_sends_nothing_without_an_extension_that_may_be_a_guard() {
    if !has_node() {
        return;
    }
    let talk = Talk::new([Reply::text("Hello.")]);
    extension(&talk, "notes.ts", &harmless());
    assert!(run(&talk, &["-p", "hi"]).contains("Hello."), "another extension that does not load holds nothing up");
    extension(&talk, "gate.ts", GUARD);
    let output = command(&talk, &["-p", "hi"]).output().unwrap();
    let said = talk.world.shown(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("it names `tool_call` and may be a guard of this session"), "{said}");
    assert!(said.contains("gate.ts did not load and may be a guard; --no-extensions goes on without it"), "{said}");
    assert_eq!(talk.server.seen().len(), 1, "{said}");
}

/// A client of pi's protocol, which cannot be asked, gets no command either.
#[test]
fn a_client_hears_of_a_missing_guard_first_and_commands_are_asked_about_until_it_chooses() {
    if !has_node() {
        return;
    }
    let call = |id: &str, file: &str| Reply::call("bash", id, json!({"command": format!("touch {file}")}));
    let talk = Talk::new([call("c1", "one"), Reply::text("Done."), call("c2", "two"), Reply::text("Done.")]);
    extension(&talk, "gate.ts", GUARD);
    let mut client = RpcClient::of(command(&talk, &["--mode", "rpc"]), &[]);
    let first = client.record().unwrap();
    assert_eq!((&first["type"], &first["event"]), (&json!("extension_error"), &json!("load")), "{first}");
    assert!(first["error"].as_str().unwrap().contains("may be a guard"), "{first}");
    let status = |client: &mut RpcClient| client.until(|record| record["statusKey"] == "guard")["statusText"].clone();
    let shown = status(&mut client);
    assert_eq!(shown, "gate.ts did not load and may be a guard; approval is edits until you choose with /approval");
    let prompt = |client: &mut RpcClient| {
        client.prompt("go");
        client.event("agent_settled");
    };
    prompt(&mut client);
    let exists = |name: &str| talk.world.work().join(name).exists();
    assert!(!exists("one"), "nobody could be asked");
    client.ask(json!({"type": "set_approval", "mode": "auto"}));
    let is_cleared = |record: &Value| record["statusKey"] == "guard" && record["statusText"].is_null();
    assert!(client.passed.iter().any(is_cleared), "{:?}", client.passed);
    prompt(&mut client);
    assert!(exists("two"));
    client.end();
}

//! MCP servers in the real program. The server is this test program, started as one.

use std::path::PathBuf;

use offshoot_agent::testing::script::Reply;
use serde_json::{Value, json};

use crate::agent::Talk;
use crate::agent_stops::{until, until_ended};
use crate::extensions::{command, extension, has_node};
use crate::rpc_client::RpcClient;
use crate::sandbox::has_sandbox;
use crate::terminal::Terminal;

#[allow(clippy::exit, clippy::print_stdout, clippy::print_stderr, reason = "the test program is a server then")]
#[path = "../../../offshoot-mcp/tests/it/scripted.rs"]
mod scripted;

/// Not a test: the scripted server is this program, started so.
#[test]
fn serve() {
    scripted::serve();
}

/// The entry of a server with these oddities.
fn server(oddities: &str) -> Value {
    scripted::entry("mcp::serve", oddities)
}

fn servers(entry: &Value) -> Value {
    json!({"mcpServers": {"odd": entry}})
}

/// The results of the session.
fn results(talk: &Talk) -> Vec<Value> {
    talk.lines()
        .into_iter()
        .map(|line| line["message"].clone())
        .filter(|message| message["role"] == "toolResult")
        .collect()
}

#[test]
fn a_model_calls_a_tool_of_a_server_and_the_result_is_stored() {
    let call = Reply::call("mcp__odd__echo", "c1", json!({"text": "hello"}));
    let talk = Talk::new([call, Reply::text("Done."), Reply::text("Again.")]);
    talk.data("mcp.json", &servers(&server("")));
    assert_eq!(talk.run(&["-p", "go"]), "Done.\n");
    talk.no_problems();
    let declared = talk.server.seen()[0].json()["tools"].to_string();
    assert!(declared.contains("mcp__odd__echo") && declared.contains("does echo"), "{declared}");
    let result = &results(&talk)[0];
    assert_eq!(result["content"], json!([{"type": "text", "text": "hello"}]));
    assert_eq!(result["details"], json!({"serverName": "odd", "mcpToolName": "echo"}));
    assert_eq!(talk.run(&["-c", "-p", "on", "--no-mcp"]), "Again.\n");
    assert!(!talk.server.seen().last().unwrap().json()["tools"].to_string().contains("mcp__"));
}

#[test]
fn a_server_that_fails_is_told_and_the_conversation_goes_on() {
    let talk = Talk::new([Reply::text("Done.")]);
    talk.data(
        "mcp.json",
        &json!({"mcpServers": {"bad": {"command": "/nonexistent/x"}, "both": {"command": "x", "url": "y"}}}),
    );
    let printed = talk.run(&["-p", "go"]);
    assert!(printed.starts_with("Done.\n"), "{printed}");
    assert!(printed.contains("mcp.json: both: it has both command and url"), "{printed}");
    assert!(printed.contains("MCP server bad: "), "{printed}");
    assert!(!printed.contains("exit code"), "{printed}");
}

/// What comes with a clone starts nothing.
#[test]
fn no_server_of_a_project_starts_by_itself() {
    let talk = Talk::new([Reply::text("One."), Reply::text("Two."), Reply::text("Three.")]);
    let pid = talk.world.work().join("pid");
    let mut entry = server("pid");
    entry["env"]["PID_FILE"] = json!(pid);
    talk.world.write(".mcp.json", servers(&entry).to_string());
    let printed = talk.run(&["-p", "go"]);
    assert!(printed.contains(".mcp.json is not used: this folder is not trusted"), "{printed}");
    let printed = talk.run(&["-p", "go", "--trust"]);
    assert!(
        printed.contains("the MCP server odd is not started; `offshoot mcp enable odd` lets it run: "),
        "{printed}"
    );
    assert!(!pid.exists());
    let printed = talk.run(&["-p", "go", "--mcp-config", ".mcp.json"]);
    assert!(printed.starts_with("Three.\n"), "{printed}");
    assert!(pid.exists(), "the command line names it");
}

/// A provider's key is in the environment of the program, and must not reach every server.
#[test]
fn no_key_reaches_a_server() {
    let call = Reply::call("mcp__odd__echo", "c1", json!({}));
    let talk = Talk::new([call, Reply::text("Done.")]);
    talk.data("mcp.json", &servers(&server("environment")));
    talk.run(&["-p", "go"]);
    let names = results(&talk)[0]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(names.contains("HOME") && names.contains("PATH") && !names.contains("TEST_KEY"), "{names}");
}

/// A value of a header or a variable that is filled in is masked as keys are.
#[test]
fn a_secret_of_a_server_is_in_no_session() {
    let secret = "wonderful-secret-0123456789";
    let call = Reply::call("mcp__odd__echo", "c1", json!({"text": format!("it is {secret}!")}));
    let talk = Talk::new([call, Reply::text("Done.")]);
    let mut entry = server("");
    // Names that say nothing of a key.
    entry["env"]["SETTING"] = json!("${ODD_VALUE}");
    talk.data("mcp.json", &servers(&entry));
    let output = talk.command(&["-p", "go"]).env("ODD_VALUE", secret).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let result = results(&talk)[0].to_string();
    assert!(!result.contains(secret) && result.contains("key hidden"), "{result}");
}

/// `kill -9` cannot be caught: the guard notices that the program is gone.
#[test]
fn a_killed_program_leaves_no_server() {
    let call = Reply::call("mcp__odd__echo", "c1", json!({}));
    let talk = Talk::new([call]);
    let pid: PathBuf = talk.world.home().join("pid");
    let mut entry = server("hangs,pid,stays");
    entry["env"]["PID_FILE"] = json!(pid);
    talk.data("mcp.json", &servers(&entry));
    let mut child = talk.command(&["--mode", "json", "-p", "go"]).spawn().unwrap();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    until(&mut out, |event| event["type"] == "tool_execution_start");
    let server = std::fs::read_to_string(&pid).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    until_ended(&server);
}

/// Discovery, start, list, call: at each a server may be killed. The conversation goes on, and every call has one result.
#[test]
fn a_server_that_is_killed_at_any_step_leaves_one_result_for_each_call() {
    for step in 1..=6 {
        let call = |id: &str| Reply::call("mcp__odd__echo", id, json!({"text": id}));
        let talk = Talk::new([call("c1"), call("c2"), Reply::text("Done.")]);
        let pid = talk.world.home().join("pid");
        let mut entry = server(&format!("pid,killed-at-{step}"));
        entry["env"]["PID_FILE"] = json!(pid);
        talk.data("mcp.json", &servers(&entry));
        let printed = talk.run(&["-p", "go"]);
        assert!(printed.starts_with("Done.\n") && !printed.contains("exit code"), "{step}: {printed}");
        talk.no_problems();
        let ids: Vec<Value> = results(&talk).iter().map(|result| result["toolCallId"].clone()).collect();
        assert_eq!(ids, ["c1", "c2"], "{step}");
        let texts: Vec<String> = results(&talk).iter().map(|result| result["content"][0]["text"].to_string()).collect();
        // The fifth message is the first call, after which the server starts again and is not asked as much; the sixth is the second.
        assert_eq!((texts[0] == "\"c1\"", texts[1] == "\"c2\""), (step == 6, step == 5), "{step}: {texts:?}");
        until_ended(&std::fs::read_to_string(&pid).unwrap());
    }
}

/// The same of the program: no server outlives it, and the next request has one result for each call.
#[test]
fn a_program_that_is_killed_at_any_step_leaves_no_server_and_no_open_call() {
    for step in [1, 2, 4, 5] {
        let call = Reply::call("mcp__odd__echo", "c1", json!({}));
        let talk = Talk::new([call, Reply::text("Done."), Reply::text("Done.")]);
        let pid = talk.world.home().join("pid");
        let mut entry = server(&format!("hangs-at-{step}"));
        entry["env"]["PID_FILE"] = json!(pid);
        talk.data("mcp.json", &servers(&entry));
        let mut child = talk.command(&["-p", "go"]).spawn().unwrap();
        let server = loop {
            match std::fs::read_to_string(&pid) {
                Ok(pid) if !pid.is_empty() => break pid,
                _ => std::thread::yield_now(),
            }
        };
        child.kill().unwrap();
        child.wait().unwrap();
        until_ended(&server);
        talk.run(&["-c", "--no-mcp", "-p", "on"]);
        talk.no_problems();
        let sent = talk.server.seen().last().unwrap().json()["messages"].to_string();
        assert_eq!(sent.matches(r#""tool_use_id":"c1""#).count(), 1, "{step}: {sent}");
    }
}

#[test]
fn a_server_in_a_sandbox_writes_where_commands_may() {
    let outside = tempfile::tempdir().unwrap();
    let outside = outside.path().join("outside.txt");
    let call = |id: &str, path: &str| Reply::call("mcp__odd__echo", id, json!({"text": path}));
    let talk = Talk::new([call("c1", "inside.txt"), call("c2", outside.to_str().unwrap()), Reply::text("Done.")]);
    if !has_sandbox(&talk) {
        return;
    }
    let mut entry = server("writes");
    entry["sandbox"] = json!(true);
    talk.data("mcp.json", &servers(&entry));
    let printed = talk.run(&["-p", "go"]);
    let texts: Vec<Value> = results(&talk).iter().map(|result| result["content"][0]["text"].clone()).collect();
    assert_eq!(texts, ["Some(true)", "Some(false)"], "{printed}");
    assert!(talk.world.work().join("inside.txt").exists() && !outside.exists());
}

/// Neither of two servers with one address is dropped; a header's value is in no file.
#[test]
fn two_servers_of_one_address_are_two_and_no_header_is_written() {
    let talk = Talk::new([Reply::text("Done.")]);
    let secret = "wonderful-secret-0123456789";
    let entry = json!({"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": format!("Bearer {secret}")}});
    talk.data("mcp.json", &json!({"mcpServers": {"one": entry, "two": entry}}));
    let printed = talk.run(&["-p", "go"]);
    assert!(printed.starts_with("Done.\n") && !printed.contains("exit code"), "{printed}");
    for name in ["one", "two"] {
        assert_eq!(printed.matches(&format!("MCP server {name}: ")).count(), 1, "{printed}");
    }
    assert!(!printed.contains(secret));
    let data = talk.world.home().join(".local/share/offshoot/mcp.json");
    for path in talk.world.snapshot().into_keys().filter(|path| path.is_file() && *path != data) {
        let bytes = std::fs::read(&path).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(secret), "{}", path.display());
    }
}

#[test]
fn servers_are_added_listed_and_removed() {
    let talk = Talk::new([]);
    let program = std::env::current_exe().unwrap();
    let printed = talk.run(&[
        "mcp",
        "add",
        "odd",
        "--env",
        "A=b",
        "--",
        program.to_str().unwrap(),
        "--exact",
        "mcp::serve",
        "--nocapture",
    ]);
    assert_eq!(printed, "added odd: ~/.local/share/offshoot/mcp.json\n");
    let file = talk.world.home().join(".local/share/offshoot/mcp.json");
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(written["mcpServers"]["odd"]["env"], json!({"A": "b"}));
    assert!(talk.run(&["mcp", "add", "odd", "--url", "http://h/"]).contains("there is a server odd already"));
    assert!(talk.run(&["mcp", "add", "Ünï", "--url", "http://h/"]).contains("a name has only letters"));
    talk.data("mcp.json", &json!({"other": 1, "mcpServers": {"odd": server(""), "off": {"command": "x", "enabled": false}, "gone": {"command": "/nonexistent/x"}}}));
    let listed = talk.run(&["mcp", "--json"]);
    let (json, rest) = listed.split_once('\n').unwrap();
    assert!(rest.contains("not every server can be used") && rest.contains("[exit code 1]"), "{rest}");
    let servers: Vec<Value> = serde_json::from_str(json).unwrap();
    let states: Vec<(&str, &str)> =
        servers.iter().map(|server| (server["name"].as_str().unwrap(), server["state"].as_str().unwrap())).collect();
    assert_eq!(states, [("odd", "ready"), ("off", "off"), ("gone", "failed")]);
    assert_eq!((&servers[0]["tools"], &servers[0]["protocol"]), (&json!(2), &json!("2025-06-18")));
    let remembered = std::fs::read_dir(talk.world.home().join(".cache/offshoot/mcp")).unwrap();
    assert_eq!(remembered.count(), 1, "the next conversation declares the tools at once");
    assert!(talk.run(&["mcp", "remove", "nobody"]).contains("names no server nobody"));
    for name in ["gone", "off"] {
        talk.run(&["mcp", "remove", name]);
    }
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(written["other"], 1, "what else is in the file stays");
    let listed = talk.run(&["mcp"]);
    assert!(
        listed.starts_with("odd  ready  2 tools  protocol 2025-06-18  (~/.local/share/offshoot/mcp.json)\n"),
        "{listed}"
    );
}

/// Whoever changes the entry after that changes what runs.
#[test]
fn a_server_of_a_project_runs_as_it_was_named_and_a_changed_entry_asks_again() {
    let talk = Talk::new([Reply::text("One."), Reply::text("Two.")]);
    let pid = talk.world.work().join("pid");
    let mut entry = server("pid");
    entry["env"]["PID_FILE"] = json!(pid);
    talk.world.write(".mcp.json", servers(&entry).to_string());
    let printed = talk.run(&["mcp", "enable", "odd"]);
    assert!(printed.starts_with("odd may run: ") && printed.contains("--exact mcp::serve"), "{printed}");
    assert!(printed.contains("it starts when this folder is trusted"), "{printed}");
    talk.run(&["--trust", "-p", "go"]);
    std::fs::remove_file(&pid).unwrap();
    entry["args"].as_array_mut().unwrap().push(json!("--quiet"));
    talk.world.write(".mcp.json", servers(&entry).to_string());
    let printed = talk.run(&["--trust", "-p", "go"]);
    assert!(printed.contains("the MCP server odd is not started"), "{printed}");
    assert!(!pid.exists());
    assert!(talk.run(&["mcp", "enable", "nobody"]).contains("no file names a server nobody"));
}

/// Each with all that it runs. A changed entry asks again, and an answer is kept by the entry.
#[test]
fn on_a_terminal_a_server_of_a_project_is_asked_about_once() {
    let talk = Talk::new((0..4).map(|_| Reply::text("Yes.")));
    let pid = talk.world.work().join("pid");
    let mut entry = server("pid");
    entry["env"]["PID_FILE"] = json!(pid);
    let two = |entry: &Value| {
        let servers = json!({"odd": entry, "other": {"command": "touch", "args": [pid], "cwd": "/"}});
        talk.world.write(".mcp.json", json!({"mcpServers": servers}).to_string());
    };
    two(&entry);
    let open = || Terminal::offshoot(&talk, &["chat", "go"], (150, 40));
    let mut terminal = open();
    let screen = terminal.until_text("such as 1y 2y:").screen();
    for words in [
        "1  Do you trust ~/work?",
        "~/work/.mcp.json names MCP servers; each is asked about",
        "2  Start the MCP server odd of ~/work/.mcp.json?",
        "--exact mcp::serve --nocapture; with SCRIPTED_MCP_SERVER=pid; with PID_FILE=",
        "3  Start the MCP server other of ~/work/.mcp.json?",
        "; in /",
    ] {
        assert!(screen.replace('\n', " ").replace("    ", " ").contains(words), "{words}: {screen}");
    }
    // Of a folder that is not trusted nothing starts, whatever is answered about its servers.
    terminal.send("2y 3n\r");
    terminal.until_text("Yes.").until_idle().send("\x04");
    assert!(terminal.ended() && !pid.exists());
    let mut terminal = open();
    terminal.until_text("such as 1y 2y:").send("1y 2y 3n\r");
    terminal.until_text("Yes.").until_idle().send("\x04");
    assert!(terminal.ended() && std::fs::remove_file(&pid).is_ok());
    let mut terminal = open();
    terminal.until_text("Yes.").until_idle().send("\x04");
    assert!(terminal.ended() && std::fs::remove_file(&pid).is_ok() && !terminal.raw().contains("MCP server"));
    entry["args"].as_array_mut().unwrap().push(json!("--quiet"));
    two(&entry);
    let mut terminal = open();
    let screen = terminal.until_text("y, n or Enter:").screen();
    assert!(screen.contains("Start the MCP server odd of") && screen.contains("--nocapture --quiet"), "{screen}");
    terminal.send("\r");
    terminal.until_text("Yes.").until_idle().send("\x04");
    assert!(terminal.ended() && !pid.exists());
    // The command line still lets the refused one run.
    assert!(talk.run(&["mcp", "enable", "other"]).contains(" may run: touch "));
}

#[test]
fn a_prompt_of_a_server_is_a_command() {
    let talk = Talk::new((0..3).map(|_| Reply::text("Yes.")));
    talk.data("mcp.json", &servers(&server("prompts")));
    let sent = || talk.server.seen().last().unwrap().json()["messages"].to_string();
    assert_eq!(talk.run(&["-p", "/mcp__odd__greet_all Ann warm"]), "Yes.\n");
    let text = r#"\"greet-all\" {\"style\":\"warm\",\"who\":\"Ann\"}\n\n> Yes?"#;
    assert!(sent().contains(text), "{}", sent());
    let printed = talk.run(&["-p", "/odd:greet-all"]);
    assert!(printed.contains("the MCP server odd: its prompt greet-all needs who"), "{printed}");
    let mut client = RpcClient::start(&talk, &[]);
    client.prompt("/odd:greet-all who=Ann style=warm");
    client.event("agent_settled");
    assert!(sent().contains(text), "{}", sent());
    let commands = client.ask(json!({"type": "get_commands"}))["commands"].clone();
    let expected = json!([{"name": "mcp__odd__greet_all", "description": "says hello", "source": "mcp", "server": "odd",
        "argumentHint": "who [style]"}]);
    assert_eq!(commands, expected);
    drop(client);
    // On a terminal it is offered, and what is missing is asked.
    let mut terminal = Terminal::offshoot(&talk, &["chat"], (100, 30));
    terminal.send("/greet");
    let screen = terminal.until_text("says hello (MCP server odd)").screen();
    assert!(screen.contains("mcp__odd__greet_all") && screen.contains("who [style]"), "{screen}");
    terminal.send("\t\r");
    let screen = terminal.until_text("Whom?").screen();
    assert!(screen.contains("the MCP server odd asks") && screen.contains("For the prompt greet-all:"), "{screen}");
    terminal.send("Bob\r");
    terminal.until_text("Yes.").until_idle().send("\x04");
    assert!(terminal.ended() && sent().contains(r#"{\"who\":\"Bob\"}"#), "{}", sent());
}

/// As in pi: what is registered during the load connects with the others, what comes later at once; a file comes first.
#[test]
fn extensions_register_servers_and_hear_of_them() {
    if !has_node() {
        return;
    }
    let call = Reply::call("mcp__my_ext__echo", "c1", json!({"text": "hello"}));
    let later = Reply::call("mcp__later__echo", "c2", json!({"text": "later"}));
    let talk = Talk::new([call, Reply::text("Done."), later, Reply::text("Done too."), Reply::text("Gone.")]);
    talk.data("mcp.json", &json!({"mcpServers": {"taken": server("")}}));
    let log = talk.world.home().join("log");
    let text = format!(
        r#"import fs from "node:fs";
const entry = {entry};
const say = (words) => fs.appendFileSync({log:?}, words + "\n");
const attempt = (work) => {{ try {{ work(); say("no error"); }} catch (error) {{ say(error.message); }} }};
export default function (pi) {{
  pi.registerMcpServer("my-ext", {{ command: "nothing" }});
  pi.registerMcpServer("my-ext", entry);
  pi.registerMcpServer("taken", entry);
  attempt(() => pi.registerMcpServer("a b", entry));
  attempt(() => pi.registerMcpServer("both", {{ command: "x", url: "http://h/" }}));
  attempt(() => pi.registerMcpServer("my_ext", entry));
  attempt(() => pi.registerMcpServer("ta_ken", {{ ...entry, timeout: "1" }}));
  pi.on("session_start", () => say(pi.getMcpServers().map(({{ name, config, extensionPath }}) => `${{name}} ${{config.command === entry.command}} ${{extensionPath.endsWith("a.ts")}}`).join(", ")));
  pi.on("mcp_servers_change", (event) => say(`${{event.type}} ${{event.servers.map((one) => one.name)}}`));
  let runs = 0;
  pi.on("agent_settled", () => {{
    runs += 1;
    if (runs === 1) pi.registerMcpServer("later", entry);
    if (runs === 2) pi.unregisterMcpServer("later");
  }});
}}"#,
        entry = server(""),
        log = log.display().to_string(),
    );
    extension(&talk, "a.ts", &text);
    extension(
        &talk,
        "b.ts",
        "export default (pi) => { try { pi.registerMcpServer('my-ext', { command: 'x' }); } catch (error) { console.error(error.message); } };",
    );
    let mut client = RpcClient::of(command(&talk, &["--mode", "rpc"]), &[]);
    for (prompt, lines) in [("one", 6), ("two", 7), ("three", 7)] {
        client.prompt(prompt);
        client.event("agent_settled");
        while std::fs::read_to_string(&log).unwrap_or_default().lines().count() < lines {
            std::thread::yield_now();
        }
    }
    drop(client);
    let texts: Vec<Value> = results(&talk).iter().map(|result| result["content"][0]["text"].clone()).collect();
    assert_eq!(texts, ["hello", "later"]);
    let seen = talk.server.seen();
    let declared = |at: usize| seen[at].json()["tools"].to_string();
    assert!(declared(0).contains("mcp__my_ext__echo") && declared(0).contains("mcp__taken__echo"), "{}", declared(0));
    assert!(!declared(0).contains("mcp__later__") && !declared(seen.len() - 1).contains("mcp__later__"));
    let said = std::fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert!(
        lines[0].contains("a b") && lines[1].contains("both command and url") && lines[2].contains("but for - and _"),
        "{said}"
    );
    assert!(lines[3].contains("timeout"), "{said}");
    assert_eq!(
        lines[4..],
        [
            "my-ext true true, taken true true",
            "mcp_servers_change my-ext,taken,later",
            "mcp_servers_change my-ext,taken"
        ]
    );
}

/// Of other programs only what the user imports starts, and nothing of theirs is written.
#[test]
fn servers_of_other_programs_start_when_they_are_imported() {
    let talk = Talk::new([]);
    let home = talk.world.home();
    for (path, servers) in [
        (".pi/agent/mcp.json", servers(&server(""))),
        (
            ".claude.json",
            json!({"numStartups": 1, "mcpServers": {"claude-one": server("")}, "projects": {
            (talk.world.work().to_str().unwrap()): {"mcpServers": {"claude-two": server("")}}}}),
        ),
    ] {
        let path = home.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, servers.to_string()).unwrap();
    }
    assert_eq!(talk.run(&["mcp"]), "no servers; `offshoot mcp add NAME -- COMMAND` adds one\n");
    talk.data("settings.json", &json!({"mcp": {"import": ["pi", "claude"]}}));
    let before = talk.world.snapshot();
    let listed: Vec<Value> = serde_json::from_str(talk.run(&["mcp", "--json"]).lines().next().unwrap()).unwrap();
    let names: Vec<&str> = listed.iter().map(|server| server["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["odd", "claude-two", "claude-one"]);
    assert!(listed.iter().all(|server| server["state"] == "ready"), "{listed:?}");
    let changed: Vec<_> = talk
        .world
        .snapshot()
        .into_iter()
        .filter(|(path, stamp)| before.get(path) != Some(stamp))
        .map(|(path, _)| path)
        .collect();
    assert!(
        changed
            .iter()
            .all(|path| !path.to_string_lossy().contains(".pi") && !path.to_string_lossy().contains(".claude")),
        "{changed:?}"
    );
}

//! `/sandbox` on a terminal: the commands of the model run in another sandbox from the next call on.

use offshoot_agent::testing::script::Reply;
use offshoot_agent::testing::seen::Seen;
use offshoot_protocol::SandboxMode;
use serde_json::json;

use crate::agent::Talk;
use crate::sandbox_escapes::{ALL, is_possible, policy};
use crate::sandbox_prepared::until_helpers_are;
use crate::terminal::Terminal;

fn bash(id: &str, command: &str) -> Reply {
    Reply::call("bash", id, json!({ "command": command }))
}

/// The model is told with the next prompt, and what it was sent before stays the beginning of each request.
#[test]
fn a_sandbox_that_is_switched_on_counts_from_the_next_call_on_and_leaves_nothing_when_it_is_off() {
    let write = |id: &str, file: &str| bash(id, &format!("echo x > ../{file}"));
    let talk = Talk::new([
        write("c1", "first"),
        Reply::text("One."),
        write("c2", "second"),
        Reply::text("Two."),
        write("c3", "third"),
        Reply::text("Three."),
    ]);
    let work = talk.world.work();
    if !is_possible(&policy(SandboxMode::Workspace, &work, &talk.world.home()), ALL) {
        return;
    }
    let mut terminal = Terminal::offshoot(&talk, &["do it"], (170, 30));
    terminal.until_text("One.").until_idle();
    assert!(!terminal.screen().contains("sandbox"), "{}", terminal.screen());
    terminal.send("/sandbox\r");
    terminal.until_text("sandbox: off: commands do what you could do (the default");
    terminal.send("/sandbox workspace\r");
    terminal.until_text("you switched it with /sandbox");
    terminal.until("the status line", |screen| {
        screen.trim_end().lines().last().unwrap_or_default().contains("sandbox: workspace")
    });
    terminal.send("again\r");
    terminal.until_text("Run it again outside?").until_text("tab answers").send("\t");
    terminal.until_text("y allow").send("n");
    terminal.until_text("Two.").until_idle();
    // It waits for the next command.
    until_helpers_are(1, &work);
    terminal.send("/sandbox off\r");
    terminal.until_text("sandbox: off: commands do what you could do (you switched it");
    until_helpers_are(0, &work);
    terminal
        .until("the status line", |screen| !screen.trim_end().lines().last().unwrap_or_default().contains("sandbox"));
    terminal.send("again\r");
    terminal.until_text("Three.").until_idle();
    terminal.send("\x04");
    assert!(terminal.ended());
    let home = talk.world.home();
    assert_eq!(["first", "second", "third"].map(|name| home.join(name).exists()), [true, false, true]);
    let seen: Vec<_> = talk.server.seen().iter().map(Seen::json).collect();
    assert!(seen.iter().all(|request| request["system"] == seen[0]["system"]));
    let told = |at: usize| {
        let messages = seen[at]["messages"].to_string();
        ["Commands run in a sandbox: they can write only", "Commands run without a sandbox"]
            .map(|words| messages.matches(words).count())
    };
    assert_eq!([1, 2, 3, 4, 5].map(told), [[0, 0], [1, 0], [1, 0], [1, 1], [1, 1]]);
}

/// A project makes a sandbox stricter than the user's, and a mode that the user has chosen here counts before both.
#[test]
fn what_is_in_force_is_said_with_the_reason() {
    let talk = Talk::new([]);
    talk.data("settings.json", &json!({"sandbox": {"mode": "workspace"}}));
    let mut terminal = Terminal::offshoot(&talk, &[], (170, 30));
    terminal.until_text("thinking medium").until_idle();
    terminal.send("/sandbox\r");
    terminal.until_text("(your setting sandbox.mode)");
    terminal.send("/sandbox zzz\r");
    terminal.until_text("is not a mode of the sandbox; the modes are off, workspace and");
    terminal.send("\x03/sandbox off\r");
    terminal.until_text("(you switched it with /sandbox, until this program ends)");
    terminal.send("/reload\r");
    terminal.until_text("read again");
    terminal.send("/sandbox\r");
    terminal.until("the switch outlives a reload", |screen| {
        screen.matches("sandbox: off: commands do what you could do (you switched it with").count() == 2
    });
    terminal.send("\x04");
    assert!(terminal.ended());
}

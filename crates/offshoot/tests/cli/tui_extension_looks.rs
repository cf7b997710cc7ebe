//! How extensions change the look of work, thoughts and tools in the terminal, and what floods do there.

use offshoot_agent::testing::script::{Gate, Reply, Say};
use serde_json::json;

use crate::agent::Talk;
use crate::extensions::node;
use crate::terminal::Terminal;
use crate::tui_extensions::{leave, terminal_with};

const LOOKS: &str = r#"
export default function (pi) {
  pi.registerCommand("look", {
    handler: async (text, ctx) => {
      const [, what, value] = /^(\w+) ?(.*)$/.exec(text);
      const answer = ctx.ui[what](value ? JSON.parse(value) : undefined);
      ctx.ui.notify(`${what} did ${JSON.stringify(answer)}`);
    },
  });
  pi.registerCommand("leave", { handler: async (_, ctx) => ctx.shutdown() });
}
"#;

/// Each is set, seen while the model is asked, and set back.
const WORK: [(&str, &str, &str); 4] = [
    ("setWorkingMessage \"Thinking hard\"", "⠋ Thinking hard … escape stops it", "setWorkingMessage"),
    ("setWorkingIndicator {\"frames\":[\"@@\"],\"intervalMs\":50}", "─ @@ m1 is answering", "setWorkingIndicator"),
    ("setWorkingIndicator {\"frames\":[]}", "─ m1 is answering …", "setWorkingIndicator"),
    ("setWorkingVisible false", "", "setWorkingVisible true"),
];

#[test]
fn the_row_of_the_work_looks_as_extensions_want_it() {
    let gate = Gate::new();
    let reply = |nth: usize| Reply { gate: Some((0, gate.clone())), ..Reply::text(&format!("Answer {nth}.")) };
    let talk = Talk::new((0..2 * WORK.len()).map(reply));
    // With a clock that does not run the spinner has one frame.
    let Some(mut terminal) = terminal_with(&talk, ("looks.ts", LOOKS), (70, 60), ("COLORTERM", "truecolor")) else {
        return;
    };
    terminal.until_text("m1");
    let rows = WORK.iter().flat_map(|(set, seen, back)| [(*set, *seen), (*back, "⠋ ")]);
    for (nth, (set, seen)) in rows.enumerate() {
        terminal.send(&format!("/look {set}\r"));
        terminal.until("the command", |screen| screen.matches(" did undefined").count() == nth + 1).until_idle();
        terminal.send(&format!("question {nth}\r"));
        terminal.until_text(&format!("› question {nth}"));
        terminal.until(set, |screen| match seen {
            "" => !screen.contains("stops it"),
            "⠋ " => screen.contains("⠋ waiting for m1") || screen.contains("⠋ m1 is answering"),
            seen => screen.contains(seen),
        });
        gate.step();
        terminal.until_text(&format!("Answer {nth}.")).until_idle();
    }
    leave(terminal, &talk);
}

#[test]
fn thoughts_and_tools_are_shown_as_extensions_want_it_and_they_end_the_program() {
    let thinks = || Reply::say([Say::Thinking { thinking: "a secret thought".to_owned(), signature: None }]);
    let answer = |mut reply: Reply| {
        reply.say.push(Say::Text { text: "Forty-two.".to_owned() });
        reply
    };
    let call = || Reply::call("bash", "c1", json!({"command": "seq 1 90"}));
    let replies = [answer(thinks()), call(), Reply::text("Counted."), call(), Reply::text("Counted again.")];
    let talk = Talk::new(replies);
    talk.data("settings.json", &json!({"hideThinkingBlock": true}));
    let Some(mut terminal) = terminal_with(&talk, ("looks.ts", LOOKS), (70, 40), ("COLORTERM", "truecolor")) else {
        return;
    };
    terminal.until_text("m1").send("/look setHiddenThinkingLabel \"Pondering\"\r");
    terminal.until_text("setHiddenThinkingLabel did").until_idle().send("what is it?\r");
    terminal.until_text("Forty-two.").until_idle().until_text("Pondering");
    assert!(!terminal.screen().contains("secret"), "{}", terminal.screen());
    terminal.send("/look getToolsExpanded\r");
    terminal.until_text("getToolsExpanded did false").until_idle().send("count\r");
    terminal.until_text("Counted.").until_idle();
    assert!(!terminal.whole().contains("\n    3\n"), "{}", terminal.whole());
    terminal.send("/look setToolsExpanded true\r");
    terminal.until_text("setToolsExpanded did").until_idle().send("/look getToolsExpanded\r");
    terminal.until_text("getToolsExpanded did true").until_idle().send("again\r");
    terminal.until_text("Counted again.").until_idle();
    assert!(terminal.whole().lines().any(|row| row.trim() == "3"), "{}", terminal.whole());
    terminal.send("/leave\r");
    assert!(terminal.ended());
    talk.no_problems();
}

const FLOODS: &str = r#"
export default function (pi) {
  const component = (render) => () => ({ render, invalidate() {} });
  const floods = {
    notices: (ui) => { for (let at = 0; at < 10_000; at += 1) ui.notify(`notice ${at}`); },
    widget: (ui) => ui.setWidget("w", Array.from({ length: 1_000_000 }, (_, at) => `line ${at}`)),
    status: (ui) => ui.setStatus("s", "a\n\x1b[2Jb\r\n\x1b]0;stolen\x07" + "c".repeat(1_000_000)),
    statuses: (ui) => { for (let at = 0; at < 1_000; at += 1) ui.setStatus(`s${at}`, `status ${at}`); },
    widgets: (ui) => { for (let at = 0; at < 1_000; at += 1) ui.setWidget(`w${at}`, [`widget ${at}`]); },
    big: (ui) => ui.setWidget("big", component((width) => Array.from({ length: 10_000 }, () => "x".repeat(1_000)))),
    long: (ui) => ui.setWidget("long", component(() => ["y".repeat(10_000_000)])),
    footer: (ui) => ui.setFooter(component(() => Array.from({ length: 1_000 }, (_, at) => `foot ${at}`))),
    title: (ui) => ui.setTitle("t".repeat(1_000_000)),
    text: (ui) => ui.setEditorText("z".repeat(10_000_000)),
    draws: (ui) => ui.setWidget("draws", (tui) => {
      let count = 0;
      return { render: () => (setImmediate(() => tui.requestRender()), [`drawn ${(count += 1)}`]), invalidate() {} };
    }),
    slow: (ui) => ui.setWidget("slow", component(() => {
      for (const until = Date.now() + 3_000; Date.now() < until; );
      return ["slowly drawn"];
    })),
  };
  pi.registerCommand("flood", {
    handler: async (name, ctx) => {
      floods[name](ctx.ui);
      ctx.ui.setWidget("done", [`done ${name}`]);
    },
  });
}
"#;

/// Nothing breaks, the screen keeps its room, and one can write.
#[test]
fn floods_of_an_extension_leave_the_terminal_usable() {
    let talk = Talk::new([]);
    let Some(mut terminal) = terminal_with(&talk, ("floods.ts", FLOODS), (60, 24), ("OFFSHOOT_NOW", "")) else {
        return;
    };
    terminal.until_text("m1");
    for (name, seen) in [
        ("notices", "extensions said too much at once"),
        ("widget", "more rows of extensions"),
        ("status", "a b"),
        ("statuses", "a b"),
        ("widgets", "more rows of extensions"),
        ("big", "more rows of extensions"),
        ("long", "more rows of extensions"),
        ("title", "more rows of extensions"),
        ("draws", "more rows of extensions"),
        ("footer", "foot 0"),
        ("slow", "foot 0"),
    ] {
        terminal.send(&format!("/flood {name}\r"));
        terminal.until_text(seen).until_gone("flood").send(&format!("typed after {name}"));
        terminal.until(name, |screen| screen.lines().any(|row| row == format!("typed after {name}"))).send("\x15");
        terminal.until_gone("typed after");
        let rows = terminal.screen().lines().count();
        assert!(rows <= 24, "{name}: {rows} rows");
    }
    assert!(!terminal.raw().contains("stolen"), "a status steers no terminal");
    assert!(terminal.raw().len() < 4 << 20, "{} bytes for a terminal", terminal.raw().len());
    leave(terminal, &talk);
}

const LENDS: &str = r#"
import { spawnSync } from "node:child_process";
export default function (pi) {
  pi.registerCommand("edit", {
    handler: async (args, ctx) => {
      const status = await ctx.ui.custom((tui, _theme, _keys, done) => {
        tui.stop();
        process.stdout.write("now it is mine\r\n");
        const { status } = spawnSync("/bin/sh", ["-c", args], { stdio: "inherit" });
        tui.start();
        tui.requestRender(true);
        done(status);
        return { render: () => [], invalidate() {} };
      });
      ctx.ui.notify(`it ended with ${status}`);
    },
  });
}
"#;

/// Story: what an extension started between `tui.stop()` and `tui.start()` had no terminal, and nobody saw it.
#[test]
fn a_program_of_an_extension_has_the_terminal_and_gives_it_back() {
    let talk = Talk::new([Reply::text("Forty-two.")]);
    let patience = ("OFFSHOOT_EXTENSION_PATIENCE", "1");
    let Some(mut terminal) = terminal_with(&talk, ("lends.ts", LENDS), (70, 30), patience) else { return };
    // It takes longer than a process may go without yielding.
    terminal
        .until_text("m1")
        .send("/edit test -t 0 && sleep 2 && printf 'who %s? ' is && read name && echo \"<$name>\"\r");
    terminal.until_text("now it is mine").until_text("who is?").send("nobody\r");
    terminal.until_text("<nobody>").until_text("it ended with 0").until_text("m1");
    // The key that ends the program in front does not end the extensions.
    // A shell that has said something and is about to become another program may lose the signal; this one has long become it.
    terminal.send("/edit cat\r");
    terminal.until("the second loan", |screen| screen.matches("now it is mine").count() == 2).send("echoed\r");
    terminal.until("what cat repeats", |screen| screen.matches("echoed").count() == 2).send("\x03");
    terminal.until_text("it ended with null");
    terminal.send("and now?\r");
    terminal.until_text("Forty-two.").until_idle();
    leave(terminal, &talk);
}

const TEXTS: &str = r#"
export default function (pi) {
  pi.registerMarkdownTransformer((text) => text.replaceAll("alpha", "the letter α"));
  pi.registerToolRenderer((name, next) => (name === "ls" ? { renderResult: () => ({ render: () => ["drawn by another"] }) } : next()));
  pi.registerCommand("set", { handler: async (_, ctx) => ctx.ui.notify("hidden " + pi.getSettings().hideThinkingBlock) });
}
"#;

/// Prompts and thoughts as well, and all of them again when the session is opened.
#[test]
fn an_extension_changes_the_text_of_prompts_and_thoughts_and_of_opened_sessions() {
    let parts = [
        Say::Thinking { thinking: "I think of alpha.".to_owned(), signature: Some("s".to_owned()) },
        Say::Text { text: "Before: alpha.".to_owned() },
    ];
    let talk = Talk::new([Reply::say(parts)]);
    let color = ("COLORTERM", "truecolor");
    let Some(mut terminal) = terminal_with(&talk, ("texts.ts", TEXTS), (70, 30), color) else { return };
    terminal.until_text("m1").send("what is alpha?\r");
    terminal.until_text("what is the letter α?").until_text("think of the letter α.");
    terminal.until_text("Before: the letter α.").until_idle();
    assert!(!terminal.whole().contains("alpha."), "{}", terminal.whole());
    leave(terminal, &talk);
    let node = node().unwrap();
    let mut terminal = Terminal::offshoot_in(&talk, &["-c"], (70, 30), &[("PI_NODE", node.to_str().unwrap()), color]);
    terminal.until_text("what is the letter α?").until_text("think of the letter α.");
    terminal.until_text("Before: the letter α.");
    assert!(!terminal.whole().contains("alpha"), "{}", terminal.whole());
    leave(terminal, &talk);
}

#[test]
fn an_extension_changes_the_text_of_answers_and_draws_calls_of_other_tools() {
    let texts =
        [Reply::text("Before: alpha.\n\nAfter: alpha."), Reply::call("ls", "c1", json!({})), Reply::text("Done.")];
    let talk = Talk::new(texts);
    talk.data("settings.json", &json!({"hideThinkingBlock": true}));
    let Some(mut terminal) = terminal_with(&talk, ("texts.ts", TEXTS), (70, 30), ("COLORTERM", "truecolor")) else {
        return;
    };
    terminal.until_text("m1").send("go\r");
    terminal.until_text("Before: the letter α.").until_text("After: the letter α.").until_idle();
    assert!(!terminal.whole().contains("alpha"), "{}", terminal.whole());
    let keeps = talk.lines().iter().any(|line| line.to_string().contains("Before: alpha."));
    assert!(keeps, "the session keeps what the model wrote");
    terminal.send("list\r");
    terminal.until_text("drawn by another").until_text("Done.").until_idle();
    terminal.send("/set\r");
    terminal.until_text("hidden true");
    leave(terminal, &talk);
}

//! Extensions in the terminal: what they show, and what they ask.

use offshoot_agent::testing::script::{Gate, Reply};
use serde_json::{Value, json};

use crate::agent::Talk;
use crate::extensions::{extension, has_node, node};
use crate::terminal::Terminal;

/// `None` without a Node.js, which is reported.
fn terminal(talk: &Talk, name: &str, text: &str, size: (u16, u16)) -> Option<Terminal> {
    terminal_with(talk, (name, text), size, ("OFFSHOOT_EXTENSION_PATIENCE", "1"))
}

/// The same with another variable.
pub(crate) fn terminal_with(
    talk: &Talk,
    (name, text): (&str, &str),
    size: (u16, u16),
    variable: (&str, &str),
) -> Option<Terminal> {
    if !has_node() {
        return None;
    }
    extension(talk, name, text);
    talk.was_started_before();
    let node = node().unwrap();
    Some(Terminal::offshoot_in(talk, &[], size, &[("PI_NODE", node.to_str().unwrap()), variable]))
}

pub(crate) fn leave(mut terminal: Terminal, talk: &Talk) {
    terminal.send("\x15\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

const SHOWS: &str = r#"
export default function (pi) {
  pi.on("session_start", (_, ctx) => {
    ctx.ui.notify("hello from outside", "warning");
    ctx.ui.setStatus("b", "second\nstatus");
    ctx.ui.setStatus("a", ctx.ui.theme.fg("error", "first") + "\x1b[2J\x1b]0;stolen\x07");
    ctx.ui.setWidget("list", ["* one", "* two"]);
    ctx.ui.setWidget("below", ["under it"], { placement: "belowEditor" });
    ctx.ui.setTitle("pages\x07 \x1b[31mof mine");
    ctx.ui.setWorkingMessage("Thinking hard");
  });
  pi.registerCommand("fill", {
    description: "fills the editor",
    handler: async (_, ctx) => {
      ctx.ui.setEditorText("one");
      ctx.ui.pasteToEditor(" two");
      const seen = ctx.ui.getEditorText();
      ctx.ui.setStatus("a", undefined);
      ctx.ui.setWidget("list", undefined);
      ctx.ui.notify(`read <${seen}>`);
    },
  });
}
"#;

#[test]
fn what_an_extension_shows_is_on_the_screen() {
    let talk = Talk::new([Reply::text("Forty-two.")]);
    let Some(mut terminal) = terminal(&talk, "shows.ts", SHOWS, (80, 24)) else { return };
    terminal.until_text("hello from outside").until_text("first").until_text("under it").until_idle();
    terminal.until_raw("\x1b[22;2t").until_raw("\x1b]2;pages of mine\x1b\\");
    insta::assert_snapshot!(terminal.screen(), @"
    offshoot 0.1.0 · m1 • thinking medium · ~/work
    ? help · / commands · @ files · ! shell · escape stops · ctrl+d leaves

    ! hello from outside

    * one
    * two
    ────────────────────────────────────────────────────────────────────────────────

    ────────────────────────────────────────────────────────────────────────────────
    under it
    ~/work  context ░░░░░░░░ 1% of 200k                         m1 • thinking medium
    first  second status
    ");
    assert!(!terminal.raw().contains("stolen"), "a status steers no terminal");
    terminal.send("/fill\r");
    terminal.until_text("read <one two>").until_gone("* one").until_gone("first");
    terminal.until("the editor", |screen| screen.contains("\none two\n")).until_text("second status");
    terminal.send("\x15what is it?\r");
    terminal.until_text("Forty-two.").until_idle();
    leave(terminal, &talk);
}

const DRAWS: &str = r#"
export default function (pi) {
  pi.on("session_start", (_, ctx) => {
    let count = 0;
    ctx.ui.setWidget("count", (tui, theme) => ({
      render: (width) => [theme.fg("accent", `count ${count} at ${width}`) + "\x1b[2J"],
      invalidate() {},
    }));
    ctx.ui.setFooter((tui, theme, data) => ({
      render: () => [`footer of ${[...data.getExtensionStatuses().keys()].join()}`],
      invalidate() {},
    }));
    ctx.ui.setHeader(() => ({ render: () => ["the header"], invalidate() {} }));
    ctx.ui.setStatus("mine", "shown by the footer");
    pi.events.on("count", () => { count += 1; });
  });
  pi.registerCommand("game", {
    handler: async (_, ctx) => {
      const value = await ctx.ui.custom((tui, theme, keys, done) => {
        let typed = "";
        return {
          render: () => [`typed: ${JSON.stringify(typed)}`, "second row"],
          handleInput(data) {
            if (data === "\r") return done(typed);
            if (data === "h") for (;;) {}
            typed += data;
            pi.events.emit("count");
          },
          invalidate() {},
        };
      });
      ctx.ui.notify(`the value is ${JSON.stringify(value)}`);
    },
  });
}
"#;

#[test]
fn components_draw_and_get_the_keys() {
    let talk = Talk::new([]);
    let Some(mut terminal) = terminal(&talk, "draws.ts", DRAWS, (60, 16)) else { return };
    terminal.until_text("the header").until_text("footer of mine").until_text("count 0 at 60");
    terminal.send("/game\r");
    terminal.until_text("typed: \"\"").send("ab\x1b[A");
    terminal.until_text(r#"typed: "ab\u001b[A""#).until_text("ctrl+c twice closes it");
    terminal.resize(50, 16);
    terminal.until_text("at 50").send("\r");
    terminal.until_text(r#"the value is "ab\u001b[A""#).until_gone("second row");
    assert!(!terminal.raw().contains("\x1b[2J"), "a component steers no terminal");
    leave(terminal, &talk);
}

/// A component that ignores what ends it is closed by Ctrl+C twice, and one that hangs as well; then the process is ended.
#[test]
fn a_component_can_always_be_left() {
    let talk = Talk::new([Reply::text("Forty-two.")]);
    let Some(mut terminal) = terminal(&talk, "draws.ts", DRAWS, (60, 16)) else { return };
    terminal.until_text("count 0").send("/game\r");
    terminal.until_text("typed: \"\"").send("\x03\x03");
    terminal.until_text("the value is undefined").until_gone("second row").send("/game\r");
    terminal.until_text("typed: \"\"").send("h\x03\x03");
    terminal.until_gone("second row").send("what is it?");
    terminal.until_text("what is it?").send("\x15");
    leave(terminal, &talk);
}

#[test]
fn a_component_that_hangs_is_left_with_escape() {
    if !has_node() {
        return;
    }
    let talk = Talk::new([]);
    extension(&talk, "draws.ts", DRAWS);
    talk.was_started_before();
    let node = node().unwrap();
    // The clock runs, and the process is not ended before.
    let variables = [("PI_NODE", node.to_str().unwrap()), ("OFFSHOOT_NOW", ""), ("OFFSHOOT_EXTENSION_PATIENCE", "600")];
    let mut terminal = Terminal::offshoot_in(&talk, &[], (60, 16), &variables);
    terminal.until_text("count 0").send("/game\r");
    terminal.until_text("typed: \"\"").send("h");
    let since = std::time::Instant::now();
    terminal.while_not("a second", || since.elapsed().as_millis() > 1200).send("\x1b");
    terminal.until_gone("second row").send("what is it?");
    terminal.until_text("what is it?").send("\x15\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

const OVERLAYS: &str = r#"
export default function (pi) {
  const box = (tui, done) => ({
    render: (width) => ["top", `${width} of ${tui.terminal.columns}`, "end"].map((text) => `|${text.padEnd(width - 2)}|`),
    handleInput: (key) => done(key),
    invalidate() {},
  });
  pi.registerCommand("over", {
    handler: async (text, ctx) => {
      const overlayOptions = text ? JSON.parse(text) : undefined;
      let handle;
      const key = await ctx.ui.custom((tui, theme, keys, done) => box(tui, (key) => done([key, ...Object.values(handle.getBounds())].join(" "))), { overlay: true, overlayOptions, onHandle: (given) => (handle = given) });
      ctx.ui.notify(`closed with ${key}`);
    },
  });
}
"#;

/// As in pi: above the conversation, where its options say. Afterwards the screen is as it was.
#[test]
fn an_overlay_is_above_the_conversation() {
    let talk = Talk::new([Reply::text("Words of the model.")]);
    let Some(mut terminal) = terminal(&talk, "overlays.ts", OVERLAYS, (60, 20)) else { return };
    terminal.until_text("m1").send("a question\r");
    terminal.until_text("Words of the model.").until_idle();
    let places = [
        ("", "|60 of 60", 9, 0, "x 8 0 60 3"),
        (r#"{"anchor":"top-right","width":20,"margin":1}"#, "|20 of 60", 2, 39, "x 1 39 20 3"),
        (r#"{"anchor":"bottom-left","width":"50%"}"#, "|30 of 60", 18, 0, "x 17 0 30 3"),
    ];
    for (options, seen, row, column, bounds) in places {
        terminal.send(&format!("/over {options}\r"));
        let is_there = |screen: &str| screen.lines().nth(row).and_then(|row| row.find(seen)) == Some(column);
        terminal.until(seen, |screen| is_there(screen) && screen.contains("Words of the model.")).send("x");
        terminal.until_text(&format!("closed with {bounds}")).until_gone("|top");
    }
    assert_eq!(terminal.whole().matches("Words of the model.").count(), 1, "{}", terminal.whole());
    leave(terminal, &talk);
}

const RENDERS: &str = r#"
import { Text } from "@earendil-works/pi-tui";
export default function (pi) {
  pi.registerTool({
    name: "weigh", description: "weighs", parameters: { type: "object", properties: { what: { type: "string" } } },
    async execute(id, { what }) { return { content: [{ type: "text", text: `${what}: 3 kg` }], details: { kg: 3 } }; },
    renderCall: (args, theme) => new Text(theme.fg("toolTitle", `weighing ${args.what}`), 0, 0),
    renderResult: (result, { expanded }) => new Text(`it has ${result.details.kg} kilograms` + (expanded ? " in all" : ""), 0, 0),
  });
  pi.registerMessageRenderer("card", (message) => new Text(`[card] ${message.content} (${message.details.size})`, 0, 0));
  pi.registerEntryRenderer("mark", (entry) => new Text(`a mark: ${entry.data.word}`, 0, 0));
  pi.registerCommand("show", {
    description: "shows cards",
    getArgumentCompletions: (prefix) => ["small", "large"].map((value) => ({ value, label: value, description: `a ${value} card` })),
    handler: async (args) => {
      pi.sendMessage({ customType: "card", content: args, display: true, details: { size: 7 } });
      pi.appendEntry("mark", { word: args });
    },
  });
  pi.registerShortcut("ctrl+alt+p", { description: "marks", handler: (ctx) => ctx.ui.notify("the key was pressed") });
  pi.registerTool({
    name: "count", description: "counts", parameters: { type: "object", properties: {} },
    async execute() {
      await new Promise((done) => pi.events.on("counted", done));
      return { content: [{ type: "text", text: "counted" }], details: {} };
    },
    renderCall(args, theme, context) {
      const count = (context.state.count = (context.state.count ?? 0) + 1);
      if (count < 8) setTimeout(() => context.invalidate(), 20);
      return new Text(`counting, ${count > 6 ? "nearly done" : "begun"}`, 0, 0);
    },
  });
  pi.registerCommand("late", {
    handler: async (_, ctx) => {
      ctx.ui.notify("a key more");
      pi.registerShortcut("ctrl+alt+l", { description: "ends", handler: (ctx) => (ctx.ui.notify("the late key"), pi.events.emit("counted")) });
    },
  });
  pi.registerShortcut("ctrl+c", { description: "steals", handler: (ctx) => ctx.ui.notify("stolen") });
}
"#;

#[test]
fn calls_messages_and_entries_look_as_their_extension_draws_them() {
    let talk = Talk::new([Reply::call("weigh", "c1", json!({"what": "a stone"})), Reply::text("Three.")]);
    let Some(mut terminal) = terminal(&talk, "renders.ts", RENDERS, (60, 24)) else { return };
    terminal.until_text("m1").send("/sh");
    terminal.until_text("shows cards (renders.ts)").send("ow la");
    terminal.until_text("a large card").send("\t\r");
    terminal.until_text("[card] large (7)").until_text("a mark: large").send("how heavy?\r");
    terminal.until_text("Three.").until_idle();
    terminal.send("\x1b\x10");
    terminal.until_text("the key was pressed").send("x\x03/extensions\r");
    terminal.until_text("extension of your folder · node").until_text("shortcuts: ctrl+alt+p, ctrl+c").send("q\x1b");
    terminal.until_gone("of your folder");
    let screen = terminal.screen();
    assert!(!screen.contains("stolen"), "{screen}");
    assert!(screen.contains("• weighing a stone\n  it has 3 kilograms\n"), "{screen}");
    leave(terminal, &talk);
}

/// As in pi: history looks as it did when it came.
#[test]
fn a_session_that_is_opened_again_looks_as_its_extension_draws_it() {
    let talk = Talk::new([Reply::call("weigh", "c1", json!({"what": "a stone"})), Reply::text("Three.")]);
    let Some(mut first) = terminal(&talk, "renders.ts", RENDERS, (60, 24)) else { return };
    first.until_text("m1").send("/show large\r");
    first.until_text("[card] large (7)").until_text("a mark: large").send("how heavy?\r");
    first.until_text("Three.").until_idle();
    leave(first, &talk);
    let node = node().unwrap();
    let mut again = Terminal::offshoot_in(&talk, &["-c"], (60, 24), &[("PI_NODE", node.to_str().unwrap())]);
    let seen =
        ["[card] large (7)", "a mark: large", "› how heavy?", "• weighing a stone\n  it has 3 kilograms\n", "Three."];
    let in_order = |screen: &str| {
        let mut rest = screen;
        seen.iter().all(|wanted| rest.split_once(wanted).map(|(_, after)| rest = after).is_some())
    };
    again.until("the rows of the extension", in_order).until_idle();
    assert_eq!(again.whole().matches("Three.").count(), 1, "{}", again.whole());
    leave(again, &talk);
}

const DRAFTS: &str = r#"
import { Text } from "@earendil-works/pi-tui";
export default function (pi) {
  pi.registerTool({
    name: "draft", description: "drafts", parameters: { type: "object", properties: {} },
    async execute() { return { content: [{ type: "text", text: "drafted" }], details: {} }; },
    renderCall: ({ head, text }, theme, { argsComplete, executionStarted }) =>
      new Text(`a draft on ${head}: ${!text ? "nothing yet" : argsComplete ? "all" : "a part"}, ${executionStarted ? "begun" : "waits"}`, 0, 0),
  });
}
"#;

/// As in pi: with what has come of the arguments.
#[test]
fn a_call_is_drawn_while_its_arguments_stream() {
    let gate = Gate::new();
    let call = Reply::call("draft", "c1", json!({"head": "rivers", "text": "word ".repeat(500)}));
    let talk = Talk::new([Reply { gate: Some((20_000, gate.clone())), ..call }, Reply::text("Drafted.")]);
    let Some(mut terminal) = terminal(&talk, "drafts.ts", DRAFTS, (60, 24)) else { return };
    terminal.until_text("m1").send("draft it\r");
    terminal.until_text("◦ a draft on rivers: a part, waits");
    gate.open();
    terminal.until_text("• a draft on rivers: all, begun").until_text("Drafted.").until_idle();
    leave(terminal, &talk);
}

const LATE: &str = r#"
import { Text } from "@earendil-works/pi-tui";
export default function (pi) {
  pi.registerTool({
    name: "draft", description: "drafts", parameters: { type: "object", properties: {} },
    async execute() { return { content: [{ type: "text", text: "drafted" }], details: {} }; },
    renderCall({ head }, theme, { argsComplete }) {
      for (const until = Date.now() + 900; argsComplete && Date.now() < until;);
      return new Text(`words about ${head} so far`, 0, 0);
    },
  });
}
"#;

/// What was drawn with a part of the arguments would stay for ever.
#[test]
fn a_call_whose_drawing_comes_too_late_looks_as_usual() {
    let gate = Gate::new();
    let call = Reply::call("draft", "c1", json!({"head": "rivers", "text": "word ".repeat(500)}));
    let talk = Talk::new([Reply { gate: Some((20_000, gate.clone())), ..call }, Reply::text("Drafted.")]);
    let Some(mut terminal) = terminal(&talk, "late.ts", LATE, (60, 24)) else { return };
    terminal.until_text("m1").send("draft it\r");
    terminal.until_text("◦ words about rivers so far");
    gate.open();
    terminal.until_text("Drafted.").until_idle().until_gone("words about rivers so far").until_text("• draft");
    leave(terminal, &talk);
}

const OPENS: &str = r#"
import { Text } from "@earendil-works/pi-tui";
export default function (pi) {
  pi.registerTool({
    name: "ask", description: "asks", parameters: { type: "object", properties: {} },
    async execute(id, args, signal, update, ctx) {
      const key = await ctx.ui.custom((tui, theme, keys, done) => ({ render: () => ["which one?"], handleInput: done, invalidate() {} }));
      return { content: [{ type: "text", text: key }], details: {} };
    },
    renderCall: ({ what }) => new Text(`asked about ${what}`, 0, 0),
    renderResult: (result) => new Text(`it is ${result.content[0].text}`, 0, 0),
  });
}
"#;

/// A component reads the keys of the front end, which waits for the drawing of the call: one waited for the other.
#[test]
fn a_call_that_opens_a_component_at_once_is_drawn() {
    let talk = Talk::new([Reply::call("ask", "c1", json!({"what": "rivers"})), Reply::text("Asked.")]);
    let Some(mut terminal) = terminal(&talk, "opens.ts", OPENS, (60, 24)) else { return };
    terminal.until_text("m1").send("ask it\r");
    terminal.until_text("◦ asked about rivers").until_text("which one?").send("x");
    terminal.until_text("it is x").until_text("Asked.").until_idle().until_text("• asked about rivers");
    leave(terminal, &talk);
}

/// A call that runs is drawn again when its extension wants it, and a key that is registered late works.
#[test]
fn a_call_is_drawn_again_and_a_late_key_works() {
    let talk = Talk::new([Reply::call("count", "c1", json!({})), Reply::text("Done.")]);
    let Some(mut terminal) = terminal(&talk, "renders.ts", RENDERS, (60, 24)) else { return };
    terminal.until_text("m1").send("/late\r");
    terminal.until_text("a key more").until_idle().send("count\r");
    terminal.until_text("counting, nearly done").send("\x1b\x0c");
    terminal.until_text("the late key").until_text("Done.").until_idle();
    leave(terminal, &talk);
}

const ASKS: &str = r#"
export default function (pi) {
  pi.registerCommand("ask", {
    description: "asks",
    handler: async (_, ctx) => {
      const answers = [
        await ctx.ui.select("Which one?", ["first", "second", "third"]),
        await ctx.ui.input("What is it called?", "a name"),
        await ctx.ui.confirm("Is it so?", "It cannot be taken back."),
        await ctx.ui.editor("Say more", "one\ntwo"),
      ];
      pi.appendEntry("answers", answers.map((answer) => answer ?? "(nothing)"));
      ctx.ui.notify("answered");
    },
  });
  pi.registerCommand("three", {
    handler: async (_, ctx) => {
      const all = ["a", "b", "c"].map((name) => ctx.ui.confirm(`question ${name}`, "yes?"));
      ctx.ui.notify(`all: ${JSON.stringify(await Promise.all(all))}`);
    },
  });
  pi.registerCommand("soon", {
    handler: async (_, ctx) => {
      const abort = new AbortController();
      setTimeout(() => abort.abort(), 300);
      const aborted = await ctx.ui.select("taken back", ["x"], { signal: abort.signal });
      const late = await ctx.ui.confirm("too late", "hurry", { timeout: 3000 });
      ctx.ui.notify(`soon: ${aborted} ${late}`);
    },
  });
}
"#;

fn entry(talk: &Talk, custom: &str) -> Value {
    let lines = talk.lines();
    lines.into_iter().find(|line| line["customType"] == custom).unwrap_or_default()["data"].clone()
}

#[test]
fn questions_are_answered_in_place_of_the_editor() {
    let talk = Talk::new([Reply::text("Forty-two.")]);
    let Some(mut terminal) = terminal(&talk, "asks.ts", ASKS, (80, 24)) else { return };
    terminal.until_text("m1").send("/ask\r");
    terminal.until_text("Which one?").send("\x1b[B\r");
    terminal.until_text("What is it called?").until_text("a name").send("a parser\r");
    terminal.until_text("It cannot be taken back.").send("y");
    terminal.until_text("Say more").until_text("two").send(" three\r");
    terminal.until_text("answered").send("/ask\r");
    // Nothing is the answer to what is left.
    terminal.until_text("Which one?").send("\x1b");
    terminal.until_text("What is it called?").send("\x1b");
    terminal.until_text("It cannot be taken back.").send("\x1b");
    terminal.until_text("Say more").send("\x1b");
    terminal.until("both", |screen| screen.matches("answered").count() == 2).send("go on\r");
    terminal.until_text("Forty-two.").until_idle();
    assert_eq!(entry(&talk, "answers"), json!(["second", "a parser", true, "one\ntwo three"]));
    let all: Vec<Value> = talk.lines().into_iter().filter(|line| line["customType"] == "answers").collect();
    assert_eq!(all[1]["data"], json!(["(nothing)", "(nothing)", false, "(nothing)"]));
    leave(terminal, &talk);
}

#[test]
fn questions_come_one_after_another_and_go_with_those_who_ask() {
    let talk = Talk::new([]);
    let Some(mut terminal) = terminal(&talk, "asks.ts", ASKS, (80, 24)) else { return };
    terminal.until_text("m1").send("/three\r");
    terminal.until_text("question a").send("y");
    terminal.until_text("question b").send("n");
    terminal.until_text("question c").send("y");
    terminal.until_text("all: [true,false,true]").until_gone("question").send("/soon\r");
    terminal.until_text("taken back").until_text("too late (3 s)");
    terminal.until_text("soon: undefined false").until_gone("too late").send("a draft");
    terminal.until_text("a draft");
    leave(terminal, &talk);
}

const SPINS: &str = r#"
import * as fs from "node:fs";
export default function (pi) {
  fs.writeFileSync("pid", String(process.pid));
  pi.registerCommand("spin", { handler: async () => { fs.writeFileSync("spins", ""); for (;;) {} } });
  pi.registerCommand("alive", { handler: async (_, ctx) => { ctx.ui.notify("alive again"); } });
}
"#;

/// The process of a command that runs on is ended although nobody waits for it any more, and the next command starts it again.
#[test]
fn a_command_that_runs_on_is_left_with_escape_and_the_next_one_runs() {
    let talk = Talk::new([]);
    let Some(mut terminal) = terminal(&talk, "spins.js", SPINS, (80, 24)) else { return };
    let at = |name: &str| talk.world.work().join(name);
    let pid = || std::fs::read_to_string(at("pid")).unwrap_or_default();
    terminal.while_not("the extension", || !pid().is_empty()).until_idle().send("/spin\r");
    terminal.while_not("the command", || at("spins").exists()).until_text("running /spin").send("\x1b");
    let process = std::path::PathBuf::from("/proc").join(pid());
    terminal.while_not("the end of the process", || !process.exists()).send("/alive\r");
    terminal.until_text("alive again");
    leave(terminal, &talk);
}

const GUARDS: &str = r#"
export default function (pi) {
  pi.on("tool_call", () => new Promise(() => {}));
}
"#;

/// The handler waits for nothing that ever comes.
#[test]
fn escape_ends_the_wait_for_a_handler_and_the_conversation_goes_on() {
    let call = Reply::call("bash", "c1", json!({"command": "touch ran"}));
    let talk = Talk::new([call, Reply::text("Forty-two.")]);
    let Some(mut terminal) = terminal(&talk, "guards.js", GUARDS, (80, 24)) else { return };
    terminal.until_text("m1").send("run it\r");
    terminal.until_text("touch ran").send("\x1b");
    terminal.until_idle().send("what is it?\r");
    terminal.until_text("Forty-two.").until_idle();
    assert!(!talk.world.work().join("ran").exists(), "a call that nobody judged does not run");
    let lines = talk.lines();
    let result = lines.iter().find(|line| line["message"]["role"] == "toolResult").unwrap();
    assert_eq!(result["message"]["isError"], true);
    leave(terminal, &talk);
}

const VERSIONS: &str = r#"
export default function (pi) {
  const before = globalThis.before;
  globalThis.before = { pi };
  pi.on("session_start", (_, ctx) => {
    for (const name of ["pi", "ctx"]) {
      try { before?.[name][name === "pi" ? "getSessionName" : "isIdle"](); } catch (error) { ctx.ui.notify(`${name}: ${error.message.slice(0, 30)}`); }
    }
    globalThis.before.ctx = ctx;
  });
  pi.registerCommand("version", { handler: async (_, ctx) => ctx.ui.notify("this is version 1") });
}
"#;

#[test]
fn reload_runs_the_new_code_and_the_old_one_can_do_nothing() {
    let talk = Talk::new([]);
    let Some(mut terminal) = terminal(&talk, "versions.js", VERSIONS, (80, 30)) else { return };
    terminal.until_text("m1").until_idle().send("/version\r");
    terminal.until_text("this is version 1");
    extension(&talk, "versions.js", &VERSIONS.replace("version 1", "version 2"));
    terminal.send("/reload\r");
    terminal
        .until_text("pi: this pi or ctx belongs")
        .until_text("ctx: this pi or ctx belongs")
        .until_text("read again");
    terminal.send("/version\r");
    terminal.until_text("this is version 2");
    leave(terminal, &talk);
}

/// The model may write a file into the project: it must not run because the user reads settings anew.
#[test]
fn a_projects_extension_that_has_changed_does_not_run_after_reload() {
    if !has_node() {
        return;
    }
    let talk = Talk::new([]);
    talk.was_started_before();
    talk.data("trust.json", &json!({talk.world.work().canonicalize().unwrap().to_str().unwrap(): true}));
    let says = |what: &str| {
        format!(
            "export default (pi) => {{ pi.registerCommand(\"say\", {{ handler: async (_, ctx) => ctx.ui.notify(\"{what}\") }}); }};"
        )
    };
    talk.world.write(".offshoot/extensions/says.js", says("allowed words"));
    let node = node().unwrap();
    let mut terminal = Terminal::offshoot_in(&talk, &[], (100, 30), &[("PI_NODE", node.to_str().unwrap())]);
    terminal.until_text("Run these extensions of the project?").send("y\r");
    terminal.until_text("m1").until_idle().send("/say\r");
    terminal.until_text("allowed words");
    talk.world.write(".offshoot/extensions/says.js", says("another words"));
    terminal.send("/reload\r");
    terminal.until_text(".offshoot/extensions does not run: it is new, or has changed").until_text("read again");
    terminal.send("\x15/say\r");
    terminal.until_gone("\n/say\n");
    assert!(!terminal.screen().contains("another words"));
    leave(terminal, &talk);
}

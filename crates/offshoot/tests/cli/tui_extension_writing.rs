//! Extensions and what is written: an editor in place of offshoot's, completions, keys that an extension hears first, and themes.

use offshoot_agent::testing::script::Reply;
use serde_json::json;

use crate::agent::Talk;
use crate::terminal::Terminal;
use crate::tui_extensions::{leave, terminal_with};

fn terminal(talk: &Talk, name: &str, text: &str, size: (u16, u16)) -> Option<Terminal> {
    terminal_with(talk, (name, text), size, ("COLORTERM", "truecolor"))
}

const EDITS: &str = r#"
import { CustomEditor } from "@earendil-works/pi-coding-agent";
import { matchesKey, truncateToWidth } from "@earendil-works/pi-tui";

class Modal extends CustomEditor {
  isNormal = false;
  handleInput(data) {
    if (data === "\x0b") for (;;) {}
    if (matchesKey(data, "escape") && !this.isNormal) this.isNormal = true;
    else if (!this.isNormal) super.handleInput(data);
    else if (data === "i") this.isNormal = false;
    else if (data === "h") super.handleInput("\x1b[D");
    else if (data === "x") super.handleInput("\x1b[3~");
    else if (data.charCodeAt(0) < 32) super.handleInput(data);
  }
  render(width) {
    const rows = super.render(width);
    const label = this.isNormal ? " NORMAL " : " INSERT ";
    rows[rows.length - 1] = truncateToWidth(rows.at(-1), width - label.length, "") + label;
    return rows;
  }
}

export default function (pi) {
  pi.on("session_start", (_, ctx) => ctx.ui.setEditorComponent((tui, theme, keys) => new Modal(tui, theme, keys)));
  pi.registerCommand("plain", { handler: async (_, ctx) => ctx.ui.setEditorComponent(undefined) });
  pi.registerCommand("fill", {
    handler: async (_, ctx) => {
      ctx.ui.setEditorText("one");
      ctx.ui.pasteToEditor(" two");
      ctx.ui.notify(`read <${ctx.ui.getEditorText()}>`);
    },
  });
}
"#;

#[test]
fn an_editor_of_an_extension_is_the_editor() {
    let talk = Talk::new([Reply::text("Forty-two."), Reply::text("Again.")]);
    let Some(mut terminal) = terminal(&talk, "edits.ts", EDITS, (60, 16)) else { return };
    terminal.until_text(" INSERT").send("what is itt");
    terminal.until_text("what is itt").send("\x1b");
    terminal.until_text(" NORMAL").send("hx");
    terminal.until("a letter less", |screen| screen.contains("\nwhat is it\n")).send("i?\r");
    terminal.until_text("Forty-two.").until_idle().until_text(" INSERT");
    // offshoot's own completion and commands.
    terminal.send("/fill");
    terminal.until_text("→ fill").send("\t\r");
    terminal.until_text("read <one two>").until("the text", |screen| screen.contains("\none two\n"));
    terminal.send("\x15/nosuch\r");
    terminal.until_text("nosuch").until("it stays", |screen| screen.contains("\n/nosuch\n"));
    // Another text of offshoot's: the prompt before.
    terminal.send("\x15/plain\r");
    terminal.until_gone(" INSERT").send("and now?\r");
    terminal.until_text("Again.").until_idle();
    leave(terminal, &talk);
    assert!(talk.lines().iter().any(|line| line["message"]["content"][0]["text"] == "what is it?"));
}

/// The text is not lost, and the terminal can be left.
#[test]
fn an_editor_that_hangs_is_left_with_escape() {
    let talk = Talk::new([Reply::text("Forty-two.")]);
    // The clock runs.
    let Some(mut terminal) = terminal_with(&talk, ("edits.ts", EDITS), (60, 16), ("OFFSHOOT_NOW", "")) else { return };
    terminal.until_text(" INSERT").send("keep this");
    terminal.until_text("keep this").send("\x0bx");
    let since = std::time::Instant::now();
    terminal.while_not("a second", || since.elapsed().as_millis() > 1200).send("y");
    terminal.until_text("the editor of an extension does not").send("\x1b");
    terminal.until_gone(" INSERT").until("the text", |screen| screen.contains("\nkeep this\n")).send("\x15");
    leave(terminal, &talk);
}

/// Its process is ended.
#[test]
fn an_editor_that_hangs_for_ever_goes_by_itself() {
    let talk = Talk::new([]);
    let patience = ("OFFSHOOT_EXTENSION_PATIENCE", "1");
    let Some(mut terminal) = terminal_with(&talk, ("edits.ts", EDITS), (60, 16), patience) else { return };
    terminal.until_text(" INSERT").send("keep this");
    terminal.until_text("keep this").send("\x0bx");
    terminal.until_gone(" INSERT").until("the text", |screen| screen.contains("\nkeep this\n")).send(" too");
    terminal.until("the letters", |screen| screen.contains("\nkeep this too\n")).send("\x15");
    assert_eq!(terminal.screen().matches("failed at").count(), 1, "{}", terminal.screen());
    leave(terminal, &talk);
}

/// Also one that no longer answers.
#[test]
fn an_editor_of_an_extension_is_left_with_two_presses() {
    for keys in ["\x03\x03", "\x0b\x03\x03"] {
        let talk = Talk::new([]);
        let Some(mut terminal) = terminal(&talk, "edits.ts", EDITS, (60, 16)) else { return };
        terminal.until_text(" INSERT").send(keys);
        assert!(terminal.ended(), "{keys:?}");
        talk.no_problems();
    }
}

const HEARS: &str = r##"
export default function (pi) {
  let stop;
  pi.on("session_start", (_, ctx) => {
    stop = ctx.ui.onTerminalInput((data) => {
      if (data === "q") return { consume: true };
      if (data === "x") return { data: "yz" };
      if (data === "\x0b") for (;;) {}
    });
    ctx.ui.addAutocompleteProvider((own) => ({
      triggerCharacters: ["%"],
      async getSuggestions(lines, line, column, options) {
        const word = /[%#]\w*$/.exec(lines[line].slice(0, column))?.[0];
        if (word === undefined) return own.getSuggestions(lines, line, column, options);
        const items = ["12", "13", "204"].map((number) => ({ value: `${word[0]}${number}`, label: `issue ${number}`, description: "é open" }));
        return { items: items.filter(({ value }) => value.startsWith(word)), prefix: word };
      },
      applyCompletion: (lines, line, column, item, prefix) => own.applyCompletion(lines, line, column, { ...item, value: item.value + "!" }, prefix),
    }));
    ctx.ui.notify("ready");
  });
  pi.registerCommand("deaf", { handler: async () => stop() });
}
"##;

#[test]
fn keys_are_heard_and_words_completed_by_an_extension() {
    let talk = Talk::new([]);
    let Some(mut terminal) = terminal(&talk, "hears.ts", HEARS, (60, 16)) else { return };
    let is_row = |row: &'static str| move |screen: &str| screen.contains(&format!("\n{row}\n"));
    terminal.until_text("ready").send("aqxb");
    terminal.until("changed keys", is_row("ayzb")).send("\x15é #1");
    terminal.until_text("→ issue 12").until_text("issue 13").until_gone("issue 204").send("\x1b[B\t");
    terminal.until("the second", is_row("é #13!")).until_gone("issue 12").send(" and %2");
    terminal.until_text("issue 204").send("\r");
    terminal.until("a word in the middle", is_row("é #13! and %204!")).send("\x15/dea");
    terminal.until_text("→ deaf").send("\t\r");
    terminal.until_gone("deaf").send("qx");
    terminal.until("keys as they are", is_row("qx")).send("\x15");
    leave(terminal, &talk);
}

#[test]
fn keys_go_past_an_extension_that_does_not_answer() {
    let talk = Talk::new([]);
    // The clock runs.
    let Some(mut terminal) = terminal_with(&talk, ("hears.ts", HEARS), (60, 16), ("OFFSHOOT_NOW", "")) else { return };
    terminal.until_text("ready").send("\x0babc");
    terminal
        .until_text("an extension that listens to the keys")
        .until("the letters", |screen| screen.contains("\nabc\n"))
        .send("\x15");
    leave(terminal, &talk);
}

const PAINTS: &str = r#"
export default function (pi) {
  pi.on("session_start", (_, ctx) => {
    ctx.ui.setWidget("name", (tui, theme) => ({ render: () => [theme.fg("accent", `theme ${theme.name}`)], invalidate() {} }));
  });
  pi.registerCommand("paint", {
    handler: async (name, ctx) => {
      const set = ctx.ui.setTheme(name);
      ctx.ui.notify(`${JSON.stringify(set)} of ${ctx.ui.getAllThemes().map(({ name }) => name).join()}`);
    },
  });
  pi.registerCommand("once", {
    handler: async (name, ctx) => ctx.ui.notify(JSON.stringify(ctx.ui.setTheme(ctx.ui.getTheme(name)))),
  });
  pi.registerCommand("known", { handler: async (name, ctx) => ctx.ui.notify(`known: ${ctx.ui.getTheme(name)?.name}`) });
}
"#;

#[test]
fn themes_have_names_for_extensions_and_they_hear_of_another() {
    let talk = Talk::new([]);
    let dark: serde_json::Value =
        serde_json::from_str(include_str!("../../../offshoot-tui/src/theme/dark.json")).unwrap();
    let mut night = dark;
    (night["name"], night["colors"]["accent"]) = (json!("night"), json!("#010203"));
    talk.data("themes/night.json", &night);
    let Some(mut terminal) = terminal(&talk, "paints.ts", PAINTS, (70, 16)) else { return };
    terminal.until_text("theme dark").send("/paint light\r");
    terminal.until_text(r#"{"success":true} of dark,light,night"#).until_text("theme light");
    terminal.send("/paint nosuch\r");
    terminal.until_text(r#""success":false"#).until_text("does not exist").send("/known nosuch\r");
    terminal.until_text("known: undefined").send("/once night\r");
    terminal.until_text("theme night").until_raw("38;2;1;2;3");
    leave(terminal, &talk);
    let settings = std::fs::read_to_string(talk.world.home().join(".local/share/offshoot/settings.json")).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    assert_eq!(settings["theme"], "light", "what is chosen by its name is kept, colours are not");
}

#[test]
fn extensions_hear_of_a_theme_that_is_chosen_in_the_settings() {
    let talk = Talk::new([]);
    let Some(mut terminal) = terminal(&talk, "paints.ts", PAINTS, (70, 16)) else { return };
    terminal.until_text("theme dark").send("/settings\r");
    terminal.until_text("settings.json").send("theme");
    let is_stored = |name: &str| {
        let file = talk.world.home().join(".local/share/offshoot/settings.json");
        std::fs::read_to_string(file).is_ok_and(|settings| settings.contains(&format!("\"theme\": \"{name}\"")))
    };
    terminal.until("the setting", |screen| !screen.contains("defaultModel")).send("\r");
    terminal.until("the first theme", |_| is_stored("dark")).send("\r");
    terminal.until("the next theme", |_| is_stored("light"));
    terminal.send("\x1b");
    terminal.until_text("defaultModel").send("\x1b");
    terminal.until("another theme", |screen| screen.contains("theme light"));
    leave(terminal, &talk);
}

//! `project_trust`: extensions of the user decide about a folder before anything in it counts.

use std::fs;

use crate::agent::Talk;
use crate::extensions::{extension, has_node, node, run};
use crate::terminal::Terminal;
use crate::trust::{answer, had_effect, project};
use crate::tui_extensions::leave;

/// An extension of the user with this answer, which may be a throw.
fn decider(talk: &Talk, name: &str, answer: &str) {
    let text = format!(
        r#"export default (pi) => pi.on("project_trust", (event, ctx) => {{
  ctx.ui.notify(`${{ctx.mode}} ${{ctx.hasUI}} ${{event.cwd.endsWith(ctx.cwd)}}`);
  {answer};
}});"#
    );
    extension(talk, name, &text);
}

fn stored(talk: &Talk) -> Option<String> {
    fs::read_to_string(talk.world.home().join(".local/share/offshoot/trust.json")).ok()
}

#[test]
fn the_first_extension_that_says_yes_or_no_decides() {
    if !has_node() {
        return;
    }
    let talk = project(7);
    decider(&talk, "b.ts", "return { trusted: 'yes' }");
    let said = run(&talk, &["-p", "well?"]);
    assert!(had_effect(&talk) && said.contains("note: print false true"), "{said}");
    assert_eq!(stored(&talk), None, "it counts this once");
    // As in pi, also against a stored answer, and not against the command line.
    answer(&talk, false);
    run(&talk, &["-p", "well?"]);
    assert!(had_effect(&talk));
    let said = run(&talk, &["--no-trust", "-p", "well?"]);
    assert!(!had_effect(&talk) && !said.contains("print false"), "{said}");
    // The first one decides; one that fails or decides nothing is passed over.
    decider(&talk, "a1.ts", "throw new Error('no idea')");
    decider(&talk, "a2.ts", "return { trusted: 'undecided' }");
    let said = run(&talk, &["-p", "well?"]);
    assert!(had_effect(&talk) && said.contains("a1.ts failed at project_trust: no idea"), "{said}");
    decider(&talk, "a3.ts", "return { trusted: 'no', remember: true }");
    answer(&talk, true);
    run(&talk, &["-p", "well?"]);
    assert!(!had_effect(&talk));
    assert!(stored(&talk).is_some_and(|stored| stored.contains("false")), "it was to be remembered");
    for name in ["a3.ts", "b.ts"] {
        fs::remove_file(talk.world.home().join(".local/share/offshoot/extensions").join(name)).unwrap();
    }
    run(&talk, &["-p", "well?"]);
    assert!(!had_effect(&talk), "nobody decides: the stored answer counts");
    // What a project has decides nothing.
    fs::create_dir_all(talk.world.work().join(".pi/extensions")).unwrap();
    let own = r#"export default (pi) => pi.on("project_trust", () => ({ trusted: "yes" }));"#;
    fs::write(talk.world.work().join(".pi/extensions/own.ts"), own).unwrap();
    run(&talk, &["-p", "well?"]);
    assert!(!had_effect(&talk));
    talk.no_problems();
}

/// It was loaded before: a start need not wait for it.
#[test]
fn extensions_that_do_not_decide_are_not_loaded_twice() {
    if !has_node() {
        return;
    }
    let talk = project(3);
    let log = talk.world.home().join("loads");
    let text = format!(
        "import fs from 'node:fs';\nexport default () => fs.appendFileSync({:?}, 'x');",
        log.display().to_string()
    );
    extension(&talk, "a.ts", &text);
    for loads in [2, 3] {
        run(&talk, &["-p", "well?"]);
        assert_eq!(fs::read_to_string(&log).unwrap().len(), loads);
    }
    // It has changed: it may decide now.
    extension(&talk, "a.ts", "export default (pi) => pi.on('project_trust', () => ({ trusted: 'yes' }));");
    run(&talk, &["-p", "well?"]);
    assert!(had_effect(&talk));
    talk.no_problems();
}

#[test]
fn at_a_terminal_an_extension_asks() {
    let Some(node) = node().filter(|_| has_node()) else { return };
    let talk = project(1);
    let asks = r#"
    const choice = await ctx.ui.select(`Project trust for:\n${event.cwd}`, ["Trust with a note", "Leave it"]);
    const note = choice === "Trust with a note" && (await ctx.ui.input("A note", "optional"));
    const sure = note === "mine" && (await ctx.ui.confirm("Sure?", "It counts at once."));
    return { trusted: sure ? "yes" : "undecided" }"#;
    decider(&talk, "asks.ts", asks);
    let path = talk.world.home().join(".local/share/offshoot/extensions/asks.ts");
    let text = fs::read_to_string(&path).unwrap().replace("(event, ctx) =>", "async (event, ctx) =>");
    fs::write(path, text).unwrap();
    let mut terminal = Terminal::offshoot_in(&talk, &[], (80, 24), &[("PI_NODE", node.to_str().unwrap())]);
    terminal.until_text("1 to 2, or Enter for none:").send("1\r");
    terminal.until_text("(optional) >").send("mine\r");
    terminal.until_text("It counts at once.").until_text("y, or Enter for no:").send("y\r");
    terminal.until_text("m1").send("well?\r");
    terminal.until_text("Yes.").until_idle();
    assert!(had_effect(&talk));
    leave(terminal, &talk);
}

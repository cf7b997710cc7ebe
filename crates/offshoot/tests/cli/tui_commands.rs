//! Every command that begins with `/`, with the real program, and what it leaves in files and requests.

use std::fs;

use offshoot_agent::testing::script::{Gate, Reply};
use offshoot_protocol::message::Usage;
use serde_json::json;

use crate::agent::Talk;
use crate::terminal::{Terminal, conversation};
use crate::world::{message, text};

/// Two questions and their answers on the screen; more replies may follow.
fn talked(more: &[&str]) -> (Talk, Terminal) {
    let replies = ["The first answer.", "The second answer."].iter().chain(more).map(|reply| Reply::text(reply));
    let talk = Talk::new(replies);
    let mut terminal = Terminal::offshoot(&talk, &["first question"], (80, 24));
    terminal.until_text("The first answer.").until_idle().send("second question\r");
    terminal.until_text("The second answer.").until_idle();
    (talk, terminal)
}

fn leave(mut terminal: Terminal, talk: &Talk) {
    terminal.send("\x15\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

/// What the last request said.
fn asked(talk: &Talk) -> String {
    talk.server.seen().pop().unwrap().json()["messages"].to_string()
}

fn id_of(talk: &Talk, text: &str) -> String {
    let line = talk.lines().into_iter().find(|line| line.to_string().contains(text)).unwrap();
    line["id"].as_str().unwrap().to_owned()
}

#[test]
fn exports_in_each_ending() {
    let (talk, mut terminal) = talked(&[]);
    let branch = id_of(&talk, "The first answer.");
    for (name, begins) in [("a page.html", "<!"), ("copy.jsonl", "{\"type\":\"session\""), ("notes.md", "---\ntitle: ")]
    {
        terminal.send(&format!("/export \"{name}\"\r"));
        terminal.until_text(&format!("written to ~/work/{name}"));
        let written = talk.world.read(name);
        assert!(written.starts_with(begins), "{name}: {written:.100}");
    }
    assert!(talk.world.read("notes.md").contains("The second answer."));
    terminal.send("/export notes.odt\r");
    terminal.until_text("✗ the name notes.odt does not say the format");
    assert!(!terminal.screen().contains("--format"), "{}", terminal.screen());
    terminal.send("/export no/such/folder.md\r");
    terminal.until_text("no/such does not exist");
    terminal.send(&format!("/export-branch {branch} branch.md\r"));
    terminal.until_text("written to ~/work/branch.md");
    let written = talk.world.read("branch.md");
    assert!(written.contains("The first answer.") && !written.contains("The second answer."), "{written}");
    terminal.send("/export\r");
    terminal.until_text("~/work/offshoot-session-");
    leave(terminal, &talk);
}

/// What goes wrong is said with what helps in the terminal: no command of the shell.
#[test]
fn what_goes_wrong_names_what_helps_here() {
    let talk = Talk::new([Reply::text("The first answer.")]);
    let nowhere = [("VISUAL", ""), ("EDITOR", "no-such-editor")];
    let mut terminal = Terminal::offshoot_in(&talk, &["first question"], (80, 24), &nowhere);
    terminal.until_text("The first answer.").until_idle().send("/switch zzzz\r");
    terminal.until("that there is none", |screen| screen.contains("zzzz") && screen.contains("/tree"));
    assert!(!terminal.screen().contains("offshoot tree"), "{}", terminal.screen());
    terminal.send("\x15a few words\x07");
    terminal.until_text("no-such-editor is not").until_text("$VISUAL").until_text("externalEditor");
    assert!(terminal.screen().contains("\na few words\n"), "{}", terminal.screen());
    leave(terminal, &talk);
}

/// After a compaction the gauge counts what is left, not what was reported with the answer that is kept.
#[test]
fn a_compaction_frees_the_context() {
    let usage = Usage { input: 150_000, output: 20, ..Usage::default() };
    let full = Reply { usage, ..Reply::text("The second answer.") };
    // A turn is split, so there are two summaries.
    let summaries = [Reply::text("## Goal\nTo learn."), Reply::text("## Original Request\nThe second.")];
    let talk = Talk::new([Reply::text("The first answer."), full].into_iter().chain(summaries));
    talk.data("settings.json", &serde_json::json!({"compaction": {"keepRecentTokens": 4}}));
    let mut terminal = Terminal::offshoot(&talk, &["first question"], (120, 24));
    terminal.until_text("The first answer.").until_idle().send("second question\r");
    terminal.until_text("75% of 200k").until_idle().send("/compact\r");
    terminal.until_text("tokens summarised").until_text(" 1% of 200k");
    leave(terminal, &talk);
}

/// `/pop` says what is under way while the summary is written, and what is typed meanwhile waits and is said after it.
#[test]
fn what_is_typed_while_pop_summarises_is_said_after_it() {
    let gate = Gate::new();
    let summary = Reply { gate: Some((0, gate.clone())), ..Reply::text("## Goal\nTo learn something.") };
    let replies = [Reply::text("The first answer."), Reply::text("The second answer."), summary];
    let talk = Talk::new(replies.into_iter().chain([Reply::text("The third answer.")]));
    let mut terminal = Terminal::offshoot(&talk, &["first question"], (80, 24));
    terminal.until_text("The first answer.").until_idle().send("second question\r");
    terminal.until_text("The second answer.").until_idle().send("/pop\r");
    terminal.until_text("summarising what is left behind").send("and on we go\r");
    terminal.until("what waits", |screen| screen.contains("teering: and on we go"));
    gate.open();
    terminal.until_text("The third answer.").until_idle();
    let screen = terminal.screen();
    assert!(!screen.contains("summarising") && !screen.contains("the agent is at work"), "{screen}");
    // The status line may name the branch by these words.
    assert_eq!(screen.matches("› and on we go").count(), 1, "{screen}");
    assert!(!screen.contains("teering:"), "{screen}");
    assert!(screen.contains("≡ branch summary  of “To learn something.”  (ctrl+o opens)\n"), "{screen}");
    let asked = asked(&talk);
    assert!(asked.contains("To learn something.") && asked.contains("and on we go"), "{asked}");
    assert!(!asked.contains("The second answer."), "{asked}");
    leave(terminal, &talk);
}

#[test]
fn imports_of_pi_of_omp_and_of_nothing() {
    let talk = Talk::new([Reply::text("Still there.")]);
    let cwd = talk.world.work().display().to_string();
    let [question, answer] = crate::world::talk("asked in pi?");
    talk.world.write("of pi.jsonl", text("0000aaaa-1", &cwd, &[&question, &answer]));
    let title = r#"{"type":"title","v":1,"title":"omp speaks","source":"user","updatedAt":"2026-01-01T00:00:00.000Z","pad":"        "}"#;
    let said = message("aaaa1111", None, 10, "user", "asked in omp?");
    let model = r#"{"type":"model_change","id":"bbbb2222","parentId":"aaaa1111","timestamp":"2026-02-01T11:11:00.000Z","model":"test/m1","role":"default"}"#;
    let omp = format!("{title}\n{}", text("0000bbbb-2", &cwd, &[&said, model]));
    talk.world.write("omp.jsonl", omp);
    talk.world.write("bad.jsonl", "no session at all\n");
    talk.world.write("empty.jsonl", "");
    let gone = text("0000cccc-3", "/no/such/folder", &[&message("aaaa1111", None, 10, "user", "asked far away?")]);
    talk.world.write("gone.jsonl", gone);

    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1").send("/import \"of pi.jsonl\"\r");
    terminal.until_text("session 0000aaaa-1").until_text("› asked in pi?").until_idle().send("and here?\r");
    terminal.until_text("Still there.").until_idle().send("/import omp.jsonl\r");
    terminal.until_text("session 0000bbbb-2").until_text("› asked in omp?");
    terminal.until("the title", |screen| screen.lines().next_back().is_some_and(|row| row.contains("omp speaks")));
    terminal.send("/import bad.jsonl\r");
    terminal.until_text("bad.jsonl is not a session");
    terminal.send("/import empty.jsonl\r");
    terminal.until_text("empty");
    terminal.send("/import none.jsonl\r");
    terminal.until_text("No such file or directory");
    // One of another machine continues here, as a copy.
    terminal.send("/import gone.jsonl\r");
    terminal.until_text("/no/such/folder is not there").until_text("› asked far away?");
    leave(terminal, &talk);
    let stored = talk.files().iter().filter(|file| file.to_str().unwrap().contains(".local/share")).count();
    assert_eq!(stored, 4, "three imports, and the copy in this folder");
}

#[test]
fn sessions_begun_from_this_one() {
    let (talk, mut terminal) = talked(&["Of the clone.", "Of the branch."]);
    let first = talk.files().pop().unwrap();
    let before = fs::read(&first).unwrap();
    terminal.send("/clone\r");
    terminal.until_text("a new session, begun from the other").until_idle().send("more\r");
    terminal.until_text("Of the clone.").until_idle();
    assert!(asked(&talk).contains("second question"));
    // Chosen from a list: the session begins before it, and its text is in the editor.
    terminal.send("/branch\r");
    terminal.until("the messages", |screen| {
        screen.contains("first question") && screen.contains("more") && screen.starts_with("Fork")
    });
    terminal.send("\x1b[A\r");
    terminal.until("it in the editor", |screen| screen.contains("\nsecond question\n────"));
    terminal.send(", otherwise\r");
    terminal.until_text("Of the branch.").until_idle();
    assert!(asked(&talk).contains("second question, otherwise") && !asked(&talk).contains("The second answer."));
    assert_eq!(talk.files().len(), 3);
    assert_eq!(fs::read(&first).unwrap(), before, "the first session stays as it is");
    leave(terminal, &talk);
}

#[test]
fn places_in_this_session() {
    let (talk, mut terminal) = talked(&["Of the first branch.", "Of the second."]);
    // By the list: before the message.
    terminal.send("/branch-here\r");
    terminal.until("the messages", |screen| {
        screen.starts_with("Branch from message") && screen.contains("› second question")
    });
    terminal.send("\r");
    terminal.until("it in the editor", |screen| screen.contains("\nsecond question\n────"));
    terminal.send("?\r");
    terminal.until_text("Of the first branch.").until_idle();
    terminal.send("/label here\r");
    terminal.until_text(" [here]").until_text("⑂ here (2 branches)");
    // By the start of an id, and by a label.
    let id = id_of(&talk, "The second answer.");
    terminal.send(&format!("/switch {}\r", &id[..6]));
    terminal.until("the other branch", |screen| screen.contains("⑂ The second answer."));
    terminal.send("/switch he");
    terminal.until_text("→ here").send("\t\r");
    terminal.until("back again", |screen| screen.contains("⑂ here")).send("/switch nothing\r");
    terminal.until_text("nothing").until_text("not found");
    // By the list of branches.
    terminal.send("/branches\r");
    terminal.until_text("Branches of this session");
    terminal.send("second answer");
    terminal.until("one of them", |screen| !screen.contains("[here]")).send("\r");
    terminal.until("the other branch", |screen| screen.contains("⑂ The second answer."));
    terminal.send("/label\r");
    terminal.until_text(" has no label");
    terminal.send("/label there\r");
    terminal.until_text(" [there]").send("/label\r");
    terminal.until_text(" [there]").send("/label --clear\r");
    terminal.until_text(" has no label");
    let first = id_of(&talk, "first question");
    terminal.send(&format!("/branch-here {first}\r"));
    terminal.until("it in the editor", |screen| screen.contains("\nfirst question\n────"));
    terminal.send(", anew\r");
    terminal.until_text("Of the second.").until_idle();
    assert!(!asked(&talk).contains("second question"), "{}", asked(&talk));
    leave(terminal, &talk);
}

#[test]
fn popped_with_a_summary_by_the_model_and_without_one() {
    let (talk, mut terminal) = talked(&["## Goal\nWhat the second was about.", "Once more."]);
    terminal.send("/pop\r");
    terminal.until("the question in the editor", |screen| screen.contains("\nsecond question\n────"));
    terminal.until_text("≡ branch summary").send("!\r");
    terminal.until_text("Once more.").until_idle();
    assert!(asked(&talk).contains("What the second was about.") && asked(&talk).contains("second question!"));
    // The model says nothing more: the summary is put together without it, and a notice says so.
    let first = id_of(&talk, "The first answer.");
    terminal.send(&format!("/pop {first}\r"));
    terminal.until_text("put together without a model").until_text("≡ branch summary");
    terminal.send("/pop nothing\r");
    terminal.until_text("not found").send("\x04");
    assert!(terminal.ended());
}

#[test]
fn what_shall_be_minded_reaches_the_request_for_a_summary() {
    let (talk, mut terminal) = talked(&["## Goal\nEverything about milk.", "The turn before.", "On we go."]);
    talk.data("settings.json", &serde_json::json!({"compaction": {"keepRecentTokens": 1}}));
    terminal.send("\x04");
    assert!(terminal.ended());
    let mut terminal = Terminal::offshoot(&talk, &["-c"], (80, 24));
    terminal.until_text("The second answer.").until_idle().send("/compact mind the milk\r");
    terminal.until_text("≡ compaction").until_idle();
    let minded = talk.server.seen().iter().filter(|request| request.body.contains("mind the milk")).count();
    assert!(minded > 0, "{}", asked(&talk));
    terminal.send("and now?\r");
    terminal.until_text("On we go.").until_idle();
    assert!(asked(&talk).contains("Everything about milk.") && !asked(&talk).contains("first question"));
    leave(terminal, &talk);
}

#[test]
fn going_over_a_model_that_does_not_think_keeps_how_much_the_others_think() {
    let talk = Talk::new([]);
    let file = talk.world.home().join(".local/share/offshoot/models.json");
    let mut models: serde_json::Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let list = models["providers"]["test"]["models"].as_array_mut().unwrap();
    list.push(serde_json::json!({"id": "plain", "contextWindow": 100_000, "maxTokens": 4000}));
    talk.data("models.json", &models);
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1 • thinking medium").send("/thinking high\r");
    terminal.until_text("m1 • thinking high").send("\x10");
    terminal.until("the other model", |screen| screen.ends_with("  plain")).send("\x10");
    terminal.until_text("m1 • thinking high");
    leave(terminal, &talk);
    // Begun with the other one.
    let mut terminal = Terminal::offshoot(&talk, &["--model", "plain", "--thinking", "low"], (80, 24));
    terminal.until("the other model", |screen| screen.ends_with("  plain")).send("\x10");
    terminal.until_text("m1 • thinking low");
    leave(terminal, &talk);
}

#[test]
fn models_and_how_much_they_think() {
    let (talk, mut terminal) = talked(&[]);
    let mut models: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(talk.world.home().join(".local/share/offshoot/models.json")).unwrap())
            .unwrap();
    let list = models["providers"]["test"]["models"].as_array_mut().unwrap();
    list.push(serde_json::json!({"id": "grand-opus-5", "name": "Grand", "contextWindow": 100_000, "maxTokens": 4000, "reasoning": true}));
    talk.data("models.json", &models);
    terminal.send("/model opus");
    terminal.until_text("→ test/grand-opus-5").send("\r");
    terminal.until("the other model", |screen| screen.ends_with("  grand-opus-5 • thinking medium"));
    terminal.send("/model\r");
    terminal.until_text("Which model answers").send("m1");
    terminal.until("the one that is searched for", |screen| screen.contains("› m1")).send("\r");
    terminal.until("the first model", |screen| screen.ends_with("  m1 • thinking medium"));
    terminal.send("/model nobody\r");
    terminal.until_text("there is no model nobody").send("/thinking high\r");
    terminal.until_text("m1 • thinking high").send("/thinking\r");
    terminal.until_text("How much the model thinks").send("low");
    terminal.until("the level", |screen| screen.contains("› low")).send("\r");
    terminal.until_text("m1 • thinking low").send("/thinking much\r");
    terminal.until_text("is not a thinking level");
    leave(terminal, &talk);
    let kinds: Vec<_> = talk.lines().iter().map(|line| line["type"].as_str().unwrap().to_owned()).collect();
    assert!(kinds.iter().filter(|kind| *kind == "model_change").count() >= 3, "{kinds:?}");
}

/// Regression: a long list took the place of the editor and pushed the conversation off the screen, which was blank after it.
#[test]
fn a_long_list_gives_the_screen_back() {
    let (talk, mut terminal) = talked(&[]);
    let mut models: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(talk.world.home().join(".local/share/offshoot/models.json")).unwrap())
            .unwrap();
    let list = models["providers"]["test"]["models"].as_array_mut().unwrap();
    list.extend(
        (0..30).map(|at| serde_json::json!({"id": format!("more-{at}"), "contextWindow": 1000, "maxTokens": 100})),
    );
    talk.data("models.json", &models);
    let before = conversation(&terminal.screen());
    assert!(before.contains(&"› first question".to_owned()), "{before:?}");
    for (command, title) in [("/model", "Which model answers"), ("/scoped-models", "Scoped models")] {
        terminal.send(&format!("{command}\r"));
        terminal.until_text(title).until_text("  (1/").send("\x1b");
        terminal.until_gone(title);
        assert_eq!(conversation(&terminal.screen()), before, "{command}");
    }
    leave(terminal, &talk);
}

/// Regression: completions, short lists and questions pushed the conversation up, and blank rows were in their place after them.
/// With reduced motion they stayed longer.
#[test]
fn what_opens_for_a_moment_gives_the_screen_back() {
    let lines: String = (1..=30).map(|at| format!("Line {at} of the answer.\n\n")).collect();
    for is_reduced in [false, true] {
        let talk = Talk::new([Reply::text(&lines), Reply::text("The second answer.")]);
        talk.data("settings.json", &json!({"terminal": {"reducedMotion": is_reduced}}));
        let mut terminal = Terminal::offshoot(&talk, &["first question"], (80, 24));
        terminal.until_text("Line 30 of the answer.").until_idle().until_text("$0.0001");
        let before = terminal.screen();
        for (keys, title) in
            [("/", "→ new"), ("/thinking\r", "How much the model thinks"), ("/approval\r", "read-only")]
        {
            terminal.send(keys);
            terminal.until_text(title);
            terminal.send("\x1b");
            terminal.until_gone(title).send("\x15");
            terminal.until("the conversation", |screen| screen == before);
        }
        terminal.send("second question\r");
        terminal.until_text("The second answer.").until_idle();
        let text = terminal.unwrapped();
        let said: Vec<&str> = text.lines().filter(|row| row.starts_with("  Line ")).collect();
        assert_eq!(said.len(), 30, "{text}");
        assert!(!text.contains("\n\n\n"), "{text}");
        leave(terminal, &talk);
    }
}

#[test]
fn names_figures_new_sessions_and_back() {
    let (talk, mut terminal) = talked(&["Of the new one."]);
    let id = talk.lines()[0]["id"].as_str().unwrap().to_owned();
    terminal.send("/name the milk\r");
    terminal.until_text("named the milk").send("/session\r");
    terminal.until_text("Messages");
    let screen = terminal.screen();
    for row in
        ["Name        the milk", &format!("Id          {id}"), "Messages    2 of yours, 2 answers", "Branches    1"]
    {
        assert!(screen.contains(&format!("\n{row}\n")), "{row}: {screen}");
    }
    terminal.send("\x1b");
    terminal.until_gone("Messages").send("/new\r");
    terminal.until_text("a new session").send("hello\r");
    terminal.until_text("Of the new one.").until_idle();
    assert_eq!(talk.files().len(), 2);
    terminal.send(&format!("/resume {}\r", &id[..30]));
    terminal.until_text(&format!("session {id}")).until_text("the milk");
    terminal.send("/resume 'no such'\r");
    terminal.until_text("no such'\"; /resume lists them").send("/resume\r");
    terminal.until_text("(1/2)").send("\x1b");
    terminal.until("the editor", |screen| !screen.contains("(1/2)")).send("/nmae x\r");
    terminal.until_text("did you mean /name?").until("the words again", |screen| screen.contains("\n/nmae x\n"));
    leave(terminal, &talk);
}

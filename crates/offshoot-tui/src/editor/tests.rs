//! Keys in, outcomes and screens out.

use offshoot_protocol::FilesAlong;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::*;
use crate::keymap::Key;
use crate::theme::Theme;

fn event(name: &str) -> KeyEvent {
    Key::parse(name).unwrap().event()
}

fn press(editor: &mut Editor, keys: &str) -> EditorOutcome {
    let mut outcome = EditorOutcome::Ignored;
    for key in keys.split(' ') {
        outcome = editor.key(&Keymap::default(), event(key));
    }
    outcome
}

fn write(editor: &mut Editor, text: &str) {
    for letter in text.chars() {
        editor.key(&Keymap::default(), KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE));
    }
}

fn with(text: &str) -> Editor {
    let mut editor = Editor::default();
    editor.replace(text);
    editor
}

/// The editor on a terminal of this size, with `▮` at the cursor.
fn screen(editor: &mut Editor, columns: u16, rows: u16) -> String {
    editor.resize(columns, rows);
    let area = Rect::new(0, 0, columns, editor.height().min(rows));
    let mut buf = Buffer::empty(area);
    editor.view(&Theme::default(), area, &mut buf);
    if let Some(cell) = editor.cursor(area).and_then(|at| buf.cell_mut(at)) {
        cell.set_symbol("▮");
    }
    let line = |row: Rect| {
        let mut line = String::new();
        // A wide character covers the next cell.
        while let Some(cell) = u16::try_from(crate::text::width(&line)).ok().and_then(|x| buf.cell((x, row.y))) {
            line.push_str(if cell.symbol().is_empty() { " " } else { cell.symbol() });
        }
        line
    };
    area.rows().map(line).map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

fn sent_text(outcome: EditorOutcome) -> Option<Sent> {
    match outcome {
        EditorOutcome::Submit(submission) => Some(submission.what),
        _ => None,
    }
}

#[test]
fn enter_sends_and_shift_enter_does_not() {
    let mut editor = Editor::default();
    assert_eq!(press(&mut editor, "enter"), EditorOutcome::Moved);
    write(&mut editor, "one");
    press(&mut editor, "shift+enter");
    write(&mut editor, "two\\");
    press(&mut editor, "enter");
    write(&mut editor, "three");
    let sent = sent_text(press(&mut editor, "enter"));
    assert_eq!(sent, Some(Sent::Prompt("one\ntwo\nthree".to_owned())));
    assert!(editor.is_empty());
}

#[test]
fn one_mark_runs_a_command_and_two_hide_it() {
    let mut editor = with("!ls -l");
    assert!(editor.is_bash());
    let sent = sent_text(press(&mut editor, "enter"));
    assert_eq!(sent, Some(Sent::Bash { command: "ls -l".to_owned(), exclude_from_context: false }));
    let sent = sent_text(press(&mut with("!! make"), "enter"));
    assert_eq!(sent, Some(Sent::Bash { command: "make".to_owned(), exclude_from_context: true }));
    assert_eq!(press(&mut with("!!"), "enter"), EditorOutcome::Moved);
}

#[test]
fn a_mistyped_command_stays() {
    let mut editor = with("/tere");
    let outcome = press(&mut editor, "enter");
    assert!(
        matches!(&outcome, EditorOutcome::Mistake(Mistake::Unknown { suggestion: Some(name), .. }) if name == "tree"),
        "{outcome:?}"
    );
    assert_eq!(editor.draft(), "/tere");
}

/// Whoever types faster than the templates are found is neither refused nor sends the words as they are.
#[test]
fn a_call_waits_until_it_is_known_what_can_be_called() {
    let waiting = || {
        let mut editor = with("/rev a.rs");
        editor.offer(Offers::expect_called);
        assert_eq!(press(&mut editor, "enter"), EditorOutcome::Moved);
        assert_eq!(editor.draft(), "/rev a.rs");
        editor
    };
    let found = || vec![Choice::new("rev")];
    let outcome = waiting().set_called(found());
    assert!(matches!(outcome, EditorOutcome::Submit(Submission { what: Sent::Prompt(_), .. })), "{outcome:?}");
    assert!(matches!(waiting().set_called(Vec::new()), EditorOutcome::Mistake(_)));
    let mut changed = waiting();
    press(&mut changed, "x");
    assert_eq!(changed.set_called(found()), EditorOutcome::Moved, "the text is another");
}

#[test]
fn alt_enter_says_it_later() {
    let outcome = press(&mut with("then this"), "alt+enter");
    assert!(matches!(outcome, EditorOutcome::FollowUp(Submission { what: Sent::Prompt(_), .. })), "{outcome:?}");
}

#[test]
fn keys_of_the_program_go_to_the_program() {
    let mut editor = Editor::default();
    for (key, action) in [
        ("escape", Action::Interrupt),
        ("ctrl+c", Action::Clear),
        ("ctrl+d", Action::Exit),
        ("ctrl+l", Action::SelectModel),
        ("alt+up", Action::Dequeue),
        ("shift+tab", Action::CycleThinking),
        ("?", Action::Help),
    ] {
        assert_eq!(press(&mut editor, key), EditorOutcome::Act(action), "{key}");
    }
    write(&mut editor, "why");
    assert_eq!(press(&mut editor, "?"), EditorOutcome::Edited);
    press(&mut editor, "home");
    assert_eq!(press(&mut editor, "ctrl+d"), EditorOutcome::Edited);
    assert_eq!(editor.draft(), "hy?");
    assert_eq!(press(&mut editor, "ctrl+g"), EditorOutcome::External("hy?".to_owned()));
}

#[test]
fn one_press_empties_the_editor_and_escape_closes_the_list_only() {
    for (key, is_clear) in [("ctrl+c", true), ("escape", false)] {
        let mut editor = Editor::default();
        write(&mut editor, "/mod");
        assert!(editor.is_completing());
        let outcome = if is_clear { EditorOutcome::Act(Action::Clear) } else { EditorOutcome::Moved };
        assert_eq!(press(&mut editor, key), outcome, "{key}");
    }
}

#[test]
fn history_is_walked_from_the_first_and_last_line() {
    let mut editor = Editor::new(History::read("\"one\"\n\"two\\nlines\"\n"));
    write(&mut editor, "draft");
    press(&mut editor, "up");
    assert_eq!((editor.draft().as_str(), editor.buffer.cursor()), ("draft", 0));
    press(&mut editor, "up");
    assert_eq!(editor.draft(), "two\nlines");
    press(&mut editor, "up");
    assert_eq!(editor.draft(), "one");
    press(&mut editor, "up");
    assert_eq!(editor.draft(), "one");
    press(&mut editor, "down down down");
    assert_eq!(editor.draft(), "draft");
    press(&mut editor, "up up down");
    write(&mut editor, "x");
    press(&mut editor, "end down down");
    assert_eq!(editor.draft(), "two\nxlines");
}

#[test]
fn up_and_down_keep_the_column() {
    let mut editor = with("long line\nx\nlong line");
    editor.resize(20, 24);
    press(&mut editor, "left left up");
    assert_eq!(editor.buffer.cursor(), 11);
    press(&mut editor, "up");
    assert_eq!(editor.buffer.cursor(), 7);
}

#[test]
fn a_jump_takes_the_next_letter() {
    let mut editor = with("abc abc");
    press(&mut editor, "home ctrl+] c");
    assert_eq!((editor.draft().as_str(), editor.buffer.cursor()), ("abc abc", 2));
    press(&mut editor, "ctrl+] escape");
    write(&mut editor, "x");
    assert_eq!(editor.draft(), "abxc abc");
}

#[test]
fn what_waited_comes_back_before_the_draft() {
    let mut editor = with("draft");
    editor.restore(&["one".to_owned(), "two".to_owned()]);
    assert_eq!(editor.draft(), "one\n\ntwo\n\ndraft");
    editor.restore(&[]);
    assert_eq!(editor.draft(), "one\n\ntwo\n\ndraft");
}

#[test]
fn enter_in_the_list_sends_a_whole_command() {
    let mut editor = Editor::default();
    write(&mut editor, "/tr");
    assert!(editor.is_completing());
    assert_eq!(sent_text(press(&mut editor, "enter")), Some(Sent::Command(SlashCommand::Tree)));
    write(&mut editor, "/swi");
    assert_eq!(press(&mut editor, "enter"), EditorOutcome::Edited);
    assert_eq!(editor.draft(), "/switch ");
}

/// Complete, omitted and free arguments are sent as typed; a row that the user selected is taken.
#[test]
fn enter_in_a_list_of_arguments_sends_what_is_typed() {
    let mut editor = Editor::default();
    editor.offer(|offers| offers.add_files(["old notes.md".to_owned()]));
    for (typed, expected) in [
        ("/thinking high", SlashCommand::Thinking(Some(offshoot_protocol::ThinkingLevel::High))),
        ("/thinking ", SlashCommand::Thinking(None)),
        ("/export notes.md", SlashCommand::Export(Some("notes.md".to_owned()))),
    ] {
        write(&mut editor, typed);
        assert!(editor.is_completing(), "{typed}");
        assert_eq!(sent_text(press(&mut editor, "enter")), Some(Sent::Command(expected)));
    }
    write(&mut editor, "/export notes.md");
    assert_eq!(press(&mut editor, "down enter"), EditorOutcome::Edited);
    assert_eq!(editor.draft(), "/export \"old notes.md\"");
    editor.replace("");
    // An argument that must be in the list is completed and sent.
    write(&mut editor, "/thinking hi");
    let level = offshoot_protocol::ThinkingLevel::High;
    assert_eq!(sent_text(press(&mut editor, "enter")), Some(Sent::Command(SlashCommand::Thinking(Some(level)))));
}

#[test]
fn an_option_of_a_command_that_brings_files_is_completed() {
    let mut editor = Editor::default();
    for (typed, expected) in [
        ("/switch a1 --f", "/switch a1 --files"),
        ("/undo -", "/undo --files"),
        ("/pop --files --a", "/pop --files --across-commits"),
    ] {
        write(&mut editor, typed);
        assert!(editor.is_completing(), "{typed}");
        press(&mut editor, "tab");
        assert_eq!(editor.draft(), expected);
        press(&mut editor, "ctrl+u");
    }
    // Elsewhere it is a word like another one.
    write(&mut editor, "/name --f");
    assert!(!editor.is_completing());
}

/// A label that starts like another one, or an unknown entry, is never replaced by a choice.
#[test]
fn what_no_list_has_is_sent_as_it_is_typed() {
    let mut editor = Editor::default();
    editor.offer(|offers| {
        offers.set(Argument::Label, vec![Choice::new("fixed")]);
        offers.set(Argument::Entry, vec![Choice::new("the fix").with("a1b2"), Choice::new("f1f2e3e4")]);
        offers.set(Argument::Model, vec![Choice::new("openai/gpt")]);
    });
    for (typed, expected) in [
        ("/label fix", crate::slash::parse("/label fix").unwrap().unwrap()),
        ("/switch ffee", SlashCommand::Switch("ffee".to_owned(), FilesAlong::Stay)),
    ] {
        write(&mut editor, typed);
        assert!(editor.is_completing(), "{typed}");
        assert_eq!(sent_text(press(&mut editor, "enter")), Some(Sent::Command(expected)));
    }
    write(&mut editor, "/switch fix");
    assert_eq!(press(&mut editor, "tab"), EditorOutcome::Edited);
    assert_eq!(editor.draft(), "/switch \"the fix\"");
    assert_eq!(
        sent_text(press(&mut editor, "enter")),
        Some(Sent::Command(SlashCommand::Switch("the fix".to_owned(), FilesAlong::Stay)))
    );
    write(&mut editor, "/model gp");
    let model = Some("openai/gpt".to_owned());
    assert_eq!(sent_text(press(&mut editor, "enter")), Some(Sent::Command(SlashCommand::Model(model))));
}

#[test]
fn escape_closes_the_list_first() {
    let mut editor = Editor::default();
    write(&mut editor, "/tr");
    assert_eq!(press(&mut editor, "escape"), EditorOutcome::Moved);
    assert_eq!(press(&mut editor, "escape"), EditorOutcome::Act(Action::Interrupt));
    assert_eq!(editor.draft(), "/tr");
}

#[test]
fn a_path_is_completed_when_asked_for() {
    let mut editor = with("!cat mai");
    editor.offer(|offers| offers.add_files(["src/main.rs".to_owned()]));
    assert!(!editor.is_completing());
    press(&mut editor, "tab tab");
    assert_eq!(editor.draft(), "!cat src/main.rs");
    write(&mut editor, " @");
    assert_eq!(editor.wants(), None);
}

#[test]
fn screens_of_the_editor() {
    insta::assert_snapshot!(screen(&mut Editor::default(), 40, 12), @"
    ────────────────────────────────────────
    ▮
    ────────────────────────────────────────
    ");
    let text = "Explain why the tree of this session has two roots, and what I can do about it.\n\n日本語 e\u{301} 👍🏽";
    insta::assert_snapshot!(screen(&mut with(text), 40, 12), @"
    ─────────────── ↑ 1 more ───────────────
    has two roots, and what I can do about
    it.

    日本語 é 👍🏽▮
    ────────────────────────────────────────
    ");
    insta::assert_snapshot!(screen(&mut with(text), 80, 24), @"
    ────────────────────────────────────────────────────────────────────────────────
    Explain why the tree of this session has two roots, and what I can do about it.

    日本語 é 👍🏽▮
    ────────────────────────────────────────────────────────────────────────────────
    ");
    let long = (1..=20).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n");
    let mut editor = with(&long);
    press(&mut editor, "pageUp pageUp");
    insta::assert_snapshot!(screen(&mut editor, 40, 12), @"
    ─────────────── ↑ 3 more ───────────────
    line 4▮
    line 5
    line 6
    line 7
    ────────────── ↓ 13 more ───────────────
    ");
    let mut editor = with("look at ");
    editor.paste(&long);
    editor.set_queue(vec!["stop that".to_owned(), "second\nline".to_owned()], vec!["then \u{1b}[31mthis".to_owned()]);
    insta::assert_snapshot!(screen(&mut editor, 40, 24), @"
    Steering: stop that
    Steering: second line
    Follow-up: then ␛[31mthis
    ↳ alt+up to edit all queued messages
    ────────────────────────────────────────
    look at [paste #1 +20 lines]▮
    ────────────────────────────────────────
    ");
}

#[test]
fn screens_of_completion() {
    let mut editor = Editor::default();
    write(&mut editor, "/");
    insta::assert_snapshot!(screen(&mut editor, 80, 24), @"
    ────────────────────────────────────────────────────────────────────────────────
    /▮
    ────────────────────────────────────────────────────────────────────────────────
    → new       begin a session
      resume    [session]  open another session
      search    [words]  find what was said in any session
      tree      walk the tree of this session
      branches  list the branches of this session
      (1/44)
    ");
    write(&mut editor, "br");
    press(&mut editor, "down");
    insta::assert_snapshot!(screen(&mut editor, 40, 12), @"
    ────────────────────────────────────────
    /br▮
    ────────────────────────────────────────
      branches       list the branches of t…
    → branch-here    [entry]  continue this…
      fork, branch   [entry] [--files]  beg…
      export-branch  <entry> [path]  write …
      background     list the commands that…
    ");
    let mut editor = Editor::default();
    editor.offer(|offers| {
        offers.add_files((1..=7).map(|number| format!("crates/offshoot-tui/src/a rather long folder/file{number}.rs")));
        let entries =
            vec![Choice::new("a1b2c3d4").with("before the refactoring"), Choice::new("ffff0000").with("\u{1b}[2J")];
        offers.set(Argument::Entry, entries);
    });
    write(&mut editor, "see @file");
    insta::assert_snapshot!(screen(&mut editor, 40, 12), @"
    ────────────────────────────────────────
    see @file▮
    ────────────────────────────────────────
    → crates/offshoot-tui/src/a ra…/file1.rs
      crates/offshoot-tui/src/a ra…/file2.rs
      crates/offshoot-tui/src/a ra…/file3.rs
      crates/offshoot-tui/src/a ra…/file4.rs
      crates/offshoot-tui/src/a ra…/file5.rs
      (1/7)
    ");
    editor.replace("");
    write(&mut editor, "/switch ");
    insta::assert_snapshot!(screen(&mut editor, 80, 24), @"
    ────────────────────────────────────────────────────────────────────────────────
    /switch ▮
    ────────────────────────────────────────────────────────────────────────────────
    → a1b2c3d4  before the refactoring
      ffff0000  ␛[2J
    ");
}

#[test]
fn columns_stay_free_on_either_side() {
    let mut editor = Editor::default();
    editor.set_padding(2);
    write(&mut editor, "eleven cells");
    insta::assert_snapshot!(screen(&mut editor, 14, 12), @"
    ──────────────
      eleven
      cells▮
    ──────────────
    ");
    editor.replace("");
    write(&mut editor, "/thinking m");
    insta::assert_snapshot!(screen(&mut editor, 24, 12), @"
    ────────────────────────
      /thinking m▮
    ────────────────────────
      → minimal
        medium
        max
    ");
    // In a narrow terminal at least one column is left for the text.
    editor.replace("ab");
    insta::assert_snapshot!(screen(&mut editor, 4, 12), @"
    ────
     ab▮
    ────
    ");
}

#[test]
fn the_border_tells_of_the_shell() {
    let token = |text: &str| {
        let editor = with(text);
        let area = Rect::new(0, 0, 10, 3);
        let mut buf = Buffer::empty(area);
        editor.view(&Theme::default(), area, &mut buf);
        buf.cell((0, 0)).map(ratatui::buffer::Cell::style)
    };
    let bash = Theme::default().style(Token::BashMode);
    assert_eq!(token("!ls").map(|style| style.fg), Some(bash.fg.or(Some(ratatui::style::Color::Reset))));
    assert_eq!(token("!ls"), token("  ! ls"));
}

proptest::proptest! {
    /// For any text and screen, the cursor is inside the area, and nothing outside it changes.
    #[test]
    fn hostile_text_stays_inside(
        text in "(\\PC|\n|\t|\u{1b}\\[2J|\u{202e}|\u{200b}|👩\u{200d}👧|日){0,80}",
        queued in "(\\PC|\n|\u{1b}\\[2J|\u{202e}){0,40}",
        columns in 1_u16..30, rows in 1_u16..14, keys in 0_usize..6, padding in 0_u16..4,
    ) {
        let mut editor = with(&text);
        editor.set_padding(padding);
        editor.offer(|offers| offers.set(Argument::Entry, vec![Choice::new(queued.clone()).with(text.clone())]));
        editor.set_queue(vec![queued.clone()], vec![text.clone()]);
        editor.resize(columns, rows);
        for key in ["up", "ctrl+w", "pageUp", "alt+d", "ctrl+y", "left"].iter().take(keys) {
            press(&mut editor, key);
        }
        let whole = Rect::new(0, 0, columns + 4, rows + 4);
        let area = Rect::new(2, 2, columns, rows);
        let mut buf = Buffer::filled(whole, ratatui::buffer::Cell::new("#"));
        editor.view(&Theme::default(), area, &mut buf);
        for at in whole.positions().filter(|at| !area.contains(*at)) {
            proptest::prop_assert_eq!(buf[at].symbol(), "#");
        }
        for at in area.positions() {
            proptest::prop_assert!(!buf[at].symbol().chars().any(char::is_control));
        }
        let at = editor.cursor(area);
        proptest::prop_assert!(at.is_some_and(|at| area.contains(at)), "{at:?}");
    }
}

/// Names that pi does not have belong to whoever takes them; pi's commands are its own.
#[test]
fn commands_that_pi_does_not_have_yield_to_what_is_called() {
    let mut editor = Editor::default();
    let prompt = |text: &str| Some(Sent::Prompt(text.to_owned()));
    drop(editor.set_called(["status", "pop", "exit", "tree"].map(Choice::new).to_vec()));
    for text in ["/status", "/pop a1", "/exit"] {
        editor.replace(text);
        assert_eq!(sent_text(editor.submit()), prompt(text), "{text}");
    }
    editor.replace("/tree");
    assert_eq!(sent_text(editor.submit()), Some(Sent::Command(SlashCommand::Tree)));
    editor.replace("/cost");
    assert_eq!(sent_text(editor.submit()), Some(Sent::Command(SlashCommand::Session)));
    // Until the names are known, only pi's commands run.
    let mut editor = Editor::default();
    editor.offer(Offers::expect_called);
    editor.replace("/status");
    assert_eq!(editor.submit(), EditorOutcome::Moved);
    assert_eq!(sent_text(editor.set_called(Vec::new())), Some(Sent::Command(SlashCommand::Session)));
    editor.offer(Offers::expect_called);
    editor.replace("/tree");
    assert_eq!(sent_text(editor.submit()), Some(Sent::Command(SlashCommand::Tree)));
}

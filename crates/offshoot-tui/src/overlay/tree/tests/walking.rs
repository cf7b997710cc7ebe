//! Keys and their outcomes.

use super::super::near::{HUGE, LARGE};
use super::*;
use offshoot_protocol::FilesAlong;

#[test]
fn a_search_narrows_and_escape_clears_it() {
    let mut selector = opened(&[&OLD[..], &NEW[..]].concat(), (80, 24));
    press(&mut selector, "alt");
    insta::assert_snapshot!(rows(&selector), @"
      • user: alt
      • assistant: altr
      • user: alt2
    › • assistant: altr2 ← here
      (4/4)
    ");
    press(&mut selector, "x");
    insta::assert_snapshot!(rows(&selector), @"  (0/0)");
    press(&mut selector, "back back");
    insta::assert_snapshot!(rows(&selector), @"
      • user: alt
      • assistant: altr
      • user: alt2
    › • assistant: altr2 ← here
      (4/4)
    ");
    assert_eq!(press(&mut selector, "esc"), TreeOutcome::Stay);
    insta::assert_snapshot!(rows(&selector), @"
      • user: q1
      • assistant: r1
      ├⊟ user: q2
      │  assistant: r2
      • user: alt
      • assistant: altr
      • user: alt2
    › • assistant: altr2 ← here
      (8/8)
    ");
    assert_eq!(press(&mut selector, "esc"), TreeOutcome::Close);
}

#[test]
fn enter_asks_and_leaves() {
    let mut selector = opened(&[&OLD[..], &NEW[..]].concat(), (80, 24));
    assert_eq!(press(&mut selector, "enter"), TreeOutcome::AlreadyHere);
    assert_eq!(press(&mut selector, "up up up up enter"), TreeOutcome::Stay);
    assert_eq!(press(&mut selector, "esc"), TreeOutcome::Stay);
    assert_eq!(selector.list.entry(), selector.source.tree().find("d"));
    let target = "d".to_owned();
    let plain = TreeOutcome::Navigate {
        target: target.clone(),
        summarize: false,
        instructions: None,
        left_out: None,
        files: FilesAlong::Stay,
    };
    assert_eq!(press(&mut selector, "enter enter"), plain);
    selector.stopped();
    let summary = TreeOutcome::Navigate {
        target: target.clone(),
        summarize: true,
        instructions: None,
        left_out: None,
        files: FilesAlong::Stay,
    };
    assert_eq!(press(&mut selector, "enter down enter"), summary);
    assert_eq!(press(&mut selector, "esc"), TreeOutcome::Abort);
    assert_eq!(press(&mut selector, "esc"), TreeOutcome::Stay);
    selector.stopped();
    assert_eq!(press(&mut selector, "enter up enter tests esc up down enter only"), TreeOutcome::Stay);
    let minding = TreeOutcome::Navigate {
        target,
        summarize: true,
        instructions: Some("testsonly".to_owned()),
        left_out: None,
        files: FilesAlong::Stay,
    };
    assert_eq!(press(&mut selector, "enter"), minding);
}

/// Two turns that only call tools: the first edits twice, the second runs a command.
fn calling() -> Session {
    let call = |id: &str, name: &str| {
        format!(r#"{{"type":"toolCall","id":"{id}","name":"{name}","arguments":{{"path":"{id}.rs"}}}}"#)
    };
    let turn = |calls: &[String]| format!(r#"{{"role":"assistant","content":[{}]}}"#, calls.join(","));
    let result = |id: &str| format!(r#"{{"role":"toolResult","toolCallId":"{id}","toolName":"t","content":[]}}"#);
    let messages = [
        ("a", "null", r#"{"role":"user","content":"Fix it"}"#.to_owned()),
        ("b", "\"a\"", turn(&[call("1", "edit"), call("2", "edit")])),
        ("c", "\"b\"", result("1")),
        ("d", "\"c\"", result("2")),
        ("e", "\"d\"", turn(&[call("3", "read")])),
        ("f", "\"e\"", result("3")),
        ("g", "\"f\"", r#"{"role":"assistant","content":[{"type":"text","text":"Done."}]}"#.to_owned()),
    ];
    let mut text = r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}"#.to_owned() + "\n";
    for (id, parent, message) in messages {
        text += &format!(r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"t","message":{message}}}"#);
        text.push('\n');
    }
    Session::from_text(&text, offshoot_session::session::Options::default()).unwrap()
}

fn gone_to(outcome: &TreeOutcome) -> Option<(&str, Option<&str>)> {
    match outcome {
        TreeOutcome::Navigate { target, left_out, .. } => Some((target, left_out.as_deref())),
        _ => None,
    }
}

/// Enter on a row of several calls led to the first one: the model was told that the others had not been completed.
#[test]
fn a_row_of_several_calls_is_all_of_them() {
    let mut selector = over(calling(), (80, 24));
    assert!(rows(&selector).contains("• [edit ×2, read: 3.rs]"), "{}", rows(&selector));
    press(&mut selector, "up");
    press(&mut selector, "enter");
    assert!(picture(&selector).contains("You go to [edit ×2, read: 3.rs]"), "{}", picture(&selector));
    assert_eq!(gone_to(&press(&mut selector, "enter")), Some(("f", None)));
    selector.stopped();
    press(&mut selector, "shift+L");
    press(&mut selector, "green enter");
    assert!(rows(&selector).contains("• [green] [edit ×2, read: 3.rs]"), "{}", rows(&selector));
    // A pick takes each of them.
    let TreeOutcome::Operate(order) = press(&mut selector, "shift+C") else { panic!("no pick") };
    let mut given = order.given;
    let picked = given.take("selection");
    assert_eq!(picked, Some(offshoot_workspace::ArgValue::Many(["c", "d", "f"].map(str::to_owned).to_vec())));
}

#[test]
fn an_open_row_of_calls_leads_to_its_middle_and_says_what_is_left_out() {
    let mut selector = over(calling(), (80, 24));
    press(&mut selector, "up right up up enter");
    assert!(picture(&selector).contains("You continue after it; left out: [edit: 2.rs, read: 3.rs]"));
    assert_eq!(gone_to(&press(&mut selector, "enter")), Some(("c", None)));
    selector.stopped();
    // It folds from each of its rows.
    press(&mut selector, "down left");
    assert!(rows(&selector).contains("• [edit ×2, read: 3.rs]"), "{}", rows(&selector));
    assert_eq!(gone_to(&press(&mut selector, "enter enter")), Some(("f", None)));
    selector.stopped();
    // Who is not asked is told on arrival.
    selector.setup.skips_question = true;
    let outcome = press(&mut selector, "right up enter");
    assert_eq!(gone_to(&outcome), Some(("d", Some("left out: [read: 3.rs]"))));
}

#[test]
fn a_label_is_set_at_once_and_found_by_its_name() {
    let mut selector = opened(&OLD, (80, 24));
    let named = TreeOutcome::Label { entry: "a".to_owned(), text: Some("the start".to_owned()) };
    assert_eq!(press(&mut selector, "home L"), TreeOutcome::Stay);
    selector.paste("  the start ");
    assert_eq!(press(&mut selector, "enter"), named);
    press(&mut selector, "T ctrl+l");
    insta::assert_snapshot!(rows(&selector), @"
    › • [the start] 00:05 user: q1 ← here, 3 below
      (1/1) [labeled] [+label time]
    ");
    press(&mut selector, "ctrl+d end J sta");
    assert_eq!(selector.list.entry(), selector.source.tree().find("a"));
    press(&mut selector, "esc L back back back back back back back back back");
    assert_eq!(press(&mut selector, "enter"), TreeOutcome::Label { entry: "a".to_owned(), text: None });
    assert_eq!(press(&mut selector, "L x esc enter esc"), TreeOutcome::Stay);
    assert!(selector.label(selector.source.tree().find("a").unwrap()).is_none());
}

/// Regression: Enter after a jump to a label asked the question before leaving, and the whole tree was not shown again.
#[test]
fn enter_after_a_jump_to_a_label_goes_to_it() {
    let mut selector = opened(&[&OLD[..], &["k:d:label:a"]].concat(), (80, 24));
    assert_eq!(press(&mut selector, "J mark enter"), TreeOutcome::Stay);
    assert!(matches!(selector.mode, Mode::Browse), "nothing is asked");
    assert_eq!(selector.list.entry(), selector.source.tree().find("a"));
    assert_eq!(selector.list.len(), 4, "the whole tree is back");
    press(&mut selector, "enter");
    assert!(matches!(selector.mode, Mode::Question(..)), "the next one asks");
}

#[test]
fn the_best_label_is_selected() {
    let words = [&OLD[..], &["k:d:label:a", "l:k:label:c"]].concat();
    let mut selector = opened(&words, (80, 24));
    press(&mut selector, "home down L");
    selector.paste("mark two");
    press(&mut selector, "enter J mark");
    assert_eq!(selector.list.entry(), selector.source.tree().find("a"), "a name before the beginning of one");
    selector.paste(" two");
    assert_eq!(selector.list.entry(), selector.source.tree().find("b"));
}

/// Regression: the selection was lost when no row was left, and came back at the end of the list.
#[test]
fn the_selection_survives_empty_results() {
    let mut selector = opened(&[&OLD[..], &NEW[..]].concat(), (80, 24));
    press(&mut selector, "up up");
    let chosen = selector.list.entry();
    press(&mut selector, "ctrl+l down up zzz esc ctrl+d");
    assert_eq!(selector.list.entry(), chosen);
    press(&mut selector, "ctrl+u");
    assert_eq!(selector.list.entry(), selector.source.tree().find("e"), "the nearest one above");
}

#[test]
fn ends_and_pages() {
    let words: Vec<String> = (0..40)
        .map(|at| match at {
            0 => "e0::user:word".to_owned(),
            _ => format!("e{at}:e{}:user:word", at - 1),
        })
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut selector = opened(&words, (80, 24));
    for (keys, row) in
        [("down", 0), ("up", 39), ("left", 27), ("left left left", 0), ("right", 12), ("end", 39), ("home", 0)]
    {
        press(&mut selector, keys);
        assert_eq!(selector.list.selected, row, "{keys}");
    }
}

#[test]
fn what_an_entry_says_is_copied_whole() {
    let mut selector = at_work((80, 24));
    let copied = TreeOutcome::Copy("Twice as fast.\nThe arena holds all tokens.".to_owned());
    assert_eq!(press(&mut selector, "up up ctrl+x"), copied);
    assert_eq!(press(&mut selector, "ctrl+a ctrl+x esc"), TreeOutcome::Close);
    press(&mut selector, "shift+up end up up up up");
}

#[test]
fn a_long_search_is_done_in_slices() {
    let said = "x".repeat(2_000);
    let words: Vec<String> = (0..2_000)
        .map(|at| match at {
            0 => "e0::user:word".to_owned(),
            _ => format!("e{at}:e{}:user:{said}", at - 1),
        })
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut selector = opened(&words, (80, 24));
    press(&mut selector, "word");
    assert!(selector.search.is_running(), "not all was read before the key was answered");
    let mut slices = 1;
    while selector.work(1 << 16) {
        slices += 1;
    }
    assert!(slices > 10, "{slices}");
    assert_eq!(rows(&selector).trim_end(), "› • user: word ← here, 1999 below\n  (1/1)");
    press(&mut selector, "s");
    assert!(!selector.search.is_running(), "what was read is kept, and little of it can be meant");
}

#[test]
fn the_first_rows_of_a_large_tree_come_before_the_others_and_stay_where_they_are() {
    let mut words = vec!["e0::user:word 0".to_owned()];
    words.extend((1..LARGE + 5).map(|at| {
        let parent = if at % 10 == 9 { at - 3 } else { at - 1 };
        format!("e{at}:e{parent}:user:word {at}")
    }));
    words.push(format!("l:e{}:label:e{}", LARGE + 4, LARGE - 2));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let large = || opened(&words, (80, 24));
    let rows = |selector: &TreeSelector| -> Vec<String> {
        let lines = selector.lines(&Theme::default(), 80, selector.page());
        lines.iter().map(ToString::to_string).collect()
    };
    let mut selector = large();
    let first = rows(&selector);
    assert!(!selector.list.outline.is_whole() && selector.is_at_work() && first.len() == selector.page());
    assert_eq!(selector.status(), "", "the rows are not counted yet");
    assert!(!selector.work(1), "all is laid out");
    assert_eq!((rows(&selector), selector.list.outline.is_whole()), (first, true));
    insta::assert_snapshot!(selector.status(), @"(9005/9005)");
    let mut selector = large();
    press(&mut selector, "home");
    assert_eq!(selector.list.entry(), selector.source.tree().find("e0"), "a key does not wait for an idle moment");
}

/// A session of a million entries took 178 MiB as soon as its tree had been shown for a moment.
#[test]
fn the_whole_of_a_huge_tree_is_laid_out_only_for_a_key_that_needs_it() {
    let mut words = vec!["e0::user:word 0".to_owned()];
    words.extend((1..HUGE).map(|at| format!("e{at}:e{}:user:word {at}", at - 1)));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut selector = opened(&words, (80, 24));
    assert!(selector.sums.is_none() && selector.is_at_work(), "figures come after the first screen");
    assert!(!selector.work(1) && selector.sums.is_some() && !selector.list.outline.is_whole());
    press(&mut selector, "up up down shift+p shift+p shift+s ctrl+x end");
    assert!(!selector.list.outline.is_whole(), "these keys stay among the first rows");
    let last = selector.source.tree().find(&format!("e{}", HUGE - 1));
    assert_eq!((selector.list.entry(), selector.status().as_str()), (last, ""));
    let rows = selector.list.len();
    press(&mut selector, vec!["up"; rows].join(" ").as_str());
    assert!(selector.list.outline.is_whole(), "the row above the first ones is needed");
    press(&mut selector, "home");
    insta::assert_snapshot!(selector.status(), @"(1/200000)");
}

/// Regression: each answer that only calls tools was a row `assistant: (no content)` above its call.
#[test]
fn a_comparison_lists_the_entries_that_the_tree_shows() {
    let words = ["a::user:q1", "b:a:assistant:", "c:b:user:more", "d:a:user:alt", "e:d:assistant:done"];
    let mut selector = opened(&words, (80, 24));
    let entry = |id: &str| selector.source.tree().find(id).unwrap();
    let (first, second) = (entry("c"), entry("e"));
    selector.open_comparison(first, second);
    let picture = picture(&selector);
    assert!(picture.contains("  user: more") && picture.contains("  assistant: done"), "{picture}");
    assert!(!picture.contains("(no content)"), "{picture}");
}

#[test]
fn where_files_would_change_the_terminal_asks_once_what_comes_back() {
    use offshoot_protocol::ComesBack;
    use offshoot_session::compose::NewEntry;
    use offshoot_session::json::Json;
    use offshoot_workspace::FilesPreview;
    let with_files = || {
        let mut session = told(&OLD);
        session.append_all(&[NewEntry::custom("offshoot.files", Some(Json::parse("{}").unwrap()))]).unwrap();
        session
    };
    let files = |outcome: &TreeOutcome| match outcome {
        TreeOutcome::Navigate { files, .. } => Some(*files),
        _ => None,
    };
    let mut selector = over(with_files(), (80, 24));
    let asked = press(&mut selector, "home enter");
    let TreeOutcome::PreviewFiles(entry) = asked else { panic!("{asked:?}") };
    assert_eq!(press(&mut selector, "enter"), TreeOutcome::Stay);
    let shown = picture(&selector);
    assert!(shown.contains("What comes back?") && shown.contains("› Messages alone"), "{shown}");
    assert_eq!(files(&press(&mut selector, "down enter")), Some(FilesAlong::Come));
    assert_eq!(selector.take_files_answer(), Some(ComesBack::Both), "for the settings");
    selector.stopped();
    assert_eq!(files(&press(&mut selector, "enter enter")), Some(FilesAlong::Come), "it is not asked again");
    selector.stopped();
    // Who has read that git has another commit checked out has confirmed it.
    press(&mut selector, "enter");
    let preview = FilesPreview { warning: Some("another commit".to_owned()), ..FilesPreview::default() };
    selector.take_files_preview(&entry, Ok(&preview));
    assert!(picture(&selector).contains("f  Files come back, too · of another commit"), "{}", picture(&selector));
    assert_eq!(files(&press(&mut selector, "enter")), Some(FilesAlong::ComeAcrossCommits));
    selector.stopped();
    // Files alone: the conversation stays.
    press(&mut selector, "enter f");
    assert!(picture(&selector).contains("Bring the files") && !picture(&selector).contains("Summarize"));
    let TreeOutcome::Operate(order) = press(&mut selector, "enter") else { panic!("files alone") };
    assert_eq!(
        format!("{:?}", order.given),
        format!("Given([(\"action\", Text(\"restore\")), (\"entry\", Text({entry:?}))])")
    );
    assert_eq!(selector.take_files_answer(), None);
    // A setting answers it, and where no file was recorded nothing is asked.
    for (session, setting, expected) in [
        (with_files(), Some(ComesBack::Both), FilesAlong::Come),
        (with_files(), Some(ComesBack::Messages), FilesAlong::Stay),
        (told(&OLD), None, FilesAlong::Stay),
    ] {
        let mut selector = over(session, (80, 24));
        selector.setup.files = setting;
        assert_eq!(files(&press(&mut selector, "home enter enter")), Some(expected));
    }
}

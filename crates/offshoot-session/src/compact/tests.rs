//! Vectors observed on pi 0.87.1, and offshoot's own rules.

use super::*;
use crate::json::Json;
use crate::session::{Options, Session};
use crate::summariser::Extractive;

const HEADER: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;

/// A chain of entries from words: `U100`, `A100`, `T100` are messages of that many tokens, `C(path)` an assistant's
/// call of `read`, `M` a model change, `B` a branch summary of 100 tokens, `k=ID` a compaction that keeps from an
/// entry, `snap=ID` one by Anthropic's block that covers the entries up to one, `x=ID` an edit that omits an entry, `pin=ID` a label, `E` a failed assistant message. Ids are `e0`, `e1`, ….
fn chain(words: &str) -> Session {
    let mut lines = vec![HEADER.to_owned()];
    for (at, word) in words.split(' ').enumerate() {
        let parent = if at == 0 { "null".to_owned() } else { format!("\"e{}\"", at - 1) };
        let envelope =
            format!(r#""id":"e{at}","parentId":{parent},"timestamp":"2026-01-01T00:00:{:02}.000Z""#, at % 60);
        lines.push(format!("{{{},{}", entry(word), envelope) + "}");
    }
    Session::from_text(&(lines.join("\n") + "\n"), Options::default()).unwrap()
}

fn entry(word: &str) -> String {
    let message =
        |role: &str, content: &str| format!(r#""type":"message","message":{{"role":"{role}","content":{content}}}"#);
    let text =
        |size: &str| format!(r#"[{{"type":"text","text":"{}"}}]"#, "x".repeat(size.parse::<usize>().unwrap() * 4));
    match word.split_once('=') {
        Some(("k", kept)) => {
            return format!(
                r#""type":"compaction","summary":"S1","firstKeptEntryId":"{kept}","tokensBefore":9,"details":{{"readFiles":["r"],"modifiedFiles":["m"]}}"#
            );
        }
        Some(("snap", through)) => {
            return format!(
                r#""type":"compaction","summary":"S1","firstKeptEntryId":"","tokensBefore":9,"providerReplayThroughEntryId":"{through}","preserveData":{{"anthropicCompaction":{{"provider":"anthropic","content":"S1"}}}}"#
            );
        }
        Some(("x", target)) => return format!(r#""type":"context_edit","targetId":"{target}","replacement":null"#),
        Some(("pin", target)) => return format!(r#""type":"label","targetId":"{target}","label":"pin""#),
        Some(("say", what)) => return message("user", &crate::json::quote(&what.replace('_', " "))),
        _ => {}
    }
    match word.split_at(1) {
        ("U", size) => message("user", &text(size)),
        ("A", size) => message("assistant", &text(size)),
        ("T", size) => message("toolResult", &text(size)),
        ("E", "") => message("assistant", "[]"),
        ("M", "") => r#""type":"model_change","provider":"p","modelId":"m""#.to_owned(),
        ("B", "") => format!(r#""type":"branch_summary","fromId":"x","summary":"{}""#, "x".repeat(400)),
        ("C", path) => {
            let path = path.trim_matches(['(', ')']);
            let call = format!(r#"{{"type":"toolCall","id":"c","name":"read","arguments":{{"path":"{path}"}}}}"#);
            message(
                "assistant",
                &format!(r#"[{{"type":"text","text":"{}"}},{call}]"#, "x".repeat(400 - 15 - path.len())),
            )
        }
        _ => panic!("{word}"),
    }
}

fn keep(session: &Session, tokens: u64) -> Planned {
    let settings = Settings { keep_recent_tokens: tokens, ..Settings::default() };
    plan(session, session.leaf(), Dialect::Pi, &settings).unwrap()
}

fn planned(words: &str, tokens: u64) -> String {
    told(keep(&chain(words), tokens))
}

/// `first kept / turn start / what goes | prefix`, or why nothing goes.
fn told(planned: Planned) -> String {
    match planned {
        Planned::AlreadyCompacted => "already".to_owned(),
        Planned::TooSmall => "too small".to_owned(),
        Planned::Cut(plan) => {
            let ids = |said: &[PlannedMessage]| {
                said.iter().map(|said| said.ix.index().to_string()).collect::<Vec<_>>().join(",")
            };
            let turn = plan.turn_start.map_or("-".to_owned(), |start| start.index().to_string());
            format!("{} / {turn} / {} | {}", plan.first_kept.index(), ids(&plan.history), ids(&plan.turn_prefix))
        }
    }
}

#[test]
fn cuts_fall_where_pis_do() {
    for (words, tokens, expected) in [
        ("U100 A100 U100 A100 U100 A100", 250, "3 / 2 / 0,1 | 2"),
        ("U100 A100 U100 A100 U100 A100", 300, "3 / 2 / 0,1 | 2"),
        ("U100 A100 U100 A100", 1000, "too small"),
        ("U10 A10 T500", 100, "1 / 0 /  | 0"),
        ("U10 A10 T500 A10", 100, "3 / 0 /  | 0,1,2"),
        ("U100 A100 B A100 U100", 150, "3 / 2 / 0,1 | 2"),
        ("M M", 10, "too small"),
        ("U100 A100 U100 k=e2", 10, "already"),
        ("U100 C(p) T100 C(p) T100 A100", 250, "3 / 0 /  | 0,1,2"),
        // The second compaction summarises what the first one kept.
        ("U100 A100 U100 A100 k=e2 U100 A100 U100 A100", 150, "7 / - / 2,3,5,6 | "),
        // A failed attempt that was omitted does not keep the oversized input.
        ("U100 A100 U5000 E x=e3", 1000, "3 / 2 / 0,1 | 2"),
    ] {
        assert_eq!(planned(words, tokens), expected, "{words} keep {tokens}");
    }
}

/// pi moves the cut back onto the settings entry first, and then takes it for the middle of the turn before it.
#[test]
fn settings_before_a_turn_do_not_split_the_turn_before_them() {
    assert_eq!(planned("U100 A100 M U100 A100", 150), "2 / - / 0,1 | ");
    assert_eq!(planned("U100 A100 U100 M A100 T100", 150), "3 / 2 / 0,1 | 2");
}

/// omp 18.3: what followed the snapshot is in the context, so the next compaction summarises it.
#[test]
fn what_followed_a_snapshot_is_planned_again() {
    let omp = |words: &str| {
        let settings = Settings { keep_recent_tokens: 150, ..Settings::default() };
        let session = chain(words);
        told(plan(&session, session.leaf(), Dialect::Omp, &settings).unwrap())
    };
    assert_eq!(omp("U100 A100 U100 A100 snap=e1 U100 A100 U100 A100"), "7 / - / 2,3,5,6 | ");
    assert_eq!(omp("U100 A100 U100 A100 U100 A100 snap=e1"), "4 / - / 2,3 | ");
    assert_eq!(omp("U100 A100 snap=e1"), "too small");
    assert_eq!(omp("U100 A100 k=e1"), "already");
}

#[test]
fn a_leaf_marker_behind_a_compaction_changes_nothing() {
    let mut session = chain("U100 A100 U100 k=e2 U100");
    let compaction = session.find("e3").unwrap();
    session.switch(compaction).unwrap();
    assert!(matches!(keep(&session, 10), Planned::AlreadyCompacted));
}

#[test]
fn tokens_come_from_the_last_report_unless_something_made_it_untrue() {
    let session = chain("U100 C(p) T100 C(p) T100 A100");
    let plan = keep(&session, 250).plan().unwrap();
    assert_eq!((plan.tokens_before(), plan.tokens_kept()), (600, 300));
    assert_eq!(plan.files.read, ["p"]);
    let usage = r#"{"role":"assistant","content":[],"usage":{"totalTokens":5000}}"#;
    let mut session = chain("U100 A100 U100");
    session.append(&NewEntry::message(Json::parse(usage).unwrap()).unwrap()).unwrap();
    assert_eq!(keep(&session, 50).plan().unwrap().tokens_before(), 5000);
    session.append(&NewEntry::context_edit("e0", None, Json::parse("null").unwrap()).unwrap()).unwrap();
    assert_eq!(keep(&session, 50).plan().unwrap().tokens_before(), 200, "the report counted what the edit took out");
}

#[test]
fn due_when_the_reserve_is_touched() {
    let settings = Settings { reserve_tokens: 100, ..Settings::default() };
    assert_eq!(settings.compact_above(1000), Some(900));
    assert_eq!(Settings { enabled: false, ..settings }.compact_above(1000), None);
    assert_eq!(settings.compact_above(50), Some(0), "a window smaller than the reserve is always full");
}

fn answers(texts: &[&str]) -> Vec<SummariserAnswer> {
    texts.iter().map(|text| SummariserAnswer { text: (*text).to_owned(), usage: None }).collect()
}

#[test]
fn a_cut_turn_is_two_questions_and_one_summary() {
    let session = chain("U100 A100 U100 C(p) T100 A100");
    let plan = keep(&session, 150).plan().unwrap();
    let requests = plan.requests(Some("the parser"));
    let purposes: Vec<_> = requests.iter().map(|request| (request.purpose, request.max_tokens)).collect();
    assert_eq!(purposes, [(Purpose::History, 13_107), (Purpose::TurnPrefix, 8192)]);
    assert!(requests.iter().all(|request| request.prompt.ends_with("Pay special attention to this: the parser")));
    let drafted = plan.summary(&answers(&["H\n", "P"]), None).unwrap();
    assert_eq!(drafted.text, "H\n\n---\n\n**Turn Context (split turn):**\n\nP\n\n<read-files>\np\n</read-files>");
    assert_eq!(drafted.details, r#"{"readFiles":["p"],"modifiedFiles":[]}"#);
    for wrong in [&["H"][..], &["H", " "], &[], &["H", "P", "X"]] {
        assert!(matches!(plan.summary(&answers(wrong), None), Err(Error::NoSummary(_))), "{wrong:?}");
    }
}

/// pi used to write "no prior history" although there was an earlier summary.
#[test]
fn an_earlier_summary_is_carried_on() {
    let session = chain("U100 A100 U100 A100 k=e2 U100 A100 U100 A100");
    let plan = keep(&session, 150).plan().unwrap();
    assert_eq!(plan.previous_summary.as_deref(), Some("S1"));
    let request = plan.requests(None).remove(0);
    assert_eq!(request.purpose, Purpose::Update);
    assert!(request.prompt.contains("</conversation>\n\n<previous-summary>\nS1\n</previous-summary>\n\n"));
    assert_eq!(plan.files.modified, ["m"]);
    let session = chain("U100 A100 U10 A10 k=e2 A10 T500");
    let plan = keep(&session, 100).plan().unwrap();
    assert!(plan.history.is_empty() && plan.is_split(), "{plan:?}");
    let drafted = plan.summary(&answers(&["P"]), None).unwrap();
    assert!(drafted.text.starts_with("S1\n\n---\n"), "{}", drafted.text);
}

#[test]
fn what_is_pinned_stays_word_for_word_through_every_compaction() {
    let mut session = chain("say=never_touch_main.rs A100 U100 A100 pin=e0 U100 A100");
    for round in 0..2 {
        let plan = keep(&session, 150).plan().unwrap();
        let requests = plan.requests(None);
        let asked: String = requests.iter().map(|request| request.prompt.as_str()).collect();
        assert!(!asked.contains("<pinned"), "a summariser is not given it twice: {asked}");
        let drafted = plan.summary(&answers(&vec!["X"; requests.len()]), None).unwrap();
        let section =
            "\n\n<pinned-entries>\n<pinned entry=\"e0\">\n[User]: never touch main.rs\n</pinned>\n</pinned-entries>";
        assert_eq!(drafted.text.matches(section).count(), 1, "round {round}: {}", drafted.text);
        assert_eq!(drafted.details, r#"{"readFiles":[],"modifiedFiles":[],"pinned":["e0"]}"#);
        session.append(&plan.entry(&drafted, Dialect::Pi)).unwrap();
        for role in ["user", "assistant", "user", "assistant"] {
            let message = format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"{}"}}]}}"#, "y".repeat(400));
            session.append(&NewEntry::message(Json::parse(&message).unwrap()).unwrap()).unwrap();
        }
    }
    session.append(&NewEntry::label("e0", None)).unwrap();
    let plan = keep(&session, 150).plan().unwrap();
    assert!(plan.pinned.is_empty());
    let prompt = &plan.requests(None)[0].prompt;
    assert!(prompt.contains("never touch main.rs"), "without its pin it is left to the summariser: {prompt}");
}

#[test]
fn without_a_model_the_summary_says_so() {
    let mut session = chain("say=fix_src/a.rs._Never_use_unsafe. C(src/a.rs) T100 A100 U100 A100");
    let plan = keep(&session, 150).plan().unwrap();
    let drafted = plan.run(&Extractive::new(&session), None).unwrap();
    assert!(drafted.text.contains("- Never use unsafe."), "{}", drafted.text);
    assert_eq!(drafted.details, r#"{"readFiles":["src/a.rs"],"modifiedFiles":[],"summariser":"extractive"}"#);
    let before = session.context().unwrap().messages(&session).count();
    session.append(&plan.entry(&drafted, Dialect::Pi)).unwrap();
    let after = session.context().unwrap().messages(&session).count();
    assert_eq!((before, after), (6, 1 + plan.kept.len()));
}

#[test]
fn the_report_names_what_the_summary_lacks() {
    let session = chain("say=fix_src/a.rs_on_port_8080._Never_use_unsafe. C(src/b.rs) T100 A100 U100 A100");
    let plan = keep(&session, 150).plan().unwrap();
    let report = report::report(&plan, "Worked on src/a.rs.");
    let missing: Vec<String> =
        report.findings.iter().flat_map(|finding| &finding.listed).map(|one| one.text.clone()).collect();
    assert_eq!(missing, ["Never use unsafe.", "src/b.rs", "8080"]);
    assert!(report.to_json().starts_with(r#"{"rules":{"said":1,"missing":1,"listed":[{"text":"Never use unsafe.","times":1}]},"paths":{"said":2,"missing":1,"#));
    assert!(report::report(&plan, "src/a.rs, src/b.rs, 8080; use unsafe: never").is_clean());
}

/// The table under *An example* of `docs/compaction.md`: entries of 100 tokens, and what becomes of each.
#[test]
fn the_example_of_the_document_is_cut_as_it_says() {
    let (_, example) = include_str!("../../../../docs/compaction.md").split_once("### An example").unwrap();
    let (said, rest) = example.split_once("```text\n").unwrap();
    assert!(said.contains("Each message is 100 tokens; `keepRecentTokens` is 250."), "{said}");
    let rows: Vec<&str> = rest.split("\n```").next().unwrap().lines().collect();
    let words = rows.iter().map(|row| match row.split_whitespace().nth(1).unwrap() {
        "user" => "U100",
        "assistant" if row.contains("calls read") => "C(lexer.rs)",
        "assistant" => "A100",
        "toolResult" => "T100",
        "model_change" => "M",
        other => panic!("{other}"),
    });
    let those = |fate: &str| {
        let ids = rows.iter().enumerate().filter(|(_, row)| row.contains(fate)).map(|(at, _)| at.to_string());
        ids.collect::<Vec<_>>().join(",")
    };
    let expected = format!("{} / 2 / {} | {}", those("firstKeptEntryId"), those("  history"), those("turn prefix"));
    assert_eq!(planned(&words.collect::<Vec<_>>().join(" "), 250), expected);
}

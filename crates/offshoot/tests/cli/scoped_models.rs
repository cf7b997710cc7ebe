//! The models between which a key changes, the thinking levels of single models, and how requests are sent.

use offshoot_agent::testing::script::Reply;
use serde_json::{Value, json};

use crate::agent::Talk;
use crate::terminal::Terminal;

/// Three models behind one key.
fn three_models(replies: impl IntoIterator<Item = Reply>, settings: &Value) -> Talk {
    let talk = Talk::new(replies);
    let model = |id: &str| json!({"id": id, "contextWindow": 200_000, "maxTokens": 8000, "reasoning": true, "input": ["text", "image"]});
    let url = talk.server.base_url(offshoot_agent::provider::Api::Anthropic);
    let models = ["m1", "m2", "big/m3"].map(model);
    let provider = json!({"baseUrl": url, "api": "anthropic-messages", "apiKey": "$TEST_KEY", "models": models});
    talk.data("models.json", &json!({"providers": {"test": provider}}));
    talk.data("settings.json", settings);
    talk.was_started_before();
    talk
}

/// The models that were asked, each with whether it was to think.
fn asked(talk: &Talk) -> String {
    let requests = talk.server.seen();
    let shown = requests.iter().map(|request| {
        let body = request.json();
        let budget = body["thinking"]["budget_tokens"].as_u64().map(|tokens| format!(":{tokens}")).unwrap_or_default();
        format!("{}{budget}", body["model"].as_str().unwrap())
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// As pi 0.87.1.
#[test]
fn a_new_session_begins_with_a_model_of_the_scope() {
    let cases: [(Value, &[&str], &str); 7] = [
        (json!({"defaultModel": "m2", "defaultThinkingLevel": "off"}), &["--models", "m2,m1"], "m2"),
        (json!({"defaultModel": "m2", "defaultThinkingLevel": "off"}), &["--models", "*/m3,m1"], "big/m3"),
        (json!({"enabledModels": ["m2:low"]}), &[], "m2:2048"),
        (json!({"enabledModels": ["m2:low"]}), &["--model", "m1:off"], "m1"),
        (
            json!({"enabledModels": ["m2:low"], "modelThinkingLevels": {"test/m1": "minimal"}}),
            &["--model", "m1"],
            "m1:1024",
        ),
        (json!({"defaultThinkingLevel": "off"}), &["--models", ""], "m1"),
        (json!({"enabledModels": ["m2:low"]}), &["--thinking", "off"], "m2"),
    ];
    for (settings, arguments, expected) in cases {
        let talk = three_models([Reply::text("Yes.")], &settings);
        let told = talk.run(&[&["-p", "hi"], arguments].concat());
        assert_eq!((asked(&talk).as_str(), told.as_str()), (expected, "Yes.\n"), "{settings} {arguments:?}");
    }
}

#[test]
fn a_pattern_that_fits_nothing_is_told_and_the_rest_counts() {
    let talk = three_models([Reply::text("Yes.")], &json!({"defaultThinkingLevel": "off"}));
    let told = talk.run(&["-p", "hi", "--models", "nope,m2:lwo"]);
    assert_eq!(asked(&talk), "m2");
    insta::assert_snapshot!(told, @r#"
    Yes.
    [stderr]
    warning: no model with a key fits "nope"
    warning: m2:lwo: there is no thinking level "lwo"
    "#);
}

/// A session that has messages keeps its model.
#[test]
fn a_session_goes_on_with_its_own_model() {
    let talk = three_models([Reply::text("One."), Reply::text("Two.")], &json!({"defaultThinkingLevel": "off"}));
    talk.run(&["-p", "hi"]);
    talk.run(&["-p", "go on", "-c", "--models", "m2"]);
    assert_eq!(asked(&talk), "m1 m1");
}

#[test]
fn a_key_changes_between_the_models_of_the_scope() {
    let replies = (0..5).map(|number| Reply::text(&format!("Answer {number}.")));
    let talk = three_models(replies, &json!({"enabledModels": ["m1:off", "*/m3:low"]}));
    let mut terminal = Terminal::offshoot(&talk, &["say 0"], (80, 24));
    let ask = |terminal: &mut Terminal, number: usize| {
        terminal.send(&format!("say {number}\r"));
        terminal.until_text(&format!("Answer {number}.")).until_idle();
    };
    terminal.until_text("Answer 0.").until_idle().send("\x10");
    terminal.until_text("big/m3 • thinking low");
    ask(&mut terminal, 1);
    terminal.send("\x10");
    // The row at the start names the first model, too.
    let is_first = |row: &str| row.starts_with("~/work") && row.ends_with("m1 • thinking off");
    terminal.until("the first model", |screen| screen.lines().any(is_first));
    ask(&mut terminal, 2);
    // The second of the scope goes, the last model comes: at once, for this session only.
    terminal.send("/scoped-models\r");
    terminal.until_text("test/big/m3 • low ✓").send("\x1b[B\r\x1b[B\r");
    terminal.until_text("test/m2 ✓").send("\x1b");
    terminal.until_gone("test/m2 ✓").send("\x10");
    terminal.until_text("m2 • thinking off");
    ask(&mut terminal, 3);
    terminal.send("/scoped-models\r");
    terminal.until_text("test/m2 ✓").send("\x13");
    terminal.until_text("kept in the settings");
    let kept = talk.world.home().join(".local/share/offshoot/settings.json");
    assert!(std::fs::read_to_string(kept).unwrap().contains(r#"["test/m1:off", "test/m2"]"#));
    assert_eq!(asked(&talk), "m1 big/m3:2048 m1 m2");
    terminal.send("\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

/// Regression: the prompt was sent beside the change, and often before it.
#[test]
fn a_prompt_that_follows_the_key_at_once_is_for_the_new_model() {
    let replies = (0..6).map(|number| Reply::text(&format!("Answer {number}.")));
    let talk = three_models(replies, &json!({"enabledModels": ["m1:off", "m2:off"]}));
    let mut terminal = Terminal::offshoot(&talk, &["say 0"], (80, 24));
    terminal.until_text("Answer 0.").until_idle();
    for (number, keys) in ["\x10", "\x10", "\x10", "\x10", "\x10\x10"].iter().enumerate() {
        terminal.send(&format!("{keys}say {number}\r"));
        terminal.until_text(&format!("Answer {}.", number + 1)).until_idle();
    }
    assert_eq!(asked(&talk), "m1 m2 m1 m2 m1 m1");
    terminal.send("\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

#[test]
fn pictures_and_the_proxy_are_as_the_settings_say() {
    let talk = three_models([Reply::text("Seen."), Reply::text("Far.")], &json!({"images": {"blockImages": true}}));
    talk.world.write("red.png", include_bytes!("red.png"));
    talk.run(&["-p", "@red.png", "what is it?"]);
    let body = &talk.server.seen()[0].body;
    assert!(body.contains("image omitted") && !body.contains("\"image\""), "{body}");

    talk.data("settings.json", &json!({"httpProxy": talk.server.url()}));
    let model = json!({"id": "m9", "contextWindow": 200_000, "maxTokens": 8000});
    let far =
        json!({"baseUrl": "http://far.invalid", "api": "anthropic-messages", "apiKey": "$TEST_KEY", "models": [model]});
    talk.data("models.json", &json!({"providers": {"test": far}}));
    assert_eq!(talk.run(&["-p", "hi"]), "Far.\n");
    assert!(asked(&talk).ends_with(" m9"));
}

#[test]
fn the_settings_name_the_folder_of_sessions() {
    let talk = three_models([Reply::text("Yes.")], &json!({"sessionDir": "kept"}));
    talk.run(&["-p", "hi"]);
    let files = talk.files();
    assert!(files.len() == 1 && files[0].parent().unwrap().ends_with("work/kept"), "{files:?}");
    assert!(talk.run(&["list"]).contains("hi"));
    assert!(talk.run(&["doctor"]).contains("sessionDir"), "{}", talk.run(&["doctor"]));
    assert!(!talk.run(&["list", "--session-dir", "elsewhere"]).contains("hi"));
}

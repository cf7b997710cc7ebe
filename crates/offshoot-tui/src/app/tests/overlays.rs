//! Overlays and lists in the editor's place, in both sizes and both themes.

use offshoot_agent::approval::Rule;
use offshoot_protocol::model::Price;
use offshoot_protocol::{ApprovalDecision, ApprovalTier, FieldKind, Form, FormField, FormSource, OfferedRule};
use offshoot_session::session::Session;
use serde_json::json;

use super::*;
use crate::app::cmd::Purpose;
use crate::app::extension::{AskedId, AskedQuestion};
use crate::app::model::Picking;
use crate::app::msg::ListedModel;
use crate::overlay::dialog::Dialog;
use crate::overlay::pick::{Choice, Pick};
use crate::overlay::settings::Files;
use crate::testing::working;
use offshoot_settings::{Layer, Layers, Scope};

fn over(model: &mut Model, purpose: Purpose) {
    let session: Session = working();
    let leaf = session.leaf();
    model.conversation.open_place(Vec::new(), Path::of(session.tree(), leaf).entries());
    update(model, Msg::Snapshot(purpose, Arc::new(session), leaf));
}

fn models(model: &mut Model) {
    let known = [("claude-opus-4-5", "anthropic"), ("m1", "test"), ("gemini-3-pro", "google")];
    let listed = |(id, provider)| {
        let price = Price { input: 3.0, output: 15.0, ..Price::default() };
        let model = Arc::new(LanguageModel { price, ..language_model(id, provider) });
        ListedModel { model, has_key: provider != "google" }
    };
    update(model, Msg::Models(known.map(listed).into()));
}

fn branches(model: &mut Model) {
    let branch = |leaf: &str, label: &str, detail: &str, is_current| {
        (leaf.to_owned(), Choice { label: label.to_owned(), detail: detail.to_owned(), is_current })
    };
    let branches = vec![
        branch("g", "Slices of the text, then.", "2 min ago · $0.30 · 4 entries", true),
        branch("e", "[arena] Twice as fast. The arena holds all tokens.", "5 min ago · $0.02 · 2 entries", false),
    ];
    update(model, Msg::Branches(branches));
}

fn settings(model: &mut Model) {
    let read = |text, scope| Layer::read(text, scope).unwrap().0;
    let layers = Layers {
        global: read(r#"{"theme":"light","steeringMode":"all"}"#, Scope::Global),
        project: read(r#"{"compaction":{"keepRecentTokens":5000}}"#, Scope::Project),
        ..Layers::default()
    };
    let files = Files {
        global: "~/.local/share/offshoot/settings.json".to_owned(),
        project: Some("~/work/.offshoot/settings.json".to_owned()),
    };
    update(model, Msg::Settings(layers, files, vec!["dark".to_owned(), "light".to_owned()]));
}

fn page(model: &mut Model) {
    let lines = [
        "id        019b76da-bd4a-7000-8000-000000000001",
        "file      ~/.local/share/offshoot/sessions/--home-me-work--/2026-01-01T00-00-00-000Z_019b76da.jsonl",
        "entries   9 on 2 branches",
        "tokens    3.6k, $0.75",
    ];
    update(model, Msg::Page("This session".to_owned(), lines.map(str::to_owned).into()));
}

fn asked(model: &mut Model) {
    let text = "The session was begun in ~/old, which is gone. Go on with it in ~/work?";
    let pick = Pick::ask("Go on here?", text, &["Yes", "No"]);
    model.overlay = Some(Overlay::Pick(Box::new(pick), Picking::Branch(Vec::new())));
}

fn may_run(model: &mut Model, tool: &str, args: serde_json::Value, change: impl FnOnce(&mut Event)) {
    let mut event = Event::ApprovalRequest {
        id: 1,
        tool_call_id: "c1".to_owned(),
        tool_name: tool.to_owned(),
        args,
        tier: ApprovalTier::Exec,
        reason: "mode `ask` asks before commands".to_owned(),
        diff: None,
        rule: None,
        rules: Vec::new(),
        options: vec![ApprovalDecision::AllowOnce, ApprovalDecision::Reject],
        waiting: 0,
        following: Vec::new(),
    };
    change(&mut event);
    heard(model, event);
}

fn may_bash_run(model: &mut Model) {
    may_run(model, "bash", json!({"command": "cargo test -p pager && git commit -am 'count pages'"}), |event| {
        let Event::ApprovalRequest { rule, rules, waiting, .. } = event else { return };
        let exact = "bash(cargo test -p pager && git commit -am 'count pages')";
        *rule = Some(exact.to_owned());
        *rules = offered(&[exact, "bash"]);
        *waiting = 2;
    });
}

fn may_test_run(model: &mut Model) {
    may_run(model, "bash", json!({"command": "cargo test -p pager"}), |event| {
        let Event::ApprovalRequest { rule, rules, .. } = event else { return };
        *rule = Some("bash(cargo test -p pager)".to_owned());
        *rules = offered(&["bash(cargo test -p pager)", "bash(cargo test:*)", "bash"]);
    });
}

fn offered(rules: &[&str]) -> Vec<OfferedRule> {
    let offered = |text: &&str| {
        let allows = Rule::parse(text).unwrap().allows();
        OfferedRule { rule: (*text).to_owned(), allows }
    };
    rules.iter().map(offered).collect()
}

fn may_edit_change(model: &mut Model) {
    may_run(model, "edit", json!({"path": "src/pager.rs"}), |event| {
        let Event::ApprovalRequest { reason, diff, rule, .. } = event else { return };
        *reason = "mode `ask` asks before files are changed".to_owned();
        let rows = (20..60).map(|line| format!("+{line}     page({line});\n")).collect::<String>();
        *diff = Some(format!(" 18 fn all() {{\n-19     todo\n{rows}"));
        *rule = Some("edit(./src/pager.rs)".to_owned());
    });
}

fn may_run_outside(model: &mut Model) {
    may_run(model, "bash", json!({"command": "cargo install --path ."}), |event| {
        let Event::ApprovalRequest { reason, options, .. } = event else { return };
        *reason = "commands in it write only in /home/me/work, /tmp/offshoot-1a2b3c, except /home/me/work/.git/hooks"
            .to_owned();
        *options = vec![ApprovalDecision::OnceUnsandboxed, ApprovalDecision::Reject];
    });
}

fn table() -> Vec<(&'static str, Tell<'static>)> {
    vec![
        ("which model", &models),
        ("which model, searched", &|model| {
            models(model);
            write(model, "op");
        }),
        ("how much it thinks", &|model| {
            update(model, Msg::Paste("/thinking".to_owned()));
            press(model, "enter");
        }),
        ("branches", &branches),
        ("a question", &asked),
        ("may a command run", &may_bash_run),
        ("may a command run, answered", &|model| {
            may_bash_run(model);
            press(model, "tab");
        }),
        ("its rules, before one is kept", &|model| {
            may_bash_run(model);
            press(model, "tab a");
        }),
        ("the second of its rules", &|model| {
            may_test_run(model);
            press(model, "tab a down");
        }),
        ("why it is refused", &|model| {
            may_bash_run(model);
            press(model, "tab t");
            write(model, "without the commit");
        }),
        ("may a file change, scrolled", &|model| {
            may_edit_change(model);
            press(model, "tab down down");
        }),
        ("may a command run outside the sandbox", &|model| {
            may_run_outside(model);
            press(model, "tab");
        }),
        ("the end of the conversation, to be read", &|model| over(model, Purpose::Transcript)),
        ("its beginning, all open", &|model| {
            over(model, Purpose::Transcript);
            press(model, "ctrl+o ctrl+t home");
        }),
        ("a message to begin a session before", &|model| over(model, Purpose::Fork)),
        ("a message to go on from", &|model| over(model, Purpose::BranchHere)),
        ("the tree", &|model| over(model, Purpose::Tree)),
        ("settings", &settings),
        ("settings of the project, searched", &|model| {
            settings(model);
            press(model, "tab");
            write(model, "tokens");
            press(model, "down");
        }),
        ("a setting is typed", &|model| {
            settings(model);
            write(model, "recent");
            press(model, "enter");
            write(model, "x");
            press(model, "enter");
        }),
        ("help", &|model| press(model, "?")),
        ("help, searched", &|model| {
            press(model, "?");
            write(model, "tree");
        }),
        ("a page", &page),
    ]
}

#[test]
fn every_screen() {
    for size in SIZES {
        insta::assert_snapshot!(format!("at_{}x{}", size.0, size.1), screens(size, &table()));
    }
}

/// Whatever the size: what is asked, the first row of the call, and the keys are on the screen.
#[test]
fn a_question_can_be_answered_in_every_size() {
    let questions: [(Tell<'_>, &str, &str); 3] = [
        (&may_bash_run, "Run this command?", "cargo test"),
        (&may_edit_change, "Change src/pager.rs?", "18 fn all()"),
        (&may_run_outside, "bash failed in the sandbox.", "cargo install"),
    ];
    for width in [40, 60, 80, 120] {
        for height in (12..40).step_by(2) {
            for (tell, title, call) in &questions {
                for answering in [false, true] {
                    let screen = terminal((width, height), &|model| {
                        tell(model);
                        if answering {
                            press(model, "tab");
                        }
                    });
                    let keys = if answering { "y allow" } else { "tab answers" };
                    for part in [*title, *call, keys] {
                        assert!(screen.contains(part), "{width}x{height}: {part:?} is missing in\n{screen}");
                    }
                }
            }
        }
    }
}

/// The keys go to the question of the extension, which is below. The draft is there again after both.
#[test]
fn an_approval_waits_for_a_question_of_an_extension() {
    let (mut shown, mut after) = (String::new(), String::new());
    for is_answered in [false, true] {
        let screen = terminal((60, 24), &|model| {
            write(model, "a draft");
            may_bash_run(model);
            let kind = FieldKind::one_of(["red".to_owned(), "green".to_owned()]);
            let (id, question) = ("colour".to_owned(), "Which colour?".to_owned());
            let fields = vec![FormField { id, header: None, question, kind, required: true }];
            let form = Form { source: FormSource::Extension, message: None, fields };
            let asked = AskedQuestion { id: AskedId::Extension(7), form, timeout: None };
            let dialog = Dialog::new(asked.form.clone(), None, model.size);
            model.overlay = Some(Overlay::Dialog(Box::new(dialog), Box::new(asked)));
            if is_answered {
                press(model, "enter");
            }
        });
        *(if is_answered { &mut after } else { &mut shown }) = screen;
    }
    assert!(shown.contains("waits until the question below is answered") && !shown.contains("tab answers"), "{shown}");
    assert!(after.contains("tab answers") && after.contains("\na draft"), "{after}");
}

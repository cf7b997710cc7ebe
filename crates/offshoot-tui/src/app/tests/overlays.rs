//! Overlays and lists in the editor's place, in both sizes and both themes.

use offshoot_session::session::Session;

use super::*;
use crate::app::cmd::Purpose;
use crate::app::model::Picking;
use crate::app::msg::ListedModel;
use crate::overlay::pick::{Choice, Pick};
use crate::overlay::settings::Files;
use crate::testing::working;
use offshoot_agent::provider::Price;
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
        branch("g", "Slices of the text, then.", "4 entries · 2 min ago", true),
        branch("e", "[arena] Twice as fast. The arena holds all tokens.", "2 entries · 5 min ago", false),
    ];
    update(model, Msg::Branches(branches));
}

fn settings(model: &mut Model) {
    let read = |text, scope| Layer::read(text, scope).unwrap().0;
    let layers = Layers {
        global: read(r#"{"theme":"light","steeringMode":"all"}"#, Scope::Global),
        project: read(r#"{"compaction":{"keepRecentTokens":5000}}"#, Scope::Project),
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

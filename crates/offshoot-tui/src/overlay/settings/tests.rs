//! Keys in, outcomes and screens out.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::*;
use crate::keymap::Key;
use crate::testing::{assert_inside, hostile, text_of};
use crate::theme::Theme;
use offshoot_settings::Layer;

fn layers(global: &str, project: &str) -> Layers {
    let read = |text, scope| Layer::read(text, scope).unwrap().0;
    Layers { global: read(global, Scope::Global), project: read(project, Scope::Project), ..Layers::default() }
}

fn open(global: &str, project: &str) -> Settings {
    let files = Files {
        global: "~/.local/share/offshoot/settings.json".to_owned(),
        project: Some("~/work/.offshoot/settings.json".to_owned()),
    };
    Settings::new(layers(global, project), files)
}

fn press(settings: &mut Settings, keys: &str) -> SettingsOutcome {
    let mut outcome = SettingsOutcome::Open;
    for key in keys.split(' ') {
        outcome = settings.key(&Keymap::default(), Key::parse(key).unwrap().event());
    }
    outcome
}

/// Searches for a setting, so that it is under the cursor.
fn find(settings: &mut Settings, key: &str) {
    settings.search = LineInput::new(key);
    settings.narrow();
}

fn stored(outcome: SettingsOutcome) -> String {
    match outcome {
        SettingsOutcome::Store { scope, key, value } => {
            format!("{scope:?} {key} = {}", value.map_or_else(|| "-".to_owned(), |value| value.json()))
        }
        other => format!("{other:?}"),
    }
}

fn screen(settings: &Settings, columns: u16, rows: u16) -> String {
    let area = Rect::new(0, 0, columns, rows);
    let mut buf = Buffer::empty(area);
    settings.view(&Keymap::default(), &Theme::default(), area, &mut buf);
    text_of(&buf)
}

#[test]
fn few_values_are_gone_through() {
    let mut settings = open(r#"{"hideThinkingBlock":true,"steeringMode":"all"}"#, "");
    find(&mut settings, "hideThinking");
    assert_eq!(stored(press(&mut settings, "enter")), "Global hideThinkingBlock = false");
    find(&mut settings, "steeringMode");
    assert_eq!(stored(press(&mut settings, "enter")), "Global steeringMode = \"one-at-a-time\"");
    find(&mut settings, "doubleEscape");
    assert_eq!(stored(press(&mut settings, "enter")), "Global doubleEscapeAction = \"fork\"");
    for (said, next) in [("\"iterm2\"", "\"sixel\""), ("\"sixel\"", "false"), ("false", "\"auto\"")] {
        let mut settings = open(&format!(r#"{{"terminal":{{"images":{said}}}}}"#), "");
        find(&mut settings, "terminal.images");
        assert_eq!(stored(press(&mut settings, "enter")), format!("Global terminal.images = {next}"));
    }
    find(&mut settings, "theme");
    settings.offer("theme", vec!["dark".to_owned(), "light".to_owned()]);
    assert_eq!(stored(press(&mut settings, "enter")), "Global theme = \"dark\"");
}

#[test]
fn other_values_are_typed() {
    let mut settings = open("", "");
    find(&mut settings, "keepRecent");
    press(&mut settings, "enter");
    insta::assert_snapshot!(screen(&settings, 60, 8), @"
    Settings  everywhere  ~/.local/share/offshoot/settings.js…
    > keepRecent
    › compaction.keepRecentTokens     20000


    tokens of the newest messages that are kept
    not set · a whole number from 0
    enter store · esc leave it
    ");
    assert_eq!(press(&mut settings, "x enter"), SettingsOutcome::Open);
    insta::assert_snapshot!(screen(&settings, 60, 8), @r#"
    Settings  everywhere  ~/.local/share/offshoot/settings.js…
    > keepRecent
    › compaction.keepRecentTokens     20000x


    compaction.keepRecentTokens should be a whole number from 0,
    and is "20000x"
    enter store · esc leave it
    "#);
    assert_eq!(stored(press(&mut settings, "backspace 0 enter")), "Global compaction.keepRecentTokens = 200000");
    press(&mut settings, "enter");
    assert_eq!(press(&mut settings, "escape"), SettingsOutcome::Open);
    assert_eq!(press(&mut settings, "escape"), SettingsOutcome::Open);
    assert_eq!(press(&mut settings, "escape"), SettingsOutcome::Closed);
}

#[test]
fn the_projects_file_is_another() {
    let mut settings = open(r#"{"theme":"dark"}"#, r#"{"theme":"light"}"#);
    find(&mut settings, "theme");
    assert_eq!(stored(press(&mut settings, "tab delete")), "Project theme = -");
    find(&mut settings, "shellPath");
    assert_eq!(press(&mut settings, "enter"), SettingsOutcome::Open);
    assert_eq!(settings.notice.as_deref(), Some("shellPath works only in the user's settings"));
    assert_eq!(press(&mut settings, "delete"), SettingsOutcome::Open);
}

#[test]
fn what_was_stored_is_shown() {
    let mut settings = open("", "");
    find(&mut settings, "theme");
    settings.failed("the disk is full".to_owned());
    assert!(screen(&settings, 40, 12).contains("the disk is full"));
    settings.stored(layers(r#"{"theme":"dark"}"#, ""));
    insta::assert_snapshot!(screen(&settings, 40, 12), @"
    Settings  everywhere  ~/.local/share/…
    > theme
    › theme                         dark
      themes                        automa…
      packages                      automa…
      extensions                    automa…
      hooks                         automa…
      node                          automa…
      skills                        automa…
    dark, light, a file in the data folder'…
    from the user's file · a text
    enter change · esc done · tab other file
    ");
}

#[test]
fn screens_of_the_settings() {
    let global =
        r#"{"defaultModel":"claude-opus-4-5","compaction":{"reserveTokens":7},"defaultTools":["read","bash"]}"#;
    let mut settings = open(global, r#"{"steeringMode":"all"}"#);
    insta::assert_snapshot!(screen(&settings, 80, 24), @"
    Settings  everywhere  ~/.local/share/offshoot/settings.json
    >
    Model and thinking
    › defaultProvider                 automatic                            default
      defaultModel                    claude-opus-4-5                      user
      defaultThinkingLevel            medium                               default
      modelThinkingLevels             automatic                            default
      enabledModels                   automatic                            default
      images.blockImages              false                                default
      hideThinkingBlock               false                                default
      thinkingBudgets.minimal         automatic                            default
      thinkingBudgets.low             automatic                            default
      thinkingBudgets.medium          automatic                            default
      thinkingBudgets.high            automatic                            default
      cacheRetention                  automatic                            default
    Interaction
      steeringMode                    all                                  project
      followUpMode                    one-at-a-time                        default
      externalEditor                  automatic                            default
      doubleEscapeAction              tree                                 default
      treeFilterMode                  default                              default
    the provider used at the start
    not set · a text
    enter change · esc done · tab other file · del remove
    ");
    press(&mut settings, "down down down down");
    insta::assert_snapshot!(screen(&settings, 40, 12), @"
    Settings  everywhere  ~/.local/share/…
    >
      defaultModel                  claude…
      defaultThinkingLevel          medium
      modelThinkingLevels           automa…
    › enabledModels                 automa…
      images.blockImages            false
      hideThinkingBlock             false
      thinkingBudgets.minimal       automa…
    the models between which ctrl+p changes…
    not set · a list of texts
    enter change · esc done · tab other file
    ");
    find(&mut settings, "zzzz");
    insta::assert_snapshot!(screen(&settings, 40, 12), @"
    Settings  everywhere  ~/.local/share/…
    > zzzz
      nothing fits








    enter change · esc done · tab other file
    ");
}

proptest::proptest! {
    #[test]
    fn hostile_text_stays_inside(hostile in hostile(), columns in 0..60_u16, rows in 0..14_u16, typed in 0..3) {
        let layer = format!("{{\"theme\":{0},\"defaultTools\":[{0}]}}", offshoot_session::json::quote(&hostile));
        let mut settings = open(&layer, &layer);
        settings.files = Files { global: hostile.clone(), project: Some(hostile.clone()) };
        if typed > 0 {
            find(&mut settings, "theme");
            press(&mut settings, "enter");
            settings.paste(&hostile);
        }
        if typed > 1 {
            settings.failed(hostile.clone());
        }
        assert_inside(columns, rows, |area, buf| settings.view(&Keymap::default(), &Theme::default(), area, buf));
    }
}

#[test]
fn a_new_rule_says_what_it_lets_run() {
    let mut settings = open(r#"{"permissions":{"allow":["bash(make:*)"]}}"#, "");
    settings.stored(layers(r#"{"permissions":{"allow":["bash(make:*)","bash(terraform:*)","bash(git log:*)"]}}"#, ""));
    assert_eq!(settings.notice.as_deref(), Some("bash(terraform:*): it lets terraform run with any words"));
    settings.stored(layers(r#"{"permissions":{"allow":["bash(git log:*)"]}}"#, ""));
    assert_eq!(settings.notice, None);
}

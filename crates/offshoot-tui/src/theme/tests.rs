//! The built-in themes are complete and legible, files are read or refused with a position, and fewer colours keep the
//! meaning.

use proptest::prelude::*;
use ratatui::style::{Color, Modifier, Style};
use serde_json::{Value, json};

use super::*;

const SCHEMA: &str = include_str!("../../../../docs/theme.schema.json");

fn both() -> [(Theme, Value); 2] {
    [("dark", DARK), ("light", LIGHT)].map(|(name, text)| {
        let (theme, problems) = Theme::read(text, name).unwrap();
        assert_eq!(problems, [], "{name}");
        assert_eq!(theme.name(), name);
        (theme, serde_json::from_str(text).unwrap())
    })
}

fn dark_with(change: impl FnOnce(&mut Value)) -> String {
    let mut file: Value = serde_json::from_str(DARK).unwrap();
    change(&mut file);
    serde_json::to_string_pretty(&file).unwrap()
}

fn refusal(text: &str) -> String {
    Theme::read(text, "mine.json").unwrap_err().to_string()
}

#[test]
fn the_built_in_themes_give_every_token_a_colour() {
    for (theme, file) in both() {
        for token in Token::ALL {
            assert!(file["colors"].get(token.name()).is_some(), "{}: {}", theme.name(), token.name());
        }
    }
    assert_eq!(Theme::dark(), both()[0].0);
    assert_eq!(Theme::light(), both()[1].0);
    assert_eq!(Theme::default().name(), "dark");
}

#[test]
fn the_schema_knows_the_tokens_that_the_reader_knows() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let colours = &schema["properties"]["colors"];
    let known: Vec<_> = colours["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(known, Token::ALL.map(Token::name));
    let required: Vec<_> = colours["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let must: Vec<_> = Token::ALL.into_iter().filter(|token| token.fallback().is_none()).map(Token::name).collect();
    assert_eq!(required, must);
}

#[test]
fn a_file_that_is_not_json_is_refused_with_its_place() {
    insta::assert_snapshot!(refusal("{\n  \"name\": \"x\",\n  oops\n}"), @"cannot read the theme mine.json: line 3, column 3: this is not a JSON object: key must be a string");
    insta::assert_snapshot!(refusal("[]"), @"cannot read the theme mine.json: line 1, column 1: this is not a JSON object: invalid type: sequence, expected an object");
    insta::assert_snapshot!(refusal(""), @"cannot read the theme mine.json: line 1, column 1: this is not a JSON object: EOF while parsing a value");
    insta::assert_snapshot!(refusal("{}"), @"cannot read the theme mine.json: line 1, column 2: `name` is missing; line 1, column 2: `colors` is missing: give each token its colour");
}

#[test]
fn everything_wrong_is_said_at_once() {
    let text = dark_with(|file| {
        file["name"] = json!("a/b");
        file["vars"]["leaf"] = json!("#12345");
        file["vars"]["sky"] = json!("iris");
        file["vars"]["iris"] = json!("sky");
        file["colors"]["text"] = json!("nowhere");
        file["colors"]["muted"] = json!(256);
        file["colors"]["dim"] = json!([1]);
        file["colors"].as_object_mut().unwrap().shift_remove("border");
        file["colors"].as_object_mut().unwrap().shift_remove("bashMode");
    });
    let error = Theme::read(&text, "mine.json").unwrap_err();
    let problems: Vec<_> = error.problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(problems.join("\n"), @r##"
    line 3, column 11: the name "a/b" holds a `/`, which stands between a light and a dark theme
    line 5, column 13: "#12345" is not a colour: write `#` and six hexadecimal digits
    line 6, column 12: the variable "iris" leads back to itself
    line 7, column 13: the variable "sky" leads back to itself
    line 25, column 13: 2 tokens are missing: `border`, `bashMode`
    line 32, column 14: 256 is not a colour: write a number from 0 to 255, or a string
    line 33, column 12: [1] is not a colour: write a number from 0 to 255, or a string
    line 36, column 13: the variable `nowhere` is not defined: write a `#rrggbb`, a number from 0 to 255, "" or a name from `vars`
    "##);
}

/// A theme of a later form had a page of problems, which filled the screen at the start.
#[test]
fn a_message_names_the_first_problems_and_counts_the_others() {
    let text = dark_with(|file| {
        for (_, colour) in file["colors"].as_object_mut().unwrap().iter_mut().take(7) {
            *colour = json!("okhsl(20 199% 63%)");
        }
    });
    let told = refusal(&text);
    assert_eq!(told.matches("is not a colour: write `okhsl(HUE SATURATION% LIGHTNESS%)`").count(), 4, "{told}");
    assert!(told.ends_with("; and 3 other problems"), "{told}");
}

#[test]
fn what_does_no_harm_is_told_and_passed_over() {
    let text = dark_with(|file| {
        file["colors"]["tootlip"] = json!("#123456");
        file["author"] = json!("somebody");
        file["export"] = json!({ "pageBg": 1 });
    })
    .replace("\"dim\": \"ash\"", "\"dim\": \"fog\", \"dim\": \"ash\"");
    let (theme, problems) = Theme::read(&text, "mine.json").unwrap();
    assert_eq!(theme, Theme::dark());
    let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(problems.join("\n"), @"
    line 34, column 26: the token `dim` is given twice: this one counts
    line 82, column 16: there is no token `tootlip`: it is not looked at
    line 84, column 13: `author` is not a member of a theme: it is not looked at
    ");
}

#[test]
fn the_colours_of_pages_need_no_other_colours() {
    let read = |text: &str| Theme::read_page(text, "mine.json");
    let text =
        r##"{"vars": {"a": "b", "b": "#102030"}, "export": {"pageBg": "a", "cardBg": 231, "infoBg": "", "x": 1}}"##;
    let (page, problems) = read(text).unwrap();
    assert_eq!(page, PageTheme { page: Some([16, 32, 48]), card: Some([255; 3]), info: None });
    let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, ["line 1, column 98: pages have no colour `x`; it is ignored"]);
    for (text, wrong) in [
        ("[]", "this is not a JSON object"),
        (DARK, "`export` is missing"),
        (r##"{"export": {"pageBg": "#12"}}"##, "is not a colour"),
        (r#"{"export": {"pageBg": "</style>"}}"#, "is not defined"),
        (r#"{"export": 7}"#, "`export` must be an object"),
    ] {
        assert!(read(text).unwrap_err().to_string().contains(wrong), "{text}");
    }
}

#[test]
fn all_forms_of_a_colour_are_read() {
    let text = dark_with(|file| {
        file["vars"] = json!({ "one": "two", "two": "three", "three": "#010203", "leaf": 39 });
        for (_, colour) in file["colors"].as_object_mut().unwrap() {
            *colour = json!("one");
        }
        file["colors"]["error"] = json!("leaf");
        file["colors"]["warning"] = json!(255);
        file["colors"]["text"] = json!("");
        file["colors"]["success"] = json!("okhsl(20 99% 63%)");
        file["colors"]["muted"] = json!("#0af");
        file["appearance"] = json!("dark");
        for optional in ["scrollbarTrack", "scrollbarThumb", "searchMatchBg", "searchMatchText", "thinkingMax"] {
            file["colors"].as_object_mut().unwrap().shift_remove(optional);
        }
    });
    let (theme, problems) = Theme::read(&text, "mine.json").unwrap();
    assert_eq!(problems, []);
    let rgb = Color::Rgb(1, 2, 3);
    for (token, style) in [
        (Token::Accent, Style::new().fg(rgb)),
        (Token::SelectedBg, Style::new().bg(rgb)),
        (Token::Error, Style::new().fg(Color::Indexed(39))),
        (Token::Warning, Style::new().fg(Color::Indexed(255))),
        (Token::Text, Style::new().fg(Color::Reset)),
        (Token::Success, Style::new().fg(Color::Rgb(0xfe, 0x54, 0x62))),
        (Token::Muted, Style::new().fg(Color::Rgb(0, 0xaa, 0xff))),
        (Token::ScrollbarThumb, Style::new().fg(Color::Reset)),
        (Token::SearchMatchBg, Style::new().bg(rgb)),
        (Token::ThinkingMax, Style::new().fg(rgb)),
    ] {
        assert_eq!(theme.style(token), style, "{}", token.name());
    }
}

#[test]
fn fewer_colours_still_say_it() {
    for (theme, _) in both() {
        let shallow = theme.clone().at(ColourDepth::Ansi256);
        let sixteen = theme.clone().at(ColourDepth::Ansi16);
        let plain = theme.clone().at(ColourDepth::None);
        for token in Token::ALL {
            let colours = |style: Style| [style.fg, style.bg].into_iter().flatten().collect::<Vec<_>>();
            assert!(
                colours(shallow.style(token)).iter().all(|at| matches!(at, Color::Indexed(16..) | Color::Reset)),
                "{token:?}"
            );
            assert!(
                colours(sixteen.style(token)).iter().all(|at| !matches!(at, Color::Indexed(_) | Color::Rgb(..))),
                "{token:?}"
            );
            assert_eq!(colours(plain.style(token)), [], "{token:?}");
        }
        for selected in [&sixteen, &plain] {
            assert!(selected.style(Token::SelectedBg).add_modifier.contains(Modifier::REVERSED));
        }
        assert_ne!(plain.style(Token::SearchMatchBg), Style::new());
        assert_ne!(plain.style(Token::BashMode), plain.style(Token::ThinkingOff));
        assert_eq!(plain.at(ColourDepth::TrueColor), theme);
    }
}

/// By WCAG 2: 4.5 for text, 3 for lines and marks, on the common backgrounds of terminals.
#[test]
fn the_built_in_themes_are_legible() {
    let backgrounds = [
        [[0, 0, 0], [30, 30, 30], [40, 44, 52]].as_slice(),
        [[255, 255, 255], [250, 250, 250], [245, 245, 240]].as_slice(),
    ];
    let words = [[208, 208, 208], [40, 40, 40]];
    for (((theme, _), grounds), words) in both().iter().zip(backgrounds).zip(words) {
        let rgb = |colour: Option<Color>, default: [u8; 3]| match colour {
            Some(Color::Rgb(red, green, blue)) => [red, green, blue],
            _ => default,
        };
        let behind: Vec<_> = Token::ALL.into_iter().filter(|token| token.is_background()).collect();
        for token in Token::ALL.into_iter().filter(|token| !token.is_background()) {
            let text = rgb(theme.style(token).fg, words);
            let line = matches!(
                token,
                Token::Border
                    | Token::BorderMuted
                    | Token::ScrollbarTrack
                    | Token::MdQuoteBorder
                    | Token::MdHr
                    | Token::ThinkingOff
            );
            for ground in grounds {
                let (found, wanted) = (contrast(text, *ground), if line { 3.0 } else { 4.5 });
                assert!(found >= wanted, "{} {token:?} on {ground:?}: {found:.1}", theme.name());
            }
            for ground in behind.iter().filter(|_| !line) {
                let found = contrast(text, rgb(theme.style(*ground).bg, words));
                assert!(found >= 3.0, "{} {token:?} on {ground:?}: {found:.1}", theme.name());
            }
        }
    }
}

fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let light = |colour: [u8; 3]| {
        let [red, green, blue] = colour.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    };
    let (one, other) = (light(one), light(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// A file cut, changed or doubled anywhere gives a theme or errors with positions inside the file, never a panic.
    #[test]
    fn any_file_reads_or_says_where_it_does_not(at in 0..DARK.len(), length in 0_usize..40, put in "[\\[\\]{}\",:#0-9a-z\u{e9} \n]{0,6}") {
        let (start, end) = (DARK.floor_char_boundary(at), DARK.floor_char_boundary((at + length).min(DARK.len())));
        let text = format!("{}{put}{}", &DARK[..start], &DARK[end..]);
        let problems = match Theme::read(&text, "x") {
            Ok((_, odd)) => odd,
            Err(error) => {
                prop_assert!(!error.problems.is_empty());
                error.problems
            }
        };
        for problem in problems {
            prop_assert!((1..=text.lines().count() + 1).contains(&problem.line), "{problem}");
        }
    }
}

//! `offshoot export`.

use insta::assert_snapshot;

use crate::world::{SAMPLE, VERSION_1, World, message, text};

#[test]
fn a_whole_session_is_copied_byte_for_byte() {
    let world = World::new();
    let odd = format!(
        "{}no json\n{}",
        text("s", "/w", &[&message("aaaa1111", None, 10, "user", "q")]),
        "{\"type\":\"novel\" }\n"
    );
    world.write("s.jsonl", &odd);
    assert_snapshot!(world.run("export s.jsonl -o copy.jsonl"), @"
    [stderr]
    note: written to copy.jsonl
    ");
    assert_eq!(world.read("copy.jsonl"), odd);
}

#[test]
fn an_old_session_is_upgraded_in_the_copy() {
    let world = World::new();
    world.write("old.jsonl", VERSION_1);
    world.run("export old.jsonl -o new.jsonl");
    assert_snapshot!(world.run("tree new.jsonl --flat"), @"
    0 [ID1] message user
    1 [ID2] message assistant
    ");
    assert!(
        world.read("new.jsonl").starts_with(r#"{"type":"session","version":3,"id":"old-one""#)
            || world.read("new.jsonl").contains(r#""version":3"#)
    );
    assert_eq!(world.read("old.jsonl"), VERSION_1);
}

#[test]
fn a_path_and_a_subtree_are_sessions_of_their_own() {
    let world = World::with_sample();
    assert_snapshot!(world.run("export sample.jsonl -o path.jsonl --at 1b9d"), @"
    [stderr]
    note: written to path.jsonl
    ");
    assert_snapshot!(world.run("tree path.jsonl --flat"), @"
    0 6c1f0a52 model_change
    1 a83e5d17 thinking_level_change
    2 1b9d40c6 message user
    ");
    world.run("export sample.jsonl -o subtree.jsonl --subtree dd37");
    let subtree = world.run("tree subtree.jsonl --flat");
    assert!(subtree.starts_with("0 dd3760b2 branch_summary\n1 08c5e94f message assistant\n"), "{subtree}");
    assert_eq!(subtree.lines().count(), 13);
}

#[test]
fn a_transcript_in_markdown() {
    let world = World::with_sample();
    world.run("export sample.jsonl -o t.md --at 5f06");
    assert_snapshot!(world.read("t.md"), @r#"
    ---
    title: "word count off by the blanks"
    session: "019bbbd8-3100-7c42-9d1a-6f20b7e4a581"
    folder: "/home/ada/wordcount"
    started: "2026-01-14T08:40:00.000Z"
    last: "2026-01-14T08:40:47.030Z"
    entry: "5f06b8d1"
    entries: 5
    tokens: 1936
    cost: 0.0070
    ---

    # word count off by the blanks

    *model: anthropic/claude-sonnet-4-5*

    *thinking: medium*

    ## user

    <sub>1b9d40c6</sub>

    wordcount says 4 for the text "one  two three" (two blanks after one). Can you find out why?

    ## assistant

    <sub>5f06b8d1, claude-sonnet-4-5</sub>

    <details><summary>Thinking</summary>

    ```
    Probably it splits at every single blank. Let me look.
    ```

    </details>

    Let me look at how it counts.

    - `read: src/main.rs`
    "#);
    world.run("export sample.jsonl -o whole.md");
    assert!(world.read("whole.md").contains("````\n$ printf") || world.read("whole.md").contains("```\n$ printf"));
}

#[test]
fn a_context_as_it_is_sent() {
    let world = World::with_sample();
    for at in ["", " --at 5f06"] {
        world.run(&format!("export sample.jsonl -o c{}.json{at}", at.len()));
        let sent = world.run(&format!("context sample.jsonl --llm{at}"));
        assert_eq!(world.read(&format!("c{}.json", at.len())).trim_end(), sent.trim_end());
    }
    assert_snapshot!(world.run("export sample.jsonl -o d.json --subtree 1b9d"), @"
    [stderr]
    error: a context has no branches: --subtree needs a .jsonl or .html file
    hint: --at ENTRY writes the context up to an entry
    [exit code 2]
    ");
}

#[test]
fn pictures_are_left_out_of_a_page_and_counted() {
    let world = World::new();
    let (small, large) = ("iVBO".repeat(2000), "iVBO".repeat(20_000));
    let picture = |data: &str| format!(r#"{{"type":"image","mimeType":"image/png","data":"{data}"}}"#);
    let said = message("aaaa1111", None, 10, "user", "q")
        .replace(r#"[{"type":"text","text":"q"}]"#, &format!("[{},{}]", picture(&small), picture(&large)));
    assert!(said.contains("image/png"), "{said}");
    world.write("s.jsonl", text("s", "/w", &[&said]));
    assert_snapshot!(world.run("export s.jsonl -o whole.html"), @"
    [stderr]
    note: written to whole.html
    ");
    assert_snapshot!(world.run("export s.jsonl -o small.html --max-inline 6k"), @"
    [stderr]
    note: written to small.html
    warning: the page leaves out 1 picture (80 kB), of the entry aaaa1111
    ");
    assert_snapshot!(world.run("export s.jsonl -o none.html --no-images"), @"
    [stderr]
    note: written to none.html
    warning: the page leaves out 2 pictures (88 kB), of the entry aaaa1111
    ");
    let has = |page: &str, data: &str| world.read(page).contains(data);
    assert_eq!(["whole.html", "small.html", "none.html"].map(|page| has(page, &small)), [true, true, false]);
    assert_eq!(["whole.html", "small.html", "none.html"].map(|page| has(page, &large)), [true, false, false]);
    assert_snapshot!(world.run("export s.jsonl -o x.html --max-inline 6q"), @r#"
    [stderr]
    error: invalid value '6q' for '--max-inline <SIZE>': "q" is not a unit: use k, M or G

    For more information, try '--help'.
    [exit code 2]
    "#);
    assert_snapshot!(world.run("export s.jsonl -o x.md --no-images"), @"
    [stderr]
    error: --no-images is for pages: it needs a .html file
    [exit code 2]
    ");
    assert_snapshot!(world.run("export s.jsonl -o x.jsonl --max-inline 6k"), @"
    [stderr]
    error: --max-inline is for pages: it needs a .html file
    [exit code 2]
    ");
}

#[test]
fn ends_of_long_texts_are_left_out_of_a_page_and_named() {
    let world = World::new();
    let long = format!("begins {}", "words ".repeat(2000));
    world.write("s.jsonl", text("s", "/w", &[&message("aaaa1111", None, 10, "user", &long)]));
    assert_snapshot!(world.run("export s.jsonl -o whole.html --max-inline 20k"), @"
    [stderr]
    note: written to whole.html
    ");
    assert_snapshot!(world.run("export s.jsonl -o small.html --max-inline 2k"), @"
    [stderr]
    note: written to small.html
    warning: the page leaves out 1 end of a long text (12 kB), of the entry aaaa1111
    ");
    assert_snapshot!(world.run("export s.jsonl -o none.html --no-images"), @"
    [stderr]
    note: written to none.html
    ");
}

#[test]
fn the_theme_of_the_settings_colours_a_page() {
    let world = World::with_sample();
    let data = world.home().join(".local/share/offshoot");
    std::fs::create_dir_all(data.join("themes")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(data.join(name), text).unwrap();
    write("themes/night.json", r##"{"export": {"pageBg": "#102030"}}"##);
    write("themes/plain.json", r##"{"colors": {}}"##);
    write("themes/wrong.json", r##"{"export": {"pageBg": "</style>"}}"##);
    for theme in ["night", "plain", "dark", "nobody", "light/dark"] {
        write("settings.json", &format!(r#"{{"theme": "{theme}"}}"#));
        let page = format!("{}.html", theme.replace('/', "-"));
        let told = world.run(&format!("export sample.jsonl -o {page}"));
        assert_eq!(told, format!("[stderr]\nnote: written to {page}\n"));
    }
    let is_set = |page: &str| world.read(page).contains("--page:#102030;");
    assert_eq!(["night.html", "plain.html", "dark.html"].map(is_set), [true, false, false]);
    write("themes/day.json", r##"{"export": {"cardBg": "#f0f1f2"}}"##);
    write("settings.json", r#"{"theme": "day / night"}"#);
    assert_eq!(world.run("export sample.jsonl -o pair.html"), "[stderr]\nnote: written to pair.html\n");
    let pair = world.read("pair.html");
    for (name, set) in
        [("light", "{--card:#f0f1f2;color-scheme:light}"), ("dark", "{--page:#102030;color-scheme:dark}")]
    {
        assert!(pair.contains(&format!("(prefers-color-scheme:{name}){{:root:not([data-theme]){set}}}")), "{name}");
        assert!(pair.contains(&format!(":root[data-theme=\"{name}\"]{set}")), "{name}");
    }
    write("settings.json", r#"{"theme": "light/night"}"#);
    assert_eq!(world.run("export sample.jsonl -o half.html"), "[stderr]\nnote: written to half.html\n");
    assert_eq!(world.read("half.html").matches("--page:#102030").count(), 2, "only for dark");
    write("settings.json", r#"{"theme": "wrong"}"#);
    assert_snapshot!(world.run("export sample.jsonl -o wrong.html"), @r#"
    [stderr]
    warning: cannot read the theme [HOME]/.local/share/offshoot/themes/wrong.json: line 1, column 23: the variable `</style>` is not defined: write a `#rrggbb`, a number from 0 to 255, "" or a name from `vars`; correct the file
    note: written to wrong.html
    "#);
}

#[test]
fn a_theme_file_colours_a_page() {
    let world = World::with_sample();
    world.write(
        "mine.json",
        r##"{"vars": {"night": "#102030"}, "export": {"pageBg": "night", "infoBg": 231, "x": 1}}"##,
    );
    assert_snapshot!(world.run("export sample.jsonl -o page.html --theme mine.json"), @"
    [stderr]
    warning: mine.json, line 1, column 82: pages have no colour `x`; it is ignored
    note: written to page.html
    ");
    assert!(world.read("page.html").contains("{--page:#102030;--lit:#ffffff;color-scheme:dark}"));
    world.write("wrong.json", r##"{"export": {"pageBg": "</style>"}}"##);
    assert_snapshot!(world.run("export sample.jsonl -o x.html --theme wrong.json"), @r#"
    [stderr]
    error: cannot read the theme wrong.json: line 1, column 23: the variable `</style>` is not defined: write a `#rrggbb`, a number from 0 to 255, "" or a name from `vars`
    hint: correct the file
    [exit code 4]
    "#);
    assert_snapshot!(world.run("export sample.jsonl -o x.html --theme nowhere.json"), @r#"
    [stderr]
    error: the theme nowhere.json does not exist or is empty
    [exit code 3]
    "#);
}

#[test]
fn a_page_to_read_in_a_browser() {
    let world = World::with_sample();
    assert_snapshot!(world.run("export sample.jsonl -o page.html"), @"
    [stderr]
    note: written to page.html
    ");
    let page = world.read("page.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<h1>word count off by the blanks</h1>"));
    world.run("export sample.jsonl -o path.html --at 1b9d");
    assert!(world.read("path.html").contains("the path to 1b9d40c6: 3 of 28 entries"));
    world.run("export sample.jsonl -o subtree.html --subtree dd37");
    assert!(world.read("subtree.html").contains("dd3760b2 and what is below it: 13 of 28 entries"));
    assert_snapshot!(world.run("export sample.jsonl -o none.html --at ffff"), @"
    [stderr]
    error: entry ffff not found
    hint: `offshoot tree SESSION --flat` lists every entry with its id
    [exit code 3]
    ");
    assert_eq!(world.read("sample.jsonl"), SAMPLE);
}

#[test]
fn nothing_is_written_over() {
    let world = World::with_sample();
    world.write("there.jsonl", "mine");
    world.write("there.md", "mine");
    world.write("there.html", "mine");
    assert_snapshot!(world.run("export sample.jsonl -o there.jsonl"), @"
    [stderr]
    error: there.jsonl: the file exists already
    hint: an export replaces no file: choose another name, or remove the file first
    [exit code 5]
    ");
    assert_snapshot!(world.run("export sample.jsonl -o there.md"), @"
    [stderr]
    error: there.md: the file exists already
    hint: an export replaces no file: choose another name, or remove the file first
    [exit code 5]
    ");
    assert_snapshot!(world.run("export sample.jsonl -o there.html"), @"
    [stderr]
    error: there.html: the file exists already
    hint: an export replaces no file: choose another name, or remove the file first
    [exit code 5]
    ");
    // The file is looked at before any work: the session does not even exist.
    assert_snapshot!(world.run("export nowhere.jsonl -o there.html"), @"
    [stderr]
    error: there.html: the file exists already
    hint: an export replaces no file: choose another name, or remove the file first
    [exit code 5]
    ");
    assert_eq!(world.read("there.jsonl") + &world.read("there.md") + &world.read("there.html"), "mineminemine");
    assert_eq!(world.read("sample.jsonl"), SAMPLE);
}

#[test]
fn other_endings_are_refused() {
    let world = World::with_sample();
    assert_snapshot!(world.run("export sample.jsonl -o page.pdf"), @"
    [stderr]
    error: the name page.pdf does not say the format
    hint: end the name with .jsonl for a session file, .html for a page, .md for a transcript, or .json for the context
    hint: --format sets the format for any name
    [exit code 2]
    ");
    assert_snapshot!(world.run("export sample.jsonl -o t.md --subtree 1b9d"), @"
    [stderr]
    error: a transcript has no branches: --subtree needs a .jsonl or .html file
    hint: --at ENTRY writes the transcript up to an entry
    [exit code 2]
    ");
}

/// The error named a temporary file, after the work was done.
#[test]
fn a_folder_that_does_not_exist_is_named_and_an_empty_session_refused() {
    let world = World::with_sample();
    world.write("empty.jsonl", text("s", "/w", &[]));
    let before = world.snapshot();
    for ending in ["jsonl", "html", "md"] {
        insta::allow_duplicates! {
            assert_snapshot!(world.run(&format!("export sample.jsonl -o nodir/x.{ending}")), @"
            [stderr]
            error: the folder nodir does not exist
            hint: `mkdir -p nodir` makes it
            [exit code 3]
            ");
            assert_snapshot!(world.run(&format!("export empty.jsonl -o x.{ending}")), @"
            [stderr]
            error: the session is empty: there is nothing to copy
            [exit code 2]
            ");
        }
    }
    assert_eq!(world.snapshot(), before);
}

#[test]
fn standard_output_takes_what_a_file_takes() {
    let world = World::with_sample();
    for format in ["jsonl", "html", "md"] {
        world.run(&format!("export sample.jsonl -o file.{format}"));
        let file = world.read(&format!("file.{format}"));
        assert_eq!(world.stdout(&format!("export sample.jsonl --format {format}")), file);
        assert_eq!(world.stdout(&format!("export sample.jsonl -o - --format {format}")), file);
    }
    assert_eq!(world.stdout("export sample.jsonl --at 1b9d --format jsonl").lines().count(), 4);
    assert_snapshot!(world.run("export sample.jsonl -o -"), @"
    [stderr]
    error: standard output has no ending that says what is written
    hint: --format jsonl, html, md or json says it
    [exit code 2]
    ");
}

/// Who reads a transcript with `cat` may trust it: nothing in it steers a terminal, also inside fences, and nothing is lost.
#[test]
fn text_comes_out_as_it_went_in_and_steers_nothing() {
    let words = "👩\u{200d}👩\u{200d}👧 می\u{200c}خواهم क\u{94d}\u{200d}ष 👍🏽";
    let world = World::new();
    let message = |id: &str, parent: &str, message: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-14T08:40:00.000Z","message":{message}}}"#
        )
    };
    let lines = [
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-14T08:40:00.000Z","cwd":"/work"}"#.to_owned(),
        message("aaaa0001", "null", &format!(r#"{{"role":"user","content":"{words}\tx"}}"#)),
        message(
            "aaaa0002",
            "\"aaaa0001\"",
            r#"{"role":"bashExecution","command":"make","output":"\u001b[31mred\u009b2J\u202e\r\n\tall:"}"#,
        ),
    ];
    world.write("s.jsonl", lines.join("\n") + "\n");
    world.run("export s.jsonl -o t.md");
    let document = world.read("t.md");
    assert!(document.contains(&format!("{words}\tx")), "{document}");
    assert!(document.contains("```\nred\\u{9b}2J\\u{202e}\n\tall:\n```"), "{document}");
    let steers = |at: char| (at.is_control() && at != '\n' && at != '\t') || ('\u{202a}'..='\u{202e}').contains(&at);
    for shown in [document, world.run("show s.jsonl"), world.run("tree s.jsonl")] {
        assert!(shown.contains(words), "{shown}");
        assert!(!shown.contains(steers), "{shown:?}");
    }
}

/// Programs get the same without a screen: the file and what a page lacks, or the text itself.
#[test]
fn json_says_what_was_written_or_has_the_text() {
    let world = World::with_sample();
    assert_snapshot!(world.run("export sample.jsonl -o page.html --json"), @r#"{"path":"page.html","format":"html","entries":26,"leftOut":null}"#);
    assert_snapshot!(world.run("export sample.jsonl -o t.md --at 1b9d --dry-run --json"), @r#"{"path":"t.md","format":"md","entries":3,"leftOut":null}"#);
    let said: serde_json::Value =
        serde_json::from_str(&world.stdout("export sample.jsonl --format md --json")).unwrap();
    assert_eq!(said["text"], world.stdout("export sample.jsonl --format md"));
    assert_eq!(said["path"], serde_json::Value::Null);
}

/// Without a SESSION the latest one is exported, as others that only look take it; the line that lacks a file is named whole.
#[test]
fn without_a_session_the_latest_one_is_exported() {
    let world = World::with_sample();
    world.run("import sample.jsonl");
    let shown = world.run("export");
    assert!(shown.contains("tip: `offshoot export latest --output FILE`"), "{shown}");
    let shown = world.run("export latest page.html");
    assert!(shown.contains("tip: `offshoot export latest -o page.html`"), "{shown}");
    world.run(&format!("fork {}", "sample.jsonl --cwd ."));
    let shown = world.run("export -o page.html");
    assert!(shown.contains("note: no SESSION was given; this is the latest one of this folder: "), "{shown}");
    assert!(shown.ends_with("note: written to page.html\n"), "{shown}");
}

/// An entry in the session's place: the options are in the line that was probably meant.
#[test]
fn an_entry_in_the_place_of_the_session_names_the_line_that_works() {
    let world = World::with_sample();
    world.run("fork sample.jsonl --cwd .");
    let shown = world.run("export 5f06 -o t.md");
    assert!(shown.contains("did you mean `offshoot export latest --at 5f06 --output t.md`?"), "{shown}");
}

/// The agent's folder gets one new file, which is named before, and only if somebody asks for it.
#[test]
fn a_session_goes_to_another_agent_as_a_new_file() {
    let world = World::with_sample();
    assert_snapshot!(world.run("export sample.jsonl --to claude --install"), @"
    [stderr]
    error: Claude Code has no folder here
    hint: --output FILE writes the session elsewhere; start Claude Code once for --install
    [exit code 3]
    ");
    // The agent makes its folder, not offshoot.
    let agent = world.home().join(".claude");
    std::fs::create_dir_all(&agent).unwrap();
    let before = world.snapshot();
    let dry = world.run("export sample.jsonl --to claude --install --dry-run");
    assert!(dry.starts_with("would write ") && dry.contains(".claude/projects/"), "{dry}");
    assert_eq!(world.snapshot(), before);
    let said = world.run("export sample.jsonl --to claude --install");
    let named = said.find("note: writing ").unwrap();
    assert!(named < said.find("note: written to ").unwrap() && said.contains("claude --resume "), "{said}");
    let new = world.snapshot().len() - before.len();
    assert_eq!(new, 1, "only the file");
    assert!(world.stdout("list --agent claude --all").contains("word count"), "it is read again");
    for line in ["export sample.jsonl --to claude --format md", "export sample.jsonl --install"] {
        assert!(world.run(line).ends_with("[exit code 2]\n"), "{}", world.run(line));
    }
    let rollout = world.stdout("export sample.jsonl --to codex -o -");
    assert!(rollout.starts_with(r#"{"timestamp":"#) && rollout.lines().count() > 20, "{rollout}");
}

//! pi's own folder: asked for once, used behind offshoot's own, and never written.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use offshoot_agent::testing::script::Reply;
use serde_json::json;

use crate::agent::Talk;
use crate::terminal::Terminal;

/// A home in which somebody works with pi: every kind of file, broken ones too. offshoot has no model of its own.
fn with_pi(replies: impl IntoIterator<Item = Reply>) -> (Talk, PathBuf) {
    let talk = Talk::new(replies);
    let url = talk.server.base_url(offshoot_agent::provider::Api::Anthropic);
    talk.data("models.json", &json!({"providers": {}}));
    talk.data("settings.json", &json!({}));
    let pi = talk.world.home().join(".pi/agent");
    let models = format!(
        "{{\"providers\": {{ // mine\n\"mine\": {{\"baseUrl\": \"{url}\", \"api\": \"anthropic-messages\", \"apiKey\": \"unused\",\n\
         \"models\": [{{\"id\": \"p1\", \"contextWindow\": 200000, \"maxTokens\": 8000}}]}}, }} }}"
    );
    for (name, text) in [
        ("models.json", models.as_str()),
        (
            "auth.json",
            r#"{"mine": {"type": "api_key", "key": "$OWN", "env": {"OWN": "sk-of-pi-0123456789"}},
               "anthropic": {"type": "oauth", "access": "a", "refresh": "r", "expires": 1},
               "openai": {"type": "api_key", "key": "TEST_KEY"}, "nobody": {"type": "api_key", "key": "x"}}"#,
        ),
        (
            "settings.json",
            r#"{"defaultProvider": "mine", "defaultModel": "p1", "shellPath": "/bin/evil", "npmCommand": ["evil"],
               "prompts": ["more"], "tuiMode": "fullscreen", "transport": "sse", "httpProxy": "http://evil", "sessionDir": "s",
               "outputPad": 2, "autocompleteMaxVisible": 3, "defaultTools": ["read"], "defaultProjectTrust": "always"}"#,
        ),
        ("prompts/rev.md", "Review $1 as in pi."),
        ("prompts/broken.md", "---\na: b: c\n---\nx"),
        ("more/deep.md", "Deep."),
        ("skills/count/SKILL.md", "---\nname: count\ndescription: Counts in pi.\n---\nCount.\n"),
        ("skills/no/SKILL.md", "---\nname: no\n---\n"),
        ("themes/night.json", "{\"name\": \"night\"}"),
        ("extensions/quiet.js", "export default () => {};"),
        ("AGENTS.md", "Words of pi's AGENTS.md."),
        ("SYSTEM.md", "You are pi."),
        ("keybindings.json", r#"{"app.clear": "alt+q", "app.unknown": "alt+z"}"#),
        ("trust.json", "{}"),
    ] {
        let path = pi.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    talk.was_started_before();
    (talk, pi)
}

pub(crate) type Stamps = BTreeMap<PathBuf, (Vec<u8>, u32, SystemTime)>;

/// Bytes, mode and time of every file and folder.
pub(crate) fn stamps(folder: &Path) -> Stamps {
    let mut all = Stamps::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(path) = open.pop() {
        let meta = path.symlink_metadata().unwrap();
        let bytes = if meta.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        if meta.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        all.insert(path, (bytes, meta.permissions().mode(), meta.modified().unwrap()));
    }
    all
}

#[test]
fn it_counts_only_after_the_user_said_so_and_is_never_written() {
    let (talk, pi) = with_pi([Reply::text("Reviewed."), Reply::text("Yes."), Reply::text("Own.")]);
    let before = stamps(&pi);
    assert!(talk.run(&["-p", "/rev x"]).contains("no provider has a key"), "nobody was asked yet");
    insta::assert_snapshot!(
        talk.run(&["doctor"]).lines().skip_while(|line| !line.contains("piFolder")).collect::<Vec<_>>().join("\n"), @"
        [HOME]/.pi/agent  does not count yet: the first conversation asks (pi's folder, piFolder)
          keys of mine, openai
          models.json with mine
          2 prompt templates
          2 skills
          1 theme
          1 extension
          settings: defaultProvider, defaultModel, prompts, autocompleteMaxVisible, defaultTools
          key bindings, if you have none
          AGENTS.md, if you have none
          `offshoot migrate-from pi` copies: SYSTEM.md
          not: logins, which pi alone may renew: anthropic
          not: keys of providers without a model here: nobody
          not: settings that name a program: shellPath, npmCommand
          not: settings that name a proxy: httpProxy
          not: settings that name a folder: sessionDir
          not: settings about trust: defaultProjectTrust
          not: settings that offshoot does not have: transport
          not: settings about pi's own looks: tuiMode
          not: the setting outputPad should be a whole number from 0 to 1, and is 2
          not: the folders that pi trusts: offshoot asks about each
        ");

    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("Use the files of pi").until_text("such as 1y 2y:").send("y\n");
    terminal.until_text("p1").until_idle().send("/rev main.rs\r");
    terminal.until_text("Reviewed.").until_idle().send("\x04");
    assert!(terminal.ended());
    let request = talk.server.seen().pop().unwrap();
    for part in ["Review main.rs as in pi.", "Counts in pi.", "Words of pi's AGENTS.md."] {
        assert!(request.body.contains(part), "{part}: {}", request.body);
    }
    assert!(!request.body.contains("You are pi."));
    assert!(
        format!("{:?}", request.headers).contains("sk-of-pi-0123456789"),
        "the key of its auth.json, by its own variable"
    );

    // Errors in its files are reported; commands that it names are not run.
    let told = talk.run(&["-p", "/deep"]);
    assert!(talk.server.seen().pop().unwrap().body.contains("Deep."));
    for part in ["broken.md:2", "skills/no/SKILL.md", "the key of openai is the name of a variable"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("evil") && !told.contains("count/SKILL.md"), "{told}");

    // The own ones come first, silently.
    let data = talk.world.home().join(".local/share/offshoot");
    fs::create_dir_all(data.join("prompts")).unwrap();
    fs::write(data.join("prompts/rev.md"), "My own $1.").unwrap();
    fs::write(data.join("AGENTS.md"), "My own context.").unwrap();
    let told = talk.run(&["-p", "/rev main.rs"]);
    let request = talk.server.seen().pop().unwrap().body;
    assert!(request.contains("My own main.rs.") && request.contains("My own context."), "{request}");
    assert!(!request.contains("Words of pi") && !told.contains("rev.md"), "{told}");
    assert!(stamps(&pi) == before, "not one byte, mode or time of it changed");
    talk.no_problems();
}

/// Regression: a narrow terminal broke the question within words.
#[test]
fn the_question_wraps_at_words() {
    let (talk, _pi) = with_pi([]);
    let mut terminal = Terminal::offshoot(&talk, &[], (40, 24));
    terminal.until_text("such as 1y 2y:");
    assert_eq!(terminal.unwrapped(), terminal.whole(), "no row is so long that the terminal wraps it");
    assert!(terminal.screen().lines().count() > 8, "{}", terminal.screen());
    terminal.send("1n\n");
    terminal.until_text("no model yet").send("\x04");
    assert!(terminal.ended());
}

/// Trust, the project's extensions, pi's folder and a key in one panel of one screen, answered by one line.
#[test]
fn the_first_start_asks_once() {
    let (talk, pi) = with_pi([Reply::text("Done.")]);
    let before = stamps(&pi);
    talk.world.write(".offshoot/settings.json", r#"{"defaultTools": ["ls"]}"#);
    talk.world.write(
        ".pi/extensions/judge.js",
        "export default (pi) => pi.registerCommand('judge', {handler: async (_, ctx) => ctx.ui.notify('judged')});",
    );
    let node = crate::extensions::node().unwrap();
    let environment = [("PI_NODE", node.to_str().unwrap())];
    let mut terminal = Terminal::offshoot_in(&talk, &[], (80, 24), &environment);
    insta::assert_snapshot!(terminal.until_text("such as 1y 2y:").screen(), @"
        offshoot asks once, before the first conversation:
        1  Do you trust ~/work?
           These files change how offshoot works: ~/work/.offshoot/settings.json sets
           defaultTools; ~/work/.pi/extensions has extensions
           They can choose the model, its tools and its limits. They cannot name
           programs that offshoot runs.
           1y: trust this folder, 1p: trust ~ and all folders in it, 1o: trust it this
           once, 1n: never trust it
        2  Run these extensions of the project?
           They are new, or have changed since you allowed them: ~/work/.pi/extensions;
           ~/work/.pi/extensions/judge.js
           They are programs with all your rights. These files are what they load.
           2y: run them, until they change
        3  Use the files of pi in ~/.pi/agent?
           They are: keys of mine, openai; models.json with mine; 2 prompt templates; 2
           skills; 1 theme; 1 extension; settings: defaultProvider, defaultModel,
           prompts, autocompleteMaxVisible, defaultTools; key bindings, if you have
           none; AGENTS.md, if you have none
           offshoot uses them after its own, and never writes there.
           3y: use them, 3n: do not use them
        4  Enter the key of a provider? offshoot has none of its own.
           4y: enter one now, if the files above bring none (/login does it later)
        One line answers: y is yes to all, and Enter answers none of them now.
        Answers, such as 1y 2y:
        ");
    terminal.send("1y 2n\n");
    terminal.until("asked again", |screen| screen.matches("such as 1y 2y:").count() == 2);
    terminal.until_text("That is not an answer.").send("1y, 2y, 3y\n");
    terminal.until_text("p1").until_idle().send("/judge\r");
    terminal.until_text("judged").send("go\r");
    terminal.until_text("Done.").until_idle().send("\x04");
    assert!(terminal.ended());
    assert!(!terminal.raw().contains("Provider ("), "pi's folder has a key");
    let tools = talk.server.seen().pop().unwrap().json()["tools"].to_string();
    assert!(tools.contains(r#""ls""#) && !tools.contains(r#""bash""#), "the project's settings count: {tools}");
    // Nothing is asked any more.
    let mut terminal = Terminal::offshoot_in(&talk, &[], (80, 24), &environment);
    terminal.until_text("p1").until_idle().send("\x04");
    assert!(terminal.ended() && !terminal.raw().contains("asks once"));
    assert!(stamps(&pi) == before);
    talk.no_problems();
}

/// The extensions of a folder that is not trusted are not allowed by the same line, and a key may be entered at once.
#[test]
fn an_answer_counts_for_its_question_alone() {
    let (talk, _pi) = with_pi([]);
    talk.world.write(".pi/extensions/judge.js", "export default () => {};");
    let node = crate::extensions::node().unwrap();
    let mut terminal = Terminal::offshoot_in(&talk, &[], (80, 24), &[("PI_NODE", node.to_str().unwrap())]);
    terminal.until_text("such as 1y 2y:").send("2y 3n 4y\n");
    terminal.until_text("Provider (Enter to go on without):").send("\n");
    terminal.until_text("no model yet").send("\x04");
    assert!(terminal.ended());
    let data = talk.world.home().join(".local/share/offshoot");
    assert!(!data.join("extensions.json").exists() && !data.join("trust.json").exists());
}

#[test]
fn a_no_is_kept() {
    let (talk, pi) = with_pi([]);
    let before = stamps(&pi);
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("such as 1y 2y:").send("1n\n");
    terminal.until_text("no model yet").send("\x04");
    assert!(terminal.ended());
    let kept = fs::read_to_string(talk.world.home().join(".local/share/offshoot/settings.json")).unwrap();
    assert!(kept.contains(r#""piFolder": "off""#), "{kept}");
    assert!(talk.run(&["-p", "hi"]).contains("no provider has a key"));
    assert!(talk.run(&["doctor", "--json"]).contains(r#""state":"off""#));
    assert!(stamps(&pi) == before);
}

//! Keys of twelve kinds in every place from which tools, prompts and servers could take them, and every surface searched.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use offshoot_agent::testing::script::Reply;
use offshoot_agent::testing::server::KEY;
use offshoot_protocol::{MASK, SandboxMode};
use serde_json::{Value, json};

use crate::agent::Talk;
use crate::sandbox_escapes::{ALL, is_possible, policy};
use crate::terminal::Terminal;

/// Variables, and the keys in them.
const VARIABLES: [(&str, &str); 9] = [
    ("ANTHROPIC_API_KEY", "sk-ant-api03-anthropic0123456789"),
    ("OPENAI_API_KEY", "sk-proj-openai0123456789"),
    ("XAI_API_KEY", "xai-grok0123456789"),
    ("CEREBRAS_API_KEY", "csk-cerebras0123456789"),
    ("NVIDIA_API_KEY", "nvapi-nvidia0123456789"),
    ("GITHUB_TOKEN", "ghp_github0123456789"),
    ("CI_TOKEN", "glpat-gitlab0123456789"),
    ("AWS_ACCESS_KEY_ID", "AKIA0123456789AMAZON"),
    ("NOTIFIER", "xoxb-slack-0123456789"),
];
const STORED: &str = "AIzaGoogle0123456789";
const LITERAL: &str = "gsk_groq0123456789";
/// A command prints it: it is not known before the first request.
const PRINTED: &str = "hf_hub0123456789";

/// The files with the keys in the working folder.
const PLANTED: [&str; 3] = [".env", "given.env", "AGENTS.md"];

fn all() -> impl Iterator<Item = &'static str> {
    VARIABLES.iter().map(|(_, key)| *key).chain([STORED, LITERAL, PRINTED, KEY])
}

struct Planted(Talk);

impl Planted {
    /// The model that is asked gets its key from a command.
    fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let talk = Talk::new(replies);
        let data = talk.world.home().join(".local/share/offshoot");
        let mut models: Value = serde_json::from_slice(&std::fs::read(data.join("models.json")).unwrap()).unwrap();
        models["providers"]["groq"] = json!({"apiKey": LITERAL});
        models["providers"]["test"]["headers"] = json!({"x-other-token": format!("!echo {PRINTED}")});
        talk.data("models.json", &models);
        let planted = Self(talk);
        planted.settings(&json!([]));
        let talk = &planted.0;
        talk.data("auth.json", &json!({"google": {"type": "api_key", "key": STORED}}));
        for name in ["auth.json", "models.json"] {
            std::fs::set_permissions(data.join(name), std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        let lines = || all().map(|key| format!("KEY={key}\n"));
        talk.world.write(".env", lines().collect::<String>());
        talk.world.write("given.env", lines().filter(|line| !line.contains(PRINTED)).collect::<String>());
        talk.world.write("AGENTS.md", format!("Use {STORED}, please."));
        planted
    }

    /// Other providers have keys, too: the settings name the one that is asked.
    fn settings(&self, keys: &Value) {
        let none = json!({"baseDelayMs": 0, "maxAgentDelayMs": 0});
        let settings = json!({"defaultProvider": "test", "defaultModel": "m1", "retry": none, "shellKeepKeys": keys});
        self.0.data("settings.json", &settings);
    }

    fn data(&self) -> PathBuf {
        self.0.world.home().join(".local/share/offshoot")
    }

    fn run(&self, arguments: &[&str]) -> String {
        let mut command = self.0.command(arguments);
        let output = command.envs(VARIABLES).env("DATA", self.data()).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    }

    /// Every file but those that the keys were planted in, and every request.
    fn no_surface_has_a_key(&self, shown: &str) {
        let find = |text: &str, place: &dyn std::fmt::Display| {
            for key in all() {
                assert!(!text.contains(key), "{key} is in {place}: {text}");
            }
        };
        find(shown, &"the output");
        let is_planted =
            |path: &Path| path.parent() == Some(&self.data()) || PLANTED.iter().any(|name| path.ends_with(name));
        for (path, (bytes, _)) in self.0.world.files(|_| true).into_iter().filter(|(path, _)| !is_planted(path)) {
            find(&String::from_utf8_lossy(&bytes), &path.display());
        }
        self.0.server.seen().iter().for_each(|request| find(&request.body, &"a request"));
    }
}

/// Only the key in use was hidden: those of other providers went into the session and to the model.
#[test]
fn no_surface_shows_a_key() {
    let every = "env; cat .env $DATA/*.json; cat /proc/$PPID/environ; seq 20000; cat .env";
    let planted = Planted::new([
        Reply::call("bash", "c1", json!({"command": every})),
        Reply::call("read", "c2", json!({"path": ".env"})),
        Reply::call("grep", "c3", json!({"pattern": "KEY", "path": ".env"})),
        Reply::call("edit", "c4", json!({"path": ".env", "edits": [{"oldText": "gsk_", "newText": "gsk_2"}]})),
        Reply::call("read", "c5", json!({"path": "~/.local/share/offshoot/auth.json"})),
        Reply::call("bash", "c6", json!({"command": format!("echo {KEY}")})),
        Reply::text(&format!("Your keys are {KEY} and {PRINTED}.")),
        Reply::error(401, &format!("no such key: {KEY}")),
        Reply::text(&format!("## Goal\nTo find {KEY}.")),
    ]);
    let tools = "read,bash,edit,write,grep";
    let mut shown =
        planted.run(&["--mode", "json", "--tools", tools, "@given.env", "-p", &format!("What is {STORED}?")]);
    assert!(shown.contains("contains keys: tools do not open it"), "{shown}");
    shown += &planted.run(&["-c", "-p", "again"]);
    shown += &planted.run(&["compact", "latest", "--keep-recent-tokens", "1"]);
    shown += &planted.run(&["models"]);
    for page in ["page.html", "transcript.md"] {
        shown += &planted.run(&["export", "latest", "-o", page]);
    }
    shown += &planted.run(&["export", "latest", "--format", "jsonl"]);
    assert!(shown.contains("401") && shown.contains(MASK), "{shown}");
    let files = planted.0.world.files(|_| true);
    let is_output = |path: &&PathBuf| path.components().any(|part| part.as_os_str() == "output");
    assert_eq!(files.keys().filter(is_output).count(), 1, "a long output was kept");
    assert_eq!(planted.0.server.seen().len(), 9);
    assert!(planted.0.server.seen().iter().all(|request| request.header("x-api-key") == Some(KEY)));
    planted.no_surface_has_a_key(&shown);
}

/// Commands in the sandbox could read the key of another provider, and send it away.
#[test]
fn a_models_file_with_a_key_is_a_file_of_keys() {
    let models = "~/.local/share/offshoot/models.json";
    let planted = Planted::new([
        Reply::call("read", "c1", json!({"path": models})),
        Reply::call("bash", "c2", json!({"command": format!("grep -c providers {models}")})),
        Reply::text("done"),
    ]);
    let work = planted.0.world.work();
    let is_confined = is_possible(&policy(SandboxMode::Workspace, &work, &planted.0.world.home()), ALL);
    planted.run(&["--sandbox", if is_confined { "workspace" } else { "off" }, "-p", "go"]);
    let messages = planted.0.server.seen().last().unwrap().json()["messages"].to_string();
    assert!(messages.contains("contains keys: tools do not open it"), "{messages}");
    // There the file is empty.
    assert!(!is_confined || messages.contains(r#""content":"0\n"#), "{messages}");
}

#[test]
fn the_screen_shows_no_key() {
    let planted = Planted::new([
        Reply::call("bash", "c1", json!({"command": "cat .env"})),
        Reply::text(&format!("That is {KEY}, I see.")),
    ]);
    let mut terminal = Terminal::offshoot(&planted.0, &["look at the file"], (80, 50));
    terminal.until_text("I see.").until_idle();
    terminal.send("!cat .env; echo all of it\r");
    terminal.until("its output", |screen| screen.lines().any(|row| row.trim() == "all of it"));
    let screen = terminal.screen();
    assert!(screen.matches(MASK).count() > 2, "{screen}");
    terminal.send("\x04");
    assert!(terminal.ended());
    // The terminal does not get the variables: the program does not know those keys.
    assert!([STORED, LITERAL, PRINTED, KEY].iter().all(|key| !screen.contains(key)), "{screen}");
}

/// Commands of the model got every key that the program has.
#[test]
fn commands_get_the_variables_of_keys_that_the_settings_name() {
    let echo = "env | grep -c _API_KEY; echo ${OPENAI_API_KEY:-none} ${TEST_KEY:-none} ${GITHUB_TOKEN:-none}";
    let planted = Planted::new([Reply::call("bash", "c1", json!({"command": echo})), Reply::text("done")]);
    planted.run(&["-p", "go"]);
    let result = |planted: &Planted| planted.0.server.seen().last().unwrap().json()["messages"][2].to_string();
    assert!(result(&planted).contains(&format!("0\\nnone none {MASK}")), "{}", result(&planted));
    let planted = Planted::new([Reply::call("bash", "c1", json!({"command": echo})), Reply::text("done")]);
    planted.settings(&json!(["TEST_KEY", "OPENAI_API_KEY"]));
    planted.run(&["-p", "go"]);
    assert!(result(&planted).contains(&format!("1\\n{MASK} {MASK} {MASK}")), "{}", result(&planted));
}

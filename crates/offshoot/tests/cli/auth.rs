//! `offshoot auth`, `/login` and the first start: a key is asked for, checked and saved, and shown nowhere.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::agent::Talk;
use crate::terminal::Terminal;
use crate::world::World;
use offshoot_agent::testing::script::Reply;

const GOOD: &str = "sk-good-0123456789abcdef";

/// A provider that lists its models for one key. Ends after `count` requests, with their first lines.
fn provider(count: usize) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let serve = move || {
        let mut lines = Vec::new();
        for _ in 0..count {
            let (mut stream, _) = listener.accept().unwrap();
            let head: Vec<String> = BufReader::new(stream.try_clone().unwrap())
                .lines()
                .map(Result::unwrap)
                .take_while(|line| !line.is_empty())
                .collect();
            let is_good = head.iter().any(|line| line.eq_ignore_ascii_case(&format!("authorization: Bearer {GOOD}")));
            let body = if is_good { r#"{"data": []}"# } else { r#"{"error": "no such key"}"# };
            let status = if is_good { "200 OK" } else { "401 Unauthorized" };
            write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
                .unwrap();
            lines.push(head[0].clone());
        }
        lines
    };
    (url, std::thread::spawn(serve))
}

fn data(home: &Path, name: &str) -> PathBuf {
    home.join(".local/share/offshoot").join(name)
}

fn with_provider(home: &Path, url: &str) {
    let models = json!({"providers": {"mine": {"baseUrl": url, "api": "openai-completions", "models": [{"id": "m"}]}}});
    fs::create_dir_all(data(home, "")).unwrap();
    fs::write(data(home, "models.json"), models.to_string()).unwrap();
}

fn kept(home: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(data(home, "auth.json")).unwrap()).unwrap()
}

#[test]
fn a_key_is_checked_saved_privately_and_removed() {
    let world = World::new();
    let (url, asked) = provider(2);
    with_provider(&world.home(), &url);
    assert_snapshot!(world.run_with("auth login mine", "sk-wrong\n"), @r#"
    [stderr]
    error: mine refuses the key, which is not saved
    caused by: 401 {"error": "no such key"}
    hint: offshoot auth login --no-check saves a key without asking
    [exit code 1]
    "#);
    assert!(!data(&world.home(), "auth.json").exists(), "a key that was refused is not kept");
    assert_snapshot!(world.run_with("auth login mine", format!("{GOOD}\n")), @"
    mine accepts the key
    the key is saved in ~/.local/share/offshoot/auth.json
    new conversations use mine/m (/model changes that)
    ");
    assert_eq!(asked.join().unwrap(), ["GET /v1/models HTTP/1.1"; 2], "nothing that costs is asked");
    assert_eq!(kept(&world.home()), json!({"mine": {"type": "api_key", "key": GOOD}}));
    let mode = fs::metadata(data(&world.home(), "auth.json")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    assert_snapshot!(world.run("auth"), @"
    mine  auth.json
    [stderr]
    hint: `offshoot auth login PROVIDER` saves a key
    ");
    assert_snapshot!(world.stdout("auth --json"), @r#"[{"provider":"mine","key":"auth.json"}]"#);
    assert_snapshot!(world.run("auth logout mine"), @"removed what ~/.local/share/offshoot/auth.json had of mine");
    assert_eq!(kept(&world.home()), json!({}));
    assert_snapshot!(world.run("auth logout mine"), @"
    [stderr]
    error: auth.json has nothing of mine
    hint: offshoot auth lists the providers with a key, and where it comes from
    [exit code 3]
    ");
}

/// A key alone may not be enough.
#[test]
fn the_list_says_which_providers_cannot_be_asked() {
    let world = World::new();
    let shown = |arguments: &[&str]| {
        let keys = [("CLOUDFLARE_API_KEY", "x"), ("GROQ_API_KEY", "x"), ("GOOGLE_CLOUD_API_KEY", "x")];
        world.shown(&world.command(arguments).envs(keys).output().unwrap())
    };
    assert_snapshot!(shown(&["auth"]), @"
    cloudflare-ai-gateway  CLOUDFLARE_API_KEY (cannot be asked: its address needs the variable CLOUDFLARE_ACCOUNT_ID)
    cloudflare-workers-ai  CLOUDFLARE_API_KEY (cannot be asked: its address needs the variable CLOUDFLARE_ACCOUNT_ID)
    google-vertex          GOOGLE_CLOUD_API_KEY (cannot be asked: offshoot does not speak google-vertex)
    groq                   GROQ_API_KEY
    [stderr]
    hint: `offshoot auth login PROVIDER` saves a key
    ");
    let json: Value = serde_json::from_slice(
        &world.command(&["auth", "--json"]).env("GOOGLE_CLOUD_API_KEY", "x").output().unwrap().stdout,
    )
    .unwrap();
    let lacks = "offshoot does not speak google-vertex";
    assert_eq!(json, json!([{"provider": "google-vertex", "key": "GOOGLE_CLOUD_API_KEY", "lacks": lacks}]));
}

/// What is typed is the key itself, and what others have in the file stays.
#[test]
fn an_odd_key_is_meant_literally_and_other_entries_stay() {
    let world = World::new();
    with_provider(&world.home(), "http://127.0.0.1:1/v1");
    let others = json!({"corp": {"type": "oauth", "access": "a", "refresh": "r", "expires": 5, "team": "t"}, "new": {"type": "unknown"}});
    fs::write(data(&world.home(), "auth.json"), others.to_string()).unwrap();
    fs::set_permissions(data(&world.home(), "auth.json"), fs::Permissions::from_mode(0o600)).unwrap();
    let said = world.run_with("auth login mine", "!a$HOME$$\n");
    assert!(said.contains("the key was not checked: could not reach 127.0.0.1:1"), "{said}");
    let mut expected = others;
    expected["mine"] = json!({"type": "api_key", "key": "$!a$$HOME$$$$"});
    assert_eq!(kept(&world.home()), expected);
    for (input, told) in [("two words\n", "this is not a key"), ("\n", "no key was given"), ("", "no key was given")] {
        let said = world.run_with("auth login mine --no-check", input);
        assert!(said.contains(told), "{input:?}: {said}");
    }
    assert_eq!(kept(&world.home()), expected, "nothing is changed");
    fs::set_permissions(data(&world.home(), "auth.json"), fs::Permissions::from_mode(0o644)).unwrap();
    assert_snapshot!(world.run_with("auth login mine --no-check", "sk-1\n"), @"
    [stderr]
    warning: [HOME]/.local/share/offshoot/auth.json: others may read it (mode 644), so its keys are not used; `chmod 600` it
    error: others may read ~/.local/share/offshoot/auth.json (mode 644): no key is saved there
    hint: chmod 600 ~/.local/share/offshoot/auth.json
    [exit code 1]
    ");
    assert_eq!(kept(&world.home()), expected, "nothing is changed");
    fs::set_permissions(data(&world.home(), "auth.json"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(data(&world.home(), "auth.json"), "{broken").unwrap();
    let said = world.run_with("auth login mine --no-check", "sk-1\n");
    assert!(said.contains("is not a JSON object of providers"), "{said}");
    assert_eq!(
        fs::read_to_string(data(&world.home(), "auth.json")).unwrap(),
        "{broken",
        "a file that cannot be read is left alone"
    );
}

#[test]
fn a_provider_that_is_not_known_names_what_is_near() {
    assert_snapshot!(World::new().run_with("auth login antropic", "k\n"), @"
    [stderr]
    error: there is no provider antropic
    hint: did you mean anthropic?
    [exit code 3]
    ");
    let said = World::new().run_with("auth login", "k\n");
    assert!(said.contains("no provider is named") && said.contains("[exit code 2]"), "{said}");
}

/// Without a key: the provider, the key, which is not on the screen, and the conversation.
#[test]
fn the_first_start_asks_for_a_key() {
    let talk = Talk::new([Reply::text("Welcome.")]);
    let mut terminal = Terminal::offshoot_in(&talk, &[], (80, 24), &[("TEST_KEY", "")]);
    terminal.until_text("Provider (Enter to go on without):").send("tset\n");
    terminal.until_text("did you mean test?").send("test\n");
    terminal.until_text("Key of test (not shown):").send("sk-test-0123456789abcdef");
    terminal.until_text("********************").send("\r");
    terminal.until_text("the key is saved in").until_text("ctrl+d leaves").send("hello\r");
    terminal.until_text("Welcome.").until_idle().send("\x04");
    assert!(terminal.ended());
    assert!(!terminal.raw().contains("sk-test"), "the key is not shown");
    assert_eq!(kept(&talk.world.home())["test"]["key"], "sk-test-0123456789abcdef");
    talk.no_problems();
}

/// Who has a sign-in or a model of choice is not asked: an extension may serve it. Nor is who opens an old session.
#[test]
fn who_has_chosen_is_not_asked() {
    let sign_in = r#"{"corp": {"type": "oauth", "access": "a", "refresh": "r", "expires": 5}}"#;
    for (file, text) in [("auth.json", sign_in), ("settings.json", r#"{"defaultModel": "test/m1"}"#)] {
        let talk = Talk::new([]);
        fs::write(data(&talk.world.home(), file), text).unwrap();
        fs::set_permissions(data(&talk.world.home(), file), fs::Permissions::from_mode(0o600)).unwrap();
        let mut terminal = Terminal::offshoot_in(&talk, &[], (80, 24), &[("TEST_KEY", "")]);
        terminal.until_text("ctrl+d leaves").send("\x04");
        assert!(terminal.ended());
        assert!(!terminal.raw().contains("Provider ("), "{file}");
    }
    let talk = Talk::new([Reply::text("Yes.")]);
    talk.run(&["-p", "is it so?"]);
    let mut terminal = Terminal::offshoot_in(&talk, &["-c"], (80, 24), &[("TEST_KEY", "")]);
    terminal.until_text("is it so?").send("\x04");
    assert!(terminal.ended());
    assert!(!terminal.raw().contains("Provider ("));
}

/// `/login` takes over the terminal, and the conversation continues with the key.
#[test]
fn login_and_logout_in_the_terminal() {
    let talk = Talk::new([Reply::text("Welcome.")]);
    let mut terminal = Terminal::offshoot_in(&talk, &[], (80, 24), &[("TEST_KEY", "")]);
    terminal.until_text("Provider (Enter to go on without):").send("\n");
    terminal.until_text("No key yet").send("/login test\r");
    terminal.until_text("Key of test (not shown):").send("\x1b");
    terminal.until_text("nothing was changed").until_text("No key yet").send("/login test\r");
    terminal
        .until("asked again", |screen| screen.matches("Key of test (not shown):").count() == 2)
        .send("sk-test-0123456789abcdef\r");
    terminal.until_text("the key is saved in").until_text("› m1").send("\r");
    terminal.until("the model", |screen| screen.ends_with("m1 • thinking medium")).send("hello\r");
    terminal.until_text("Welcome.").until_idle().send("/logout test\r");
    terminal.until_text("removed what").until_text("no model yet: /model").send("\x04");
    assert!(terminal.ended());
    assert!(!terminal.raw().contains("sk-test"), "the key is not shown");
    assert_eq!(kept(&talk.world.home()), json!({}));
    talk.no_problems();
}

//! Moving in from pi: what counts where it is, what is copied, what stays there and why. pi's folder is never written.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use insta::assert_snapshot;
use offshoot_agent::testing::script::Reply;

use crate::packages::Shop;
use crate::pi_folder::stamps;

/// A home of somebody who works with pi: packages from npm in an older version and from a folder, prompts of the system, keys.
fn moved_from(replies: impl IntoIterator<Item = Reply>) -> (Shop, PathBuf) {
    let shop = Shop::new(replies);
    shop.registry.publish("@team/kit", "2.0.0", &[("prompts/rev.md", "Review $1, as in version 2.")]);
    shop.talk.data("settings.json", &serde_json::json!({}));
    let pi = shop.talk.world.home().join(".pi/agent");
    for (name, text) in [
        (
            "settings.json",
            r#"{"theme": "dark", "shellPath": "/bin/zsh", "httpProxy": "http://proxy", "extensions": ["~/x.ts"],
               "packages": ["npm:@team/kit", {"source": "./mine", "skills": []}, "npm:gone@1.0.0", "github:what/ever"]}"#,
        ),
        ("npm/node_modules/@team/kit/package.json", r#"{"name": "@team/kit", "version": "1.0.0"}"#),
        ("mine/prompts/own.md", "My own prompt."),
        ("SYSTEM.md", "You are mine."),
        ("APPEND_SYSTEM.md", "And terse."),
        ("keybindings.json", "{\"app.clear\": [\"alt+q\"], // no JSON\n}"),
        ("auth.json", r#"{"openai": {"type": "oauth", "access": "a", "refresh": "r", "expires": 1}}"#),
        ("trust.json", "{}"),
    ] {
        let path = pi.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    (shop, pi)
}

#[test]
fn it_lists_first_and_copies_what_is_not_there() {
    let (shop, pi) = moved_from([Reply::text("Yes.")]);
    let keys = r#"{"app.clear": ["alt+q"], "app.model.select": "alt+m", "app.share": "alt+s"}"#;
    fs::write(pi.join("keybindings.json"), keys).unwrap();
    let before = stamps(&pi);
    assert_snapshot!(shop.run(&["migrate-from", "pi", "--dry-run"]), @r#"
    counts where it is, in ~/.pi/agent (the setting piFolder becomes on):
      settings: theme
    is copied to ~/.local/share/offshoot:
      the package npm:@team/kit, 1.0.0
      the package [HOME]/.pi/agent/mine, used where it is
      the package npm:gone@1.0.0, which pi has not installed
      SYSTEM.md
      APPEND_SYSTEM.md
      keybindings.json, with the keys of 2 actions
    stays with pi:
      a package: "github:what/ever" is no package: write git:HOST/PATH
      keys of actions that offshoot does not have: app.share
      logins, which pi alone may renew: openai
      settings that name a program: shellPath
      settings that name a proxy: httpProxy
      extensions that the settings list by path: extensions
      the folders that pi trusts: offshoot asks about each
    "#);
    assert_eq!(shop.data("settings.json"), "{}", "a dry run writes nothing");
    assert_eq!(shop.data("SYSTEM.md"), "");

    let said = shop.run(&["migrate-from", "pi", "--yes"]);
    let (_, after) = said.split_once("asks about each\n").unwrap();
    let after: Vec<&str> = after.lines().filter(|line| !line.contains("npm:gone: http")).collect();
    assert_snapshot!(after.join("\n"), @"
    npm:@team/kit (1.0.0) brings:
      skills: count
      prompts: /ask, /rev
    [HOME]/.pi/agent/mine brings:
      prompts: /own
    [stderr]
    note: copied SYSTEM.md
    note: copied APPEND_SYSTEM.md
    note: copied keybindings.json
    note: installed npm:@team/kit 1.0.0
    note: installed [HOME]/.pi/agent/mine
    error: 1 package was not installed
    hint: run the command again: it does only what is not done yet
    [exit code 1]
    ");
    assert_eq!(
        (shop.data("SYSTEM.md"), shop.data("APPEND_SYSTEM.md")),
        ("You are mine.".to_owned(), "And terse.".to_owned())
    );
    assert_snapshot!(shop.data("keybindings.json"), @r#"
    {
      "app.clear": ["alt+q"],
      "app.model.select": "alt+m"
    }
    "#);
    let settings: serde_json::Value = serde_json::from_str(&shop.data("settings.json")).unwrap();
    assert_eq!(settings["piFolder"], "on");
    let mine = pi.join("mine").display().to_string();
    assert_eq!(settings["packages"], serde_json::json!(["npm:@team/kit", {"source": mine, "skills": []}]));
    assert!(shop.data("packages-lock.json").contains("\"version\": \"1.0.0\""), "{}", shop.data("packages-lock.json"));

    // All of it counts.
    shop.run(&["-p", "/rev it"]);
    let request = shop.talk.server.seen().pop().unwrap().body;
    for part in ["Review it.", "You are mine.", "And terse."] {
        assert!(request.contains(part), "{part}: {request}");
    }
    // Again it does only what is not done yet.
    let again = shop.run(&["migrate-from", "pi", "--dry-run"]);
    assert!(again.contains("is copied to ~/.local/share/offshoot:\n  the package npm:gone@1.0.0"), "{again}");
    assert!(again.contains("SYSTEM.md: you have your own"), "{again}");
    assert!(stamps(&pi) == before, "not one byte, name, mode or time of pi's folder changed");
}

/// Files of the user's own, files that are none, and no folder at all.
#[test]
fn what_is_the_users_own_is_not_replaced() {
    let (shop, pi) = moved_from([]);
    let data = shop.talk.world.home().join(".local/share/offshoot");
    fs::write(data.join("SYSTEM.md"), "Own.").unwrap();
    fs::write(data.join("settings.json"), r#"{"packages": ["npm:@team/kit@1.0.0"]}"#).unwrap();
    fs::remove_file(pi.join("APPEND_SYSTEM.md")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", pi.join("APPEND_SYSTEM.md")).unwrap();
    let said = shop.run(&["migrate-from", "pi", "-n"]);
    for part in [
        "SYSTEM.md: you have your own",
        "the package npm:@team/kit: your settings list it",
        "APPEND_SYSTEM.md: it is a device, not a regular file",
        "keybindings.json: it is not an object of actions",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(shop.run(&["migrate-from", "pi"]).contains("[exit code 2]"), "nobody has agreed");
    assert_eq!((shop.data("SYSTEM.md").as_str(), shop.data("keybindings.json").as_str()), ("Own.", ""));
    fs::remove_dir_all(&pi).unwrap();
    assert!(shop.run(&["migrate-from", "pi"]).contains("[exit code 3]"));
}

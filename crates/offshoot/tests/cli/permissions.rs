//! `offshoot permissions`: rules are listed with what they match, and decisions are explained.

use insta::assert_snapshot;

use crate::world::World;

const SETTINGS: &str = r#"{"approval": "edits", "permissions": {
    "allow": ["bash(cargo test:*)", "bash(./build.sh)", "edit(./docs/**)", "edit(*.md)", "web_fetch(domain:docs.rs)", "bash(cd web && npm test)"],
    "ask": ["bash(git commit:*)"], "deny": ["bash(curl:*)", "read(~/notes/**)", "mcp__files"]}}"#;

fn with_rules() -> World {
    let world = World::new();
    let settings = world.home().join(".local/share/offshoot/settings.json");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    std::fs::write(settings, SETTINGS).unwrap();
    world
}

#[test]
fn rules_are_listed_with_what_they_match() {
    let world = with_rules();
    assert_snapshot!(world.run("permissions"), @r#"
    mode   edits
    deny   bash(curl:*)  (everywhere)
           commands that begin with curl
    deny   read(~/notes/**)  (everywhere)
           reads of the files ~/notes/**
    deny   mcp__files  (everywhere)
           every call of mcp__files
    ask    bash(git commit:*)  (everywhere)
           commands that begin with git commit
    allow  bash(cargo test:*)  (everywhere)
           commands that begin with cargo test, with options that offshoot knows; other options still ask
           files in the folder decide what it runs
    allow  bash(./build.sh)  (everywhere)
           exactly the command ./build.sh
           files in the folder decide what it runs
    allow  edit(./docs/**)  (everywhere)
           changes of the files docs/** in the working folder
    allow  edit(*.md)  (everywhere)
           changes of the files *.md in every folder below the working folder
    allow  web_fetch(domain:docs.rs)  (everywhere)
           requests of web_fetch to docs.rs
    allow  bash(cd web && npm test)  (everywhere)
           exactly the line cd web && npm test
           files in the folder decide what it runs
    "#);
    assert_snapshot!(World::new().run("permissions list"), @r#"
    mode   auto
    no rules; "always" at a question and the settings permissions.allow, .ask and .deny add some
    "#);
    assert!(world.stdout("permissions --json").contains(r#""list":"deny""#));
}

#[test]
fn the_rule_or_the_mode_that_decides_is_named() {
    let world = with_rules();
    let calls = [
        "git push",
        "git status",
        "cargo test -p x",
        "cargo test --config a",
        "git commit -m x",
        "curl -O http://x",
        "rm -rf /",
        "cd web && npm test",
        "edit(docs/a.md)",
        "edit(/etc/hosts)",
        "read(~/notes/a)",
        "web_fetch(domain:docs.rs)",
        "mcp__files__list()",
        "sudo curl x",
    ];
    let why = |call: &str| {
        format!("{call}\n  {}", world.run(&format!("permissions why '{call}'")).trim().replace('\n', "\n  "))
    };
    assert_snapshot!(calls.map(why).join("\n"), @r#"
    git push
      asks: mode `edits` asks before commands
    git status
      asks: mode `edits` asks before commands
    cargo test -p x
      runs: a rule allows it
        bash(cargo test:*): commands that begin with cargo test, with options that offshoot knows; other options still ask
    cargo test --config a
      asks: mode `edits` asks before commands; the rule bash(cargo test:*) does not cover `--config`
    git commit -m x
      asks: a rule asks
        bash(git commit:*): commands that begin with git commit
    curl -O http://x
      refused: a rule denies it
        bash(curl:*): commands that begin with curl
    rm -rf /
      asks: every mode asks, because it deletes a folder that is named by its whole path
    cd web && npm test
      runs: a rule allows it
        bash(cd web && npm test): exactly the line cd web && npm test
    edit(docs/a.md)
      runs: a rule allows it
        edit(./docs/**): changes of the files docs/** in the working folder
    edit(/etc/hosts)
      asks: it writes outside the working folder
    read(~/notes/a)
      refused: a rule denies it
        read(~/notes/**): reads of the files ~/notes/**
    web_fetch(domain:docs.rs)
      runs: a rule allows it
        web_fetch(domain:docs.rs): requests of web_fetch to docs.rs
    mcp__files__list()
      refused: a rule denies it
        mcp__files: every call of mcp__files
    sudo curl x
      refused: a rule denies it
        bash(curl:*): commands that begin with curl
    "#);
    let refused = world.stdout("permissions why 'touch a' --approval read-only --json");
    assert!(refused.contains(r#""decision":"refuse""#) && refused.contains(r#""by":"mode""#), "{refused}");
    assert_snapshot!(world.run("permissions why"), @"
    [stderr]
    error: no call is named
    hint: for example offshoot permissions why 'git push'
    [exit code 2]
    ");
    assert_snapshot!(world.run("permissions remove 'bash(make)'"), @"
    [stderr]
    error: you have no rule bash(make) here
    hint: offshoot permissions lists them
    [exit code 3]
    ");
    assert_snapshot!(world.run("permissions remove 'bash(curl:*)'"), @"removed bash(curl:*)");
    assert!(!world.stdout("permissions").contains("curl"));
}

//! `offshoot models`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;

use crate::world::World;

const FILE: &str = r#"{
  // mine
  "providers": {
    "ollama": {"baseUrl": "http://localhost:11434/v1", "api": "openai-completions", "models": [{"id": "qwen:7b"}]},
    "work": {"baseUrl": "https://llm.example/v1", "api": "openai-responses", "apiKey": "literal-secret-1",
      "models": [{"id": "big", "reasoning": true, "input": ["text", "image"], "contextWindow": 1500000,
        "maxTokens": 900, "cost": {"input": 1.5, "output": 6}}]},
    "lost": {"models": [{"id": "nowhere"}]},
  }
}"#;

fn data(world: &World, name: &str, text: &str, mode: u32) {
    let path = world.home().join(".local/share/offshoot").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn the_users_models_stand_beside_the_built_in_ones() {
    let world = World::new();
    data(&world, "models.json", FILE, 0o644);
    assert_snapshot!(world.run("models 'ollama/ 7B'"), @"
    PROVIDER  ID       CONTEXT  OUT  THINKING  IMAGES  $ IN/OUT  KEY
    ollama    qwen:7b     128K  16K  no        no          free  not needed
    [stderr]
    warning: [HOME]/.local/share/offshoot/models.json:8: model nowhere of lost has no `api`; give it to the provider or the model
    ");
    assert_snapshot!(world.run("models work big"), @"
    PROVIDER  ID   CONTEXT  OUT  THINKING      IMAGES  $ IN/OUT  KEY
    work      big     1.5M  900  minimal-high  yes        1.5/6  models.json
    [stderr]
    warning: [HOME]/.local/share/offshoot/models.json:8: model nowhere of lost has no `api`; give it to the provider or the model
    ");
    assert_snapshot!(world.run("models opus-4-5"), @"
    PROVIDER   ID                        CONTEXT  OUT  THINKING      IMAGES  $ IN/OUT  KEY
    anthropic  claude-opus-4-5              200K  64K  minimal-high  yes         5/25  none
    anthropic  claude-opus-4-5-20251101     200K  64K  minimal-high  yes         5/25  none
    [stderr]
    warning: [HOME]/.local/share/offshoot/models.json:8: model nowhere of lost has no `api`; give it to the provider or the model
    ");
}

#[test]
fn every_place_of_a_key_is_named_and_no_key_is_shown() {
    let world = World::new();
    data(&world, "models.json", FILE, 0o644);
    data(&world, "auth.json", r#"{"google": {"type": "api_key", "key": "stored-secret-2"}}"#, 0o600);
    for line in [&["models"][..], &["models", "--json"]] {
        let output = world.command(line).env("ANTHROPIC_API_KEY", "env-secret-3").output().unwrap();
        let shown = world.shown(&output);
        for secret in ["literal-secret-1", "stored-secret-2", "env-secret-3"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        for place in ["auth.json", "models.json", "ANTHROPIC_API_KEY"] {
            assert!(shown.contains(place), "{shown}");
        }
    }
}

#[test]
fn an_auth_file_that_others_may_read_gives_no_key() {
    let world = World::new();
    data(&world, "auth.json", r#"{"google": {"type": "api_key", "key": "stored-secret-2"}}"#, 0o644);
    assert_snapshot!(world.run("models gemini-2.5-pro"), @"
    PROVIDER  ID              CONTEXT  OUT  THINKING      IMAGES  $ IN/OUT  KEY
    google    gemini-2.5-pro       1M  65K  minimal-high  yes      1.25/10  none
    [stderr]
    warning: [HOME]/.local/share/offshoot/auth.json: others may read it (mode 644), so its keys are not used; `chmod 600` it
    ");
}

#[test]
fn json_says_everything_but_the_key() {
    let world = World::new();
    data(&world, "models.json", FILE, 0o644);
    assert_snapshot!(world.stdout("models work/big --json"), @r#"[{"provider":"work","id":"big","name":"big","api":"openai-responses","contextWindow":1500000,"maxTokens":900,"thinking":["off","minimal","low","medium","high"],"images":true,"cost":{"input":1.5,"output":6,"cacheRead":0,"cacheWrite":0},"usable":true,"key":"models.json"}]"#);
    assert_eq!(world.stdout("models no-such-model --json"), "[]\n");
}

#[test]
fn a_broken_file_is_named_with_its_line_and_the_built_in_models_stay() {
    let world = World::new();
    data(&world, "models.json", "{\n \"providers\": [\n", 0o644);
    assert_snapshot!(world.run("models claude-opus-5-5"), @"
    PROVIDER   ID               CONTEXT   OUT  THINKING  IMAGES  $ IN/OUT  KEY
    anthropic  claude-opus-5-5       1M  128K  low-max   yes         4/20  none
    [stderr]
    warning: [HOME]/.local/share/offshoot/models.json:2: invalid type: sequence, expected an object at line 2 column 14; nothing of the file is used until it is repaired
    ");
    assert_snapshot!(world.run("models no-such-model"), @"
    [stderr]
    warning: [HOME]/.local/share/offshoot/models.json:2: invalid type: sequence, expected an object at line 2 column 14; nothing of the file is used until it is repaired
    note: no model matches
    hint: `offshoot models` lists them all; others go into models.json in the data folder
    ");
}

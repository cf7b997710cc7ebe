//! `offshoot models`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;

use offshoot_agent::provider::Api;
use offshoot_agent::testing::script::Reply;
use offshoot_agent::testing::server::KEY;
use serde_json::json;

use crate::agent::Talk;
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
    assert_snapshot!(world.run("models --provider anthropic opus-4-5"), @"
    PROVIDER   ID                        CONTEXT  OUT  THINKING      IMAGES  $ IN/OUT  KEY
    anthropic  claude-opus-4-5              200K  64K  minimal-high  yes         5/25  none
    anthropic  claude-opus-4-5-20251101     200K  64K  minimal-high  yes         5/25  none
    [stderr]
    warning: [HOME]/.local/share/offshoot/models.json:8: model nowhere of lost has no `api`; give it to the provider or the model
    note: the built-in models are those of @earendil-works/pi-ai 1.6.0, of 2026-11-20
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
    assert_snapshot!(world.run("models --provider google gemini-2.5-pro"), @"
    PROVIDER  ID              CONTEXT  OUT  THINKING      IMAGES  $ IN/OUT  KEY
    google    gemini-2.5-pro       1M  65K  minimal-high  yes      1.25/10  none
    [stderr]
    warning: [HOME]/.local/share/offshoot/auth.json: others may read it (mode 644), so its keys are not used; `chmod 600` it
    note: the built-in models are those of @earendil-works/pi-ai 1.6.0, of 2026-11-20
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
    assert_snapshot!(world.run("models --provider anthropic claude-opus-5-5"), @"
    PROVIDER   ID               CONTEXT   OUT  THINKING  IMAGES  $ IN/OUT  KEY
    anthropic  claude-opus-5-5       1M  128K  low-max   yes         4/20  none
    [stderr]
    warning: [HOME]/.local/share/offshoot/models.json:2: invalid type: sequence, expected an object at line 2 column 14; nothing of the file is used until it is repaired
    note: the built-in models are those of @earendil-works/pi-ai 1.6.0, of 2026-11-20
    ");
    assert_snapshot!(world.run("models no-such-model"), @"
    [stderr]
    warning: [HOME]/.local/share/offshoot/models.json:2: invalid type: sequence, expected an object at line 2 column 14; nothing of the file is used until it is repaired
    note: no model matches
    hint: `offshoot models --all` lists those that are known; others go into models.json in the data folder
    ");
}

/// A model server in the place of providers, and the variables of their keys.
fn asked(addresses: &[(&str, Api)], variables: &[(&str, &str)], arguments: &[&str]) -> (Talk, String) {
    let talk = Talk::new([Reply::text("Yes.")]);
    let moved =
        addresses.iter().map(|(name, api)| ((*name).to_owned(), json!({"baseUrl": talk.server.base_url(*api)})));
    talk.data("models.json", &json!({"providers": moved.collect::<serde_json::Map<_, _>>()}));
    let output = talk.command(arguments).env_remove("TEST_KEY").envs(variables.iter().copied()).output().unwrap();
    let told = talk.world.shown(&output);
    (talk, told)
}

/// The catalogue has its models: `models.json` only moves the address to the test's server.
#[test]
fn a_provider_is_asked_by_its_variable_alone() {
    let groq = [("groq", Api::Completions)];
    let named = ["-p", "hi", "--provider", "groq", "--model", "gpt-oss-20b"];
    let (talk, told) = asked(&groq, &[("GROQ_API_KEY", KEY)], &named);
    assert_eq!(told, "Yes.\n");
    let request = &talk.server.seen()[0];
    assert_eq!(request.json()["model"], "openai/gpt-oss-20b");
    assert_eq!(request.header("authorization"), Some(&*format!("Bearer {KEY}")));
    talk.no_problems();

    let (talk, told) = asked(&groq, &[("GROQ_API_KEY", KEY)], &["-p", "hi"]);
    let request = &talk.server.seen()[0];
    assert_eq!((told.as_str(), request.json()["model"].as_str()), ("Yes.\n", Some("openai/gpt-oss-120b")));
    assert_eq!(request.header("authorization"), Some(&*format!("Bearer {KEY}")));
}

/// As in pi: it is as if there were no patterns.
#[test]
fn patterns_that_fit_nothing_leave_the_usual_model() {
    let groq = [("groq", Api::Completions)];
    let (talk, told) = asked(&groq, &[("GROQ_API_KEY", KEY)], &["-p", "hi", "--models", "nothing-like-this"]);
    assert!(told.starts_with("Yes.\n") && told.contains("no model with a key fits"), "{told}");
    assert_eq!(talk.server.seen()[0].json()["model"], "openai/gpt-oss-120b");
}

/// The key as it is, else a signature that covers the request.
#[test]
fn bedrock_is_asked_with_a_key_or_with_a_signature() {
    let bedrock = [("amazon-bedrock", Api::Bedrock)];
    let (talk, told) = asked(&bedrock, &[("AWS_BEARER_TOKEN_BEDROCK", KEY), ("AWS_PROFILE", "none")], &["-p", "hi"]);
    assert_eq!(told, "Yes.\n");
    let request = &talk.server.seen()[0];
    assert_eq!(request.path, "/bedrock/model/us.anthropic.claude-opus-5-5/converse-stream");
    assert_eq!(request.header("authorization"), Some(&*format!("Bearer {KEY}")));
    talk.no_problems();

    let keys = [
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG"),
        ("AWS_REGION", "eu-west-1"),
    ];
    let (talk, told) = asked(&bedrock, &keys, &["-p", "hi"]);
    assert_eq!(told, "Yes.\n");
    let request = &talk.server.seen()[0];
    let signature = request.header("authorization").unwrap();
    assert!(signature.starts_with("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"), "{signature}");
    assert!(signature.contains("/eu-west-1/bedrock/aws4_request, SignedHeaders="), "{signature}");
    assert!(!request.body.contains("wJalr") && !request.headers.iter().any(|(_, value)| value.contains("wJalr")));
}

/// `aws` is a script that prints what the real one prints of a sign-in.
#[test]
fn an_expired_sign_in_at_aws_says_how_to_renew_it() {
    let expired = r#"{"message":"The security token included in the request is expired"}"#;
    let talk = Talk::new([Reply::error(403, expired)]);
    let moved = json!({"baseUrl": talk.server.base_url(Api::Bedrock)});
    talk.data("models.json", &json!({"providers": {"amazon-bedrock": moved}}));
    let programs = talk.world.home().join("programs");
    let aws = programs.join("aws");
    fs::create_dir(&programs).unwrap();
    let printed = r#"{"Version": 1, "AccessKeyId": "ASIA", "SecretAccessKey": "signed-in", "SessionToken": "token"}"#;
    fs::write(&aws, format!("#!/bin/sh\necho \"$@\" > \"$0.asked\"\necho '{printed}'\n")).unwrap();
    fs::set_permissions(&aws, fs::Permissions::from_mode(0o755)).unwrap();
    let config = talk.world.home().join("aws-config");
    fs::write(&config, "[profile work]\nsso_session = s\nregion = eu-north-1\n").unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let told = || {
        let mut command = talk.command(&["-p", "hi"]);
        command.env_remove("TEST_KEY").env("PATH", &path).env("AWS_CONFIG_FILE", &config).env("AWS_PROFILE", "work");
        talk.world.shown(&command.output().unwrap())
    };
    let first = told();
    assert!(first.contains("403 the AWS credentials have expired: run `aws sso login --profile work`\n"), "{first}");
    let asked = fs::read_to_string(programs.join("aws.asked")).unwrap();
    assert_eq!(asked, "configure export-credentials --format process --profile work\n");
    let seen = &talk.server.seen()[0];
    assert_eq!(seen.header("x-amz-security-token"), Some("token"));
    assert!(seen.header("authorization").unwrap().contains("Credential=ASIA/"));
    fs::write(&aws, "#!/bin/sh\nexit 255\n").unwrap();
    let second = told();
    let words =
        "the command for the profile work failed: it ended with exit code 255; run `aws sso login --profile work`";
    assert!(second.contains(words), "{second}");
}

#[test]
fn mistral_is_asked_by_its_variable() {
    let mistral = [("mistral", Api::Mistral)];
    let (talk, told) = asked(&mistral, &[("MISTRAL_API_KEY", KEY)], &["-p", "hi"]);
    let request = &talk.server.seen()[0];
    assert_eq!((told.as_str(), request.json()["model"].as_str()), ("Yes.\n", Some("devstral-medium-latest")));
    assert_eq!(request.header("authorization"), Some(&*format!("Bearer {KEY}")));
    assert_eq!(request.header("x-affinity"), request.json()["prompt_cache_key"].as_str());
    talk.no_problems();
}

#[test]
fn a_bare_id_means_the_maker_if_there_is_a_key_for_it() {
    let keys = [("OPENCODE_API_KEY", KEY), ("ANTHROPIC_API_KEY", KEY)];
    // Only the provider that is meant can be reached.
    for (provider, keys) in [("anthropic", &keys[..]), ("opencode", &keys[..1])] {
        let (talk, told) = asked(&[(provider, Api::Anthropic)], keys, &["-p", "hi", "--model", "claude-opus-5"]);
        assert_eq!(told, "Yes.\n", "{provider}");
        let request = &talk.server.seen()[0];
        assert_eq!((&request.json()["model"], request.header("x-api-key")), (&json!("claude-opus-5"), Some(KEY)));
    }
}

#[test]
fn an_anthropic_token_of_the_environment_goes_as_bearer_and_comes_first() {
    let tokens = [("ANTHROPIC_API_KEY", "not-this-one"), ("ANTHROPIC_AUTH_TOKEN", KEY)];
    let (talk, told) = asked(&[("anthropic", Api::Anthropic)], &tokens, &["-p", "hi"]);
    assert_eq!(told, "Yes.\n");
    let request = &talk.server.seen()[0];
    let sent = (request.header("authorization"), request.header("x-api-key"));
    assert_eq!(sent, (Some(&*format!("Bearer {KEY}")), None));
}

#[test]
fn an_address_with_an_account_asks_for_its_variable() {
    let world = World::new();
    let run = |arguments: &[&str]| {
        let output = world.command(arguments).env("CLOUDFLARE_API_KEY", "cloudflare-key").output().unwrap();
        world.shown(&output)
    };
    assert_snapshot!(run(&["models", "--provider", "cloudflare-workers-ai", "llama-4"]), @"
    PROVIDER               ID                                       CONTEXT  OUT  THINKING  IMAGES   $ IN/OUT  KEY
    cloudflare-workers-ai  @cf/meta/llama-4-scout-17b-16e-instruct     131K  16K  no        yes     0.27/0.85  cannot be asked
    [stderr]
    note: 1 model of cloudflare-workers-ai cannot be asked: its address needs the variable CLOUDFLARE_ACCOUNT_ID
    note: the built-in models are those of @earendil-works/pi-ai 1.6.0, of 2026-11-20
    ");
    let model = "@cf/moonshotai/kimi-k2.7-code";
    assert_snapshot!(run(&["-p", "hi", "--provider", "cloudflare-workers-ai", "--model", model]), @"
    [stderr]
    error: the model cannot be asked
    caused by: the address of cloudflare-workers-ai needs the variable CLOUDFLARE_ACCOUNT_ID, which is not set
    hint: `offshoot models` shows where keys come from
    [exit code 6]
    ");
}

#[test]
fn models_of_other_wire_formats_are_listed_with_the_reason() {
    let world = World::new();
    let run = |arguments: &[&str]| {
        let output = world.command(arguments).env("GOOGLE_CLOUD_API_KEY", "vertex-key").output().unwrap();
        world.shown(&output)
    };
    assert_snapshot!(run(&["models", "--provider", "Google-Vertex", "2.5-pro"]), @"
    PROVIDER       ID              CONTEXT  OUT  THINKING      IMAGES  $ IN/OUT  KEY
    google-vertex  gemini-2.5-pro       1M  65K  minimal-high  yes      1.25/10  cannot be asked
    [stderr]
    note: 1 model of google-vertex cannot be asked: offshoot does not speak google-vertex
    note: the built-in models are those of @earendil-works/pi-ai 1.6.0, of 2026-11-20
    ");
    assert_snapshot!(run(&["-p", "hi", "--model", "google-vertex/gemini-2.5-pro"]), @"
    [stderr]
    error: the model gave no answer
    caused by: model gemini-2.5-pro speaks `google-vertex`, which is none of anthropic-messages, openai-responses, openai-completions, google-generative-ai, mistral-conversations, bedrock-converse-stream, azure-openai-responses
    [exit code 6]
    ");
    assert_snapshot!(run(&["-p", "hi"]), @"
    [stderr]
    error: there is no model to ask: no provider has a key
    hint: `offshoot auth login PROVIDER` saves a key; or set its variable (ANTHROPIC_API_KEY, OPENAI_API_KEY, GROQ_API_KEY …)
    hint: `offshoot models --local` finds the models of a server on this machine (Ollama, LM Studio, llama.cpp, vLLM)
    hint: google-vertex has a key (GOOGLE_CLOUD_API_KEY), but offshoot does not speak google-vertex
    [exit code 6]
    ");
}

#[test]
fn unknown_names_name_what_is_near() {
    let world = World::new();
    assert_snapshot!(world.run("models --provider grok"), @"
    [stderr]
    error: there is no provider grok; did you mean groq?
    [exit code 3]
    ");
    assert_snapshot!(world.run("-p hi --provider opnerouter"), @"
    [stderr]
    error: there is no provider opnerouter
    hint: did you mean openrouter?
    hint: `offshoot models` lists the models; models.json adds others
    [exit code 3]
    ");
    let (_, told) = asked(
        &[("groq", Api::Completions)],
        &[("GROQ_API_KEY", KEY)],
        &["-p", "hi", "--provider", "groq", "--model", "openai/gpt-os-120"],
    );
    assert_snapshot!(told, @"
    Yes.
    [stderr]
    warning: groq has no model openai/gpt-os-120 in the table; the id is taken as it is; did you mean openai/gpt-oss-120b?
    ");
}

#[test]
fn the_doctor_says_which_variable_a_key_is_in() {
    let world = World::new();
    data(&world, "auth.json", r#"{"google": {"type": "api_key", "key": "stored-secret-2"}}"#, 0o600);
    let output = world.command(&["doctor"]).env("GROQ_API_KEY", "env-secret-3").output().unwrap();
    let shown = world.shown(&output);
    assert!(shown.contains("keys  google (auth.json), groq (GROQ_API_KEY)"), "{shown}");
    assert!(!shown.contains("secret"), "{shown}");
}

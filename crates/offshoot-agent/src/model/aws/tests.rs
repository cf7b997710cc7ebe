//! Real files and commands; services are in the tests of the wire format.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use offshoot_session::clock::Clock;

use super::*;

const STANDARD: &str = "https://bedrock-runtime.us-east-1.amazonaws.com";

#[derive(Default)]
struct HandsOfClock(AtomicI64);

impl Clock for HandsOfClock {
    fn now(&self) -> Millis {
        self.0.load(Ordering::Relaxed)
    }
}

struct World {
    home: tempfile::TempDir,
    commands: KeyCommands,
    http: Http,
    clock: Arc<HandsOfClock>,
}

impl World {
    fn new(credentials: &str, config: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".aws")).unwrap();
        std::fs::write(home.path().join(".aws/credentials"), credentials).unwrap();
        std::fs::write(home.path().join(".aws/config"), config).unwrap();
        let clock = Arc::new(HandsOfClock::default());
        Self { home, commands: KeyCommands::new(clock.clone()), http: Http::new(clock.clone()), clock }
    }

    fn ask<T>(&self, pairs: &[(&str, &str)], own: Option<&str>, use_it: impl FnOnce(&Aws<'_>) -> T) -> T {
        let home = self.home.path().to_str().unwrap().to_owned();
        let pairs: Vec<(String, String)> = pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let variable = move |name: &str| match name {
            "HOME" => Some(home.clone()),
            name => pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()),
        };
        use_it(&Aws { variable: &variable, own_profile: own, commands: &self.commands, http: &self.http })
    }

    /// Access key, secret, token and region.
    fn signing(&self, pairs: &[(&str, &str)], own: Option<&str>) -> Result<Option<[String; 4]>, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        self.ask(pairs, own, |aws| {
            let model = Model { base_url: STANDARD.to_owned(), ..Model::default() };
            let found = runtime.block_on(aws.signing(&model))?;
            Ok(found.map(|found| {
                let token = found.session_token.map(|token| token.expose().to_owned()).unwrap_or_default();
                let (id, secret) = (found.access_key_id.expose(), found.secret_access_key.expose());
                [id.to_owned(), secret.to_owned(), token, found.region]
            }))
        })
    }
}

fn four(words: [&str; 4]) -> Result<Option<[String; 4]>, String> {
    Ok(Some(words.map(str::to_owned)))
}

#[test]
fn credentials_are_found_in_the_order_of_aws() {
    let world = World::new(
        "[default]\naws_access_key_id = D\naws_secret_access_key = ds\n# x\n[work]\naws_access_key_id=W\naws_secret_access_key=ws\naws_session_token=wt\n",
        "[profile work]\nregion = eu-west-3\ns3 =\n  region = no\n[profile made]\ncredential_process = printf '{\"Version\": 1, \"AccessKeyId\": \"P\", \"SecretAccessKey\": \"ps\"}'\n[profile odd]\ncredential_process = printf secret-words\n[profile bare]\nregion = x\n",
    );
    let keys = [("AWS_ACCESS_KEY_ID", "E"), ("AWS_SECRET_ACCESS_KEY", "es"), ("AWS_PROFILE", "work")];
    assert_eq!(world.signing(&[], None), Ok(None), "a file alone is not asked");
    assert_eq!(world.signing(&keys, None), four(["E", "es", "", "eu-west-3"]));
    assert_eq!(world.signing(&keys, Some("default")), four(["D", "ds", "", "us-east-1"]), "that of auth.json counts");
    assert_eq!(world.signing(&keys[2..], None), four(["W", "ws", "wt", "eu-west-3"]));
    let region = [("AWS_PROFILE", "made"), ("AWS_DEFAULT_REGION", "ap-south-1")];
    assert_eq!(world.signing(&region, None), four(["P", "ps", "", "ap-south-1"]));
    let known: Vec<String> = world.commands.remembered_keys().iter().map(|key| key.expose().to_owned()).collect();
    assert!(["ds", "ws", "wt", "ps"].iter().all(|secret| known.iter().any(|known| known == secret)), "{known:?}");
    for (profile, words) in [("odd", "printed something else"), ("bare", "has no keys"), ("gone", "nor ~/.aws/config")]
    {
        let error = world.signing(&[("AWS_PROFILE", profile)], None).unwrap_err();
        assert!(error.contains(words) && !error.contains("secret-words"), "{error}");
    }
}

/// The command counts how often it runs.
#[test]
fn temporary_keys_are_replaced_before_they_expire() {
    let world = World::new("", "");
    let file = world.home.path().join("asked");
    let process = |expires: &str| {
        let said = format!(
            r#"{{"AccessKeyId":"A","SecretAccessKey":"s$(wc -l < {0})","Expiration":"{expires}"}}"#,
            file.display()
        );
        let said = said.replace('"', "\\\"");
        let text = format!("[profile p]\ncredential_process = echo x >> {0}; echo \"{said}\"\n", file.display());
        std::fs::write(world.home.path().join(".aws/config"), text).unwrap();
    };
    let secret = |now: Millis| {
        world.clock.0.store(now, Ordering::Relaxed);
        world.signing(&[("AWS_PROFILE", "p")], None).map(|found| found.unwrap()[1].clone())
    };
    let hour = 3_600_000;
    process("1970-01-01T01:00:00Z");
    assert_eq!(secret(0).as_deref(), Ok("s1"));
    assert_eq!(secret(hour - MARGIN_MS - 1).as_deref(), Ok("s1"), "longer than output of other commands");
    assert_eq!(secret(hour - MARGIN_MS).as_deref(), Ok("s2"));
    assert_eq!(secret(hour - 1).as_deref(), Ok("s3"), "within the margin each request asks");
    let refused = secret(hour).unwrap_err();
    let words = "those of the profile p expired at 1970-01-01T01:00:00Z; renew what the credential_process of the profile p prints";
    assert_eq!(refused, words);
    process("1970-01-01T03:00:00Z");
    assert_eq!(secret(hour).as_deref(), Ok("s5"));
    world.commands.forget(PROVIDER);
    assert_eq!(secret(hour).as_deref(), Ok("s6"), "they were refused");
}

#[test]
fn a_region_decides_the_address_and_an_address_of_ones_own_stays() {
    let world = World::new("", "[profile p]\nregion = cn-north-1\n");
    let address = |pairs: &[(&str, &str)], own: Option<&str>, (id, url): (&str, &str)| {
        let model = Model { id: id.to_owned(), base_url: url.to_owned(), ..Model::default() };
        world.ask(pairs, own, |aws| aws.address(&model))
    };
    let at = |region: &str| format!("https://bedrock-runtime.{region}.amazonaws.com");
    let west = [("AWS_REGION", "eu-west-1"), ("AWS_DEFAULT_REGION", "z")];
    let standard = ("x", STANDARD);
    assert_eq!(address(&[], None, ("x", &at("eu-central-1"))), at("eu-central-1"));
    assert_eq!(address(&west, None, standard), at("eu-west-1"));
    let profile = [("AWS_PROFILE", "p")];
    assert_eq!(address(&profile, None, standard), format!("{}.cn", at("cn-north-1")));
    assert_eq!(address(&profile, Some("p"), standard), STANDARD, "as in pi");
    let arn = "arn:aws-us-gov:bedrock:us-gov-west-1:1:inference-profile/y";
    assert_eq!(address(&west, None, (arn, STANDARD)), at("us-gov-west-1"));
    assert_eq!(address(&west, None, ("x", "https://vpce.example/b")), "https://vpce.example/b");
}

#[test]
fn what_signs_is_named() {
    let of = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        source(&move |name: &str| names.iter().any(|known| known == name).then(|| "x".to_owned()))
    };
    let keys = ["AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
    assert_eq!((of(&keys), of(&keys[..2]), of(&keys[1..2])), (Some(keys[1]), Some(keys[0]), None));
    for name in [role::RELATIVE, role::FULL, "AWS_WEB_IDENTITY_TOKEN_FILE"] {
        assert_eq!(of(&[name]), Some(name));
    }
}

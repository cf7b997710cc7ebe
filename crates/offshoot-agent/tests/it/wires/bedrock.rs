//! Bedrock: keys of a container and of a web identity, from a server in the place of their services.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::StreamExt as _;
use offshoot_agent::model::{KeyedModel, Keys, Models};
use offshoot_agent::provider::{Api, Delta, Provider as _};
use offshoot_agent::testing::script::Reply;
use offshoot_agent::testing::server::Server;
use offshoot_agent::{GuardedProvider, KeySource as _};
use offshoot_session::clock::FixedClock;

use super::{NOW, http, request, user};

const SOON: &str = "2999-01-01T00:00:00Z";

struct World {
    home: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

impl World {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap(), variables: Vec::new() }
    }

    fn set(&mut self, name: &str, value: &str) {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    fn token(&self, text: &str) -> PathBuf {
        let path = self.home.path().join("token");
        std::fs::write(&path, text).unwrap();
        path
    }

    fn keys(&self) -> Keys {
        let variables = self.variables.clone();
        let env = move |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        Keys::new(Arc::new(env), Arc::new(FixedClock(NOW)))
    }
}

/// Access key, secret, token.
fn access(keys: &Keys) -> Result<[String; 3], String> {
    let models = Models::builtin();
    let model = models.get("amazon-bedrock", "us.anthropic.claude-opus-4-6-v1").unwrap();
    assert!(keys.can_ask(&models, model), "the variables are enough");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let KeyedModel { model, key } = runtime.block_on(keys.access(&models, model)).map_err(|error| error.to_string())?;
    assert!(key.is_none());
    let signing = model.signing.clone().unwrap();
    let token = signing.session_token.map(|token| token.expose().to_owned()).unwrap_or_default();
    Ok([signing.access_key_id.expose().to_owned(), signing.secret_access_key.expose().to_owned(), token])
}

#[test]
fn a_container_gives_keys_to_who_has_its_token() {
    let good = format!(r#"{{"AccessKeyId":"C","SecretAccessKey":"cs","Token":"ct","Expiration":"{SOON}"}}"#);
    let refused = Reply::error(403, r#"{"message":"token-of-the-pod is not known"}"#);
    let server = Server::start([Reply::raw(&good), refused, Reply::raw("<html>")]).unwrap();
    let mut world = World::new();
    world.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", &format!("{}/v1/credentials", server.url()));
    let path = world.token("token-of-the-pod\n");
    world.set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", path.to_str().unwrap());
    let keys = world.keys();
    for _ in 0..2 {
        assert_eq!(access(&keys), Ok(["C", "cs", "ct"].map(str::to_owned)));
    }
    let seen = server.seen();
    assert_eq!(seen.len(), 1, "they are kept until they expire");
    assert_eq!((seen[0].path.as_str(), seen[0].header("authorization")), ("/v1/credentials", Some("token-of-the-pod")));
    keys.forget("amazon-bedrock");
    let error = access(&keys).unwrap_err();
    let expected = r#"there are no AWS credentials: the container's endpoint gave none: 403 {"message":"[key hidden by offshoot] is not known"}"#;
    assert_eq!(error, expected);
    assert!(access(&keys).unwrap_err().ends_with("the container's endpoint answered without keys"));
    std::fs::remove_file(path).unwrap();
    assert!(access(&keys).unwrap_err().contains("could not read"));
    world.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.169.254/latest");
    assert!(access(&world.keys()).unwrap_err().contains("is refused"));
}

#[test]
fn sts_gives_keys_for_a_web_identity() {
    let good = format!(
        "<AssumeRoleWithWebIdentityResponse><Credentials><AccessKeyId>S</AccessKeyId><SecretAccessKey>ss</SecretAccessKey><SessionToken>st</SessionToken><Expiration>{SOON}</Expiration></Credentials></AssumeRoleWithWebIdentityResponse>"
    );
    let refused = "<ErrorResponse><Error><Code>ExpiredTokenException</Code><Message>Token expired: a.b+c</Message></Error></ErrorResponse>";
    let server = Server::start([Reply::raw(&good), Reply::error(400, refused), Reply::raw("<a/>")]).unwrap();
    let mut world = World::new();
    let path = world.token("a.b+c");
    world.set("AWS_WEB_IDENTITY_TOKEN_FILE", path.to_str().unwrap());
    let error = access(&world.keys()).unwrap_err();
    assert!(error.contains("AWS_ROLE_ARN, the role to assume, is not"), "{error}");
    world.set("AWS_ROLE_ARN", "arn:aws:iam::1:role/r");
    world.set("AWS_ENDPOINT_URL_STS", &server.url());
    let keys = world.keys();
    for _ in 0..2 {
        assert_eq!(access(&keys), Ok(["S", "ss", "st"].map(str::to_owned)));
    }
    let seen = server.seen();
    let body = "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&RoleSessionName=offshoot&WebIdentityToken=a.b%2Bc";
    assert_eq!((seen.len(), seen[0].path.as_str(), seen[0].body.as_str()), (1, "/", body));
    assert_eq!(seen[0].header("content-type"), Some("application/x-www-form-urlencoded"));
    keys.forget("amazon-bedrock");
    let error = access(&keys).unwrap_err();
    let expected = "there are no AWS credentials: STS, asked for the role arn:aws:iam::1:role/r, refused: ExpiredTokenException: Token expired: [key hidden by offshoot]";
    assert_eq!(error, expected);
    let error = access(&keys).unwrap_err();
    assert!(error.ends_with("STS answered without keys of the role arn:aws:iam::1:role/r"), "{error}");
    world.set("AWS_ENDPOINT_URL_STS", "http://sts.example");
    assert!(access(&world.keys()).unwrap_err().contains("AWS_ENDPOINT_URL_STS is refused"));
}

/// Only a refusal shows that cached keys are no longer valid.
#[test]
fn a_refusal_drops_the_kept_keys_and_says_how_to_renew_them() {
    let keys_of = |name: &str| {
        let text =
            format!(r#"{{"AccessKeyId":"{name}","SecretAccessKey":"secret","Token":"t","Expiration":"{SOON}"}}"#);
        Reply::raw(&text)
    };
    let expired = r#"{"message":"The security token included in the request is expired"}"#;
    let (bedrock, container) =
        (Server::start([Reply::error(403, expired), Reply::text("Yes.")]), Server::start(["OLD", "NEW"].map(keys_of)));
    let (bedrock, container) = (bedrock.unwrap(), container.unwrap());
    let mut world = World::new();
    world.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", &format!("{}/v1/credentials", container.url()));
    let source = Arc::new((Arc::new(Models::builtin()), world.keys()));
    let model = Arc::new(super::model(Api::Bedrock, &bedrock.base_url(Api::Bedrock)));
    let guarded = GuardedProvider { provider: Arc::new(http()), keys: source.clone() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ask = || {
        runtime.block_on(async {
            let KeyedModel { model, key } = source.access(&model).await.unwrap();
            let mut request = request(Arc::unwrap_or_clone(model), vec![user("hello")]);
            request.key = key;
            let deltas: Vec<Delta> = guarded.stream(request).collect().await;
            let Some(Delta::Done(answer)) = deltas.into_iter().next_back() else { panic!("the stream has no end") };
            answer.message.error_message.clone()
        })
    };
    let renewal = "403 the AWS credentials have expired: send the message again, which asks for new ones";
    assert_eq!(ask().as_deref(), Some(renewal));
    assert_eq!(ask(), None);
    let seen = bedrock.seen();
    let signed_with = |at: usize, name: &str| {
        let header = seen[at].header("authorization").unwrap();
        assert!(header.starts_with(&format!("AWS4-HMAC-SHA256 Credential={name}/")), "{header}");
    };
    signed_with(0, "OLD");
    signed_with(1, "NEW");
    assert_eq!((seen.len(), container.seen().len()), (2, 2));
}

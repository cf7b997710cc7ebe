//! AWS's signature (SigV4) of a request to Bedrock that is ready to be sent. Knows no source of credentials.

use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{PayloadChecksumKind, SignableBody, SignableRequest, SigningSettings, sign as sigv4};
use aws_sigv4::sign::v4;
use offshoot_protocol::Secret;
use offshoot_protocol::model::{AwsSigning, Model};
use offshoot_session::clock::Millis;

use super::classify::AnswerTrouble;
use super::wire::{Api, Outgoing};

/// How requests to a service of AWS are signed.
struct SignedService {
    name: &'static str,
    method: &'static str,
    checksum: PayloadChecksumKind,
}

const BEDROCK: SignedService =
    SignedService { name: "bedrock", method: "POST", checksum: PayloadChecksumKind::XAmzSha256 };

/// Adds the headers of the signature, which covers all others and the body.
pub(super) fn sign(signing: &AwsSigning, outgoing: &mut Outgoing, now: Millis) -> Result<(), String> {
    sign_for(&BEDROCK, signing, outgoing, now)
}

fn sign_for(service: &SignedService, signing: &AwsSigning, outgoing: &mut Outgoing, now: Millis) -> Result<(), String> {
    let failed = |why: &dyn std::fmt::Display| format!("the request could not be signed: {why}");
    let token = signing.session_token.as_ref().map(|token| token.expose().to_owned());
    let (id, secret) = (signing.access_key_id.expose(), signing.secret_access_key.expose());
    let identity = Credentials::new(id, secret, token, None, "offshoot").into();
    let mut settings = SigningSettings::default();
    settings.payload_checksum_kind = service.checksum;
    let time = SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(now).unwrap_or_default());
    let params = v4::SigningParams::builder()
        .identity(&identity)
        .region(&signing.region)
        .name(service.name)
        .time(time)
        .settings(settings)
        .build()
        .map_err(|error| failed(&error))?
        .into();
    let headers = outgoing.headers.iter().map(|(name, value)| (name.as_str(), value.expose().trim()));
    let body = SignableBody::Bytes(outgoing.body.as_bytes());
    let request = SignableRequest::new(service.method, outgoing.url.as_str(), headers, body);
    let request = request.map_err(|error| failed(&error))?;
    let (instructions, _) = sigv4(request, &params).map_err(|error| failed(&error))?.into_parts();
    let added: Vec<_> = instructions.headers().map(|(name, value)| (name.to_owned(), Secret::new(value))).collect();
    outgoing.headers.extend(added);
    Ok(())
}

/// A refusal of keys that were good once says what to do.
pub(super) fn in_words(model: &Model, trouble: AnswerTrouble) -> AnswerTrouble {
    let said = trouble.text.to_lowercase();
    if model.api != Api::Bedrock.as_str() || trouble.status != Some(403) || !said.contains("expired") {
        return trouble;
    }
    let bearer = "set a new AWS_BEARER_TOKEN_BEDROCK, or run `offshoot auth login amazon-bedrock`";
    let text = match &model.signing {
        // Signatures are good for minutes.
        Some(_) if said.contains("signature expired") => "403 the clock of this machine is not that of AWS".to_owned(),
        Some(signing) => format!("403 the AWS credentials have expired: {}", signing.renewal),
        None => format!("403 the key of Bedrock has expired: {bearer}"),
    };
    AnswerTrouble { text, ..trouble }
}

#[cfg(test)]
mod tests {
    use offshoot_session::clock::parse_iso;

    use super::*;

    #[test]
    fn expired_keys_are_one_sentence_that_says_how_to_renew_them() {
        let keys = AwsSigning {
            access_key_id: Secret::new("A"),
            secret_access_key: Secret::new("s"),
            session_token: None,
            region: "us-east-1".to_owned(),
            renewal: "run x".to_owned(),
        };
        let signed = Model { api: Api::Bedrock.as_str().to_owned(), signing: Some(keys), ..Model::default() };
        let bare = Model { signing: None, ..signed.clone() };
        let said = |model: &Model, status: u16, text: &str| {
            let trouble = AnswerTrouble { status: Some(status), text: text.to_owned(), ..AnswerTrouble::default() };
            in_words(model, trouble).text
        };
        let expired = r#"403 {"message":"The security token included in the request is expired"}"#;
        assert_eq!(said(&signed, 403, expired), "403 the AWS credentials have expired: run x");
        assert!(said(&bare, 403, "403 Bearer Token has expired").contains("AWS_BEARER_TOKEN_BEDROCK"));
        let clock = r#"403 {"message":"Signature expired: 20261129T000000Z is now earlier than 20261129T000500Z"}"#;
        assert_eq!(said(&signed, 403, clock), "403 the clock of this machine is not that of AWS");
        for (status, other) in [(403, "403 not authorized"), (400, "400 the offer has expired")] {
            assert_eq!(said(&signed, status, other), other);
        }
        assert_eq!(said(&Model::default(), 403, expired), expired, "another provider");
    }

    /// The example of AWS's documentation of SigV4, whose signature is published there.
    #[test]
    fn the_published_example_has_the_published_signature() {
        let keys = AwsSigning {
            access_key_id: Secret::new("AKIDEXAMPLE"),
            secret_access_key: Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            session_token: None,
            region: "us-east-1".to_owned(),
            renewal: String::new(),
        };
        let iam = SignedService { name: "iam", method: "GET", checksum: PayloadChecksumKind::NoHeader };
        let content_type = Secret::new("application/x-www-form-urlencoded; charset=utf-8");
        let mut outgoing = Outgoing {
            url: "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08".to_owned(),
            headers: vec![("content-type".to_owned(), content_type)],
            body: String::new(),
        };
        sign_for(&iam, &keys, &mut outgoing, parse_iso("2015-08-30T12:36:00Z").unwrap()).unwrap();
        let headers = outgoing.headers.iter().map(|(name, value)| format!("{name}: {}", value.expose()));
        let expected = [
            "content-type: application/x-www-form-urlencoded; charset=utf-8",
            "x-amz-date: 20150830T123600Z",
            "authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, \
             SignedHeaders=content-type;host;x-amz-date, \
             Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
        ];
        assert_eq!(headers.collect::<Vec<_>>(), expected);
    }

    /// The signature was computed with another program from AWS's description: parts of the path are encoded twice.
    #[test]
    fn a_signature_covers_path_headers_and_body() {
        let keys = AwsSigning {
            access_key_id: Secret::new("AKIDEXAMPLE"),
            secret_access_key: Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            session_token: Some(Secret::new("session-token")),
            region: "us-east-1".to_owned(),
            renewal: String::new(),
        };
        let mut outgoing = Outgoing {
            url: "https://bedrock-runtime.us-east-1.amazonaws.com/model/a%3Ab/converse-stream".to_owned(),
            headers: vec![("content-type".to_owned(), Secret::new("application/json"))],
            body: "{}".to_owned(),
        };
        sign(&keys, &mut outgoing, 784_111_777_000).unwrap();
        let header = |name: &str| {
            let found = outgoing.headers.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.expose().to_owned()).unwrap_or_default()
        };
        let scope = "19941106/us-east-1/bedrock/aws4_request";
        let names = "content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token";
        let signature = "15fc11343b09113dce3ddf7365278734d810ca4572c63dbdcd700c08edf0f00b";
        let expected =
            format!("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/{scope}, SignedHeaders={names}, Signature={signature}");
        assert_eq!(header("authorization"), expected);
        assert_eq!(header("x-amz-date"), "19941106T084937Z");
        assert_eq!(header("x-amz-security-token"), "session-token");
        assert!(!format!("{outgoing:?} {keys:?}").contains("wJalrXUtnFEMI"));
    }
}

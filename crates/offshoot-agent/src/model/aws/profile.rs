//! Profiles of AWS's files: their keys, the program that prints keys, and what AWS's own program has of a sign-in or a role.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use offshoot_session::medium::read_regular_text;

use super::{Aws, AwsKeys, Env, FILE_LIMIT, FoundKeys};

/// Members of profiles whose keys AWS's own program gets: sign-ins, and roles that are assumed.
const OF_AWS: [&str; 5] = ["sso_session", "sso_start_url", "login_session", "role_arn", "source_profile"];

impl Aws<'_> {
    /// The keys of the files, what the profile's program prints, or what AWS's own program gets for it.
    pub(super) async fn of_profile(&self, profile: &str) -> Result<FoundKeys, String> {
        let mut members = members(self.variable, profile);
        if members.is_empty() {
            return Err(format!("neither ~/.aws/credentials nor ~/.aws/config has a profile {profile}"));
        }
        let name = format!("the profile {profile}");
        let both = (members.remove("aws_access_key_id"), members.remove("aws_secret_access_key"));
        if let (Some(access_key_id), Some(secret_access_key)) = both {
            let session_token = members.remove("aws_session_token");
            let keys = AwsKeys { access_key_id, secret_access_key, session_token, expiration: None };
            self.mask(&name, &keys);
            return Ok(FoundKeys { keys, renewal: format!("write new ones into {name} in ~/.aws/credentials") });
        }
        let own = members.remove("credential_process");
        let (command, renewal) = if let Some(command) = own {
            (command, format!("renew what the credential_process of {name} prints"))
        } else if OF_AWS.iter().any(|member| members.contains_key(*member)) {
            let command = format!("aws configure export-credentials --format process --profile {}", quoted(profile));
            (command, format!("run `aws sso login --profile {profile}`"))
        } else {
            return Err(format!("{name} has no keys, no credential_process and no sign-in"));
        };
        let printed = async {
            let said = self.commands.ask_anew(&command).await;
            let said = said.map_err(|why| format!("the command for {name} failed: {why}; {renewal}"))?;
            // The parser's message may include part of the text.
            serde_json::from_str(said.expose()).map_err(|_| format!("the command for {name} printed something else"))
        };
        let keys = self.fresh(&name, printed).await.map_err(|why| match why.contains(&renewal) {
            true => why,
            false => format!("{why}; {renewal}"),
        })?;
        Ok(FoundKeys { keys, renewal })
    }
}

/// The members of a profile in both files; those of the credentials' file count.
pub(super) fn members(variable: Env<'_>, profile: &str) -> BTreeMap<String, String> {
    let file = |name: &str, usual: &str| match variable(name) {
        Some(path) => Some(PathBuf::from(path)),
        None => Some(Path::new(&variable("HOME")?).join(".aws").join(usual)),
    };
    let text =
        |path: Option<PathBuf>| path.and_then(|path| read_regular_text(&path, FILE_LIMIT).ok()).unwrap_or_default();
    let config = text(file("AWS_CONFIG_FILE", "config"));
    let credentials = text(file("AWS_SHARED_CREDENTIALS_FILE", "credentials"));
    let mut found = section(&config, &|name| {
        let named = name.strip_prefix("profile ").map(str::trim);
        named == Some(profile) || (profile == "default" && name == profile)
    });
    found.extend(section(&credentials, &|name| name == profile));
    found
}

/// The members of the sections with a name.
fn section(text: &str, is_asked: &dyn Fn(&str) -> bool) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut is_within = false;
    for line in text.lines() {
        let is_nested = line.starts_with(char::is_whitespace);
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            is_within = is_asked(name.trim());
        } else if let (true, false, Some((name, value))) = (is_within, is_nested, line.split_once('=')) {
            found.insert(name.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    found
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

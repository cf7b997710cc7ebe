//! The variables that npm and git get: those by which a user sets them up, and no others. A project's own settings could send the
//! rest elsewhere.

use std::collections::BTreeSet;
use std::path::Path;

use offshoot_session::medium::read_regular_text;

/// A longer one names no variables.
const LONGEST: u64 = 1 << 20;
const NAMES: [&str; 12] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "LANG",
    "XDG_CONFIG_HOME",
    "SSH_AUTH_SOCK",
    "GIT_SSH_COMMAND",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
];
/// In lower and upper case.
const PROXIES: [&str; 4] = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"];
/// Of npm, in both cases.
const NPM: &str = "npm_config_";

/// The environment of npm and git.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramEnvironment(Vec<(String, String)>);

impl ProgramEnvironment {
    /// What they get of all variables. The user's `.npmrc` may name further ones.
    #[must_use]
    pub fn of(all: Vec<(String, String)>, home: Option<&Path>) -> Self {
        let named = user_settings(&all, home).map(|text| named_in(&text)).unwrap_or_default();
        let is_known = |name: &str| {
            let lower = name.to_ascii_lowercase();
            NAMES.contains(&name) || PROXIES.contains(&lower.as_str()) || lower.starts_with(NPM)
        };
        Self(all.into_iter().filter(|(name, _)| is_known(name) || named.contains(name)).collect())
    }

    pub(crate) fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }
}

/// What the user has written for npm; of a file that cannot be read, npm says so.
fn user_settings(all: &[(String, String)], home: Option<&Path>) -> Option<String> {
    let named = all.iter().find(|(name, _)| name.eq_ignore_ascii_case("npm_config_userconfig"));
    let home = home.unwrap_or(Path::new("/"));
    let file = named.map_or_else(|| home.join(".npmrc"), |(_, path)| home.join(path));
    read_regular_text(&file, LONGEST).ok()
}

/// The names in `${NAME}` and `${NAME?}`.
fn named_in(text: &str) -> BTreeSet<String> {
    let ends = |rest: &str| rest.split_once('}').map(|(name, _)| name.trim_end_matches('?').to_owned());
    text.split("${").skip(1).filter_map(ends).collect()
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests prepare their own files")]
mod tests {
    use super::*;

    #[test]
    fn only_variables_of_the_list_reach_npm_and_git() {
        let home = tempfile::tempdir().unwrap();
        let pairs = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), "x".to_owned())).collect::<Vec<_>>();
        let of = |names: &[&str]| {
            let kept = ProgramEnvironment::of(pairs(names), Some(home.path()));
            kept.variables().map(|(name, _)| name.to_owned()).collect::<Vec<_>>()
        };
        let known = ["PATH", "HTTPS_PROXY", "no_proxy", "npm_config_registry", "NPM_CONFIG_CACHE", "GIT_SSH_COMMAND"];
        assert_eq!(of(&known), known);
        let secret =
            ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "NODE_OPTIONS", "GIT_DIR", "GIT_CONFIG_COUNT", "LD_PRELOAD"];
        assert_eq!(of(&secret), [""; 0]);
        std::fs::write(home.path().join(".npmrc"), "//r/:_authToken=${GITHUB_TOKEN}\nx=${OTHER?}${").unwrap();
        assert_eq!(of(&secret), ["GITHUB_TOKEN"]);
        assert_eq!(of(&["OTHER"]), ["OTHER"]);
        // Another file of the user's instead.
        std::fs::write(home.path().join("mine"), "x=${NODE_OPTIONS}").unwrap();
        let mut all = pairs(&secret);
        all.push(("NPM_CONFIG_USERCONFIG".to_owned(), home.path().join("mine").display().to_string()));
        let kept = ProgramEnvironment::of(all, Some(home.path()));
        assert!(kept.has("NODE_OPTIONS") && !kept.has("GITHUB_TOKEN"));
    }
}

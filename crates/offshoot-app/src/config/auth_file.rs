//! The user's own `auth.json`, in pi's shape: `{PROVIDER: {"type": "api_key", "key"}}`, and for sign-ins `{"type": "oauth", "access",
//! "refresh", "expires", …}`. Asks nobody, and reads no key to use it.

use std::io;
use std::path::Path;

use offshoot_session::medium::SharedFile;
use serde_json::{Map, Value, json};

const LIMIT: u64 = 1 << 20;

/// `auth.json` in the data folder.
pub struct AuthFile(SharedFile);

impl AuthFile {
    /// That of this data folder. Reads nothing yet.
    pub fn of(data: &Path) -> Self {
        Self(SharedFile::private(data.join("auth.json"), LIMIT))
    }

    /// What a sign-in to a provider has left, without its `type`.
    pub fn credentials(&self, provider: &str) -> Option<Value> {
        let mut kept = self.read().ok()?.remove(provider)?;
        let of_sign_in = kept.as_object_mut()?;
        (of_sign_in.remove("type")? == "oauth").then_some(kept)
    }

    /// Keeps the credentials of a sign-in in place of what the provider had, or forgets them.
    ///
    /// # Errors
    /// The file cannot be read or written: then it is as it was.
    pub fn keep(&self, provider: &str, credentials: Option<&Value>) -> Result<(), String> {
        let kept = credentials.map(|credentials| {
            let mut kept = credentials.clone();
            kept["type"] = json!("oauth");
            kept
        });
        self.set(provider, kept).map(drop)
    }

    /// Keeps a key in place of what the provider had, as it is: `$NAME` in it is a variable, and what follows a `!` is a command. The
    /// file is durable when this returns.
    ///
    /// # Errors
    /// The file cannot be read or written: then it is as it was.
    pub fn keep_key(&self, provider: &str, key: &str) -> Result<(), String> {
        self.set(provider, Some(json!({"type": "api_key", "key": key}))).map(drop)
    }

    /// Takes out what a provider has. Whether it had anything.
    ///
    /// # Errors
    /// The file cannot be read or written: then it is as it was.
    pub fn forget(&self, provider: &str) -> Result<bool, String> {
        if !self.read()?.contains_key(provider) {
            return Ok(false);
        }
        self.set(provider, None)
    }

    /// The providers that have an entry; none if the file cannot be read.
    pub fn providers(&self) -> Vec<String> {
        self.read().map(|all| all.keys().cloned().collect()).unwrap_or_default()
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Whether the provider had an entry.
    fn set(&self, provider: &str, kept: Option<Value>) -> Result<bool, String> {
        let failed = |error: io::Error| format!("could not write {}: {error}", self.0.path.display());
        let locked = self.0.lock().map_err(failed)?;
        let mut all = self.read()?;
        let before = match kept {
            Some(kept) => all.insert(provider.to_owned(), kept),
            None => all.remove(provider),
        };
        let text = serde_json::to_string_pretty(&all).map_err(|error| failed(error.into()))?;
        locked.replace(&(text + "\n")).map_err(failed)?;
        Ok(before.is_some())
    }

    fn read(&self) -> Result<Map<String, Value>, String> {
        let path = self.0.path.display();
        let text = self.0.read().map_err(|error| format!("could not read {path}: {error}"))?;
        let Some(text) = text else { return Ok(Map::new()) };
        // A parser's message may include part of the text, which may be a key.
        serde_json::from_str(&text).map_err(|_| format!("{path} is not a JSON object of providers"))
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests prepare their own files")]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_sign_in_is_kept_privately_beside_keys_and_forgotten() {
        let data = tempfile::tempdir().unwrap();
        let file = AuthFile::of(data.path());
        let credentials = json!({"access": "a", "refresh": "r", "expires": 5, "team": "t"});
        file.keep("corp", Some(&credentials)).unwrap();
        let mode = fs::metadata(&file.0.path).unwrap().permissions().mode() & 0o777;
        assert_eq!((file.credentials("corp"), mode), (Some(credentials), 0o600));
        let key = r#"{"openai": {"type": "api_key", "key": "k"}, "corp": {"type": "oauth", "access": "a"}}"#;
        fs::write(&file.0.path, key).unwrap();
        assert_eq!(file.credentials("openai"), None, "a key is not a sign-in");
        file.keep("corp", None).unwrap();
        assert_eq!(file.credentials("corp"), None);
        assert!(fs::read_to_string(&file.0.path).unwrap().contains("\"key\": \"k\""));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_not_written_over() {
        let data = tempfile::tempdir().unwrap();
        let file = AuthFile::of(data.path());
        fs::write(&file.0.path, "{secret").unwrap();
        let why = file.keep("corp", Some(&json!({}))).unwrap_err();
        assert!(why.ends_with("auth.json is not a JSON object of providers"), "{why}");
        assert_eq!(fs::read_to_string(&file.0.path).unwrap(), "{secret");
    }
}

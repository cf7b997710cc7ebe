//! The credentials of sign-ins in the user's `auth.json`, in pi's shape: `{PROVIDER: {"type": "oauth", "access", "refresh",
//! "expires", …}}`. Keys in the same file are another's, and stay as they are.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use offshoot_session::medium::{append_or_create_regular, read_regular_text};
use serde_json::{Map, Value, json};

use super::settings::replace;

const LIMIT: u64 = 1 << 20;

pub(crate) struct AuthFile(PathBuf);

impl AuthFile {
    pub(crate) fn of(data: &Path) -> Self {
        Self(data.join("auth.json"))
    }

    /// What a sign-in to a provider has left, without its `type`.
    pub(crate) fn credentials(&self, provider: &str) -> Option<Value> {
        let mut kept = self.read().ok()?.remove(provider)?;
        let of_sign_in = kept.as_object_mut()?;
        (of_sign_in.remove("type")? == "oauth").then_some(kept)
    }

    /// Keeps the credentials of a provider in place of what was there, or forgets them.
    ///
    /// # Errors
    /// The file cannot be read or written: then it is as it was.
    pub(crate) fn keep(&self, provider: &str, credentials: Option<&Value>) -> Result<(), String> {
        let failed = |error: io::Error| format!("could not write {}: {error}", self.0.display());
        fs::create_dir_all(self.0.parent().unwrap_or(&self.0)).map_err(failed)?;
        // Two programs that sign in at once must not lose one.
        let lock = self.0.with_extension("json.lock");
        let lock = append_or_create_regular(&lock).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut all = self.read()?;
        match credentials {
            Some(credentials) => {
                let mut kept = credentials.clone();
                kept["type"] = json!("oauth");
                all.insert(provider.to_owned(), kept);
            }
            None => drop(all.remove(provider)),
        }
        let text = serde_json::to_string_pretty(&all).map_err(|error| failed(error.into()))?;
        replace(&self.0, &(text + "\n"), 0o600).map_err(failed)
    }

    fn read(&self) -> Result<Map<String, Value>, String> {
        let text = match read_regular_text(&self.0, LIMIT) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Map::new()),
            Err(error) => return Err(format!("could not read {}: {error}", self.0.display())),
        };
        // A parser's message may include part of the text, which may be a key.
        serde_json::from_str(&text).map_err(|_| format!("{} is not a JSON object of providers", self.0.display()))
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests prepare their own files")]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_sign_in_is_kept_privately_beside_keys_and_forgotten() {
        let data = tempfile::tempdir().unwrap();
        let file = AuthFile::of(data.path());
        let credentials = json!({"access": "a", "refresh": "r", "expires": 5, "team": "t"});
        file.keep("corp", Some(&credentials)).unwrap();
        let mode = fs::metadata(&file.0).unwrap().permissions().mode() & 0o777;
        assert_eq!((file.credentials("corp"), mode), (Some(credentials), 0o600));
        let key = r#"{"openai": {"type": "api_key", "key": "k"}, "corp": {"type": "oauth", "access": "a"}}"#;
        fs::write(&file.0, key).unwrap();
        assert_eq!(file.credentials("openai"), None, "a key is not a sign-in");
        file.keep("corp", None).unwrap();
        assert_eq!(file.credentials("corp"), None);
        assert!(fs::read_to_string(&file.0).unwrap().contains("\"key\": \"k\""));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_not_written_over() {
        let data = tempfile::tempdir().unwrap();
        let file = AuthFile::of(data.path());
        fs::write(&file.0, "{secret").unwrap();
        let why = file.keep("corp", Some(&json!({}))).unwrap_err();
        assert!(why.ends_with("auth.json is not a JSON object of providers"), "{why}");
        assert_eq!(fs::read_to_string(&file.0).unwrap(), "{secret");
    }
}

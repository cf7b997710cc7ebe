//! The tokens of sign-ins to MCP servers: `mcp-auth.json` in the data folder, mode 0600, by a server's name and address. Never in a session.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;

use offshoot_mcp::oauth::{TokenStore, Tokens};
use offshoot_session::medium::SharedFile;

const LIMIT: u64 = 4 << 20;

type AllTokens = BTreeMap<String, Tokens>;

/// The tokens of one server. Without a data folder they are kept until the program ends.
pub struct ServerTokens {
    file: Option<SharedFile>,
    key: String,
    memory: Mutex<Option<Tokens>>,
}

impl ServerTokens {
    /// Those of a server. Reads nothing yet.
    pub fn of(data: Option<&Path>, server: &str, url: &str) -> Self {
        let file = data.map(|data| SharedFile::private(data.join("mcp-auth.json"), LIMIT));
        Self { file, key: format!("{server} {url}"), memory: Mutex::default() }
    }
}

impl TokenStore for ServerTokens {
    fn tokens(&self) -> Option<Tokens> {
        let Some(file) = &self.file else {
            return self.memory.lock().unwrap_or_else(PoisonError::into_inner).clone();
        };
        let text = file.read().ok()??;
        serde_json::from_str::<AllTokens>(&text).ok()?.remove(&self.key)
    }

    fn keep(&self, tokens: Option<&Tokens>) -> Result<(), String> {
        let Some(file) = &self.file else {
            *self.memory.lock().unwrap_or_else(PoisonError::into_inner) = tokens.cloned();
            return Ok(());
        };
        let failed = |why: String| format!("could not write {}: {why}", file.path.display());
        let locked = file.lock().map_err(|error| failed(error.to_string()))?;
        let mut all: AllTokens = match locked.read().map_err(|error| failed(error.to_string()))? {
            Some(text) => serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?,
            None => AllTokens::new(),
        };
        match tokens {
            Some(tokens) => drop(all.insert(self.key.clone(), tokens.clone())),
            None => drop(all.remove(&self.key)),
        }
        let text = serde_json::to_string_pretty(&all).map_err(|error| failed(error.to_string()))?;
        locked.replace(&(text + "\n")).map_err(|error| failed(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn tokens_are_the_users_alone_and_each_servers_own() {
        let folder = tempfile::tempdir().unwrap();
        let of = |server: &str, url: &str| ServerTokens::of(Some(folder.path()), server, url);
        let tokens = Tokens { access_token: "t".to_owned(), ..Tokens::default() };
        of("a", "https://h/").keep(Some(&tokens)).unwrap();
        assert_eq!(of("a", "https://h/").tokens(), Some(tokens));
        assert_eq!([of("b", "https://h/").tokens(), of("a", "https://other/").tokens()], [None, None]);
        let mode = std::fs::metadata(folder.path().join("mcp-auth.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        of("a", "https://h/").keep(None).unwrap();
        assert_eq!(of("a", "https://h/").tokens(), None);
    }
}

//! Reads `keybindings.json` of the data folder, else a peer's file of keys. `offshoot_tui::keymap` defines its contents.

use std::path::{Path, PathBuf};

use offshoot_agent::yaml::yaml_to_json;
use offshoot_app::error::Result;
use offshoot_protocol::{Peer, PeerFolder};
use offshoot_tui::keymap::Keymap;

/// The names of a folder's file of keys, the first of which counts.
fn files_of(peer: Peer) -> &'static [&'static str] {
    match peer {
        Peer::Pi => &["keybindings.json"],
        Peer::Omp => &["keybindings.yml", "keybindings.yaml", "keybindings.json"],
    }
}

/// A peer's file of keys.
pub(crate) fn file_of(PeerFolder { peer, path }: &PeerFolder) -> Option<PathBuf> {
    files_of(*peer).iter().map(|name| path.join(name)).find(|file| file.is_file())
}

/// The user's keys; without any those of the first peer that has some, of which only what offshoot has counts.
pub(crate) fn load(data: Option<&Path>, peers: &[PeerFolder]) -> Result<(Keymap, Vec<String>)> {
    let own = data.map(|data| data.join("keybindings.json"));
    let is_own = own.as_ref().is_some_and(|path| path.symlink_metadata().is_ok());
    if !is_own && let Some(file) = peers.iter().find_map(file_of) {
        return Ok((of_file(&file)?.0, Vec::new()));
    }
    own.map_or_else(|| Ok(Default::default()), |own| of_file(&own))
}

fn of_file(path: &Path) -> Result<(Keymap, Vec<String>)> {
    let text = offshoot_app::config::settings::text(path)?;
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    let text = if is_json { text } else { yaml_to_json(&text).unwrap_or_default() };
    if text.trim().is_empty() {
        return Ok(Default::default());
    }
    let (keymap, diagnostics) = Keymap::read(&text);
    Ok((keymap, diagnostics.iter().map(|diagnostic| format!("{}:{diagnostic}", path.display())).collect()))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests prepare their own files")]
mod tests {
    use super::*;

    #[test]
    fn troubles_name_file_and_place() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(load(Some(folder.path()), &[]).unwrap(), (Keymap::default(), Vec::new()));
        std::fs::write(folder.path().join("keybindings.json"), "{\"app.claer\": \"alt+c\"}").unwrap();
        let (keymap, troubles) = load(Some(folder.path()), &[]).unwrap();
        assert_eq!(keymap, Keymap::default());
        assert!(
            troubles[0].ends_with("keybindings.json:1:15: there is no action \"app.claer\": did you mean app.clear?")
        );
    }

    #[test]
    fn keys_of_peers_count_where_the_user_has_none_and_those_of_pi_first() {
        let folder = tempfile::tempdir().unwrap();
        let peers = [Peer::Pi, Peer::Omp].map(|peer| PeerFolder { peer, path: folder.path().join(peer.as_str()) });
        for PeerFolder { path, .. } in &peers {
            std::fs::create_dir(path).unwrap();
        }
        let keys = |text: &str| Keymap::read(text).0;
        std::fs::write(
            peers[1].path.join("keybindings.yml"),
            "app.clear: alt+c\napp.session.new: [alt+n]\napp.live.toggle: alt+v\n",
        )
        .unwrap();
        let of_omp = keys(r#"{"app.clear": "alt+c", "app.session.new": ["alt+n"]}"#);
        assert_ne!(of_omp, Keymap::default());
        assert_eq!(load(Some(folder.path()), &peers).unwrap(), (of_omp, Vec::new()));
        std::fs::write(peers[0].path.join("keybindings.json"), r#"{"app.clear": "alt+x"}"#).unwrap();
        assert_eq!(load(Some(folder.path()), &peers).unwrap().0, keys(r#"{"app.clear": "alt+x"}"#));
        std::fs::write(folder.path().join("keybindings.json"), "{}").unwrap();
        assert_eq!(load(Some(folder.path()), &peers).unwrap().0, Keymap::default());
    }
}

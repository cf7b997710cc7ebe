//! Reads `keybindings.json` of the data folder. `offshoot_tui::keymap` defines its contents.

use std::path::Path;

use offshoot_app::error::Result;
use offshoot_tui::keymap::Keymap;

/// The user's keys; without any those of pi, of which only what offshoot has counts.
pub(crate) fn load(data: Option<&Path>, pi: Option<&Path>) -> Result<(Keymap, Vec<String>)> {
    let own = data.map(|data| data.join("keybindings.json"));
    let is_own = own.as_ref().is_some_and(|path| path.symlink_metadata().is_ok());
    match pi.filter(|_| !is_own) {
        Some(pi) => Ok((of_folder(Some(pi))?.0, Vec::new())),
        None => of_folder(data),
    }
}

fn of_folder(data: Option<&Path>) -> Result<(Keymap, Vec<String>)> {
    let Some(path) = data.map(|data| data.join("keybindings.json")) else { return Ok(Default::default()) };
    let text = offshoot_app::config::settings::text(&path)?;
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
        assert_eq!(load(Some(folder.path()), None).unwrap(), (Keymap::default(), Vec::new()));
        std::fs::write(folder.path().join("keybindings.json"), "{\"app.claer\": \"alt+c\"}").unwrap();
        let (keymap, troubles) = load(Some(folder.path()), None).unwrap();
        assert_eq!(keymap, Keymap::default());
        assert!(
            troubles[0].ends_with("keybindings.json:1:15: there is no action \"app.claer\": did you mean app.clear?")
        );
    }
}

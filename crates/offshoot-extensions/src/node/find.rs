//! Which Node.js runs extensions: the one that is named, else the first on the path that is new enough.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The oldest that pi's extensions expect.
const OLDEST: (u32, u32) = (22, 19);

/// Where to look.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeSearch {
    /// A program that somebody named; then no other is looked for.
    pub named: Option<PathBuf>,
    /// The folders of the path.
    pub path: Vec<PathBuf>,
}

/// The program. The error says what to install.
///
/// # Errors
/// There is none, or none that is new enough.
pub fn find_node(search: &NodeSearch) -> Result<PathBuf, String> {
    let (major, minor) = OLDEST;
    let need = format!("extensions need Node.js {major}.{minor} or newer");
    let way =
        "install it from nodejs.org or with your system's packages, or name another with PI_NODE or the setting `node`";
    if let Some(named) = &search.named {
        return match version(named) {
            Ok(found) if found >= OLDEST => Ok(named.clone()),
            Ok((major, minor)) => Err(format!("{need}; {} is {major}.{minor}", named.display())),
            Err(why) => Err(format!("{need}; {} does not run: {why}", named.display())),
        };
    }
    let mut older = None;
    for program in search.path.iter().map(|folder| folder.join("node")).filter(|program| program.is_file()) {
        match version(&program) {
            Ok(found) if found >= OLDEST => return Ok(program),
            Ok((major, minor)) => older = older.or(Some(format!("{} is {major}.{minor}", program.display()))),
            Err(why) => older = older.or(Some(format!("{} does not run: {why}", program.display()))),
        }
    }
    match older {
        Some(older) => Err(format!("{need}; {older}: {way}")),
        None => Err(format!("{need}, and there is no `node` on the path: {way}")),
    }
}

fn version(program: &Path) -> Result<(u32, u32), String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    let output = output.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut parts = text.trim().trim_start_matches('v').split('.').map(str::parse);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Ok((major, minor)),
        _ => Err(format!("`--version` said {:?}", text.trim())),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn program(folder: &Path, says: &str) -> PathBuf {
        std::fs::create_dir_all(folder).unwrap();
        let path = folder.join("node");
        std::fs::write(&path, format!("#!/bin/sh\necho {says}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn the_first_that_is_new_enough_is_taken_and_a_named_one_is_the_only_one() {
        let dir = tempfile::tempdir().unwrap();
        let old = program(&dir.path().join("old"), "v20.20.0");
        let new = program(&dir.path().join("new"), "v22.19.0");
        let path = vec![dir.path().join("none"), dir.path().join("old"), dir.path().join("new")];
        let search = NodeSearch { named: None, path: path.clone() };
        assert_eq!(find_node(&search), Ok(new));
        let named = NodeSearch { named: Some(old), path };
        let why = find_node(&named).unwrap_err();
        assert!(why.starts_with("extensions need Node.js 22.19 or newer; ") && why.ends_with("is 20.20"), "{why}");
    }

    #[test]
    fn the_error_says_what_to_install() {
        let dir = tempfile::tempdir().unwrap();
        let none = find_node(&NodeSearch { named: None, path: vec![dir.path().to_owned()] }).unwrap_err();
        assert!(none.contains("there is no `node` on the path: install it"), "{none}");
        program(dir.path(), "v22.18.1");
        let old = find_node(&NodeSearch { named: None, path: vec![dir.path().to_owned()] }).unwrap_err();
        assert!(old.contains("is 22.18: install it"), "{old}");
        program(dir.path(), "nonsense");
        let odd = find_node(&NodeSearch { named: None, path: vec![dir.path().to_owned()] }).unwrap_err();
        assert!(odd.contains("does not run: `--version` said \"nonsense\""), "{odd}");
    }
}

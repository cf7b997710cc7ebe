//! Whether an extension may be a guard, as its text names the event of one. It runs nothing.

use std::path::{Path, PathBuf};

use offshoot_session::medium::read_regular;

use crate::contract::{ExtensionSource, Failure};

/// The event that a guard hears.
const EVENT: &str = "tool_call";
/// An extension of more files, or of more bytes in all, is taken for a guard.
const MOST_FILES: usize = 2000;
/// The host loads no larger file.
const MOST_BYTES: u64 = 64 << 20;

/// What is reported of an extension that did not load.
pub(crate) fn explained(failure: &Failure) -> Failure {
    let message = format!("{}\nit names `{EVENT}` and may be a guard of this session", failure.message);
    Failure { message, ..failure.clone() }
}

/// Whether an extension's text names the event that a guard hears.
pub(crate) fn may_guard(source: &ExtensionSource) -> bool {
    let mut open = vec![root_of(&source.path)];
    let (mut files, mut room) = (0, MOST_BYTES);
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let Ok(entries) = std::fs::read_dir(&path) else { continue };
            let entries = entries.flatten().filter(|entry| entry.file_name() != "node_modules");
            open.extend(entries.map(|entry| entry.path()).filter(|path| !path.is_symlink() || path.is_file()));
        } else if is_script(&path) {
            files += 1;
            // What is not there names nothing, nor does what is too large to be loaded at all.
            let text = read_regular(&path, MOST_BYTES).unwrap_or_default();
            let left = room.checked_sub(text.len() as u64);
            if left.is_none() || names_event(&text) {
                return true;
            }
            room = left.unwrap_or_default();
        }
        if files > MOST_FILES || open.len() > MOST_FILES {
            return true;
        }
    }
    false
}

/// The folder of a package or of an index; else the file.
fn root_of(path: &Path) -> PathBuf {
    let is_package = |folder: &&Path| {
        let text = read_regular(&folder.join("package.json"), 1 << 20).unwrap_or_default();
        serde_json::from_slice::<serde_json::Value>(&text).is_ok_and(|manifest| manifest["pi"]["extensions"].is_array())
    };
    if let Some(folder) = path.ancestors().skip(1).find(is_package) {
        return folder.to_owned();
    }
    let is_index = path.file_stem().is_some_and(|stem| stem == "index");
    path.parent().filter(|_| is_index).unwrap_or(path).to_owned()
}

fn is_script(path: &Path) -> bool {
    let endings = ["ts", "mts", "cts", "tsx", "js", "mjs", "cjs", "jsx"];
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| endings.contains(&ending))
}

/// The name alone, not as a part of a longer one.
fn names_event(text: &[u8]) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    text.windows(EVENT.len()).enumerate().any(|(at, part)| {
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        part == EVENT.as_bytes() && !is_part(before) && !is_part(text.get(at + EVENT.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{ExtensionKind, Origin};

    fn guards(files: &[(&str, &str)], path: &str) -> bool {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = dir.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let path = dir.path().join(path);
        may_guard(&ExtensionSource { path, kind: ExtensionKind::Extension, origin: Origin::User, allowed: None })
    }

    #[test]
    fn a_guard_is_known_by_the_name_of_its_event() {
        assert!(guards(&[("a.ts", "pi.on('tool_call', () => {})")], "a.ts"));
        assert!(!guards(&[("a.ts", "message.tool_calls; tool_call_id; x_tool_call")], "a.ts"));
        assert!(!guards(&[("a.ts", "")], "gone.ts"));
    }

    /// No loader takes such a file, so it has never guarded anything.
    #[test]
    fn a_file_that_is_too_large_to_be_loaded_is_no_guard() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ts");
        std::fs::File::create(&path).unwrap().set_len(8 << 30).unwrap();
        assert!(!may_guard(&ExtensionSource {
            path,
            kind: ExtensionKind::Extension,
            origin: Origin::User,
            allowed: None
        }));
    }

    #[test]
    fn it_is_looked_for_in_the_files_of_the_extension_and_in_no_others() {
        let pack = [("p/package.json", r#"{"pi":{"extensions":["./src/x.ts"]}}"#), ("p/src/x.ts", "import './y'")];
        assert!(guards(&[&pack[..], &[("p/lib/y.ts", "on(\"tool_call\")")]].concat(), "p/src/x.ts"));
        let deep = [("p/a/b/c/d/e/x.ts", ""), ("p/y.ts", "tool_call")];
        assert!(guards(&[&pack[..], &deep].concat(), "p/a/b/c/d/e/x.ts"));
        assert!(!guards(&[&pack[..], &[("p/node_modules/z.js", "tool_call")]].concat(), "p/src/x.ts"));
        assert!(guards(&[("g/index.ts", "import './y'"), ("g/y.ts", "`tool_call`")], "g/index.ts"));
        assert!(!guards(&[("a.ts", "import './y'"), ("y.ts", "tool_call")], "a.ts"));
    }
}

//! The texts that replace or extend the system prompt: of the command line, else of a trusted project, else of the user.
//! Decides nothing about trust.

use std::path::{Path, PathBuf};

use offshoot_protocol::{Peer, project_folders};

use super::places::named_path;
use super::{ResourcePlaces, ResourceTrouble, read};

const REPLACING: &str = "SYSTEM.md";
const ADDED: &str = "APPEND_SYSTEM.md";

/// What the command line says, each a text or the name of a file.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct TypedTexts<'a> {
    /// Names of files are relative to it.
    pub cwd: &'a Path,
    pub replacing: &'a [String],
    pub added: &'a [String],
}

/// What counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemTexts {
    /// In the place of offshoot's text about the agent.
    pub replacing: Option<String>,
    /// After that text.
    pub added: Option<String>,
}

impl SystemTexts {
    /// Texts of the command line are joined, and no file is looked for beside them: an empty one means none.
    pub fn find(places: &ResourcePlaces, typed: TypedTexts<'_>) -> (Self, Vec<ResourceTrouble>) {
        let mut troubles = Vec::new();
        let named = |text: &str| named_path(text, typed.cwd, places.home.as_deref());
        let mut text = |typed_texts: &[String], name: &str| match typed_texts {
            [] => of_file(places, name, &mut troubles),
            texts => {
                let texts: Vec<String> = texts.iter().map(|text| of_value(&named(text), text, &mut troubles)).collect();
                texts.join("\n\n")
            }
        };
        let replacing = text(typed.replacing, REPLACING);
        let added = text(typed.added, ADDED);
        let filled = |text: String| Some(text).filter(|text| !text.trim().is_empty());
        (Self { replacing: filled(replacing), added: filled(added) }, troubles)
    }
}

/// The files of a project that would count if it were trusted.
pub(super) fn of_folder(cwd: &Path) -> impl Iterator<Item = PathBuf> {
    [REPLACING, ADDED].into_iter().filter_map(|name| in_project(cwd, name))
}

fn in_project(cwd: &Path, name: &str) -> Option<PathBuf> {
    project_folders(cwd).into_iter().map(|(_, folder)| folder.join(name)).find(|file| file.is_file())
}

/// The project's file, else the user's, else that of oh-my-pi's own folder. pi's is copied by `offshoot migrate-from pi`.
fn of_file(places: &ResourcePlaces, name: &str, troubles: &mut Vec<ResourceTrouble>) -> String {
    let project = places.project.as_ref().and_then(|cwd| in_project(cwd, name));
    let omp = places.peers.iter().filter(|of| of.peer == Peer::Omp).map(|of| &of.path);
    let user = || places.data.iter().chain(omp).map(|folder| folder.join(name)).find(|file| file.is_file());
    project.or_else(user).map(|file| content(&file, troubles)).unwrap_or_default()
}

/// A text, or the file of that name.
fn of_value(file: &Path, value: &str, troubles: &mut Vec<ResourceTrouble>) -> String {
    // An empty name is that of the folder.
    if !value.is_empty() && file.is_file() {
        return content(file, troubles);
    }
    let is_one_word = !value.contains(char::is_whitespace);
    let is_named_so = [".md", ".txt"].iter().any(|ending| value.ends_with(ending)) || value.contains('/');
    if is_one_word && !value.is_empty() && (is_named_so || file.is_dir()) {
        let why = match file.is_dir() {
            true => "it is a folder, so its name is taken for the text itself",
            false => "there is no such file, so the name is taken for the text itself",
        };
        troubles.push(ResourceTrouble::Odd { file: file.to_owned(), why: why.to_owned() });
    }
    value.to_owned()
}

/// A file that cannot be read gives nothing, and is reported.
fn content(file: &Path, troubles: &mut Vec<ResourceTrouble>) -> String {
    match read(file) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned(),
        Err(trouble) => {
            troubles.push(trouble);
            String::new()
        }
    }
}

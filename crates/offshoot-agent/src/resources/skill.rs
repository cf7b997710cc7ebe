//! Skills: instructions in a `SKILL.md` with a name and a description (agentskills.io).

use std::path::{Path, PathBuf};

use super::front_matter::parse;
use super::{Resource, ResourceScope, ResourceTrouble, read};

const LONGEST_NAME: usize = 64;
const LONGEST_DESCRIPTION: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Skill {
    pub about: Resource,
    /// The system prompt does not list it; `/skill:name` works.
    pub is_for_person_only: bool,
}

impl Skill {
    /// Reads a skill's file. Of a `.md` that is no `SKILL.md`, a missing description means that it is no skill: `None`.
    pub(super) fn load(
        file: &Path,
        scope: ResourceScope,
        troubles: &mut Vec<ResourceTrouble>,
    ) -> Result<Option<Self>, ResourceTrouble> {
        let is_named_skill = file.file_name().is_some_and(|name| name == "SKILL.md");
        let parsed = match parse(&read(file)?) {
            Ok(parsed) => parsed,
            Err(_) if !is_named_skill => return Ok(None),
            Err(fault) => {
                return Err(ResourceTrouble::Invalid { file: file.to_path_buf(), line: fault.line, why: fault.why });
            }
        };
        let Some(description) = parsed.text("description") else {
            let why = "there is no `description`; the file is not used".to_owned();
            return if is_named_skill { Err(odd(file, why)) } else { Ok(None) };
        };
        let folder = || folder_of(file).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = parsed.text("name").map_or_else(folder, str::to_owned);
        troubles.extend(faults(&name, description).map(|why| odd(file, why)));
        let about =
            Resource { name, description: description.to_owned(), file: file.to_path_buf(), scope, package: None };
        Ok(Some(Self { about, is_for_person_only: parsed.is_true("disable-model-invocation") }))
    }

    /// What is sent when a person calls it.
    pub(super) fn call(&self, arguments: &str) -> Result<String, ResourceTrouble> {
        let file = &self.about.file;
        let fault = |line, why| ResourceTrouble::Invalid { file: file.clone(), line, why };
        let body = parse(&read(file)?).map_err(|found| fault(found.line, found.why))?.body;
        let (name, folder) = (&self.about.name, folder_of(file));
        let block = format!(
            "<skill name=\"{name}\" location=\"{}\">\nReferences are relative to {}.\n\n{}\n</skill>",
            file.display(),
            folder.display(),
            body.trim()
        );
        Ok(if arguments.is_empty() { block } else { format!("{block}\n\n{arguments}") })
    }

    /// Its element in the list for the model.
    pub(crate) fn told(&self) -> String {
        let Resource { name, description, file, .. } = &self.about;
        let escape = |text: &str| {
            let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            text.replace('"', "&quot;").replace('\'', "&apos;")
        };
        format!(
            "  <skill>\n    <name>{}</name>\n    <description>{}</description>\n    <location>{}</location>\n  </skill>",
            escape(name),
            escape(description),
            escape(&file.display().to_string())
        )
    }
}

fn folder_of(file: &Path) -> PathBuf {
    file.parent().map(Path::to_path_buf).unwrap_or_default()
}

fn odd(file: &Path, why: String) -> ResourceTrouble {
    ResourceTrouble::Odd { file: file.to_path_buf(), why }
}

/// What is wrong with a skill that is used all the same.
fn faults(name: &str, description: &str) -> impl Iterator<Item = String> {
    let (name_length, length) = (name.chars().count(), description.chars().count());
    let is_plain = name.chars().all(|at| at.is_ascii_lowercase() || at.is_ascii_digit() || at == '-');
    let are_dashes_sound = !name.starts_with('-') && !name.ends_with('-') && !name.contains("--");
    [
        (name_length > LONGEST_NAME)
            .then(|| format!("the name has {name_length} characters, more than {LONGEST_NAME}")),
        (!is_plain).then(|| format!("the name `{name}` has characters other than a-z, 0-9 and -")),
        (is_plain && !are_dashes_sound).then(|| format!("the name `{name}` begins or ends with - or has --")),
        (length > LONGEST_DESCRIPTION)
            .then(|| format!("the description has {length} characters, more than {LONGEST_DESCRIPTION}")),
    ]
    .into_iter()
    .flatten()
}

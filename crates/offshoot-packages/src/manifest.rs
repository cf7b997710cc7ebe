//! `package.json`: the name, the version, what the package lists for pi, its scripts and dependencies. Foreign text.

use std::path::Path;

use offshoot_session::medium::read_regular_text;
use serde_json::{Map, Value};

use crate::error::{PackageError, Result};

const LONGEST: u64 = 1 << 20;
/// npm runs these when a package is installed.
const LIFE_CYCLE: [&str; 6] = ["preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare"];

/// What is read of a package.json.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) name: Option<String>,
    pub(crate) version: Option<String>,
    /// The file that an import of the package loads.
    pub(crate) main: Option<String>,
    /// The member `pi`, else oh-my-pi's `omp`: a package that has it brings only what it lists.
    pub(crate) listed: Option<Listed>,
    /// The scripts that npm would run at an installation: name and command.
    pub(crate) scripts: Vec<(String, String)>,
    /// What the package needs: names and versions.
    pub(crate) dependencies: Map<String, Value>,
}

/// The lists of a manifest, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) extensions: Vec<String>,
    pub(crate) skills: Vec<String>,
    pub(crate) prompts: Vec<String>,
    pub(crate) themes: Vec<String>,
}

impl Manifest {
    /// Reads the manifest of a folder; the empty one if there is none.
    ///
    /// # Errors
    /// The file is not an object of JSON, or too long.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let file = root.join("package.json");
        if file.symlink_metadata().is_err() {
            return Ok(Self::default());
        }
        let text = read_regular_text(&file, LONGEST).map_err(|error| PackageError::io("read", &file, error))?;
        let wrong = |why: String| PackageError::Manifest { file: file.clone(), why };
        let json: Value =
            serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| wrong(error.to_string()))?;
        let Value::Object(members) = json else { return Err(wrong("it is not an object".to_owned())) };
        let text = |name: &str| members.get(name).and_then(Value::as_str).map(str::to_owned);
        let object = |name: &str| members.get(name).and_then(Value::as_object);
        let scripts = LIFE_CYCLE.iter().filter_map(|name| {
            let command = object("scripts")?.get(*name)?.as_str()?;
            Some(((*name).to_owned(), command.to_owned()))
        });
        Ok(Self {
            name: text("name"),
            version: text("version"),
            main: text("main"),
            listed: object("pi").or_else(|| object("omp")).map(listed),
            scripts: scripts.collect(),
            dependencies: object("dependencies").cloned().unwrap_or_default(),
        })
    }
}

/// A kind whose value is not a list adds nothing. Elements that are not strings are skipped.
fn listed(members: &Map<String, Value>) -> Listed {
    let texts = |name: &str| {
        let items = members.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    };
    Listed {
        extensions: texts("extensions"),
        skills: texts("skills"),
        prompts: texts("prompts"),
        themes: texts("themes"),
    }
}

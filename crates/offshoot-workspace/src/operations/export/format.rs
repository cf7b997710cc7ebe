//! The formats of an export: which one a file's name says, and what each cannot do.

use std::path::Path;

use crate::closed_words;
use crate::failure::{Failure, FailureKind, Hint, Result};

use super::ExportInput;

closed_words! {
    /// What an export writes.
    pub enum ExportFormat {
        /// A session file.
        Jsonl = "jsonl",
        /// A page.
        Html = "html",
        /// A transcript.
        Md = "md",
        /// A context.
        Json = "json",
    }
}

fn refused(why: String, hints: &[&str]) -> Failure {
    let failure = Failure::refused(FailureKind::Usage, why);
    hints.iter().fold(failure, |failure, hint| failure.hint(Hint::Text((*hint).to_owned())))
}

impl ExportFormat {
    /// The format that was named, else the one of the file's extension.
    pub(super) fn of(given: Option<Self>, file: Option<&Path>) -> Result<Self> {
        if let Some(format) = given {
            return Ok(format);
        }
        let Some(file) = file else {
            let why = "standard output has no ending that says what is written".to_owned();
            return Err(refused(why, &["--format jsonl, html, md or json says it"]));
        };
        match file.extension().map(|extension| extension.to_string_lossy().to_lowercase()).as_deref() {
            Some("jsonl") => Ok(Self::Jsonl),
            Some("html" | "htm") => Ok(Self::Html),
            Some("md") => Ok(Self::Md),
            Some("json") => Ok(Self::Json),
            _ => {
                let name = file.file_name().map_or(file, Path::new).display();
                let endings = "end the name with .jsonl for a session file, .html for a page, .md for a transcript, or .json for the context";
                let hints = [endings, "--format sets the format for any name"];
                Err(refused(format!("the name {name} does not say the format"), &hints))
            }
        }
    }

    /// Whether it is of one path, and never of branches.
    pub(super) fn is_path(self) -> bool {
        matches!(self, Self::Md | Self::Json)
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Html => "html",
            Self::Md => "md",
            Self::Json => "json",
        }
    }
}

impl ExportInput {
    /// Refuses options that say nothing about this format.
    pub(super) fn check(&self, format: ExportFormat) -> Result<()> {
        if self.subtree.is_some() && format.is_path() {
            let what = if format == ExportFormat::Md { "transcript" } else { "context" };
            let why = format!("a {what} has no branches: --subtree needs a .jsonl or .html file");
            return Err(refused(why, &[&format!("--at ENTRY writes the {what} up to an entry")]));
        }
        let given = [
            ("--max-inline", self.max_inline.is_some()),
            ("--no-images", self.no_images),
            ("--no-files", self.no_files),
            ("--theme", self.theme.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given && format != ExportFormat::Html) {
            Some((name, _)) => Err(refused(format!("{name} is for pages: it needs a .html file"), &[])),
            None => Ok(()),
        }
    }
}

//! Which tools a list of names means. Knows no tool.

use std::sync::Arc;

use globset::GlobBuilder;

use super::bash::Shell;
use super::{Tool, all};

/// The tools that are enabled by default.
pub const DEFAULT: &str = "read,bash,edit,write";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum ToolChoiceError {
    #[error("there is no tool {name:?}{}; there are {known}", hint(nearest.as_deref()))]
    Unknown {
        name: String,
        /// The name that was probably meant.
        nearest: Option<String>,
        known: String,
    },
    #[error("the tools {0:?} mix names with changes (+name, -name)")]
    Mixed(String),
    #[error("no tool can be named {0:?}: {1}")]
    Pattern(String, String),
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
}

/// The built-in tools with these names, separated by commas, each once and in this order. An empty list gives no tools.
///
/// # Errors
/// A name is unknown.
pub fn select(names: &str, shell: &Shell) -> Result<Vec<Arc<dyn Tool>>, ToolChoiceError> {
    choose(&all(shell), names, &[])
}

/// Some of `tools`: names and patterns with `*`, separated by commas, or only changes (`+name`, `-name`) of the list `before`.
/// Each tool comes once.
///
/// # Errors
/// A name is unknown, or the list mixes names and changes.
pub fn choose(
    tools: &[Arc<dyn Tool>],
    names: &str,
    before: &[Arc<dyn Tool>],
) -> Result<Vec<Arc<dyn Tool>>, ToolChoiceError> {
    let words: Vec<&str> = names.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    let changes = words.iter().filter(|word| word.starts_with(['+', '-'])).count();
    if changes > 0 && changes < words.len() {
        return Err(ToolChoiceError::Mixed(names.to_owned()));
    }
    let mut chosen = if changes > 0 { before.to_vec() } else { Vec::new() };
    for word in words {
        let named = named(tools, word.trim_start_matches(['+', '-']))?;
        let is_named = |tool: &Arc<dyn Tool>| named.iter().any(|other| other.name() == tool.name());
        if word.starts_with('-') {
            chosen.retain(|tool| !is_named(tool));
        } else {
            let has = |tool: &Arc<dyn Tool>| chosen.iter().any(|other| other.name() == tool.name());
            let new: Vec<Arc<dyn Tool>> = named.iter().filter(|tool| !has(tool)).cloned().collect();
            chosen.extend(new);
        }
    }
    Ok(chosen)
}

fn named(tools: &[Arc<dyn Tool>], word: &str) -> Result<Vec<Arc<dyn Tool>>, ToolChoiceError> {
    let is_pattern = word.contains('*');
    let glob = GlobBuilder::new(word).build();
    let glob = glob.map_err(|error| ToolChoiceError::Pattern(word.to_owned(), error.kind().to_string()));
    let glob = if is_pattern { Some(glob?.compile_matcher()) } else { None };
    let is_meant = |tool: &&Arc<dyn Tool>| match &glob {
        Some(glob) => glob.is_match(tool.name()),
        None => tool.name() == word,
    };
    let meant: Vec<Arc<dyn Tool>> = tools.iter().filter(is_meant).cloned().collect();
    if !meant.is_empty() {
        return Ok(meant);
    }
    let known: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
    let small: &str = &word.to_lowercase();
    let nearest = similar::get_close_matches(small, &known, 1, 0.5).first().map(|name| (*name).to_owned());
    Err(ToolChoiceError::Unknown { name: word.to_owned(), nearest, known: known.join(", ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(names: &str) -> Result<String, ToolChoiceError> {
        let tools = all(&Shell::default());
        let before = choose(&tools, DEFAULT, &[])?;
        let chosen = choose(&tools, names, &before)?;
        Ok(chosen.iter().map(|tool| tool.name()).collect::<Vec<_>>().join(","))
    }

    #[test]
    fn names_patterns_and_changes_choose_tools() {
        for (names, expected) in [
            ("", ""),
            ("ls, read,ls", "ls,read"),
            ("*", "read,bash,edit,write,grep,find,ls"),
            ("*e*,ls", "read,edit,write,grep,ls"),
            ("+grep", "read,bash,edit,write,grep"),
            ("-bash,+ls,+read", "read,edit,write,ls"),
            ("-*,+read", "read"),
        ] {
            assert_eq!(chosen(names).as_deref(), Ok(expected), "{names}");
        }
        assert_eq!(chosen("+ls,read"), Err(ToolChoiceError::Mixed("+ls,read".to_owned())));
        let error = chosen("-raed").unwrap_err().to_string();
        assert_eq!(
            error,
            r#"there is no tool "raed" (did you mean read?); there are read, bash, edit, write, grep, find, ls"#
        );
        assert!(chosen("x*").is_err());
    }
}

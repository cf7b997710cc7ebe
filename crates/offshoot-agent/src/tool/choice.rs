//! Which tools a list of names means. Knows no tool.

use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};

use super::bash::Shell;
use super::{Tool, all};

/// The tools that are enabled by default.
pub const DEFAULT: &str = "read,bash,edit,write,ask,todo,plan,task";

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
    let (choice, tools) = (ToolChoice::parse(names)?, all(shell));
    match choice.unknown(&tools).into_iter().next() {
        Some(unknown) => Err(unknown),
        None => Ok(choice.of(&tools, &[])),
    }
}

/// A list of tools: names and patterns with `*`, or only changes (`+name`, `-name`) of another list. Which tools there are is
/// known later.
#[derive(Debug, Clone, Default)]
pub struct ToolChoice {
    entries: Vec<ChoiceEntry>,
    is_change: bool,
}

#[derive(Debug, Clone)]
struct ChoiceEntry {
    name: String,
    /// Of a name with `*`.
    pattern: Option<GlobMatcher>,
    takes_away: bool,
}

impl ChoiceEntry {
    fn is(&self, name: &str) -> bool {
        self.pattern.as_ref().map_or_else(|| self.name == name, |pattern| pattern.is_match(name))
    }
}

impl ToolChoice {
    /// # Errors
    /// The list mixes names and changes, or a pattern is none.
    pub fn parse(names: &str) -> Result<Self, ToolChoiceError> {
        let words: Vec<&str> = names.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
        let changes = words.iter().filter(|word| word.starts_with(['+', '-'])).count();
        if changes > 0 && changes < words.len() {
            return Err(ToolChoiceError::Mixed(names.to_owned()));
        }
        let entries = words.into_iter().map(entry).collect::<Result<_, _>>()?;
        Ok(Self { entries, is_change: changes > 0 })
    }

    /// Some of `tools`, each once; a list of changes begins with those of `before`.
    pub fn of(&self, tools: &[Arc<dyn Tool>], before: &[Arc<dyn Tool>]) -> Vec<Arc<dyn Tool>> {
        let mut chosen = if self.is_change { before.to_vec() } else { Vec::new() };
        for entry in &self.entries {
            if entry.takes_away {
                chosen.retain(|tool| !entry.is(tool.name()));
                continue;
            }
            for tool in tools.iter().filter(|tool| entry.is(tool.name())) {
                if chosen.iter().all(|other| other.name() != tool.name()) {
                    chosen.push(tool.clone());
                }
            }
        }
        chosen
    }

    /// Whether the list names the tool, to give it or to take it away.
    fn names(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.is(name))
    }

    /// Whether the tool is among the chosen ones; `otherwise` if the list of changes does not name it.
    fn gives(&self, name: &str, otherwise: impl FnOnce() -> bool) -> bool {
        match self.entries.iter().rfind(|entry| entry.is(name)) {
            Some(entry) => !entry.takes_away,
            None => self.is_change && otherwise(),
        }
    }

    /// The names that no tool has. A pattern may fit none.
    pub fn unknown(&self, tools: &[Arc<dyn Tool>]) -> Vec<ToolChoiceError> {
        let known: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
        let strange = self.entries.iter().filter(|entry| entry.pattern.is_none() && !known.contains(&&*entry.name));
        let error = |entry: &ChoiceEntry| {
            let small: &str = &entry.name.to_lowercase();
            let nearest = similar::get_close_matches(small, &known, 1, 0.5).first().map(|name| (*name).to_owned());
            ToolChoiceError::Unknown { name: entry.name.clone(), nearest, known: known.join(", ") }
        };
        strange.map(error).collect()
    }
}

fn entry(word: &str) -> Result<ChoiceEntry, ToolChoiceError> {
    let name = word.trim_start_matches(['+', '-']).to_owned();
    let glob = |name: &str| {
        let glob = GlobBuilder::new(name).build();
        glob.map_err(|error| ToolChoiceError::Pattern(name.to_owned(), error.kind().to_string()))
    };
    let pattern = if name.contains('*') { Some(glob(&name)?.compile_matcher()) } else { None };
    Ok(ChoiceEntry { name, pattern, takes_away: word.starts_with('-') })
}

/// Which tools a run may have, whoever brings them: the options of the command line. Tools of extensions are not known when the
/// options are read, so names are checked when they are.
#[derive(Debug, Clone, Default)]
pub struct ToolFilter {
    /// Of the options.
    pub chosen: Option<ToolChoice>,
    /// No tool but the chosen ones.
    pub is_closed: bool,
    /// Never, whatever else names them.
    pub excluded: ToolChoice,
    /// Of the settings, which may name tools of extensions.
    pub of_settings: Option<ToolChoice>,
}

impl ToolFilter {
    /// Whether the run may have the tool of this name.
    pub fn allows(&self, name: &str) -> bool {
        let is_open = || !self.is_closed;
        !self.excluded.names(name) && self.chosen.as_ref().map_or_else(is_open, |chosen| chosen.gives(name, is_open))
    }

    /// What is wrong with the names, of all the tools that there are.
    pub fn unknown(&self, tools: &[Arc<dyn Tool>]) -> Vec<ToolChoiceError> {
        let choices = [self.of_settings.as_ref(), self.chosen.as_ref(), Some(&self.excluded)];
        choices.into_iter().flatten().flat_map(|choice| choice.unknown(tools)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(names: &str) -> Result<String, ToolChoiceError> {
        let tools = all(&Shell::default());
        let before = select(DEFAULT, &Shell::default())?;
        let choice = ToolChoice::parse(names)?;
        if let Some(unknown) = choice.unknown(&tools).into_iter().next() {
            return Err(unknown);
        }
        let chosen = choice.of(&tools, &before);
        Ok(chosen.iter().map(|tool| tool.name()).collect::<Vec<_>>().join(","))
    }

    #[test]
    fn names_patterns_and_changes_choose_tools() {
        for (names, expected) in [
            ("", ""),
            ("ls, read,ls", "ls,read"),
            ("*", "read,bash,edit,write,grep,find,ls,ask,todo,plan,task,bash_output,bash_stop,bash_list"),
            ("*e*,ls", "read,edit,write,grep,ls"),
            ("+grep", "read,bash,edit,write,ask,todo,plan,task,grep"),
            ("-bash,+ls,+read", "read,edit,write,ask,todo,plan,task,ls"),
            ("-*,+read", "read"),
        ] {
            assert_eq!(chosen(names).as_deref(), Ok(expected), "{names}");
        }
        assert_eq!(chosen("+ls,read"), Err(ToolChoiceError::Mixed("+ls,read".to_owned())));
        let error = chosen("-raed").unwrap_err().to_string();
        assert_eq!(
            error,
            r#"there is no tool "raed" (did you mean read?); there are read, bash, edit, write, grep, find, ls, ask, todo, plan, task, bash_output, bash_stop, bash_list"#
        );
        assert_eq!(chosen("x*").as_deref(), Ok(""), "a pattern may fit nothing");
        assert!(chosen("[*").is_err());
    }

    #[test]
    fn options_count_for_the_tools_of_extensions_too() {
        let choice = |names: &str| ToolChoice::parse(names).unwrap();
        let filter = |chosen: Option<&str>, is_closed, excluded: &str| ToolFilter {
            chosen: chosen.map(choice),
            is_closed,
            excluded: choice(excluded),
            of_settings: None,
        };
        for (chosen, is_closed, excluded, expected) in [
            (None, false, "", "read,task"),
            (None, true, "", ""),
            (None, false, "ta*", "read"),
            (Some("task"), false, "", "task"),
            (Some("task"), true, "", "task"),
            (Some("*"), false, "task", "read"),
            (Some("-task"), false, "", "read"),
            (Some("+task"), true, "", "task"),
            (Some(""), false, "", ""),
        ] {
            let filter = filter(chosen, is_closed, excluded);
            let allowed: Vec<&str> = ["read", "task"].into_iter().filter(|name| filter.allows(name)).collect();
            assert_eq!(allowed.join(","), expected, "{chosen:?} {is_closed} {excluded}");
        }
    }
}

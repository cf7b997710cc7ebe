//! The choices of completion: commands, files, and lists for arguments. Knows no text.

use std::borrow::Cow;

use offshoot_protocol::ApprovalMode;
use offshoot_protocol::{SandboxMode, ThinkingLevel};

use super::token::Of;
use crate::slash::{self, ALIASES, Argument, Spec};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub insert: String,
    /// Shown and searched; foreign text.
    pub label: String,
    /// Shown beside the label, and searched for arguments; foreign text.
    pub detail: String,
}

impl Choice {
    pub fn new(text: impl Into<String>) -> Self {
        let insert = text.into();
        Self { label: insert.clone(), insert, detail: String::new() }
    }

    #[must_use]
    pub fn with(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }
}

#[derive(Debug, Clone)]
pub struct Offers {
    commands: Vec<Choice>,
    /// Skills, templates and prompts of servers, which are called as commands are.
    called: Vec<Choice>,
    /// Of these, how many are not of servers.
    own: usize,
    /// Other spellings of prompts of servers, which are not offered.
    spelled: Vec<String>,
    /// Other programs' words for commands.
    aliases: Vec<Choice>,
    pub(crate) expects_called: bool,
    files: Vec<String>,
    /// Of an extension, for the token at the cursor.
    pub(super) foreign: Vec<Choice>,
    lists: Vec<(Argument, Vec<Choice>)>,
}

/// A command that is offered, unless another one with its name is called instead.
fn offered(spec: &Spec) -> Choice {
    Choice {
        insert: spec.name.to_owned(),
        // Aliases are found too, and shown after the name.
        label: std::iter::once(spec.name).chain(spec.aliases.iter().copied()).collect::<Vec<_>>().join(", "),
        detail: match spec.usage {
            "" => spec.says.to_owned(),
            usage => format!("{usage}  {}", spec.says),
        },
    }
}

/// Another program's word for a command. What offshoot calls it is written.
fn offered_alias(alias: &str, written: &str, spec: &Spec) -> Choice {
    Choice { insert: written.to_owned(), label: alias.to_owned(), detail: format!("/{written}: {}", spec.says) }
}

/// The commands, and the aliases, whose names nobody else has taken.
fn commands_beside(called: &[Choice]) -> (Vec<Choice>, Vec<Choice>) {
    let is_free = |name: &str| called.iter().all(|choice| choice.insert != name);
    let commands = slash::commands().iter().filter(|spec| is_free(spec.name)).map(offered);
    let aliases = ALIASES.iter().filter(|(alias, _)| is_free(alias));
    let aliases = aliases.filter_map(|(alias, written)| Some(offered_alias(alias, written, slash::find(alias)?)));
    (commands.collect(), aliases.collect())
}

impl Default for Offers {
    fn default() -> Self {
        let (commands, aliases) = commands_beside(&[]);
        let levels = ThinkingLevel::ALL.iter().map(|level| Choice::new(level.as_str())).collect();
        let modes = ApprovalMode::ALL.iter().map(|mode| Choice::new(mode.as_str())).collect();
        // Without a choice of its own, the word would complete to a name that contains its letters.
        let on = Choice::new("on").with(SandboxMode::Workspace.name());
        let sandboxes = SandboxMode::ALL.iter().map(|mode| Choice::new(mode.name())).chain([on]).collect();
        let files = slash::FILES_OPTIONS.map(Choice::new).into();
        Self {
            commands,
            aliases,
            called: Vec::new(),
            own: 0,
            spelled: Vec::new(),
            expects_called: false,
            files: Vec::new(),
            foreign: Vec::new(),
            lists: vec![
                (Argument::Thinking, levels),
                (Argument::Approval, modes),
                (Argument::Sandbox, sandboxes),
                (Argument::FilesOption, files),
            ],
        }
    }
}

impl Offers {
    /// Adds files of the folder, as paths with `/`; folders end with one.
    pub fn add_files(&mut self, files: impl IntoIterator<Item = String>) {
        self.files.extend(files);
    }

    pub fn forget_files(&mut self) {
        self.files.clear();
    }

    /// Skills, templates and commands of extensions, as they are typed after the `/`. Of commands of the same name only
    /// those of pi win.
    pub fn set_called(&mut self, called: Vec<Choice>) {
        self.add_called(called);
        self.expects_called = false;
    }

    /// The same, while more are looked for.
    pub fn add_called(&mut self, mut called: Vec<Choice>) {
        called.retain(|choice| slash::find(&choice.insert).is_none() || slash::yields(&choice.insert));
        (self.commands, self.aliases) = commands_beside(&called);
        let served = self.called.split_off(self.own.min(self.called.len()));
        self.own = called.len();
        self.called = called;
        self.called.extend(served);
    }

    /// Prompts of servers, and other names under which they are called.
    pub fn set_served(&mut self, served: Vec<Choice>, spelled: Vec<String>) {
        self.called.truncate(self.own);
        self.called.extend(served);
        self.spelled = spelled;
    }

    /// Skills and templates are still looked for: a text that may call one waits.
    pub fn expect_called(&mut self) {
        self.expects_called = true;
    }

    /// The names of skills and templates.
    pub(crate) fn called(&self) -> impl Iterator<Item = &str> {
        self.called.iter().map(|choice| choice.insert.as_str())
    }

    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.called.iter().any(|choice| choice.insert == name) || self.spelled.iter().any(|known| known == name)
    }

    pub fn set(&mut self, argument: Argument, choices: Vec<Choice>) {
        self.lists.retain(|(known, _)| *known != argument);
        self.lists.push((argument, choices));
    }

    fn list(&self, argument: Argument) -> &[Choice] {
        self.lists.iter().find(|(known, _)| *known == argument).map_or(&[], |(_, list)| list)
    }

    /// The command or alias with exactly this name.
    pub(super) fn command_named(&self, name: &str) -> Option<usize> {
        let is_named = |choice: &Choice| choice.label.split(", ").any(|known| known == name);
        self.all_commands().position(is_named)
    }

    fn all_commands(&self) -> impl Iterator<Item = &Choice> {
        self.commands.iter().chain(&self.called).chain(&self.aliases)
    }

    fn command(&self, at: usize) -> Option<&Choice> {
        self.all_commands().nth(at)
    }

    /// How many choices are offered before anything is typed. Aliases are only for who types one.
    pub(super) fn count_listed(&self, of: Of) -> usize {
        match of {
            Of::Command => self.commands.len() + self.called.len(),
            Of::File { .. } | Of::Argument(_) | Of::Foreign => self.count(of),
        }
    }

    /// Whether a choice is offered for what was typed: an alias only for its beginning.
    pub(super) fn is_offered_for(&self, of: Of, at: usize, query: &str) -> bool {
        let is_alias = of == Of::Command && at >= self.count_listed(of);
        !is_alias || self.command(at).is_some_and(|alias| alias.label.starts_with(&query.to_lowercase()))
    }

    pub(super) fn count(&self, of: Of) -> usize {
        match of {
            Of::Command => self.all_commands().count(),
            Of::File { .. } | Of::Argument(Argument::File) => self.files.len(),
            Of::Argument(argument) => self.list(argument).len(),
            Of::Foreign => self.foreign.len(),
        }
    }

    /// The searched text: the name of a command or a file, the label and detail of an argument.
    pub(super) fn name(&self, of: Of, at: usize) -> Option<Cow<'_, str>> {
        match of {
            Of::Command => self.command(at).map(|choice| choice.label.as_str().into()),
            Of::File { .. } | Of::Argument(Argument::File) => self.files.get(at).map(|file| file.as_str().into()),
            Of::Foreign => self.foreign.get(at).map(|choice| choice.label.as_str().into()),
            Of::Argument(argument) => self.list(argument).get(at).map(|choice| match choice.detail.is_empty() {
                true => choice.label.as_str().into(),
                false => format!("{} {}", choice.label, choice.detail).into(),
            }),
        }
    }

    pub(super) fn choice(&self, of: Of, at: usize) -> Option<Choice> {
        match of {
            Of::Command => self.command(at).cloned(),
            Of::File { .. } | Of::Argument(Argument::File) => self.files.get(at).map(Choice::new),
            Of::Argument(argument) => self.list(argument).get(at).cloned(),
            Of::Foreign => self.foreign.get(at).cloned(),
        }
    }
}

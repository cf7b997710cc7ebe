//! What a tool call does, in the words of every front end. Knows the tools of pi, oh-my-pi and Claude Code by their names and
//! arguments; the tables below are the only ones. Knows no layout, and runs nothing.
//!
//! Words for people have nothing hidden (see [`spell_lines`]); single arguments are as stored.

mod dialect;
mod change;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use change::CallChange;
pub use dialect::{CallRole, CallVerb, dialects};

use crate::entry::ContentBlock;
use crate::json::{Json, JsonKind, completed, stringify};
use crate::text::{one_line, spell_lines, spell_name};
use crate::transcript::{ToolCall, line_range, value_text};

/// The longest name of a tool in a line, in characters.
const LONGEST_NAME: usize = 100;
/// The longest reason for which a call was not run, in characters.
const LONGEST_REASON: usize = 300;

/// A call as people see it: the tool, what it does, and to what.
#[derive(Debug, Clone)]
pub struct CallView<'a> {
    name: Cow<'a, str>,
    verb: CallVerb,
    given: Given<'a>,
    /// The members that have a role.
    roles: Vec<RoleMember<'a>>,
    /// The same while the arguments stream in: the texts that have begun.
    begun: Vec<(CallRole, String)>,
    not_run: Option<String>,
}

#[derive(Debug, Clone, Copy)]
struct RoleMember<'a> {
    role: CallRole,
    name: &'static str,
    value: Json<'a>,
}

/// The arguments of a call.
#[derive(Debug, Clone, Copy)]
enum Given<'a> {
    Whole(Json<'a>),
    /// JSON that is still being written, or that was cut off.
    Beginning(&'a str),
    Missing,
}

impl<'a> CallView<'a> {
    /// The view of a stored block of the type `toolCall`; `None` if it has no name.
    #[must_use]
    pub fn of(call: impl Into<ContentBlock<'a>>) -> Option<Self> {
        let call = call.into();
        let name = call.str("name")?;
        let error = call.str("argumentsError").filter(|error| !error.is_empty());
        Some(match error {
            Some(error) => Self::unreadable(name, &error),
            None => Self::new(name, call.get("arguments")),
        })
    }

    /// The view of a call of a transcript.
    #[must_use]
    pub fn of_call(call: &'a ToolCall) -> Self {
        match call.arguments_error.as_str() {
            "" => Self::of_text(&*call.name, &call.arguments),
            error => Self::unreadable(Cow::Borrowed(&call.name), error),
        }
    }

    /// The view of a tool's name and its arguments, which should be an object.
    #[must_use]
    pub fn new(name: impl Into<Cow<'a, str>>, arguments: Option<Json<'a>>) -> Self {
        Self::with(name.into(), arguments.map_or(Given::Missing, Given::Whole))
    }

    /// The view of a tool's name and its arguments as text: JSON, or while they stream in its beginning.
    #[must_use]
    pub fn of_text(name: impl Into<Cow<'a, str>>, arguments: &'a str) -> Self {
        let given = match Json::parse(arguments) {
            Ok(json) => Given::Whole(json),
            Err(_) if arguments.is_empty() => Given::Missing,
            Err(_) => Given::Beginning(arguments),
        };
        Self::with(name.into(), given)
    }

    /// What is stored in the place of arguments that cannot be read says nothing.
    fn unreadable(name: Cow<'a, str>, error: &str) -> Self {
        let first = one_line(&spell_lines(error.lines().next().unwrap_or_default()), LONGEST_REASON);
        let not_run = Some(format!("not run: its arguments cannot be read: {first}"));
        Self { not_run, ..Self::with(name, Given::Missing) }
    }

    fn with(name: Cow<'a, str>, given: Given<'a>) -> Self {
        let verb = CallVerb::of(&name);
        let roles = match given {
            Given::Whole(arguments) => role_members(verb, arguments),
            Given::Beginning(_) | Given::Missing => Vec::new(),
        };
        let begun = match given {
            Given::Beginning(text) if !verb.roles().is_empty() => begun_texts(verb, text),
            Given::Whole(_) | Given::Beginning(_) | Given::Missing => Vec::new(),
        };
        Self { name, verb, given, roles, begun, not_run: None }
    }

    /// The tool as the model named it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[expect(missing_docs, reason = "the name says it")]
    #[must_use]
    pub fn verb(&self) -> CallVerb {
        self.verb
    }

    /// The whole arguments, if they are an object.
    #[must_use]
    pub fn arguments(&self) -> Option<Json<'a>> {
        match self.given {
            Given::Whole(json) if json.kind() == JsonKind::Object => Some(json),
            Given::Whole(_) | Given::Beginning(_) | Given::Missing => None,
        }
    }

    /// That the call was not run, and why, on one line with nothing hidden; `None` if its arguments can be read.
    #[must_use]
    pub fn not_run(&self) -> Option<&str> {
        self.not_run.as_deref()
    }

    /// The argument in a role as text; while arguments stream in, the beginning of it.
    #[must_use]
    pub fn text(&self, role: CallRole) -> Option<String> {
        match self.given {
            Given::Whole(_) => self.member(role).and_then(value_text),
            Given::Beginning(_) => self.begun.iter().find(|(known, _)| *known == role).map(|(_, text)| text.clone()),
            Given::Missing => None,
        }
    }

    fn member(&self, role: CallRole) -> Option<Json<'a>> {
        self.roles.iter().find(|member| member.role == role).map(|member| member.value)
    }

    /// The file or folder that the call names.
    #[must_use]
    pub fn path(&self) -> Option<String> {
        self.text(CallRole::Path).filter(|path| !path.is_empty())
    }

    /// The lines that a call reads, as `:from-to`; empty for all.
    #[must_use]
    pub fn range(&self) -> String {
        line_range(self.text(CallRole::Offset).as_deref(), self.text(CallRole::Limit).as_deref())
    }

    /// What an edit asks to change, in order; empty for other calls.
    #[must_use]
    pub fn changes(&self) -> Vec<CallChange<'a>> {
        match (self.verb, self.arguments()) {
            (CallVerb::Edit, Some(arguments)) => change::changes(arguments),
            _ => Vec::new(),
        }
    }

    /// The files that the call names, and whether it reads or changes them.
    #[must_use]
    pub fn files(&self) -> Vec<CallFile> {
        let is_change = match self.verb {
            CallVerb::Read => false,
            CallVerb::Write | CallVerb::Edit => true,
            CallVerb::Run | CallVerb::Grep | CallVerb::Find | CallVerb::List | CallVerb::Other => return Vec::new(),
        };
        // A path that is no text names no file.
        let named = self.member(CallRole::Path).and_then(Json::as_str).filter(|path| !path.is_empty());
        let paths = match named {
            Some(path) => vec![path.into_owned()],
            None => self.changes().iter().flat_map(CallChange::files).collect(),
        };
        paths.into_iter().map(|path| CallFile { path, is_change }).collect()
    }

    /// What the call is about: a path with its lines, a command, a pattern and where it is searched, or all arguments as
    /// JSON. `path` shortens a path. Nothing is hidden: see [`spell_lines`]; a command has its line feeds.
    #[must_use]
    pub fn subject(&self, path: &dyn Fn(&str) -> String) -> String {
        self.subject_start(path, usize::MAX)
    }

    /// The start of [`CallView::subject`], at least `most` characters of it: a command or arguments may be long.
    #[must_use]
    pub fn subject_start(&self, path: &dyn Fn(&str) -> String, most: usize) -> String {
        let start =
            |text: &str| text.get(..text.floor_char_boundary(most.saturating_mul(8))).unwrap_or_default().to_owned();
        let shown = |own: &str| spell_name(&path(own)).into_owned();
        if let Some(not_run) = self.not_run() {
            return not_run.to_owned();
        }
        let own = self.path();
        let place = || shown(own.as_deref().unwrap_or("."));
        let pattern = || spell_name(&self.text(CallRole::Pattern).unwrap_or_default()).into_owned();
        match self.verb {
            CallVerb::Read => format!("{}{}", shown(own.as_deref().unwrap_or_default()), self.range()),
            CallVerb::Write | CallVerb::Edit => match own.as_deref() {
                Some(own) => shown(own),
                None => self.files().iter().map(|file| shown(&file.path)).collect::<Vec<_>>().join(", "),
            },
            CallVerb::Run => spell_lines(&start(&self.text(CallRole::Command).unwrap_or_default())).into_owned(),
            CallVerb::Grep => format!("/{}/ in {}", pattern(), place()),
            CallVerb::Find => format!("{} in {}", pattern(), place()),
            CallVerb::List => place(),
            CallVerb::Other => match self.given {
                Given::Whole(json) if json.text().len() / 8 > most => spell_name(&start(json.text())).into_owned(),
                Given::Whole(json) => spell_name(&stringify(json)).into_owned(),
                Given::Beginning(text) => spell_name(&start(text)).into_owned(),
                Given::Missing => "{}".to_owned(),
            },
        }
    }

    /// The tool's name, with nothing hidden.
    #[must_use]
    pub fn tool(&self) -> String {
        one_line(&spell_name(&self.name), LONGEST_NAME)
    }

    /// The call on one line of at most `max` characters: the tool and what it is about.
    #[must_use]
    pub fn line(&self, max: usize) -> String {
        let subject = self.subject_start(&str::to_owned, max);
        match (self.given, subject.as_str()) {
            (Given::Missing, _) if self.not_run.is_none() => one_line(&self.tool(), max),
            (_, "") => one_line(&self.tool(), max),
            _ => one_line(&format!("{}: {subject}", self.tool()), max),
        }
    }

    /// The arguments that have no role in the call, by name, as text or JSON with nothing hidden.
    #[must_use]
    pub fn others(&self) -> Vec<(String, String)> {
        self.members_but(&|_| true)
    }

    /// Every argument that [`CallView::subject`] does not say, by name: those of [`CallView::others`], and time-outs,
    /// contents and replacements.
    #[must_use]
    pub fn beside_subject(&self) -> Vec<(String, String)> {
        use CallRole::{Command, Limit, Offset, Path, Pattern};
        match self.verb {
            CallVerb::Other if self.arguments().is_some() => Vec::new(),
            _ => self.members_but(&|role| matches!(role, Command | Limit | Offset | Path | Pattern)),
        }
    }

    /// Whether the argument with this name is a part of what the call would write, which a diff shows.
    #[must_use]
    pub fn is_changed_by(&self, name: &str) -> bool {
        use CallRole::{Content, Edits, New, Old, Patch};
        let role = self.roles.iter().find(|member| member.name == name).map(|member| member.role);
        matches!(role, Some(Content | Edits | New | Old | Patch))
    }

    /// The arguments but those in a role that is shown elsewhere. A member that is there twice counts with each value.
    fn members_but(&self, is_shown: &dyn Fn(CallRole) -> bool) -> Vec<(String, String)> {
        let is_said = |name: &str| self.roles.iter().any(|member| member.name == name && is_shown(member.role));
        let members = self.arguments().map(Json::members).into_iter().flatten().filter(|(name, _)| !is_said(name));
        let text = |value: Json<'_>| value_text(value).unwrap_or_else(|| "null".to_owned());
        let spelled = |(name, value): (Cow<'_, str>, Json<'_>)| {
            (spell_name(&name).into_owned(), spell_lines(&text(value)).into_owned())
        };
        members.map(spelled).collect()
    }
}

/// Each role's member, in one pass over the arguments: a file's content may be long. `null` counts as not given; of a name
/// that is there twice the last value counts, as where the call runs.
fn role_members(verb: CallVerb, arguments: Json<'_>) -> Vec<RoleMember<'_>> {
    let mut given: Vec<RoleMember<'_>> = Vec::new();
    for (member, value) in arguments.members() {
        let Some((role, name)) = verb.role_of(&member) else { continue };
        match given.iter_mut().find(|known| known.name == name) {
            Some(known) => known.value = value,
            None => given.push(RoleMember { role, name, value }),
        }
    }
    given.retain(|member| !member.value.is_null());
    let named = |name: &&str| given.iter().find(|member| member.name == *name).copied();
    verb.roles().iter().filter_map(|role| role.members().iter().find_map(named)).collect()
}

fn begun_texts(verb: CallVerb, text: &str) -> Vec<(CallRole, String)> {
    let whole = completed(text).unwrap_or_default();
    let Ok(arguments) = Json::parse(&whole) else { return Vec::new() };
    let text = |member: RoleMember<'_>| Some((member.role, member.value.as_str()?.into_owned()));
    role_members(verb, arguments).into_iter().filter_map(text).collect()
}

/// A file that a call reads or changes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct CallFile {
    pub path: String,
    pub is_change: bool,
}

//! The names of tools and of their arguments in pi, oh-my-pi and Claude Code.

use crate::json::{Object, quote};

/// What a call does, as far as its tool is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum CallVerb {
    Read,
    Write,
    Edit,
    /// Runs a command line.
    Run,
    Grep,
    Find,
    List,
    /// A tool that is not known.
    Other,
}

/// What an argument is to its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum CallRole {
    Path,
    Command,
    Pattern,
    Glob,
    Content,
    Offset,
    Limit,
    Timeout,
    /// The replaced text of an edit.
    Old,
    New,
    /// Several replacements, or patches.
    Edits,
    /// A patch of one or more files.
    Patch,
}

impl CallVerb {
    const ALL: [Self; 8] =
        [Self::Read, Self::Write, Self::Edit, Self::Run, Self::Grep, Self::Find, Self::List, Self::Other];

    /// The verb of a tool's name. oh-my-pi writes some names with a leading `_`.
    pub(super) fn of(tool: &str) -> Self {
        let tool = tool.strip_prefix('_').unwrap_or(tool);
        Self::ALL.into_iter().find(|verb| verb.tools().contains(&tool)).unwrap_or(Self::Other)
    }

    /// The tools that do so.
    fn tools(self) -> &'static [&'static str] {
        match self {
            Self::Read => &["read", "Read"],
            Self::Write => &["write", "Write"],
            Self::Edit => &["edit", "Edit", "MultiEdit", "NotebookEdit"],
            Self::Run => &["bash", "Bash"],
            Self::Grep => &["grep", "Grep"],
            Self::Find => &["find", "glob", "Glob"],
            Self::List => &["ls", "LS"],
            Self::Other => &[],
        }
    }

    /// A short word that does not change.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Edit => "edit",
            Self::Run => "run",
            Self::Grep => "grep",
            Self::Find => "find",
            Self::List => "list",
            Self::Other => "other",
        }
    }

    /// The role of an argument, with its name.
    pub(super) fn role_of(self, member: &str) -> Option<(CallRole, &'static str)> {
        let named = |role: &CallRole| Some((*role, *role.members().iter().find(|name| **name == member)?));
        self.roles().iter().find_map(named)
    }

    /// The roles that arguments have in such a call.
    pub(super) fn roles(self) -> &'static [CallRole] {
        use CallRole::{Command, Content, Edits, Glob, Limit, New, Offset, Old, Patch, Path, Pattern, Timeout};
        match self {
            Self::Read => &[Path, Offset, Limit],
            Self::Write => &[Path, Content],
            Self::Edit => &[Path, Old, New, Edits, Patch],
            Self::Run => &[Command, Timeout],
            Self::Grep => &[Pattern, Path, Glob],
            Self::Find => &[Pattern, Path],
            Self::List => &[Path],
            Self::Other => &[],
        }
    }
}

impl CallRole {
    /// The members that have this role, the one that the tools here run with first.
    pub(super) fn members(self) -> &'static [&'static str] {
        match self {
            Self::Path => &["path", "file_path", "notebook_path", "paths"],
            Self::Command => &["command"],
            Self::Pattern => &["pattern"],
            Self::Glob => &["glob"],
            Self::Content => &["content"],
            Self::Offset => &["offset"],
            Self::Limit => &["limit"],
            Self::Timeout => &["timeout"],
            Self::Old => &["oldText", "old_string", "old_text"],
            Self::New => &["newText", "new_string", "new_text", "new_source"],
            Self::Edits => &["edits"],
            Self::Patch => &["input"],
        }
    }

    /// A short word that does not change.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Command => "command",
            Self::Pattern => "pattern",
            Self::Glob => "glob",
            Self::Content => "content",
            Self::Offset => "offset",
            Self::Limit => "limit",
            Self::Timeout => "timeout",
            Self::Old => "old",
            Self::New => "new",
            Self::Edits => "edits",
            Self::Patch => "patch",
        }
    }
}

/// The lines of a patch that name a file.
pub(super) const FILE_LINES: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// The tables as JSON, for a page whose script shows calls: `{"verbs":{verb:[tools]},"roles":{verb:[roles]},
/// "members":{role:[names]},"patched":[starts of the lines of a patch that name a file]}`.
#[must_use]
pub fn dialects() -> String {
    let list = |words: &[&str]| format!("[{}]", words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(","));
    let words = |verb: CallVerb| verb.roles().iter().map(|role| role.word()).collect::<Vec<_>>();
    let (mut verbs, mut roles, mut members) = (Object::new(), Object::new(), Object::new());
    let mut known: Vec<CallRole> = Vec::new();
    for verb in CallVerb::ALL {
        verbs = verbs.raw(verb.word(), list(verb.tools()));
        roles = roles.raw(verb.word(), list(&words(verb)));
        for role in verb.roles() {
            if !known.contains(role) {
                known.push(*role);
                members = members.raw(role.word(), list(role.members()));
            }
        }
    }
    let tables = Object::new().raw("verbs", verbs.finish()).raw("roles", roles.finish());
    tables.raw("members", members.finish()).raw("patched", list(&FILE_LINES)).finish()
}

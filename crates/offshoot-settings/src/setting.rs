//! A setting: its name, its kind, its section, and which files may set it. Knows no single setting.

use offshoot_session::json::Json;

use crate::value::{SettingKind, Value};

/// The file of a setting. The project's file wins over the global one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    Global,
    Project,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Section {
    Model,
    Interaction,
    Tools,
    Context,
    Display,
    Retries,
    Shell,
    Safety,
    Resources,
}

impl Section {
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Model => "Model and thinking",
            Self::Interaction => "Interaction",
            Self::Tools => "Tools",
            Self::Context => "Sessions and context",
            Self::Display => "Terminal and display",
            Self::Retries => "Retries and limits",
            Self::Shell => "Shell",
            Self::Safety => "Safety",
            Self::Resources => "Skills, templates, themes, packages",
        }
    }
}

/// What a project's file may do with a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InProjects {
    Set,
    /// Make it stricter. The choices are listed from the loosest to the strictest, and `true` is stricter than `false`.
    Tighten,
    /// Nothing: it could run a program of the project's choice.
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The name, with a dot between an object and its member.
    pub key: &'static str,
    pub section: Section,
    pub kind: SettingKind,
    /// The default as JSON; `None` if offshoot decides by itself.
    pub usual: Option<&'static str>,
    pub in_projects: InProjects,
    pub says: &'static str,
}

impl Setting {
    #[must_use]
    pub fn default(&self) -> Option<Value> {
        self.usual.and_then(|json| self.kind.read(Json::parse(json).ok()?).ok())
    }

    #[must_use]
    pub fn may_stand_in(&self, scope: Scope) -> bool {
        scope == Scope::Global || self.in_projects != InProjects::Nothing
    }

    pub(crate) const fn global_only(self) -> Self {
        Self { in_projects: InProjects::Nothing, ..self }
    }

    pub(crate) const fn tightened_by_projects(self) -> Self {
        Self { in_projects: InProjects::Tighten, ..self }
    }

    /// Whether a project's file cannot mean anything by this value.
    pub(crate) fn is_too_loose(&self, scope: Scope, value: &Value) -> bool {
        (scope, self.in_projects) == (Scope::Project, InProjects::Tighten) && self.strictness(value) == 0
    }

    /// How strict a value of a setting is that projects may tighten.
    pub(crate) fn strictness(&self, value: &Value) -> usize {
        match (self.kind, value) {
            (SettingKind::Choice(names), Value::Text(text)) => {
                names.iter().position(|name| name == text).unwrap_or_default()
            }
            (_, Value::Flag(true)) => 1,
            _ => 0,
        }
    }
}

/// A setting that projects may set too.
pub(crate) const fn setting_row(
    key: &'static str,
    section: Section,
    kind: SettingKind,
    usual: Option<&'static str>,
    says: &'static str,
) -> Setting {
    Setting { key, section, kind, usual, in_projects: InProjects::Set, says }
}

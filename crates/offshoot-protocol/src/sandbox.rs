//! What a sandbox lets commands do.

/// In the order of strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum SandboxMode {
    #[default]
    Off,
    /// Commands write in the working folder.
    Workspace,
    /// Commands write in their temporary folder only.
    ReadOnly,
}

impl SandboxMode {
    /// All modes, in the order of strictness.
    pub const ALL: [Self; 3] = [Self::Off, Self::Workspace, Self::ReadOnly];

    /// Parses `off`, `workspace` or `read-only`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// Its name in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Workspace => "workspace",
            Self::ReadOnly => "read-only",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum SandboxNetwork {
    On,
    #[default]
    Off,
}

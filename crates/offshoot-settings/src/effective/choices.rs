//! Values of settings that are one of a few, as their users need them. Knows no file.

/// The action of pressing Escape twice in an empty editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DoubleEscape {
    #[default]
    Tree,
    /// Start a session before an earlier message.
    Fork,
    None,
}

/// What happens to a project that the user was not asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProjectTrust {
    /// The front end asks; where it cannot, the project is not trusted.
    #[default]
    Ask,
    Always,
    Never,
}

/// Whether a peer's own folder counts after offshoot's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum PeerUse {
    #[default]
    Ask,
    On,
    Off,
}

impl PeerUse {
    /// As the settings have it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

/// A terminal protocol for images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImageProtocol {
    /// Kitty's graphics protocol (kitty, Ghostty, WezTerm, Konsole, Warp).
    Kitty,
    /// iTerm2's inline images (iTerm2, VS Code, mintty).
    Iterm2,
    /// Sixel, as DEC's terminals had it (foot, xterm as vt340, contour, mlterm, Windows Terminal).
    Sixel,
}

impl ImageProtocol {
    /// Parses `kitty`, `iterm2` or `sixel`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "kitty" => Some(Self::Kitty),
            "iterm2" => Some(Self::Iterm2),
            "sixel" => Some(Self::Sixel),
            _ => None,
        }
    }
}

/// A sequence by which a terminal notifies a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NotificationKind {
    #[default]
    Bell,
    /// iTerm2's, also of Ghostty, WezTerm and Warp.
    Osc9,
    /// rxvt's, also of foot.
    Osc777,
    /// kitty's.
    Osc99,
}

/// How the terminal notifies a person who is elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Notifications {
    Off,
    /// As the terminal is known to understand.
    #[default]
    Auto,
    /// By this sequence.
    Always(NotificationKind),
}

impl Notifications {
    /// Parses a value of the setting.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "off" => Self::Off,
            "auto" => Self::Auto,
            "bell" => Self::Always(NotificationKind::Bell),
            "osc9" => Self::Always(NotificationKind::Osc9),
            "osc777" => Self::Always(NotificationKind::Osc777),
            "osc99" => Self::Always(NotificationKind::Osc99),
            _ => return None,
        })
    }
}

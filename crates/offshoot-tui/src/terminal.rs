//! What a terminal can do, found out from the variables that it sets. Pure: the program around gives the variables.
//!
//! Nothing is asked of the terminal itself, so an unknown one is held to be plain: what it does not understand would
//! stand on the screen as rubbish.

use offshoot_settings::{ImageProtocol, NotificationKind, Notifications};

/// How many colours may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum ColourDepth {
    /// No colour at all: what it would say is said by bold, underlined and reversed text.
    None,
    /// The sixteen of the terminal's own palette.
    Ansi16,
    /// The 256 of xterm.
    Ansi256,
    /// 24 bits.
    #[default]
    TrueColor,
}

impl ColourDepth {
    /// The depth where the user says whether the terminal has 24 bits of colour. A terminal without colours keeps none.
    #[must_use]
    pub fn with_true_color(self, setting: Option<bool>) -> Self {
        match setting {
            Some(true) if self != Self::None => Self::TrueColor,
            Some(false) => self.min(Self::Ansi256),
            Some(true) | None => self,
        }
    }
}

/// What may be sent to a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Capabilities {
    pub colours: ColourDepth,
    /// How images, if at all.
    pub images: Option<ImageProtocol>,
    /// Whether rows that become too long are wrapped anew when the terminal gets narrower.
    pub rewraps: bool,
    /// Whether it has the letters of a spinner, and draws often enough for one.
    pub animates: bool,
    /// Whether it may be asked which modes it knows. A few print a part of the question.
    pub answers_modes: bool,
    /// Whether it obeys cursor movement. `TERM=dumb` says that it does not.
    pub moves_cursor: bool,
    pub notifier: Notifier,
}

/// How a terminal can notify people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Notifier {
    /// What it is known to understand.
    pub known: NotificationKind,
    pub is_in_tmux: bool,
}

/// A notification as it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotificationWay {
    pub notification: NotificationKind,
    /// Whether the terminal is around tmux.
    pub is_in_tmux: bool,
}

impl Notifier {
    /// How people are notified by this setting; `None` if they are not.
    #[must_use]
    pub fn way(self, setting: Notifications) -> Option<NotificationWay> {
        let notification = match setting {
            Notifications::Off => return None,
            Notifications::Auto => self.known,
            Notifications::Always(kind) => kind,
        };
        Some(NotificationWay { notification, is_in_tmux: self.is_in_tmux })
    }
}

/// Finds out what a terminal can do; `variable` gives the value of an environment variable, if it is set.
///
/// `NO_COLOR` (not empty) and `TERM=dumb` switch colours off. `OFFSHOOT_IMAGES` (`kitty`, `iterm2`, `sixel`, `none`)
/// overrules what is found, any other value leaves it. Inside tmux and screen no images are sent, since they pass on none
/// unless told to.
pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Capabilities {
    let value = |name: &str| variable(name).filter(|value| !value.is_empty()).map(|value| value.to_ascii_lowercase());
    let kind = TerminalKind::of(&value);
    let mut found = Capabilities {
        colours: colours(&value, kind),
        images: kind.images(&value),
        rewraps: kind.rewraps(&value),
        animates: !is_plain(&value),
        answers_modes: !is_plain(&value) && kind != TerminalKind::AppleTerminal && value("STY").is_none(),
        moves_cursor: kind != TerminalKind::Dumb,
        notifier: Notifier { known: kind.notification(), is_in_tmux: value("TMUX").is_some() },
    };
    match value("OFFSHOOT_IMAGES").as_deref() {
        Some("none") => found.images = None,
        said => found.images = said.and_then(ImageProtocol::parse).or(found.images),
    }
    found
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TerminalKind {
    Dumb,
    Multiplexer,
    Kitty,
    Ghostty,
    WezTerm,
    Warp,
    Konsole,
    Iterm2,
    Mintty,
    VsCode,
    Alacritty,
    Zed,
    WindowsTerminal,
    Foot,
    Contour,
    Mlterm,
    Rio,
    Vte,
    JetBrains,
    AppleTerminal,
    Unknown,
}

impl TerminalKind {
    /// What runs inside is asked before what is around it: a terminal's variables are inherited by all that it starts.
    fn of(value: &dyn Fn(&str) -> Option<String>) -> Self {
        let term = value("TERM").unwrap_or_default();
        let program = value("TERM_PROGRAM").unwrap_or_default();
        let set = |name: &str| value(name).is_some();
        match (term.as_str(), program.as_str()) {
            ("dumb", _) => Self::Dumb,
            (term, _) if term.starts_with("tmux") || term.starts_with("screen") || set("TMUX") || set("STY") => {
                Self::Multiplexer
            }
            (_, "vscode") => Self::VsCode,
            (_, "zed") => Self::Zed,
            (_, "ghostty") => Self::Ghostty,
            (_, "wezterm") => Self::WezTerm,
            (_, "iterm.app") => Self::Iterm2,
            (_, "warpterminal") => Self::Warp,
            (_, "mintty") => Self::Mintty,
            (_, "rio") => Self::Rio,
            (_, "apple_terminal") => Self::AppleTerminal,
            (_, "contour") => Self::Contour,
            ("xterm-ghostty", _) => Self::Ghostty,
            ("alacritty" | "alacritty-direct", _) => Self::Alacritty,
            ("foot" | "foot-extra", _) => Self::Foot,
            ("mlterm" | "mlterm-256color", _) => Self::Mlterm,
            ("contour" | "contour-latest", _) => Self::Contour,
            ("xterm-kitty", _) => Self::Kitty,
            _ if value("TERMINAL_EMULATOR").is_some_and(|name| name == "jetbrains-jediterm") => Self::JetBrains,
            _ if set("KITTY_WINDOW_ID") => Self::Kitty,
            _ if set("GHOSTTY_RESOURCES_DIR") => Self::Ghostty,
            _ if set("WEZTERM_PANE") => Self::WezTerm,
            _ if set("ITERM_SESSION_ID") => Self::Iterm2,
            _ if set("KONSOLE_VERSION") => Self::Konsole,
            _ if set("WT_SESSION") => Self::WindowsTerminal,
            _ if set("ALACRITTY_WINDOW_ID") => Self::Alacritty,
            _ if set("VTE_VERSION") => Self::Vte,
            _ => Self::Unknown,
        }
    }

    /// Those that leave rows as they are say so by their name or by a variable.
    fn rewraps(self, value: &dyn Fn(&str) -> Option<String>) -> bool {
        let term = value("TERM").unwrap_or_default();
        let is_tmux = value("TMUX").is_some() || term.starts_with("tmux");
        is_tmux || !(is_plain(value) || value("STY").is_some() || value("XTERM_VERSION").is_some())
    }

    /// A bell is understood by all. Of those that know several ways, the one that they document is taken.
    fn notification(self) -> NotificationKind {
        match self {
            Self::Kitty => NotificationKind::Osc99,
            Self::Ghostty | Self::WezTerm | Self::Iterm2 | Self::Warp => NotificationKind::Osc9,
            Self::Foot => NotificationKind::Osc777,
            Self::Konsole
            | Self::Mintty
            | Self::Contour
            | Self::Rio
            | Self::Mlterm
            | Self::VsCode
            | Self::Alacritty
            | Self::Zed
            | Self::WindowsTerminal
            | Self::Vte
            | Self::Multiplexer
            | Self::JetBrains
            | Self::AppleTerminal
            | Self::Dumb
            | Self::Unknown => NotificationKind::Bell,
        }
    }

    fn images(self, value: &dyn Fn(&str) -> Option<String>) -> Option<ImageProtocol> {
        let at_least = |name: &str, version: u32| {
            value(name).and_then(|value| value.parse::<u32>().ok()).is_some_and(|found| found >= version)
        };
        match self {
            Self::Kitty | Self::Ghostty | Self::WezTerm | Self::Warp => Some(ImageProtocol::Kitty),
            Self::Konsole => at_least("KONSOLE_VERSION", 220_400).then_some(ImageProtocol::Kitty),
            Self::Iterm2 | Self::Mintty => Some(ImageProtocol::Iterm2),
            Self::Foot | Self::Contour | Self::Rio | Self::Mlterm => Some(ImageProtocol::Sixel),
            Self::VsCode
            | Self::Alacritty
            | Self::Zed
            | Self::WindowsTerminal
            | Self::Vte
            | Self::Multiplexer
            | Self::JetBrains
            | Self::AppleTerminal
            | Self::Dumb
            | Self::Unknown => None,
        }
    }
}

/// A console, or one that is unknown: few letters, and rows stay as they are.
fn is_plain(value: &dyn Fn(&str) -> Option<String>) -> bool {
    let term = value("TERM").unwrap_or_default();
    ["linux", "dumb", "vt", "cons"].iter().any(|name| term.starts_with(name))
}

fn colours(value: &dyn Fn(&str) -> Option<String>, kind: TerminalKind) -> ColourDepth {
    let term = value("TERM").unwrap_or_default();
    if value("NO_COLOR").is_some() || kind == TerminalKind::Dumb {
        return ColourDepth::None;
    }
    let told = value("COLORTERM").is_some_and(|value| value == "truecolor" || value == "24bit");
    match kind {
        _ if told || term.ends_with("-direct") => ColourDepth::TrueColor,
        TerminalKind::Kitty
        | TerminalKind::Ghostty
        | TerminalKind::WezTerm
        | TerminalKind::Warp
        | TerminalKind::Konsole
        | TerminalKind::Iterm2
        | TerminalKind::Mintty
        | TerminalKind::VsCode
        | TerminalKind::Alacritty
        | TerminalKind::Zed
        | TerminalKind::WindowsTerminal
        | TerminalKind::Foot
        | TerminalKind::Contour
        | TerminalKind::Mlterm
        | TerminalKind::Rio
        | TerminalKind::Vte
        | TerminalKind::JetBrains => ColourDepth::TrueColor,
        _ if term.contains("256color") => ColourDepth::Ansi256,
        TerminalKind::AppleTerminal => ColourDepth::Ansi256,
        TerminalKind::Multiplexer | TerminalKind::Unknown | TerminalKind::Dumb => ColourDepth::Ansi16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)]) -> Capabilities {
        detect(|name| variables.iter().find(|(found, _)| *found == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn terminals_are_known_by_what_they_set() {
        use ColourDepth::{Ansi16, Ansi256, None as Plain, TrueColor};
        use ImageProtocol::{Iterm2, Kitty, Sixel};
        for (variables, colours, images) in [
            (&[("TERM", "xterm-kitty"), ("KITTY_WINDOW_ID", "1")] as &[_], TrueColor, Some(Kitty)),
            (&[("TERM", "xterm-ghostty")], TrueColor, Some(Kitty)),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")], TrueColor, Some(Kitty)),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], TrueColor, Some(Iterm2)),
            (&[("TERM", "xterm-256color"), ("KONSOLE_VERSION", "240800")], TrueColor, Some(Kitty)),
            (&[("TERM", "xterm-256color"), ("KONSOLE_VERSION", "190800")], TrueColor, None),
            (&[("TERM", "foot"), ("COLORTERM", "truecolor")], TrueColor, Some(Sixel)),
            (&[("TERM", "xterm-256color"), ("VTE_VERSION", "7600"), ("COLORTERM", "truecolor")], TrueColor, None),
            (&[("TERM", "xterm-256color"), ("VTE_VERSION", "4205")], TrueColor, None),
            (&[("TERM", "alacritty")], TrueColor, None),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "vscode")], TrueColor, None),
            (&[("TERM", "xterm-256color"), ("WT_SESSION", "1")], TrueColor, None),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "Apple_Terminal")], Ansi256, None),
            (&[("TERM", "xterm-256color")], Ansi256, None),
            (&[("TERM", "xterm")], Ansi16, None),
            (&[("TERM", "linux")], Ansi16, None),
            (&[("TERM", "dumb"), ("COLORTERM", "truecolor")], Plain, None),
            (&[], Ansi16, None),
        ] {
            let found = found(variables);
            assert_eq!((found.colours, found.images), (colours, images), "{variables:?}");
            assert_eq!(found.moves_cursor, !variables.contains(&("TERM", "dumb")), "{variables:?}");
        }
    }

    #[test]
    fn terminals_that_leave_long_rows_as_they_are_say_who_they_are() {
        let tmux = ("TMUX", "x");
        for (variables, rewraps) in [
            (&[("TERM", "xterm-256color")] as &[_], true),
            (&[("TERM", "xterm-256color"), ("XTERM_VERSION", "XTerm(390)")], false),
            (&[("TERM", "tmux-256color"), tmux, ("XTERM_VERSION", "XTerm(390)")], true),
            (&[("TERM", "screen-256color"), tmux], true),
            (&[("TERM", "screen"), ("STY", "1.x")], false),
            (&[("TERM", "linux")], false),
            (&[("TERM", "foot")], true),
        ] {
            assert_eq!(found(variables).rewraps, rewraps, "{variables:?}");
        }
    }

    /// tmux within kitty inherits kitty's variables and passes on no images.
    #[test]
    fn a_multiplexer_is_no_terminal() {
        let kitty = ("KITTY_WINDOW_ID", "1");
        for inside in
            [&[("TERM", "tmux-256color"), kitty] as &[_], &[("TERM", "screen-256color"), ("STY", "1.x"), kitty]]
        {
            let found = found(inside);
            assert_eq!((found.colours, found.images), (ColourDepth::Ansi256, None));
        }
        let told = found(&[
            ("TERM", "tmux-256color"),
            ("TMUX", "x"),
            ("COLORTERM", "truecolor"),
            ("OFFSHOOT_IMAGES", "sixel"),
        ]);
        assert_eq!((told.colours, told.images), (ColourDepth::TrueColor, Some(ImageProtocol::Sixel)));
    }

    #[test]
    fn who_wants_no_colour_gets_none() {
        let kitty = [("TERM", "xterm-kitty"), ("COLORTERM", "truecolor"), ("NO_COLOR", "1")];
        assert_eq!(found(&kitty).colours, ColourDepth::None);
        assert_eq!(found(&[("TERM", "xterm-kitty"), ("NO_COLOR", "")]).colours, ColourDepth::TrueColor);
    }

    #[test]
    fn the_user_knows_best_how_many_colours_there_are() {
        use ColourDepth::{Ansi16, Ansi256, TrueColor};
        for (found, setting, depth) in [
            (Ansi256, None, Ansi256),
            (Ansi16, Some(true), TrueColor),
            (ColourDepth::None, Some(true), ColourDepth::None),
            (TrueColor, Some(false), Ansi256),
            (Ansi16, Some(false), Ansi16),
        ] {
            assert_eq!(found.with_true_color(setting), depth, "{found:?} {setting:?}");
        }
    }

    #[test]
    fn what_is_found_can_be_overruled() {
        let kitty = ("TERM", "xterm-kitty");
        assert_eq!(found(&[kitty, ("OFFSHOOT_IMAGES", "none")]).images, None);
        assert_eq!(found(&[kitty, ("OFFSHOOT_IMAGES", "auto")]).images, Some(ImageProtocol::Kitty));
    }
}

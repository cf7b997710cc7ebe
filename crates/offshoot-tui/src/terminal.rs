//! What a terminal can do, found out from the variables that it sets. Pure: the program around gives the variables.
//!
//! Nothing is asked of the terminal itself, so an unknown one is held to be plain: what it does not understand would
//! stand on the screen as rubbish.

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

/// How an image reaches the screen.
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
    /// The protocol of a name: `kitty`, `iterm2`, `sixel`.
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

/// What may be sent to a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Capabilities {
    /// How many colours.
    pub colours: ColourDepth,
    /// How images, if at all.
    pub images: Option<ImageProtocol>,
    /// Whether `CSI ? 2026 h` holds the screen still until a frame is whole.
    pub synchronized: bool,
    /// Whether `OSC 8` makes links; elsewhere the address would be lost.
    pub hyperlinks: bool,
}

/// Finds out what a terminal can do; `variable` gives the value of an environment variable, if it is set.
///
/// `NO_COLOR` (not empty) and `TERM=dumb` switch colours off. `OFFSHOOT_IMAGES` (`kitty`, `iterm2`, `sixel`, `none`)
/// and `OFFSHOOT_HYPERLINKS` (`1`, `0`) overrule what is found, any other value leaves it. Inside tmux and screen no
/// images are sent and no links, since they pass on neither unless told to.
pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Capabilities {
    let value = |name: &str| variable(name).filter(|value| !value.is_empty()).map(|value| value.to_ascii_lowercase());
    let known = Known::of(&value);
    let mut found = known.capabilities(&value);
    found.colours = colours(&value, known);
    match value("OFFSHOOT_IMAGES").as_deref() {
        Some("none") => found.images = None,
        said => found.images = said.and_then(ImageProtocol::parse).or(found.images),
    }
    match value("OFFSHOOT_HYPERLINKS").as_deref() {
        Some("1") => found.hyperlinks = true,
        Some("0") => found.hyperlinks = false,
        _ => {}
    }
    found
}

/// Terminals that say who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
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

impl Known {
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

    /// All but the colours.
    fn capabilities(self, value: &dyn Fn(&str) -> Option<String>) -> Capabilities {
        let at_least = |name: &str, version: u32| {
            value(name).and_then(|value| value.parse::<u32>().ok()).is_some_and(|found| found >= version)
        };
        let (images, synchronized, hyperlinks) = match self {
            Self::Kitty | Self::Ghostty | Self::WezTerm => (Some(ImageProtocol::Kitty), true, true),
            Self::Warp => (Some(ImageProtocol::Kitty), false, true),
            Self::Konsole if at_least("KONSOLE_VERSION", 220_400) => (Some(ImageProtocol::Kitty), false, true),
            Self::Iterm2 => (Some(ImageProtocol::Iterm2), true, true),
            Self::Mintty => (Some(ImageProtocol::Iterm2), true, true),
            Self::Foot | Self::Contour => (Some(ImageProtocol::Sixel), true, true),
            Self::Rio => (Some(ImageProtocol::Sixel), true, true),
            Self::Mlterm => (Some(ImageProtocol::Sixel), false, false),
            Self::VsCode | Self::Alacritty | Self::Zed | Self::WindowsTerminal => (None, true, true),
            Self::Vte => (None, at_least("VTE_VERSION", 6_800), at_least("VTE_VERSION", 5_000)),
            // tmux understands the brackets of a frame and keeps them to itself.
            Self::Multiplexer => (None, true, false),
            Self::Konsole | Self::JetBrains | Self::AppleTerminal | Self::Dumb | Self::Unknown => (None, false, false),
        };
        Capabilities { colours: ColourDepth::None, images, synchronized, hyperlinks }
    }
}

fn colours(value: &dyn Fn(&str) -> Option<String>, known: Known) -> ColourDepth {
    let term = value("TERM").unwrap_or_default();
    if value("NO_COLOR").is_some() || known == Known::Dumb {
        return ColourDepth::None;
    }
    let told = value("COLORTERM").is_some_and(|value| value == "truecolor" || value == "24bit");
    match known {
        _ if told || term.ends_with("-direct") => ColourDepth::TrueColor,
        Known::Kitty
        | Known::Ghostty
        | Known::WezTerm
        | Known::Warp
        | Known::Konsole
        | Known::Iterm2
        | Known::Mintty
        | Known::VsCode
        | Known::Alacritty
        | Known::Zed
        | Known::WindowsTerminal
        | Known::Foot
        | Known::Contour
        | Known::Mlterm
        | Known::Rio
        | Known::Vte
        | Known::JetBrains => ColourDepth::TrueColor,
        _ if term.contains("256color") => ColourDepth::Ansi256,
        Known::AppleTerminal => ColourDepth::Ansi256,
        Known::Multiplexer | Known::Unknown | Known::Dumb => ColourDepth::Ansi16,
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
        for (variables, colours, images, synchronized, hyperlinks) in [
            (&[("TERM", "xterm-kitty"), ("KITTY_WINDOW_ID", "1")] as &[_], TrueColor, Some(Kitty), true, true),
            (&[("TERM", "xterm-ghostty")], TrueColor, Some(Kitty), true, true),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")], TrueColor, Some(Kitty), true, true),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], TrueColor, Some(Iterm2), true, true),
            (&[("TERM", "xterm-256color"), ("KONSOLE_VERSION", "240800")], TrueColor, Some(Kitty), false, true),
            (&[("TERM", "xterm-256color"), ("KONSOLE_VERSION", "190800")], TrueColor, None, false, false),
            (&[("TERM", "foot"), ("COLORTERM", "truecolor")], TrueColor, Some(Sixel), true, true),
            (
                &[("TERM", "xterm-256color"), ("VTE_VERSION", "7600"), ("COLORTERM", "truecolor")],
                TrueColor,
                None,
                true,
                true,
            ),
            (&[("TERM", "xterm-256color"), ("VTE_VERSION", "4205")], TrueColor, None, false, false),
            (&[("TERM", "alacritty")], TrueColor, None, true, true),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "vscode")], TrueColor, None, true, true),
            (&[("TERM", "xterm-256color"), ("WT_SESSION", "1")], TrueColor, None, true, true),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "Apple_Terminal")], Ansi256, None, false, false),
            (&[("TERM", "xterm-256color")], Ansi256, None, false, false),
            (&[("TERM", "xterm")], Ansi16, None, false, false),
            (&[("TERM", "linux")], Ansi16, None, false, false),
            (&[("TERM", "dumb"), ("COLORTERM", "truecolor")], Plain, None, false, false),
            (&[], Ansi16, None, false, false),
        ] {
            assert_eq!(found(variables), Capabilities { colours, images, synchronized, hyperlinks }, "{variables:?}");
        }
    }

    /// tmux within kitty inherits kitty's variables and passes on neither images nor links.
    #[test]
    fn a_multiplexer_is_no_terminal() {
        let kitty = ("KITTY_WINDOW_ID", "1");
        for inside in
            [&[("TERM", "tmux-256color"), kitty] as &[_], &[("TERM", "screen-256color"), ("STY", "1.x"), kitty]]
        {
            let found = found(inside);
            assert_eq!((found.colours, found.images, found.hyperlinks), (ColourDepth::Ansi256, None, false));
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
    fn what_is_found_can_be_overruled() {
        let kitty = ("TERM", "xterm-kitty");
        assert_eq!(found(&[kitty, ("OFFSHOOT_IMAGES", "none")]).images, None);
        assert_eq!(found(&[kitty, ("OFFSHOOT_IMAGES", "auto")]).images, Some(ImageProtocol::Kitty));
        assert!(!found(&[kitty, ("OFFSHOOT_HYPERLINKS", "0")]).hyperlinks);
        assert!(found(&[("TERM", "xterm"), ("OFFSHOOT_HYPERLINKS", "1")]).hyperlinks);
    }
}

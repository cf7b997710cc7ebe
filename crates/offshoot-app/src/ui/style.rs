//! The styles, by their meaning.

use std::fmt;

use anstyle::{AnsiColor, Style};
use offshoot_workspace::{Line, Role};

const fn color(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(anstyle::Color::Ansi(color)))
}

/// The word `error:`.
pub const ERROR: Style = color(AnsiColor::Red).bold();
/// The word `warning:`.
pub const WARNING: Style = color(AnsiColor::Yellow).bold();
/// The word `note:`.
pub const NOTE: Style = color(AnsiColor::Cyan).bold();
/// The word `hint:`.
pub const HINT: Style = color(AnsiColor::Green).bold();

/// What a person said.
pub const USER: Style = color(AnsiColor::Cyan).bold();
/// What a model said.
pub const ASSISTANT: Style = color(AnsiColor::Green).bold();
/// Tools and commands.
pub const TOOL: Style = color(AnsiColor::Blue);
/// Compactions, summaries, settings.
pub const MARK: Style = color(AnsiColor::Magenta);
/// A label.
pub const LABEL: Style = color(AnsiColor::Yellow);
/// An id.
pub const ID: Style = color(AnsiColor::Yellow);
/// Secondary text.
pub const DIM: Style = Style::new().dimmed();
/// Emphasis.
pub const BOLD: Style = Style::new().bold();
/// No style.
pub const PLAIN: Style = Style::new();

/// The style of a role.
pub fn style_of(role: Role) -> Style {
    match role {
        Role::Plain => PLAIN,
        Role::Dim => DIM,
        Role::Bold => BOLD,
        Role::Id => ID,
        Role::Label => LABEL,
        Role::Mark => MARK,
        Role::User => USER,
        Role::Assistant => ASSISTANT,
        Role::Tool => TOOL,
        Role::Note => NOTE,
        Role::Warning => WARNING,
        Role::Error => ERROR,
    }
}

/// Text in a style; without escapes if it is empty or plain.
pub struct Painted<'a>(pub Style, pub &'a str);

impl fmt::Display for Painted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(style, text) = self;
        if text.is_empty() || *style == PLAIN {
            return f.write_str(text);
        }
        write!(f, "{style}{text}{style:#}")
    }
}

/// A line with its colours.
pub struct PaintedLine<'a>(pub &'a Line);

impl fmt::Display for PaintedLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.0.iter().try_for_each(|(role, text)| Painted(style_of(*role), text).fmt(f))
    }
}

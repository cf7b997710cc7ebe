//! The styles, by their meaning.

use std::fmt;

use anstyle::{AnsiColor, Style};
use offshoot_workspace::Role;

const fn color(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(anstyle::Color::Ansi(color)))
}

pub const ERROR: Style = color(AnsiColor::Red).bold();
pub const WARNING: Style = color(AnsiColor::Yellow).bold();
pub const NOTE: Style = color(AnsiColor::Cyan).bold();
pub const HINT: Style = color(AnsiColor::Green).bold();

pub const USER: Style = color(AnsiColor::Cyan).bold();
pub const ASSISTANT: Style = color(AnsiColor::Green).bold();
/// Tools and commands.
pub const TOOL: Style = color(AnsiColor::Blue);
/// Compactions, summaries, settings.
pub const MARK: Style = color(AnsiColor::Magenta);
pub const LABEL: Style = color(AnsiColor::Yellow);
pub const ID: Style = color(AnsiColor::Yellow);
/// Secondary text.
pub const DIM: Style = Style::new().dimmed();
pub const BOLD: Style = Style::new().bold();
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

//! The styles, by their meaning.

use std::fmt;

use anstyle::{AnsiColor, Style};
use offshoot_workspace::Role;

const fn color(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(anstyle::Color::Ansi(color)))
}

pub(crate) const ERROR: Style = color(AnsiColor::Red).bold();
pub(crate) const WARNING: Style = color(AnsiColor::Yellow).bold();
pub(crate) const NOTE: Style = color(AnsiColor::Cyan).bold();
pub(crate) const HINT: Style = color(AnsiColor::Green).bold();

pub(crate) const USER: Style = color(AnsiColor::Cyan).bold();
pub(crate) const ASSISTANT: Style = color(AnsiColor::Green).bold();
/// Tools and commands.
pub(crate) const TOOL: Style = color(AnsiColor::Blue);
/// Compactions, summaries, settings.
pub(crate) const MARK: Style = color(AnsiColor::Magenta);
pub(crate) const LABEL: Style = color(AnsiColor::Yellow);
pub(crate) const ID: Style = color(AnsiColor::Yellow);
/// Secondary text.
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const PLAIN: Style = Style::new();

/// The style of a role.
pub(crate) fn style_of(role: Role) -> Style {
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
pub(crate) struct Painted<'a>(pub(crate) Style, pub(crate) &'a str);

impl fmt::Display for Painted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(style, text) = self;
        if text.is_empty() || *style == PLAIN {
            return f.write_str(text);
        }
        write!(f, "{style}{text}{style:#}")
    }
}

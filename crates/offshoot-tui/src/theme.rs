//! The colours of the screen, by token. Knows no widget.
//!
//! A theme is built in or read from a file in pi's form (`docs/theme.schema.json`). It is defined in true colour and
//! reduced to what the terminal can show.

mod perceptual;
mod colour;
mod background;
mod pair;
mod token;
mod read;
mod foreign;

use std::sync::LazyLock;

use ratatui::style::{Modifier, Style};
use serde_json::json;

use crate::terminal::ColourDepth;
use colour::Colour;

pub use background::Background;
pub use pair::Themes;
pub use read::{Problem, ThemeError};
pub use token::Token;

const DARK: &str = include_str!("theme/dark.json");
const LIGHT: &str = include_str!("theme/light.json");

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    name: String,
    colours: [Colour; Token::COUNT],
    depth: ColourDepth,
    styles: [Style; Token::COUNT],
}

/// Colours of exported pages as red, green and blue; `None` is the page's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageTheme {
    pub page: Option<[u8; 3]>,
    pub card: Option<[u8; 3]>,
    /// Of notes.
    pub info: Option<[u8; 3]>,
}

impl Default for Theme {
    fn default() -> Self {
        Self::dark()
    }
}

impl Theme {
    /// For dark terminals, in true colour.
    #[must_use]
    pub fn dark() -> Self {
        static THEME: LazyLock<Theme> = LazyLock::new(|| Theme::built_in("dark", DARK));
        THEME.clone()
    }

    /// For light terminals, in true colour.
    #[must_use]
    pub fn light() -> Self {
        static THEME: LazyLock<Theme> = LazyLock::new(|| Theme::built_in("light", LIGHT));
        THEME.clone()
    }

    /// A test reads both, so the fallback is never used.
    fn built_in(name: &str, text: &str) -> Self {
        read::read(text, name)
            .map(|(theme, _)| theme)
            .unwrap_or_else(|_| Self::of(name.to_owned(), [Colour::Default; Token::COUNT]))
    }

    /// Reads a theme file; `file` is its name for errors. Returns warnings too: unused tokens, unknown members,
    /// duplicate members (the last one counts).
    ///
    /// # Errors
    /// The file is not JSON or not of the form: all errors, each with line and column.
    pub fn read(text: &str, file: &str) -> Result<(Self, Vec<Problem>), ThemeError> {
        read::read(text, file)
    }

    /// Reads the colours of pages in a theme file, its member `export`; the other members need not be there. Returns
    /// warnings too.
    ///
    /// # Errors
    /// The file is not JSON, has no such colours, or one is wrong: all errors, each with line and column.
    pub fn read_page(text: &str, file: &str) -> Result<(PageTheme, Vec<Problem>), ThemeError> {
        read::read_page(text, file)
    }

    fn of(name: String, colours: [Colour; Token::COUNT]) -> Self {
        let plain = Self { name, colours, depth: ColourDepth::TrueColor, styles: [Style::new(); Token::COUNT] };
        plain.at(ColourDepth::TrueColor)
    }

    /// Reduces the theme to a terminal's colours.
    ///
    /// With sixteen, tinted backgrounds are dropped and the selection is reversed. Without colours, text is bold, dim,
    /// italic, underlined and reversed instead.
    #[must_use]
    pub fn at(mut self, depth: ColourDepth) -> Self {
        self.depth = depth;
        for ((style, token), colour) in self.styles.iter_mut().zip(Token::ALL).zip(self.colours) {
            *style = style_of(token, colour, depth);
        }
        self
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[must_use]
    pub fn depth(&self) -> ColourDepth {
        self.depth
    }

    /// The colours as extensions get them: by the names of tokens, `#rrggbb`, a number of the 256, or empty for the
    /// terminal's own.
    #[must_use]
    pub fn described(&self) -> serde_json::Value {
        let colour = |colour: &Colour| match colour {
            Colour::Default => json!(""),
            Colour::Index(index) => json!(index),
            Colour::Rgb(red, green, blue) => json!(format!("#{red:02x}{green:02x}{blue:02x}")),
        };
        let of = |is_ground: bool| {
            let tokens = Token::ALL.iter().zip(&self.colours).filter(|(token, _)| token.is_background() == is_ground);
            tokens.map(|(token, own)| (token.name().to_owned(), colour(own))).collect::<serde_json::Map<_, _>>()
        };
        let mode = if self.depth == ColourDepth::TrueColor { "truecolor" } else { "256color" };
        json!({"name": self.name, "fg": of(false), "bg": of(true), "mode": mode})
    }

    /// The style of a token: a background if its name ends in `Bg`, else a text colour.
    #[must_use]
    pub fn style(&self, token: Token) -> Style {
        self.styles.get(token as usize).copied().unwrap_or_default()
    }
}

fn style_of(token: Token, colour: Colour, depth: ColourDepth) -> Style {
    match depth {
        ColourDepth::None => Style::new().add_modifier(token.without_colour()),
        ColourDepth::Ansi16 if token == Token::SelectedBg => Style::new().add_modifier(Modifier::REVERSED),
        ColourDepth::Ansi16 if token.is_tint() => Style::new(),
        ColourDepth::Ansi16 | ColourDepth::Ansi256 | ColourDepth::TrueColor if token.is_background() => {
            Style::new().bg(colour.at(depth))
        }
        ColourDepth::Ansi16 | ColourDepth::Ansi256 | ColourDepth::TrueColor => Style::new().fg(colour.at(depth)),
    }
}

#[cfg(test)]
mod tests;

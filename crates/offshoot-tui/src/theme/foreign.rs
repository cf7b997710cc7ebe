//! Foreign text with styles of its own: colours and styles (SGR) become spans. Anything else that steers a terminal is dropped from
//! an extension's rows, and spelled out in a tool's output.

use std::borrow::Cow;

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use super::{Colour, Theme};
use crate::text::{clean, strip};

/// The modifiers that a parameter sets, and those that it removes.
const MODIFIERS: [(u8, Modifier, Modifier); 11] = [
    (1, Modifier::BOLD, Modifier::empty()),
    (2, Modifier::DIM, Modifier::empty()),
    (3, Modifier::ITALIC, Modifier::empty()),
    (4, Modifier::UNDERLINED, Modifier::empty()),
    (7, Modifier::REVERSED, Modifier::empty()),
    (9, Modifier::CROSSED_OUT, Modifier::empty()),
    (22, Modifier::empty(), Modifier::BOLD.union(Modifier::DIM)),
    (23, Modifier::empty(), Modifier::ITALIC),
    (24, Modifier::empty(), Modifier::UNDERLINED),
    (27, Modifier::empty(), Modifier::REVERSED),
    (29, Modifier::empty(), Modifier::CROSSED_OUT),
];

/// Which colour a parameter sets.
#[derive(Debug, Clone, Copy)]
enum Layer {
    Text,
    Ground,
}

impl Theme {
    /// A row of an extension. Its colours are reduced to those of the terminal.
    #[must_use]
    pub fn foreign_line(&self, row: &str) -> Line<'static> {
        Line::from(self.coloured(row, Style::new(), strip))
    }

    /// A row of a tool's output, in this style where it sets none.
    pub(crate) fn output_row(&self, row: &str, base: Style) -> Vec<Span<'static>> {
        self.coloured(row, base, clean)
    }

    fn coloured(&self, row: &str, base: Style, harmless: fn(&str) -> Cow<'_, str>) -> Vec<Span<'static>> {
        let mut spans = Vec::new();
        let mut style = Style::new();
        let mut push = |text: &str, style: Style| {
            let text = harmless(text);
            if !text.is_empty() {
                spans.push(Span::styled(text.into_owned(), base.patch(style)));
            }
        };
        let mut rest = row;
        let mut searched = 0;
        while let Some(at) = rest.get(searched..).and_then(|tail| tail.find("\x1b[")).map(|at| at + searched) {
            let after = rest.get(at + 2..).unwrap_or_default();
            let length = after.bytes().take_while(|byte| matches!(byte, b'0'..=b'9' | b';' | b':')).count();
            if after.as_bytes().get(length) != Some(&b'm') {
                searched = at + 2;
                continue;
            }
            push(rest.get(..at).unwrap_or_default(), style);
            style = self.changed(style, after.get(..length).unwrap_or_default());
            rest = after.get(length + 1..).unwrap_or_default();
            searched = 0;
        }
        push(rest, style);
        spans
    }

    fn changed(&self, mut style: Style, parameters: &str) -> Style {
        let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u8>().ok() };
        let mut numbers = parameters.split([';', ':']).map(number);
        while let Some(next) = numbers.next() {
            let Some(next) = next else { continue };
            style = match next {
                0 => Style::new(),
                30..=37 => self.with(style, Layer::Text, Colour::Index(next - 30)),
                40..=47 => self.with(style, Layer::Ground, Colour::Index(next - 40)),
                90..=97 => self.with(style, Layer::Text, Colour::Index(next - 90 + 8)),
                100..=107 => self.with(style, Layer::Ground, Colour::Index(next - 100 + 8)),
                39 => Style { fg: None, ..style },
                49 => Style { bg: None, ..style },
                38 | 48 => {
                    let mut part = || numbers.next().flatten();
                    let colour = match part() {
                        Some(5) => part().map(Colour::Index),
                        Some(2) => {
                            part().zip(part()).zip(part()).map(|((red, green), blue)| Colour::Rgb(red, green, blue))
                        }
                        _ => None,
                    };
                    let layer = if next == 38 { Layer::Text } else { Layer::Ground };
                    colour.map_or(style, |colour| self.with(style, layer, colour))
                }
                _ => MODIFIERS.iter().filter(|(known, ..)| *known == next).fold(style, |style, (_, set, removed)| {
                    let Style { add_modifier, .. } = style;
                    Style { add_modifier: add_modifier.difference(*removed).union(*set), ..style }
                }),
            };
        }
        style
    }

    fn with(&self, style: Style, layer: Layer, colour: Colour) -> Style {
        let colour = match colour.at(self.depth) {
            Color::Reset => return style,
            // The terminal's own sixteen, by their names.
            Color::Indexed(index @ 0..16) => Colour::Index(index).at(crate::terminal::ColourDepth::Ansi16),
            colour => colour,
        };
        match layer {
            Layer::Text => style.fg(colour),
            Layer::Ground => style.bg(colour),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::style::Stylize as _;

    use super::*;
    use crate::terminal::ColourDepth;
    use crate::text::{line_width, width};

    #[test]
    fn colours_and_styles_stay_and_nothing_else() {
        let theme = Theme::dark();
        let line = |text| theme.foreign_line(text);
        assert_eq!(line("plain"), Line::from("plain"));
        assert_eq!(line("\x1b[31mred\x1b[39m, not"), Line::from(vec!["red".red(), ", not".into()]));
        assert_eq!(
            line("\x1b[1;38;2;1;2;3;48;5;200mx\x1b[0my"),
            Line::from(vec!["x".bold().fg(Color::Rgb(1, 2, 3)).bg(Color::Indexed(200)), "y".into()])
        );
        assert_eq!(line("\x1b[38:5:3mx\x1b[m"), Line::from("x".yellow()));
        assert_eq!(line("\x1b[1;2mx\x1b[22my"), Line::from(vec!["x".bold().dim(), "y".into()]));
        assert_eq!(line("a\x1b[2Jb\x1b[5;5Hc\x1b]0;title\x07d\x1b[?25le").to_string(), "abcde");
        assert_eq!(line("\x1b[8mhidden").spans, ["hidden".into()], "a text is never hidden");
        assert_eq!(line("\x1b[38;9;1m\x1b[38m\x1b[999mx").spans, ["x".bold()]);
        assert_eq!(theme.clone().at(ColourDepth::None).foreign_line("\x1b[31mx").spans, ["x".into()]);
        assert_eq!(theme.at(ColourDepth::Ansi16).foreign_line("\x1b[38;2;255;0;0mx").spans, ["x".red()]);
    }

    proptest! {
        #[test]
        fn foreign_rows_steer_no_terminal(hostile in crate::testing::hostile(), sgr in "[0-9;:]{0,12}") {
            let row = format!("{hostile}\x1b[{sgr}m{hostile}");
            let line = Theme::dark().foreign_line(&row);
            prop_assert!(!line.to_string().chars().any(char::is_control));
            prop_assert_eq!(line_width(&line), line.spans.iter().map(|span| width(&span.content)).sum::<usize>());
        }
    }
}

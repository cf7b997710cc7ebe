//! A theme file's colour, and the nearest one in a smaller palette.

use ratatui::style::Color;

use super::perceptual;
use crate::terminal::ColourDepth;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colour {
    Default,
    /// In xterm's 256 colours.
    Index(u8),
    Rgb(u8, u8, u8),
}

/// As in xterm. Terminals differ, but only the nearest colour matters here.
const ANSI: [(Color, [u8; 3]); 16] = [
    (Color::Black, [0, 0, 0]),
    (Color::Red, [205, 0, 0]),
    (Color::Green, [0, 205, 0]),
    (Color::Yellow, [205, 205, 0]),
    (Color::Blue, [0, 0, 238]),
    (Color::Magenta, [205, 0, 205]),
    (Color::Cyan, [0, 205, 205]),
    (Color::Gray, [229, 229, 229]),
    (Color::DarkGray, [127, 127, 127]),
    (Color::LightRed, [255, 0, 0]),
    (Color::LightGreen, [0, 255, 0]),
    (Color::LightYellow, [255, 255, 0]),
    (Color::LightBlue, [92, 92, 255]),
    (Color::LightMagenta, [255, 0, 255]),
    (Color::LightCyan, [0, 255, 255]),
    (Color::White, [255, 255, 255]),
];
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

impl Colour {
    /// Of six digits, or of three that are each doubled.
    pub(super) fn of_hex(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').filter(|digits| digits.is_ascii())?;
        let digits: String = match digits.len() {
            6 => digits.to_owned(),
            3 => digits.chars().flat_map(|digit| [digit, digit]).collect(),
            _ => return None,
        };
        let part = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(())?;
        Some(Self::Rgb(part(0)?, part(2)?, part(4)?))
    }

    /// Of `oklch(…)` or `okhsl(…)`.
    pub(super) fn of_function(text: &str) -> Option<Self> {
        perceptual::parse(text).map(|[red, green, blue]| Self::Rgb(red, green, blue))
    }

    /// Red, green and blue; `None` for the default.
    pub(super) fn rgb(self) -> Option<[u8; 3]> {
        match self {
            Self::Default => None,
            Self::Index(index) => Some(rgb_of_index(index)),
            Self::Rgb(red, green, blue) => Some([red, green, blue]),
        }
    }

    /// The nearest colour; without colours the terminal's default.
    pub(super) fn at(self, depth: ColourDepth) -> Color {
        match (self, depth) {
            (Self::Default, _) | (_, ColourDepth::None) => Color::Reset,
            (Self::Index(index), ColourDepth::Ansi256 | ColourDepth::TrueColor) => Color::Indexed(index),
            (Self::Index(index), ColourDepth::Ansi16) => match ANSI.get(usize::from(index)) {
                Some((colour, _)) => *colour,
                None => nearest_of_16(rgb_of_index(index)),
            },
            (Self::Rgb(red, green, blue), ColourDepth::TrueColor) => Color::Rgb(red, green, blue),
            (Self::Rgb(red, green, blue), ColourDepth::Ansi256) => Color::Indexed(nearest_of_256([red, green, blue])),
            (Self::Rgb(red, green, blue), ColourDepth::Ansi16) => nearest_of_16([red, green, blue]),
        }
    }
}

/// In the colour cube and the greys: terminals redefine the first sixteen.
fn nearest_of_256(wanted: [u8; 3]) -> u8 {
    (16..=255).min_by_key(|index| distance(wanted, rgb_of_index(*index))).unwrap_or(16)
}

/// By hue if the colour has one: a pale colour is better matched by its hue than by its grey.
fn nearest_of_16(wanted: [u8; 3]) -> Color {
    let [least, most] = [wanted.into_iter().min(), wanted.into_iter().max()].map(Option::unwrap_or_default);
    let spread = most - least;
    if spread < 24 {
        let greys = ANSI.iter().filter(|(_, [red, green, blue])| red == green && green == blue);
        return greys.min_by_key(|(_, grey)| distance(wanted, *grey)).map_or(Color::Reset, |(colour, _)| *colour);
    }
    // The parts nearer to the greatest than to the least give the hue; pastels use the bright row.
    let bit = |at: usize| u8::from(wanted.get(at).is_some_and(|part| part - least > spread / 2));
    let name = usize::from(bit(0) | bit(1) << 1 | bit(2) << 2);
    let row = if least > 96 { 8 } else { 0 };
    ANSI.get(row + name).map_or(Color::Reset, |(colour, _)| *colour)
}

pub(super) fn rgb_of_index(index: u8) -> [u8; 3] {
    match index {
        0..=15 => ANSI.get(usize::from(index)).map_or([0; 3], |(_, rgb)| *rgb),
        16..=231 => {
            let at = index - 16;
            [at / 36, at / 6 % 6, at % 6].map(|step| CUBE.get(usize::from(step)).copied().unwrap_or(0))
        }
        232..=255 => [8 + (index - 232) * 10; 3],
    }
}

/// Perceptual distance: red and blue are weighted by the mean of red.
fn distance(one: [u8; 3], other: [u8; 3]) -> i32 {
    let [red, green, blue] = [0, 1, 2].map(|at: usize| {
        let part = |of: [u8; 3]| of.get(at).copied().map_or(0, i32::from);
        part(one) - part(other)
    });
    let mean = i32::midpoint(i32::from(one[0]), i32::from(other[0]));
    (512 + mean) * red * red / 256 + 4 * green * green + (767 - mean) * blue * blue / 256
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_three_or_six_digits() {
        assert_eq!(Colour::of_hex("#0aF"), Some(Colour::Rgb(0, 0xaa, 0xff)));
        assert_eq!(Colour::of_hex("#0aF102"), Some(Colour::Rgb(10, 241, 2)));
        for wrong in ["", "#", "#ff", "#ffff", "#1234567", "#12345g", "123456", "#+12345", "#äöü"] {
            assert_eq!(Colour::of_hex(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_colour_of_the_256_is_nearest_to_itself() {
        for index in 16..=255 {
            let [red, green, blue] = rgb_of_index(index);
            let Color::Indexed(found) = Colour::Rgb(red, green, blue).at(ColourDepth::Ansi256) else {
                panic!("{index}")
            };
            assert_eq!(rgb_of_index(found), [red, green, blue], "{index}");
        }
    }

    #[test]
    fn a_colour_of_the_sixteen_keeps_its_name() {
        for (hex, name) in [
            ("#ef8a94", Color::LightRed),
            ("#8fd6a0", Color::LightGreen),
            ("#7c5200", Color::Yellow),
            ("#74cbd1", Color::LightCyan),
            ("#3060d0", Color::Blue),
            ("#86b7e8", Color::LightBlue),
            ("#ffffff", Color::White),
            ("#101214", Color::Black),
            ("#808080", Color::DarkGray),
        ] {
            let colour = Colour::of_hex(hex).unwrap();
            assert_eq!(colour.at(ColourDepth::Ansi16), name, "{hex}");
        }
        assert_eq!(Colour::Index(9).at(ColourDepth::Ansi16), Color::LightRed);
        assert_eq!(Colour::Index(196).at(ColourDepth::Ansi16), Color::Red);
    }
}

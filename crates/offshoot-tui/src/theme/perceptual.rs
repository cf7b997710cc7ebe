//! Colours of a theme that are written by how they look: `oklch(L C H)` and `okhsl(H S L)`, as in pi's themes. Knows no file.

use palette::convert::FromColorUnclamped as _;
use palette::{IntoColor as _, LinSrgb, Okhsl, Oklch, Srgb};

/// How often the chroma of a colour that a screen cannot show is halved in the search for one that it can.
const STEPS: usize = 20;
/// What may be beyond the range of a channel: the conversion is not exact.
const TOLERANCE: f64 = 1e-7;

/// The colour; `None` if the text is not one of these, or a number is outside of its range.
pub(super) fn parse(text: &str) -> Option<[u8; 3]> {
    let lower = text.trim().to_ascii_lowercase();
    let (space, rest) = lower.split_once('(')?;
    let words: Vec<&str> = rest.strip_suffix(')')?.split_whitespace().collect();
    let [first, second, third] = words.as_slice() else { return None };
    match space {
        "okhsl" => {
            let (hue, saturation, lightness) = (angle(first)?, part(second)?, part(third)?);
            let colour: Srgb<f64> = Okhsl::new(hue, saturation, lightness).into_color();
            Some(colour.into_format::<u8>().into())
        }
        "oklch" => {
            let (lightness, chroma, hue) =
                (part(first)?, number(second).filter(|chroma| *chroma >= 0.0)?, angle(third)?);
            Some(shown(lightness, chroma, hue))
        }
        _ => None,
    }
}

/// Whether a text is meant as such a colour, also if it is none.
pub(super) fn is_meant(text: &str) -> bool {
    let lower = text.trim_start().to_ascii_lowercase();
    lower.starts_with("oklch(") || lower.starts_with("okhsl(")
}

/// A screen cannot show every chroma: the largest that it can is taken.
fn shown(lightness: f64, chroma: f64, hue: f64) -> [u8; 3] {
    let at = |chroma: f64| LinSrgb::<f64>::from_color_unclamped(Oklch::new(lightness, chroma, hue));
    let is_shown = |colour: &LinSrgb<f64>| {
        [colour.red, colour.green, colour.blue].iter().all(|channel| (-TOLERANCE..=1.0 + TOLERANCE).contains(channel))
    };
    let mut found = at(chroma);
    if !is_shown(&found) {
        found = at(0.0);
        let (mut least, mut most) = (0.0, chroma);
        for _ in 0..STEPS {
            let middle = f64::midpoint(least, most);
            let colour = at(middle);
            if is_shown(&colour) {
                (least, found) = (middle, colour);
            } else {
                most = middle;
            }
        }
    }
    let clamped = LinSrgb::new(found.red.clamp(0.0, 1.0), found.green.clamp(0.0, 1.0), found.blue.clamp(0.0, 1.0));
    Srgb::<f64>::from_linear(clamped).into_format::<u8>().into()
}

fn number(text: &str) -> Option<f64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e'));
    text.parse::<f64>().ok().filter(|number| is_number && number.is_finite())
}

/// From 0 to 1, or in per cent.
fn part(text: &str) -> Option<f64> {
    let part = match text.strip_suffix('%') {
        Some(percent) => number(percent)? / 100.0,
        None => number(text)?,
    };
    (0.0..=1.0).contains(&part).then_some(part)
}

fn angle(text: &str) -> Option<f64> {
    number(text.strip_suffix("deg").unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What pi 1.6.0 shows for them.
    #[test]
    fn colours_are_those_of_pi() {
        for (text, wanted) in [
            ("okhsl(233 41% 24%)", Some([0x21, 0x3b, 0x49])),
            ("okhsl(295 53% 64%)", Some([0xa0, 0x8e, 0xd5])),
            ("okhsl(0 0% 50%)", Some([0x77, 0x77, 0x77])),
            ("okhsl(20 99% 63%)", Some([0xfe, 0x54, 0x62])),
            ("okhsl(159 64% 65%)", Some([0x5e, 0xb2, 0x86])),
            ("okhsl(337 0.81 0.61)", Some([0xde, 0x54, 0xc1])),
            ("okhsl(-90deg 100% 50%)", Some([0x46, 0x5f, 0xff])),
            ("OKHSL(250 60% 100%)", Some([0xff, 0xff, 0xff])),
            ("okhsl(250 60% 0%)", Some([0, 0, 0])),
            ("oklch(62% 0.1 200)", Some([0x1c, 0x98, 0x9e])),
            ("oklch( 0.62 0.1 200deg )", Some([0x1c, 0x98, 0x9e])),
            ("oklch(100% 0.3 150)", Some([0xff, 0xff, 0xff])),
            ("oklch(70% 0.4 30)", Some([0xff, 0x65, 0x51])),
            ("oklch(.5 0 0)", Some([0x63, 0x63, 0x63])),
            ("okhsl(250 160% 50%)", None),
            ("oklch(62% -0.1 200)", None),
            ("oklch(62%, 0.1, 200)", None),
            ("oklch(inf 0.1 200)", None),
            ("oklch(62% 0.1)", None),
            ("hsl(1 1 1)", None),
        ] {
            assert_eq!(parse(text), wanted, "{text}");
        }
    }
}

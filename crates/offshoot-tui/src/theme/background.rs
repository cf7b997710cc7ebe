//! Finds out whether a terminal is light or dark from its reports. Sends no query: the loop does.

use super::colour::rgb_of_index;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Background {
    /// Also if unknown.
    #[default]
    Dark,
    Light,
}

impl Background {
    /// Parses the part after `11;` of an OSC 11 reply: `rgb:1e1e/1e1e/1e1e` with one to four digits each, `rgba:` with
    /// a fourth part, or `#1e1e1e`. `None` if it is not a colour.
    #[must_use]
    pub fn of_answer(answer: &str) -> Option<Self> {
        let answer = answer.trim();
        let parts: Vec<&str> = match answer.strip_prefix('#') {
            Some(digits) if digits.is_ascii() && matches!(digits.len(), 6 | 12) => {
                let each = digits.len() / 3;
                (0..3).filter_map(|at| digits.get(at * each..(at + 1) * each)).collect()
            }
            Some(_) => return None,
            None => {
                let colour = answer.strip_prefix("rgb:").or_else(|| answer.strip_prefix("rgba:"))?;
                colour.split('/').take(3).collect()
            }
        };
        match parts.iter().map(|part| share(part)).collect::<Option<Vec<f64>>>()?.as_slice() {
            [red, green, blue] => Some(Self::of([*red, *green, *blue])),
            _ => None,
        }
    }

    /// Parses the variable `COLORFGBG` of some terminals, whose last part is the index of a colour. `None` if it is
    /// not.
    #[must_use]
    pub fn of_variable(value: &str) -> Option<Self> {
        let index: u8 = value.rsplit(';').next()?.trim().parse().ok()?;
        Some(Self::of(rgb_of_index(index).map(|part| f64::from(part) / 255.0)))
    }

    /// By WCAG's luminance; light from 0.5 on, as in pi.
    fn of(colour: [f64; 3]) -> Self {
        let linear = |part: f64| if part <= 0.039_28 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
        let [red, green, blue] = colour.map(linear);
        let luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        if luminance >= 0.5 { Self::Light } else { Self::Dark }
    }
}

/// One to four hexadecimal digits as a fraction of their maximum.
fn share(digits: &str) -> Option<f64> {
    let is_number = (1..=4).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let number = u32::from_str_radix(digits, 16).ok().filter(|_| is_number)?;
    let greatest = 16_u32.pow(u32::try_from(digits.len()).ok()?) - 1;
    Some(f64::from(number) / f64::from(greatest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_terminals_are_understood() {
        use Background::{Dark, Light};
        for (answer, expected) in [
            ("rgb:0000/0000/0000", Some(Dark)),
            ("rgb:ffff/ffff/ffff", Some(Light)),
            ("rgb:fdfd/f6f6/e3e3", Some(Light)),
            ("rgb:00/2b/36", Some(Dark)),
            ("rgb:f/f/f", Some(Light)),
            ("rgba:ffff/ffff/ffff/8080", Some(Light)),
            ("#1e1e1e", Some(Dark)),
            ("#ffffffffffff", Some(Light)),
            ("#fff", None),
            ("#éé", None),
            ("rgb:ffff/ffff", None),
            ("rgb:fffff/0/0", None),
            ("rgb:+f/0/0", None),
            ("white", None),
            ("", None),
        ] {
            assert_eq!(Background::of_answer(answer), expected, "{answer}");
        }
    }

    #[test]
    fn the_variable_names_a_colour() {
        use Background::{Dark, Light};
        for (value, expected) in [
            ("15;0", Some(Dark)),
            ("0;15", Some(Light)),
            ("0;default;15", Some(Light)),
            ("12;8", Some(Dark)),
            ("0;default", None),
            ("", None),
            ("0;256", None),
        ] {
            assert_eq!(Background::of_variable(value), expected, "{value}");
        }
    }
}

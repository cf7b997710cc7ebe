//! The setting `theme`: a theme for light terminals and one for dark ones.

use super::{Background, Theme};
use crate::terminal::ColourDepth;

/// pi's theme that follows the terminal. No file may have this name there.
const SYSTEM: &str = "system";

/// Often both are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Themes {
    pub light: Theme,
    pub dark: Theme,
}

impl Default for Themes {
    fn default() -> Self {
        Self { light: Theme::light(), dark: Theme::dark() }
    }
}

impl Themes {
    /// The setting that selects the built-in theme of the terminal's background; the default.
    pub const AUTOMATIC: &'static str = "light/dark";

    /// The names of the light and the dark theme in a setting: one for both, or two separated by `/`, the light one
    /// first, as in pi. `None` means the built-in ones, and so does pi's `system`.
    pub fn named(setting: Option<&str>) -> Result<(String, String), String> {
        let setting = setting.filter(|name| name.trim() != SYSTEM).unwrap_or(Self::AUTOMATIC);
        let parts: Vec<&str> = setting.split('/').map(str::trim).collect();
        match parts.as_slice() {
            [one] if !one.is_empty() => Ok(((*one).to_owned(), (*one).to_owned())),
            [light, dark] if !light.is_empty() && !dark.is_empty() => Ok(((*light).to_owned(), (*dark).to_owned())),
            _ => Err(format!("{setting:?} names no theme: give one name, or a light and a dark one as in light/dark")),
        }
    }

    #[must_use]
    pub fn on(&self, background: Background) -> &Theme {
        match background {
            Background::Light => &self.light,
            Background::Dark => &self.dark,
        }
    }

    /// Whether the terminal's background matters at this colour depth.
    #[must_use]
    pub fn differ(&self, depth: ColourDepth) -> bool {
        depth != ColourDepth::None && self.light.colours != self.dark.colours
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_names_one_theme_or_two() {
        let named = |setting| Themes::named(setting).map(|(light, dark)| format!("{light}, {dark}"));
        assert_eq!(named(None).as_deref(), Ok("light, dark"));
        assert_eq!(named(Some("system")).as_deref(), Ok("light, dark"));
        assert_eq!(named(Some("dark")).as_deref(), Ok("dark, dark"));
        assert_eq!(named(Some("day / night")).as_deref(), Ok("day, night"));
        for wrong in ["", "a/", "/b", "a/b/c"] {
            assert!(named(Some(wrong)).unwrap_err().contains("names no theme"), "{wrong}");
        }
    }

    #[test]
    fn the_background_matters_only_where_it_is_seen() {
        let themes = Themes::default();
        assert!(themes.differ(ColourDepth::Ansi16));
        assert_eq!(themes.on(Background::Light).name(), "light");
        assert!(!themes.differ(ColourDepth::None));
        assert!(!Themes { light: themes.dark.clone(), ..themes }.differ(ColourDepth::TrueColor));
    }
}

//! Two themes, one for light terminals and one for dark ones: what the setting `theme` comes to.

use super::{Background, Theme};
use crate::terminal::ColourDepth;

/// A theme for each background; often the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Themes {
    pub light: Theme,
    pub dark: Theme,
}

impl Default for Themes {
    /// The two that are built in.
    fn default() -> Self {
        Self { light: Theme::light(), dark: Theme::dark() }
    }
}

impl Themes {
    /// What the setting says when it lets the terminal choose among the two that are built in; the same as no setting.
    const AUTOMATIC: &'static str = "light/dark";

    /// The names of the themes for light and for dark terminals that a setting means: one for both, or two with a stroke
    /// between them, the light one first, as in pi. No setting means the built-in ones.
    pub fn named(setting: Option<&str>) -> Result<(String, String), String> {
        let setting = setting.unwrap_or(Self::AUTOMATIC);
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

    /// Whether it matters, in so many colours, which background the terminal has.
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

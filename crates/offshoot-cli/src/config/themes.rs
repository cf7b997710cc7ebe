//! Reads the user's themes, `themes/NAME.json` of the data folder. `offshoot_tui::theme` defines their contents.

use std::path::Path;

use offshoot_tui::theme::{Theme, Themes};

use crate::error::{CommandError, FailureKind, Result};

/// The themes that a setting names, and warnings about their files.
pub(crate) fn named(data: Option<&Path>, setting: Option<&str>) -> Result<(Themes, Vec<String>)> {
    let (light, dark) = Themes::named(setting).map_err(|why| CommandError::new(FailureKind::NotFound, why))?;
    let (light_theme, mut troubles) = one(data, &light)?;
    if light == dark {
        return Ok((Themes { dark: light_theme.clone(), light: light_theme }, troubles));
    }
    let (dark, more) = one(data, &dark)?;
    troubles.extend(more);
    Ok((Themes { light: light_theme, dark }, troubles))
}

pub(crate) fn names(data: Option<&Path>) -> Vec<String> {
    let files = data.and_then(|data| std::fs::read_dir(data.join("themes")).ok());
    let name = |file: std::fs::DirEntry| file.file_name().to_str()?.strip_suffix(".json").map(str::to_owned);
    let mut own: Vec<String> = files.into_iter().flatten().flatten().filter_map(name).collect();
    own.retain(|name| is_name(name) && !BUILT_IN.contains(&name.as_str()));
    own.sort();
    BUILT_IN.iter().map(|name| (*name).to_owned()).chain(own).collect()
}

const BUILT_IN: &[&str] = &["dark", "light"];

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\']) && !name.starts_with('.')
}

fn one(data: Option<&Path>, name: &str) -> Result<(Theme, Vec<String>)> {
    match name {
        "dark" => Ok((Theme::dark(), Vec::new())),
        "light" => Ok((Theme::light(), Vec::new())),
        name => load(data, name),
    }
}

fn load(data: Option<&Path>, name: &str) -> Result<(Theme, Vec<String>)> {
    let path = data.filter(|_| is_name(name)).map(|data| data.join("themes").join(format!("{name}.json")));
    let text = path.as_deref().map(super::settings::text).transpose()?.unwrap_or_default();
    let Some(path) = path.filter(|_| !text.is_empty()) else {
        return Err(CommandError::new(FailureKind::NotFound, format!("there is no theme {name:?}"))
            .hint("`theme` in settings.json names dark, light or a file of the data folder's themes, without .json"));
    };
    let file = path.display().to_string();
    let (theme, problems) = Theme::read(&text, &file).map_err(|error| {
        CommandError::new(FailureKind::Damaged, error.to_string()).hint("correct the file, or choose another theme")
    })?;
    Ok((theme, problems.iter().map(ToString::to_string).collect()))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests prepare their own files")]
mod tests {
    use super::*;

    #[test]
    fn the_users_themes_stand_behind_those_that_are_built_in() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(names(None), ["dark", "light"]);
        std::fs::create_dir(folder.path().join("themes")).unwrap();
        for file in ["night.json", "dark.json", ".hidden.json", "README.md", "day.json"] {
            std::fs::write(folder.path().join("themes").join(file), "{}").unwrap();
        }
        assert_eq!(names(Some(folder.path())), ["dark", "light", "day", "night"]);
    }

    #[test]
    fn a_theme_that_is_not_there_is_named() {
        let (themes, _) = named(None, None).unwrap();
        assert_eq!((themes.light.name(), themes.dark.name()), ("light", "dark"));
        let error = named(None, Some("light/mine")).unwrap_err();
        assert_eq!(error.message, "there is no theme \"mine\"");
    }
}

//! Reads the user's themes: `themes/NAME.json` of the data folder, those of the command line, of the settings and of packages.
//! `offshoot_tui::theme` defines their contents.

use std::path::{Path, PathBuf};

use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_session::json::Json;
use offshoot_session::text::one_line;
use offshoot_tui::theme::{PageTheme, Theme, Themes};

/// The files of themes, in the order of precedence.
pub(crate) type ThemeFiles = Vec<PathBuf>;

const BUILT_IN: &[&str] = &["dark", "light"];

/// The files of these paths: files, and the `.json` files directly in folders.
pub(crate) fn files_of(paths: impl IntoIterator<Item = PathBuf>) -> ThemeFiles {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            let mut inside: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_theme(path)).collect();
            inside.sort();
            files.extend(inside);
        } else if path.is_file() {
            files.push(path);
        }
    }
    files
}

fn is_theme(path: &Path) -> bool {
    let is_hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
    !is_hidden && path.extension().is_some_and(|extension| extension == "json")
}

/// The themes that a setting names, and warnings about their files. `files` is asked only for a theme that is not built in.
pub(crate) fn named(files: &dyn Fn() -> ThemeFiles, setting: Option<&str>) -> Result<(Themes, Vec<String>)> {
    let (light, dark) = Themes::named(setting).map_err(|why| CommandError::new(FailureKind::NotFound, why))?;
    let (light_theme, mut troubles) = one(files, &light)?;
    if light == dark {
        return Ok((Themes { dark: light_theme.clone(), light: light_theme }, troubles));
    }
    let (dark, more) = one(files, &dark)?;
    troubles.extend(more);
    Ok((Themes { light: light_theme, dark }, troubles))
}

/// The names of all themes, the built-in ones first.
pub(crate) fn names(files: &[PathBuf]) -> Vec<String> {
    listed(files).into_iter().map(|(name, _)| name).collect()
}

/// The same with the files of those that are not built in.
pub(crate) fn listed(files: &[PathBuf]) -> Vec<(String, Option<&Path>)> {
    let named = |file: &'_ PathBuf| own_name(file).unwrap_or_else(|| stem(file));
    let mut own: Vec<_> = files.iter().map(|file| (named(file), Some(file.as_path()))).collect();
    own.retain(|(name, _)| !name.is_empty() && !BUILT_IN.contains(&name.as_str()));
    own.sort();
    own.dedup_by(|one, other| one.0 == other.0);
    BUILT_IN.iter().map(|name| ((*name).to_owned(), None)).chain(own).collect()
}

fn one(files: &dyn Fn() -> ThemeFiles, name: &str) -> Result<(Theme, Vec<String>)> {
    match name {
        "dark" => Ok((Theme::dark(), Vec::new())),
        "light" => Ok((Theme::light(), Vec::new())),
        name => load(&files(), name),
    }
}

/// The file of the theme of this name, if it says something of pages.
pub(crate) fn page_file<'a>(files: &'a [PathBuf], name: &str) -> Option<&'a PathBuf> {
    let file = file_of(files, name)?;
    let text = offshoot_app::config::settings::text(file).ok()?;
    Json::parse(&text).ok()?.get("export").map(|_| file)
}

/// The file of this name, else the one that names itself so, as in pi.
fn file_of<'a>(files: &'a [PathBuf], name: &str) -> Option<&'a PathBuf> {
    let named = files.iter().find(|file| stem(file) == name);
    named.or_else(|| files.iter().find(|file| own_name(file).as_deref() == Some(name)))
}

/// The theme of this name.
fn load(files: &[PathBuf], name: &str) -> Result<(Theme, Vec<String>)> {
    let named = file_of(files, name);
    let text = named.map(|path| offshoot_app::config::settings::text(path)).transpose()?.unwrap_or_default();
    let Some(path) = named.filter(|_| !text.is_empty()) else {
        return Err(CommandError::new(FailureKind::NotFound, format!("the theme {name:?} does not exist"))
            .hint("`theme` in settings.json names dark, light or a file of the data folder's themes, without .json"));
    };
    let file = path.display().to_string();
    let (theme, problems) = Theme::read(&text, &file).map_err(|error| {
        CommandError::new(FailureKind::Damaged, error.to_string()).hint("correct the file, or choose another theme")
    })?;
    Ok((theme, problems.iter().map(ToString::to_string).collect()))
}

/// The colours of pages in a theme file, and warnings about it.
pub(crate) fn of_page(path: &Path) -> Result<(PageTheme, Vec<String>)> {
    let file = one_line(&path.to_string_lossy(), 4096);
    let text = offshoot_app::config::settings::text(path)?;
    if text.is_empty() {
        return Err(CommandError::new(FailureKind::NotFound, format!("the theme {file} does not exist or is empty")));
    }
    let (theme, problems) = Theme::read_page(&text, &file)
        .map_err(|error| CommandError::new(FailureKind::Damaged, error.to_string()).hint("correct the file"))?;
    Ok((theme, problems.iter().map(|problem| format!("{file}, {problem}")).collect()))
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The member `name`. A file that cannot be read is reported when it is chosen.
fn own_name(file: &Path) -> Option<String> {
    let text = offshoot_app::config::settings::text(file).ok()?;
    Some(Json::parse(&text).ok()?.str("name")?.into_owned())
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests prepare their own files")]
mod tests {
    use super::*;

    #[test]
    fn the_users_themes_stand_behind_those_that_are_built_in() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(names(&[]), ["dark", "light"]);
        // A folder that does not exist was a theme named `themes`.
        assert_eq!(names(&files_of([folder.path().join("themes")])), ["dark", "light"]);
        std::fs::create_dir(folder.path().join("themes")).unwrap();
        for file in ["night.json", "dark.json", ".hidden.json", "README.md", "day.json"] {
            std::fs::write(folder.path().join("themes").join(file), "{}").unwrap();
        }
        assert_eq!(names(&files_of([folder.path().join("themes")])), ["dark", "light", "day", "night"]);
    }

    /// In pi a theme is called by its member `name`.
    #[test]
    fn a_theme_is_found_by_its_own_name_too() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x.json"), r#"{"name": "night", "colors": {}}"#).unwrap();
        let files = || files_of([folder.path().to_path_buf()]);
        assert_eq!(names(&files()), ["dark", "light", "night"]);
        for name in ["night", "x"] {
            let told = named(&files, Some(name)).unwrap_err().message;
            assert!(told.contains("x.json"), "it is read, and lacks colours: {told}");
        }
    }

    #[test]
    fn a_theme_that_is_not_there_is_named() {
        let (themes, _) = named(&Vec::new, None).unwrap();
        assert_eq!((themes.light.name(), themes.dark.name()), ("light", "dark"));
        let error = named(&Vec::new, Some("light/mine")).unwrap_err();
        assert_eq!(error.message, "the theme \"mine\" does not exist");
    }
}

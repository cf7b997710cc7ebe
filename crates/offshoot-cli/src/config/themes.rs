//! Themes of the user's own, `themes/NAME.json` of the data folder: reading one. What it may say is `offshoot_tui::theme`.

use std::path::Path;

use offshoot_tui::theme::Theme;

use crate::error::{CommandError, Kind, Result};

/// A theme, and what of its file has no effect.
pub(crate) fn load(data: Option<&Path>, name: &str) -> Result<(Theme, Vec<String>)> {
    let is_name = !name.is_empty() && !name.contains(['/', '\\']) && !name.starts_with('.');
    let path = data.filter(|_| is_name).map(|data| data.join("themes").join(format!("{name}.json")));
    let text = path.as_deref().map(super::settings::text).transpose()?.unwrap_or_default();
    let Some(path) = path.filter(|_| !text.is_empty()) else {
        return Err(CommandError::new(Kind::NotFound, format!("there is no theme {name:?}"))
            .hint("`theme` in settings.json names dark, light or a file of the data folder's themes, without .json"));
    };
    let file = path.display().to_string();
    let (theme, problems) = Theme::read(&text, &file).map_err(|error| {
        CommandError::new(Kind::Damaged, error.to_string()).hint("correct the file, or choose another theme")
    })?;
    Ok((theme, problems.iter().map(ToString::to_string).collect()))
}

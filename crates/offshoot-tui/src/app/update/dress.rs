//! Chooses the colours: the configured themes, and of these the one for the terminal's background.

use offshoot_session::transcript::Level;

use crate::app::cmd::{Cmd, ScreenTask};
use crate::app::model::{Model, Overlay};
use crate::theme::{Background, Themes};

/// Takes the terminal's background.
pub(super) fn background(model: &mut Model, background: Background) -> Vec<Cmd> {
    model.preferences.background = background;
    dress(model);
    Vec::new()
}

/// Applies the configured themes, or reports why they cannot be used.
pub(super) fn themes(model: &mut Model, themes: Result<Box<Themes>, String>) -> Vec<Cmd> {
    match themes {
        Ok(themes) => {
            // The background was not queried while the themes did not depend on it.
            let was_asked = model.preferences.minds_background();
            model.preferences.themes = *themes;
            dress(model);
            let is_asked = !was_asked && model.preferences.minds_background();
            is_asked.then_some(ScreenTask::AskBackground.into()).into_iter().collect()
        }
        Err(why) => {
            if let Some(Overlay::Settings(list)) = &mut model.overlay {
                list.failed(why);
            } else {
                model.notice(Level::Warning, why);
            }
            Vec::new()
        }
    }
}

/// Applies the current colours to the rows that are not printed yet.
pub(super) fn dress(model: &mut Model) {
    model.preferences.theme = model.preferences.theme_for_terminal();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::msg::Msg;
    use crate::app::update::update;
    use crate::theme::Theme;

    #[test]
    fn the_terminal_chooses_among_the_themes_that_are_set() {
        let mut model = Model::default();
        assert_eq!(update(&mut model, Msg::Background(Background::Dark)), []);
        assert_eq!(model.preferences.theme.name(), "dark");
        assert_eq!(update(&mut model, Msg::Background(Background::Light)), []);
        assert_eq!(model.preferences.theme.name(), "light");
        let dark = Themes { light: Theme::dark(), dark: Theme::dark() };
        assert_eq!(update(&mut model, Msg::Themes(Ok(Box::new(dark)))), []);
        assert_eq!(update(&mut model, Msg::Background(Background::Dark)), []);
        assert_eq!(model.preferences.theme.name(), "dark");
        let cmds = update(&mut model, Msg::Themes(Ok(Box::default())));
        assert_eq!(cmds, [ScreenTask::AskBackground.into()], "nobody has asked while it did not matter");
    }

    #[test]
    fn a_theme_that_cannot_be_used_is_told() {
        let mut model = Model::default();
        update(&mut model, Msg::Themes(Err("the theme \"mine\" does not exist".to_owned())));
        assert_eq!(model.conversation.blocks().count(), 1);
        assert_eq!(model.preferences.theme.name(), "dark");
    }
}

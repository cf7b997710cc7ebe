//! `/theme`: a list of themes, each shown while the cursor is on it. Leaving brings the theme before back, and Enter stores the
//! chosen one as `/settings` does.

use offshoot_session::transcript::Level;
use offshoot_settings::{Scope, Value};

use super::dress;
use crate::app::cmd::{Cmd, ProgramTask};
use crate::app::model::{Model, Overlay, Picking, ThemePicking};
use crate::app::msg::ListedTheme;
use crate::overlay::pick::{Choice, Pick, PickOutcome};
use crate::theme::Themes;

/// What the list says of the themes that follow the terminal.
const AUTOMATIC: &str = "as the terminal's background";

/// Opens the list, unless something else was opened meanwhile.
pub(super) fn open(model: &mut Model, themes: Vec<ListedTheme>) -> Vec<Cmd> {
    if model.overlay.is_some() {
        return Vec::new();
    }
    let now = model.preferences.settings.theme.clone();
    let now = now.as_deref().unwrap_or(Themes::AUTOMATIC);
    let choice = |theme: &ListedTheme| Choice {
        label: theme.name.clone(),
        detail: match &theme.themes {
            Err(why) => why.clone(),
            Ok(_) if theme.name == Themes::AUTOMATIC => AUTOMATIC.to_owned(),
            Ok(_) => String::new(),
        },
        is_current: theme.name == now,
    };
    let pick = Pick::new("Theme", themes.iter().map(choice).collect());
    let picking = ThemePicking { themes, before: model.preferences.themes.clone() };
    model.overlay = Some(Overlay::Pick(Box::new(pick), Picking::Theme(Box::new(picking))));
    Vec::new()
}

/// Shows the theme under the cursor, stores the chosen one, or restores the one before.
pub(super) fn picked(model: &mut Model, outcome: PickOutcome, picking: &ThemePicking) -> Vec<Cmd> {
    match outcome {
        PickOutcome::Open => {
            let Some(Overlay::Pick(pick, _)) = &model.overlay else { return Vec::new() };
            let listed = pick.chosen().and_then(|at| picking.themes.get(at));
            let shown = listed.and_then(|listed| listed.themes.as_deref().ok()).unwrap_or(&picking.before);
            show(model, shown.clone())
        }
        PickOutcome::Cancelled => {
            model.overlay = None;
            show(model, picking.before.clone())
        }
        PickOutcome::Picked(at) => {
            model.overlay = None;
            match picking.themes.get(at) {
                Some(ListedTheme { name, themes: Ok(_) }) => {
                    model.shows_unstored_theme = true;
                    vec![ProgramTask::Store(Scope::Global, "theme", Some(Value::Text(name.clone()))).into()]
                }
                Some(ListedTheme { themes: Err(why), .. }) => {
                    model.notice(Level::Error, why.clone());
                    show(model, picking.before.clone())
                }
                None => show(model, picking.before.clone()),
            }
        }
    }
}

fn show(model: &mut Model, themes: Themes) -> Vec<Cmd> {
    dress::themes(model, Ok(Box::new(themes)))
}

/// After a try to store the chosen theme: the one of the settings counts, which a project may set.
pub(super) fn settle(model: &mut Model) -> Option<Cmd> {
    let is_shown = std::mem::take(&mut model.shows_unstored_theme);
    is_shown.then(|| ProgramTask::Themes(model.preferences.settings.theme.clone()).into())
}

#[cfg(test)]
mod tests {
    use offshoot_settings::{Layer, Layers};
    use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    use super::*;
    use crate::app::msg::Msg;
    use crate::app::update::update;
    use crate::theme::Theme;

    fn listed(name: &str, theme: &Theme) -> ListedTheme {
        let themes = Themes { light: theme.clone(), dark: theme.clone() };
        ListedTheme { name: name.to_owned(), themes: Ok(Box::new(themes)) }
    }

    fn opened() -> Model {
        let mut model = Model::default();
        let automatic = ListedTheme { name: Themes::AUTOMATIC.to_owned(), themes: Ok(Box::default()) };
        let broken = ListedTheme { name: "broken".to_owned(), themes: Err("broken.json: no colours".to_owned()) };
        let themes = vec![automatic, listed("dark", &Theme::dark()), listed("light", &Theme::light()), broken];
        update(&mut model, Msg::ThemeList(themes));
        model
    }

    fn press(model: &mut Model, code: KeyCode) -> Vec<Cmd> {
        update(model, Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)))
    }

    fn name_of(model: &Model) -> &str {
        model.preferences.theme.name()
    }

    #[test]
    fn the_theme_under_the_cursor_is_shown_and_escape_brings_the_one_before_back() {
        let mut model = opened();
        assert_eq!(name_of(&model), "dark");
        press(&mut model, KeyCode::Down);
        press(&mut model, KeyCode::Down);
        assert_eq!(name_of(&model), "light");
        press(&mut model, KeyCode::Esc);
        assert!(model.overlay.is_none());
        assert_eq!(name_of(&model), "dark");
    }

    #[test]
    fn enter_stores_the_theme_and_a_failure_brings_the_one_before_back() {
        let mut model = opened();
        press(&mut model, KeyCode::Up);
        press(&mut model, KeyCode::Up);
        let cmds = press(&mut model, KeyCode::Enter);
        let store = ProgramTask::Store(Scope::Global, "theme", Some(Value::Text("light".to_owned())));
        assert_eq!(cmds, [store.into()]);
        assert_eq!(name_of(&model), "light", "it is not drawn in the colours before meanwhile");
        let cmds = update(&mut model, Msg::Stored(Err("the disk is full".to_owned())));
        assert_eq!(cmds, [ProgramTask::Themes(None).into()]);
    }

    /// A project's file sets another one.
    #[test]
    fn the_theme_of_the_settings_counts_in_the_end() {
        let mut model = opened();
        model.shows_unstored_theme = true;
        let layers = Layers { global: Layer::read("{}", Scope::Global).unwrap().0, ..Layers::default() };
        assert_eq!(update(&mut model, Msg::Stored(Ok(layers))), [ProgramTask::Themes(None).into()]);
    }

    #[test]
    fn a_broken_theme_says_why_and_is_not_stored() {
        let mut model = opened();
        press(&mut model, KeyCode::Up);
        assert_eq!(name_of(&model), "dark");
        assert_eq!(press(&mut model, KeyCode::Enter), []);
        let said: Vec<_> = model.conversation.blocks().map(|block| format!("{block:?}")).collect();
        assert!(said.concat().contains("broken.json: no colours"), "{said:?}");
    }
}

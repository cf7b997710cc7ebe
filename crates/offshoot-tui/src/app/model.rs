//! All that the front end holds. Plain data; [`super::update`] alone changes it.

use std::path::PathBuf;
use std::sync::Arc;

use offshoot_agent::provider::{Model as LanguageModel, ThinkingLevel};
use offshoot_session::clock::Millis;
use offshoot_session::transcript::Level;
use ratatui::layout::Size;

use super::live::Live;
use super::msg::Looked;
use super::page::Page;
use super::pager::Pager;
use crate::conversation::Conversation;
use crate::editor::Editor;
use crate::image::CellSize;
use crate::keymap::Keymap;
use crate::message::{Habits, PictureSize};
use crate::overlay::fork::{ForkSelector, ForkUse};
use crate::overlay::help::Help;
use crate::overlay::pick::Pick;
use crate::overlay::sessions::Sessions;
use crate::overlay::settings::Settings as SettingsList;
use crate::overlay::tree::TreeSelector;
use crate::terminal::ColourDepth;
use crate::theme::{Background, Theme, Themes};
use offshoot_settings::{ImageProtocol, Settings};

/// How long a picture of the spinner stays, in milliseconds.
pub(crate) const SPINNER_STEP: Millis = 120;
/// How often seconds are counted without a spinner.
const STILL_STEP: u64 = 500;

/// What the user has set, as far as it concerns the front end.
#[derive(Debug, Clone)]
pub struct Wishes {
    pub theme: Theme,
    pub themes: Themes,
    pub background: Background,
    pub depth: ColourDepth,
    pub keymap: Keymap,
    pub habits: Habits,
    pub settings: Settings,
    /// The home folder, which is shown as `~`.
    pub home: Option<String>,
    /// How the terminal takes pictures, if it does.
    pub images: Option<ImageProtocol>,
    pub rewraps: bool,
    /// Whether the terminal has the letters of a spinner.
    pub animates: bool,
    pub zone: jiff::tz::TimeZone,
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            theme: Theme::default(),
            themes: Themes::default(),
            background: Background::default(),
            depth: ColourDepth::default(),
            keymap: Keymap::default(),
            habits: Habits::default(),
            settings: Settings::default(),
            home: None,
            images: None,
            rewraps: true,
            animates: true,
            zone: jiff::tz::TimeZone::UTC,
        }
    }
}

impl Wishes {
    /// The colours for the terminal, by what is set and what the terminal is.
    #[must_use]
    pub fn theme_for_terminal(&self) -> Theme {
        self.themes.on(self.background).clone().at(self.depth.with_true_color(self.settings.true_color))
    }

    /// How pictures are sent, by what is set and what the terminal is.
    #[must_use]
    pub fn protocol(&self) -> Option<ImageProtocol> {
        self.settings.images.or(self.images)
    }

    /// Whether a spinner turns.
    #[must_use]
    pub fn is_moving(&self) -> bool {
        self.animates && !self.settings.reduced_motion
    }

    /// Whether it matters which background the terminal has.
    #[must_use]
    pub fn minds_background(&self) -> bool {
        self.themes.differ(self.depth.with_true_color(self.settings.true_color))
    }
}

/// All that the front end holds.
#[derive(Debug, Default)]
pub struct Model {
    pub now: Millis,
    pub size: Size,
    /// How many pixels one of its cells has.
    pub cell: CellSize,
    pub wishes: Wishes,
    pub editor: Editor,
    pub conversation: Conversation,
    pub live: Live,
    pub overlay: Option<Overlay>,
    pub looked: Looked,
    /// The branch that git has checked out in the session's folder.
    pub git_branch: Option<String>,
    /// Ids and names of the sessions that were open, the last one at the end.
    pub visited: Vec<(String, Option<String>)>,
    /// Until when another size of the terminal may follow the last one.
    pub resizes_until: Millis,
    pub is_working: bool,
    pub retry_at: Option<Millis>,
    /// Since when something has been awaited without a pause.
    pub awaited_since: Option<Millis>,
    /// What waits to be said: after the current turn, and when the agent would stop.
    pub queue: (Vec<String>, Vec<String>),
    pub folds: (bool, bool),
    /// The block that the reader opens at, with its output unfolded.
    pub reader_block: Option<u64>,
    /// When Ctrl+C was pressed last.
    pub interrupted: Option<Millis>,
    /// When Escape was pressed last, with nothing to stop.
    pub escaped: Option<Millis>,
    /// Whether the program runs for nothing but the choice of a session, and ends with it.
    pub is_choosing: bool,
    pub chosen: Option<PathBuf>,
    pub is_ending: bool,
}

impl Model {
    /// A front end for a user who wishes this, with a text that was being written before.
    #[must_use]
    pub fn new(wishes: Wishes, mut editor: Editor, draft: &str) -> Self {
        if !draft.is_empty() {
            editor.replace(draft);
        }
        let folds = (!wishes.settings.hide_thinking, false);
        let mut model = Self { wishes, editor, folds, ..Self::default() };
        model.apply_settings();
        model
    }

    /// Has the editor and what is said look as the settings say.
    pub fn apply_settings(&mut self) {
        let settings = &self.wishes.settings;
        self.editor.set_completion_rows(settings.completion_rows);
        self.editor.set_padding(settings.editor_padding);
        self.wishes.habits.is_flush = !settings.indents_answers;
    }

    /// Whether something is awaited, so that what is shown changes without a key.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        self.is_working || self.conversation.has_shell() || self.conversation.job().is_some()
    }

    /// Whether the person may still be dragging the terminal's edge.
    #[must_use]
    pub fn is_resizing(&self) -> bool {
        self.now < self.resizes_until
    }

    /// After how many milliseconds the rows look different without any news; `None`: they stay.
    #[must_use]
    pub fn next_look(&self) -> Option<u64> {
        if self.is_under_way() && self.wishes.is_moving() {
            Some(SPINNER_STEP.cast_unsigned())
        } else {
            (self.is_under_way() || self.is_resizing()).then_some(STILL_STEP)
        }
    }

    /// Whether something wants time when nothing else is to be done: [`super::msg::Msg::Idle`] goes on with it.
    #[must_use]
    pub fn has_work(&self) -> bool {
        matches!(&self.overlay, Some(Overlay::Tree(tree)) if tree.is_at_work())
    }

    /// A front end that ends when a session is chosen, or none.
    #[must_use]
    pub fn choosing(wishes: Wishes, sessions: Sessions) -> Self {
        let overlay = Some(Overlay::Sessions(Box::new(sessions)));
        Self { overlay, is_choosing: true, ..Self::new(wishes, Editor::default(), "") }
    }

    /// Finds out how large pictures are shown, after the terminal, or what the user has set, has changed.
    pub fn measure(&mut self) {
        let settings = &self.wishes.settings;
        let shows = self.wishes.protocol().is_some() && settings.show_images;
        // A picture is drawn when the last of its rows is printed: the first is still on the screen then.
        let most = Size::new(settings.image_columns, self.size.height.saturating_sub(4));
        let new = shows.then_some(PictureSize { cell: self.cell, most });
        let is_other = std::mem::replace(&mut self.wishes.habits.picture_size, new) != new;
        if is_other && let Some(Overlay::Transcript(pager)) = &mut self.overlay {
            pager.set_habits(self.wishes.habits.clone());
        }
    }

    /// Something that the user shall know.
    pub fn notice(&mut self, level: Level, text: impl Into<String>) {
        self.conversation.notice(level, text);
    }
}

/// What covers the conversation.
#[derive(Debug)]
pub enum Overlay {
    Tree(Box<TreeSelector>),
    Sessions(Box<Sessions>),
    Fork(Box<ForkSelector>, ForkUse),
    Transcript(Box<Pager>),
    Help(Box<Help>),
    Settings(Box<SettingsList>),
    Page(Page),
    Pick(Box<Pick>, Picking),
}

impl Overlay {
    /// Whether it takes the whole screen.
    #[must_use]
    pub fn is_full(&self) -> bool {
        !matches!(self, Self::Pick(..))
    }
}

/// What a small list is of.
#[derive(Debug, Clone)]
pub enum Picking {
    Model(Vec<Arc<LanguageModel>>),
    Thinking(Vec<ThinkingLevel>),
    /// Branches, by their last entries.
    Branch(Vec<String>),
}

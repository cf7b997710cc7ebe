//! The state of the front end. It is plain data, and only [`super::update`] changes it.

use std::path::PathBuf;
use std::sync::Arc;

use offshoot_protocol::model::Model as LanguageModel;
use offshoot_protocol::{ApprovalDecision, ApprovalMode, BackgroundCommand, OfferedRule, ThinkingLevel};
use offshoot_session::clock::Millis;
use offshoot_session::id::EntryId;
use offshoot_session::transcript::Level;
use ratatui::layout::Size;

use super::attention::Attention;
use super::call_list::{AskedCall, CallList, ListedCall};
use super::children::ChildAgents;
use super::cmd::Cmd;
use super::extension::{AskedQuestion, Extensions, OpenComponent};
use super::live::Live;
use super::msg::{ListedTheme, SessionFacts};
use super::page::Page;
use super::pager::Pager;
use super::reader::HitReader;
use crate::conversation::Conversation;
use crate::editor::Editor;
use crate::image::CellSize;
use crate::keymap::Keymap;
use crate::message::{Habits, PictureSize};
use crate::overlay::dialog::Dialog;
use crate::overlay::fork::{ForkSelector, ForkUse};
use crate::overlay::help::Help;
use crate::overlay::model_scope::ModelScopeList;
use crate::overlay::pick::Pick;
use crate::overlay::prompts::PromptSearch;
use crate::overlay::search::HitSearch;
use crate::overlay::sessions::Sessions;
use crate::overlay::settings::Settings as SettingsList;
use crate::overlay::tree::TreeSelector;
use crate::terminal::{ColourDepth, Notifier};
use crate::theme::{Background, Theme, Themes};
use offshoot_settings::{ImageProtocol, Settings};

/// How long one frame of the spinner is shown, in milliseconds.
pub(crate) const SPINNER_STEP: Millis = 120;
/// How soon keys that wait for an extension are looked at again, in milliseconds.
const HELD_STEP: u64 = 100;
/// How often the elapsed seconds are updated without a spinner, in milliseconds.
const STILL_STEP: u64 = 500;
/// A size that follows another one within so many milliseconds is not unusual: windows are arranged one after another.
const SIZES_FOLLOW: Millis = 10_000;

/// The user's settings and the terminal's features, as far as the front end uses them.
#[derive(Debug, Clone)]
pub struct Preferences {
    pub theme: Theme,
    pub themes: Themes,
    pub background: Background,
    pub depth: ColourDepth,
    pub keymap: Keymap,
    pub habits: Habits,
    pub settings: Settings,
    /// The home directory, shown as `~`.
    pub home: Option<String>,
    /// The terminal's image protocol, if it has one.
    pub images: Option<ImageProtocol>,
    pub rewraps: bool,
    /// Whether the terminal can show the characters of the spinner.
    pub animates: bool,
    /// Whether the terminal may be asked which modes it knows.
    pub answers_modes: bool,
    pub zone: jiff::tz::TimeZone,
    /// How the terminal notifies people, as far as it can be told by its variables.
    pub notifier: Notifier,
}

impl Default for Preferences {
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
            answers_modes: true,
            zone: jiff::tz::TimeZone::UTC,
            notifier: Notifier::default(),
        }
    }
}

impl Preferences {
    /// The theme for the terminal's background and colour depth.
    #[must_use]
    pub fn theme_for_terminal(&self) -> Theme {
        self.themes.on(self.background).clone().at(self.depth.with_true_color(self.settings.true_color))
    }

    /// The configured image protocol, or else the terminal's.
    #[must_use]
    pub fn protocol(&self) -> Option<ImageProtocol> {
        self.settings.images.or(self.images)
    }

    /// Whether the spinner is animated.
    #[must_use]
    pub fn is_moving(&self) -> bool {
        self.animates && !self.settings.reduced_motion
    }

    /// Whether the theme depends on the terminal's background.
    #[must_use]
    pub fn minds_background(&self) -> bool {
        self.themes.differ(self.depth.with_true_color(self.settings.true_color))
    }
}

/// The state of the front end.
#[derive(Debug, Default)]
pub struct Model {
    pub now: Millis,
    pub size: Size,
    /// The size of a terminal cell in pixels.
    pub cell: CellSize,
    pub preferences: Preferences,
    pub editor: Editor,
    pub conversation: Conversation,
    pub live: Live,
    pub overlay: Option<Overlay>,
    pub facts: SessionFacts,
    /// Commands that run beside the conversation, or have.
    pub background: Vec<BackgroundCommand>,
    /// The agents that the open session has started.
    pub agents: ChildAgents,
    /// Whether the user wants to go to newer work on another branch, and it is not known yet whether there is any.
    pub goes_to_diverged: bool,
    /// What the rows at the start name, once it is known.
    pub start: Option<Box<SessionFacts>>,
    /// The ids and names of the sessions that were opened, the latest last.
    pub visited: Vec<(String, Option<String>)>,
    /// Until when another resize of the terminal is expected.
    pub resizes_until: Millis,
    /// When the terminal's size last changed.
    pub resized_at: Option<Millis>,
    /// When rows above the editor last came, went or changed their lengths on the screen.
    pub laid_out_at: Millis,
    /// A prompt or a run is under way.
    pub is_working: bool,
    /// A run is under way. A command of an extension is none, but may begin one.
    pub is_in_run: bool,
    pub retry_at: Option<Millis>,
    /// The number of the next retry, and of all that there may be.
    pub retry_number: (u32, u32),
    /// The time of the agent's last event.
    pub heard_at: Millis,
    /// Whether a paste goes on whose end is missing. Keys are part of it.
    pub has_open_paste: bool,
    /// The start of the current wait.
    pub awaited_since: Option<Millis>,
    /// The queued messages: for after the current turn, and for when the agent would stop.
    pub queue: (Vec<String>, Vec<String>),
    /// Whether the queued messages that come back will not be sent otherwise.
    pub tells_unsent: bool,
    /// A notice about queued messages that waits for the end of the answer.
    pub unsent_notice: Option<String>,
    pub folds: (bool, bool),
    /// The block that the pager opens at, with its output unfolded.
    pub reader_block: Option<u64>,
    /// The time of the last Ctrl+C.
    pub interrupted: Option<Millis>,
    /// The time of the last Escape that had nothing to stop.
    pub escaped: Option<Millis>,
    /// Whether the program runs only to choose a session, and then ends.
    pub is_choosing: bool,
    /// Whether the colours are those of a theme that was chosen and may not be stored yet.
    pub shows_unstored_theme: bool,
    pub chosen: Option<PathBuf>,
    /// The entry from which the user goes on in the session that is being opened.
    pub goes_on_at: Option<EntryId>,
    pub is_ending: bool,
    pub approval: ApprovalMode,
    /// The question whether a call may run.
    pub question: Option<Question>,
    /// What was decided in a list about later calls of the answer; `None` before anything was.
    pub decided: Option<Vec<ListedCall>>,
    pub attention: Attention,
    pub extensions: Extensions,
}

/// A question whether a call may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub id: u64,
    pub call: AskedCall,
    /// The calls of the same answer that are asked about too, with this one.
    pub list: Option<CallList>,
    /// The rule that allows the same call later.
    pub rule: Option<String>,
    /// All rules that can be kept, with what each allows, the narrowest first.
    pub rules: Vec<OfferedRule>,
    /// Which of them is selected.
    pub selected: usize,
    /// What a yes means.
    pub once: ApprovalDecision,
    /// How many calls come after this one.
    pub waiting: usize,
    pub stage: QuestionStage,
    /// How many rows of the call are above the first one that is shown.
    pub scrolled: usize,
    /// The text of the editor, while the editor is used to say why the call is refused.
    pub draft: String,
}

/// Who gets the keys while a question is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QuestionStage {
    /// The editor.
    #[default]
    Shown,
    /// Letters answer.
    Answering,
    /// The user chooses a rule and where it counts, and sees what it allows.
    Choosing,
    /// The editor: its text says why the call is refused.
    Explaining,
}

impl Model {
    /// A front end with these settings, and with a draft in the editor.
    #[must_use]
    pub fn new(preferences: Preferences, mut editor: Editor, draft: &str) -> Self {
        if !draft.is_empty() {
            editor.replace(draft);
        }
        let folds = (!preferences.settings.hide_thinking, false);
        let mut model = Self { preferences, editor, folds, ..Self::default() };
        model.apply_settings();
        model
    }

    /// Applies the settings to the editor and to the look of the conversation.
    pub fn apply_settings(&mut self) {
        let settings = &self.preferences.settings;
        self.editor.set_completion_rows(settings.completion_rows);
        self.editor.set_padding(settings.editor_padding);
        self.preferences.habits.is_flush = !settings.indents_answers;
    }

    /// Shows or hides the times of messages. Returns whether they are shown now.
    pub(crate) fn toggle_times(&mut self) -> bool {
        let times = &mut self.preferences.habits.times;
        *times = if times.is_some() { None } else { Some(self.preferences.zone.clone()) };
        let is_shown = times.is_some();
        self.rehabituate();
        is_shown
    }

    /// Whether a turn, a command or another job is running.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        self.is_working || self.conversation.has_shell() || self.conversation.job().is_some()
    }

    /// Whether the user may still be resizing the terminal.
    #[must_use]
    pub fn is_resizing(&self) -> bool {
        self.now < self.resizes_until
    }

    /// Whether the size changed a short time ago, so that it may well change again.
    #[must_use]
    pub fn expects_sizes(&self) -> bool {
        self.resized_at.is_some_and(|at| self.now - at < SIZES_FOLLOW)
    }

    /// Whether something takes the whole screen.
    #[must_use]
    pub fn is_covered(&self) -> bool {
        self.overlay.as_ref().is_some_and(Overlay::is_full) || self.extensions.overlays().next().is_some()
    }

    /// Whether completions or a short list are open. Where the screen has no room for them, they take all of it and give it back:
    /// printed rows that scroll away for them would not come back. With reduced motion, and in a terminal without an alternate screen,
    /// they cover printed rows (`screen/region`).
    #[must_use]
    pub fn has_passing_rows(&self) -> bool {
        let is_open = match &self.overlay {
            Some(Overlay::Component(_)) => false,
            Some(overlay) => !overlay.is_full(),
            None => self.editor.is_completing(),
        };
        is_open && self.preferences.rewraps && self.preferences.is_moving()
    }

    /// The milliseconds until the rows change without a message; `None` if they do not change.
    #[must_use]
    pub fn next_look(&self) -> Option<u64> {
        let counts_down = matches!(&self.overlay, Some(Overlay::Dialog(dialog, _)) if dialog.counts_down());
        let usual = if self.is_under_way() && self.preferences.is_moving() {
            Some(SPINNER_STEP.cast_unsigned())
        } else {
            (self.is_under_way() || self.is_resizing() || counts_down).then_some(STILL_STEP)
        };
        // A question that waits for the end of the typing.
        let patience = self.overlay.is_none().then(|| self.extensions.patience(self.now)).flatten();
        // Keys that extensions have not answered for.
        let held = (!self.extensions.listening.held.is_empty()).then_some(HELD_STEP);
        // Somebody who does not answer is called.
        let call = self.attention.due.map(|due| due.saturating_sub(self.now).max(1).cast_unsigned());
        patience.map(Millis::cast_unsigned).into_iter().chain(usual).chain(held).chain(call).min()
    }

    /// Names the summary that begins, unless other work is under way: the agent will refuse it.
    pub fn begin_job(&mut self, job: &str) {
        if !self.is_working && self.conversation.job().is_none() {
            self.conversation.set_job(Some(job));
        }
    }

    /// Whether there is idle work. [`super::msg::Msg::Idle`] continues it.
    #[must_use]
    pub fn has_work(&self) -> bool {
        match &self.overlay {
            Some(Overlay::Tree(tree)) => tree.is_at_work(),
            Some(Overlay::Transcript(pager)) => pager.is_at_work(),
            Some(Overlay::Reader(reader, _)) => reader.is_at_work(),
            _ => false,
        }
    }

    /// A front end that ends when a session is chosen, or when the choice is cancelled.
    #[must_use]
    pub fn choosing(preferences: Preferences, sessions: Sessions) -> Self {
        let overlay = Some(Overlay::Sessions(Box::new(sessions)));
        Self { overlay, is_choosing: true, ..Self::new(preferences, Editor::default(), "") }
    }

    /// Computes the picture size after a change of the terminal or of the settings.
    pub fn measure(&mut self) {
        let settings = &self.preferences.settings;
        let shows = self.preferences.protocol().is_some() && settings.show_images;
        // A picture is drawn when its last row is printed. Its first row must still be on the screen then.
        let most = Size::new(settings.image_columns, self.size.height.saturating_sub(4));
        let new = shows.then_some(PictureSize { cell: self.cell, most });
        let is_other = std::mem::replace(&mut self.preferences.habits.picture_size, new) != new;
        if is_other {
            self.rehabituate();
        }
    }

    /// Lays out anew what is being read.
    fn rehabituate(&mut self) {
        match &mut self.overlay {
            Some(Overlay::Transcript(pager)) => pager.set_habits(self.preferences.habits.clone()),
            Some(Overlay::Reader(reader, _)) => reader.set_habits(&self.preferences.habits),
            _ => {}
        }
    }

    /// Whether the agent or an operation on the session is at work.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.is_working || self.conversation.job().is_some()
    }

    /// Commands that run in the background.
    pub fn running(&self) -> impl Iterator<Item = &BackgroundCommand> {
        self.background.iter().filter(|command| command.is_running())
    }

    /// Agents that go on beside the conversation: those of a call that waits for them are a part of it.
    pub fn agents_in_background(&self) -> impl Iterator<Item = &str> {
        self.agents.running().filter(|_| !self.is_working)
    }

    /// The text that comes back after a crash: the queued messages, then the text in the editor.
    #[must_use]
    pub fn kept_draft(&self) -> String {
        let (steering, follow_up) = &self.queue;
        let draft = self.editor.draft();
        if steering.is_empty() && follow_up.is_empty() {
            return draft;
        }
        let all = steering.iter().chain(follow_up).chain([&draft]).map(String::as_str);
        all.filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    /// Adds a notice for the user.
    pub fn notice(&mut self, level: Level, text: impl Into<String>) {
        self.conversation.notice(level, text);
    }
}

/// A selector, question or page that covers the conversation.
#[derive(Debug)]
pub enum Overlay {
    Tree(Box<TreeSelector>),
    Sessions(Box<Sessions>),
    Fork(Box<ForkSelector>, ForkUse),
    Transcript(Box<Pager>),
    Search(Box<HitSearch>),
    /// A hit that is read, over the list that it comes from.
    Reader(Box<HitReader>, Box<Overlay>),
    Help(Box<Help>),
    Settings(Box<SettingsList>),
    Page(Page),
    Pick(Box<Pick>, Picking),
    ModelScope(Box<ModelScopeList>),
    /// Earlier prompts.
    Prompts(Box<PromptSearch>),
    /// A component of an extension.
    Component(OpenComponent),
    /// A question of an extension.
    Dialog(Box<Dialog>, Box<AskedQuestion>),
}

impl Overlay {
    /// Whether the overlay takes the whole screen. A long list does: in the editor's place it would push the conversation
    /// into the scrollback.
    #[must_use]
    pub fn is_full(&self) -> bool {
        match self {
            Self::Pick(pick, _) => pick.is_long(),
            Self::ModelScope(list) => list.is_long(),
            Self::Dialog(dialog, _) => dialog.is_long(),
            Self::Component(_) => false,
            Self::Tree(_)
            | Self::Sessions(_)
            | Self::Fork(..)
            | Self::Transcript(_)
            | Self::Search(_)
            | Self::Reader(..)
            | Self::Help(_)
            | Self::Settings(_)
            | Self::Prompts(_)
            | Self::Page(_) => true,
        }
    }
}

/// The choices of a small list.
#[derive(Debug, Clone)]
pub enum Picking {
    Model(Vec<PickedModel>),
    Thinking(Vec<ThinkingLevel>),
    Approval,
    Trust,
    /// The folders in which the session of a file can be continued.
    SessionFolder(PathBuf, Vec<PathBuf>),
    /// Branches, by the ids of their last entries.
    Branch(Vec<String>),
    /// Whether the work under way may be stopped for a command that leaves the session.
    Leaving(Box<Cmd>),
    /// Whether the program ends although commands run in the background.
    Ending,
    /// Commands in the background, by their ids.
    Background(Vec<String>),
    /// Agents of the session, by their ids.
    Agents(Vec<String>),
    Theme(Box<ThemePicking>),
}

/// A row of the list of models.
#[derive(Debug, Clone)]
pub enum PickedModel {
    Model(Arc<LanguageModel>),
    /// The servers of this machine are asked for theirs.
    OfThisMachine,
}

/// The themes of a list.
#[derive(Debug, Clone)]
pub struct ThemePicking {
    pub themes: Vec<ListedTheme>,
    /// Those before the list was opened.
    pub before: Themes,
}

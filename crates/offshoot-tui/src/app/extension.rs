//! What extensions show on the screen and ask the user. It does not know who runs them.
//!
//! Components live in the process of the extensions, by number: the front end asks for their rows at a width, and keeps
//! the last ones.

use std::collections::{BTreeMap, VecDeque};

use offshoot_protocol::{ApprovalMode, Form, FormAnswer};
use offshoot_session::clock::Millis;

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Rect, Size};

use super::overlay_place::OverlayPlace;
use super::text_cursor::TextCursor;
use crate::editor::Choice;
use crate::keymap::{Action, Key};
use crate::message::{DrawnCall, Foldable};
use crate::theme::{Theme, Themes};

/// The number of a component in the process of the extensions.
pub type ComponentId = u64;

/// What extensions show besides questions. It is bounded by who sends it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExtensionScreen {
    /// Texts of the status line, by their keys. Foreign, perhaps with styles.
    pub statuses: BTreeMap<String, String>,
    /// In the order in which they came.
    pub widgets: Vec<ExtensionWidget>,
    /// Instead of the status line.
    pub footer: Option<ComponentId>,
    /// Printed once.
    pub header: Option<ComponentId>,
    /// In place of offshoot's.
    pub editor: Option<ComponentId>,
    pub work: WorkRow,
    /// Instead of the first words of a folded thought.
    pub thinking_label: Option<String>,
}

/// How the row of the work under way looks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkRow {
    pub message: Option<String>,
    pub is_hidden: bool,
    /// The frames of the spinner; empty without one.
    pub frames: Option<Vec<String>>,
    /// How long a frame is shown, in milliseconds.
    pub step: u32,
}

/// Rows of an extension beside the editor.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ExtensionWidget {
    pub key: String,
    pub is_below: bool,
    pub content: WidgetContent,
}

/// What is in a widget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WidgetContent {
    /// Foreign, perhaps with styles.
    Lines(Vec<String>),
    Component(ComponentId),
}

/// Names a question and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedId {
    /// Of an extension.
    Extension(u64),
    /// Of a tool or a server: an event of the agent.
    Agent(u64),
}

/// A question that waits for its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedQuestion {
    /// Who asks, and which question.
    pub id: AskedId,
    pub form: Form,
    /// How long it waits for an answer, in milliseconds.
    pub timeout: Option<u64>,
}

/// What an extension reads of the front end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum ExtensionLook {
    EditorText,
    ToolsExpanded,
    /// The colours in use.
    Theme,
    GitBranch,
    /// What an editor begins with: the text, the prompts before, the padding, and the actions that are not for writing.
    Editor,
    /// The keys of all actions.
    Keys,
}

/// A message of extensions to the front end.
#[derive(Debug, Clone, PartialEq)]
pub enum ExtensionMsg {
    /// Everything that is shown, anew.
    Screen(Box<ExtensionScreen>),
    Ask(AskedQuestion),
    /// Nobody waits for the answer any more.
    Withdraw(u64),
    /// Of the terminal's window.
    Title(String),
    SetEditor(String),
    PasteToEditor(String),
    SetToolsExpanded(bool),
    /// Answered with [`ExtensionTask::Seen`].
    Look(u64, ExtensionLook),
    /// This group of processes wants the terminal for a while. The number names the wish.
    Lend(u64, u32),
    /// The program ends when nothing runs.
    Shutdown,
    /// A guard did not load, or is there again: the mode of approval is this one.
    Approval(ApprovalMode),
    /// The keys that extensions have registered.
    Shortcuts(Vec<String>),
    /// Puts a component in place of the editor until [`ExtensionMsg::Withdraw`] names this number.
    OpenComponent(OpenComponent),
    /// Shows it, or not.
    HideComponent(ComponentId, bool),
    /// Gives it the keys, or takes them from it.
    FocusComponent(ComponentId, bool),
    /// These would now draw other rows.
    Invalid(Vec<ComponentId>),
    /// The rows of a component at this width, or why there are none.
    Rendered(ComponentId, u16, Result<ComponentRows, String>),
    /// The rows of a message with this type and text.
    DrawnNote {
        custom_type: String,
        text: String,
        rows: Foldable<Vec<String>>,
    },
    /// The rows of an entry of this type that is shown nowhere else.
    DrawnEntry {
        custom_type: String,
        id: String,
        rows: Foldable<Vec<String>>,
    },
    /// What is shown in place of a text.
    ShownText {
        text: String,
        shown: String,
    },
    /// The blocks of the place that was opened with this number are drawn, as far as they will be.
    HistoryDrawn(u64),
    /// The rows of a call with this id.
    DrawnCall(String, Foldable<DrawnCall>),
    /// These calls would be drawn otherwise now.
    StaleCalls(Vec<String>),
    /// It has dealt with a key.
    Handled(ComponentId),
    /// It was gone when these bytes of a terminal came.
    NotTaken(ComponentId, String),
    /// The text of the editor in place of offshoot's, and its cursor as a place in the bytes.
    EditorChanged(ComponentId, String, Option<usize>),
    EditorSubmitted(ComponentId, String),
    /// A key of this action was pressed in it.
    EditorAction(ComponentId, Action),
    /// Whether an extension wants every key first.
    Listens(bool),
    /// What it made of the key with this number.
    Heard(u64, HeardKey),
    /// Extensions complete what is written; the characters at which a word begins that they may know.
    Completes(Vec<char>),
    /// What they offer for the text with this number; `None` for nothing of their own.
    Suggested(u64, Option<ForeignSuggestions>),
    /// The text and the cursor with a choice of theirs, for the text with this number.
    Applied(u64, String, usize),
    /// A theme that an extension chose; with the setting that names it.
    Themes(Box<Themes>, Option<String>),
}

/// What extensions made of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum HeardKey {
    AsItWas,
    Consumed,
    /// Bytes of a terminal.
    Changed(String),
}

/// What extensions offer for the text before the cursor.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignSuggestions {
    /// The end of the text before the cursor that a choice replaces.
    pub prefix: String,
    pub choices: Vec<Choice>,
    /// The choices as the extension wrote them.
    pub items: Vec<serde_json::Value>,
}

/// A text that is being completed, in the extensions' measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completing {
    /// Names the answer.
    pub id: u64,
    pub lines: Vec<String>,
    pub line: usize,
    /// In units of UTF-16.
    pub column: usize,
}

/// A task for the program that runs the extensions.
#[derive(Debug, Clone, PartialEq)]
pub enum ExtensionTask {
    Answer(u64, FormAnswer),
    /// What an extension wanted to read.
    Seen(u64, serde_json::Value),
    /// The extensions of this run, as a page.
    List,
    /// List the values of the argument of an extension's command; answered with [`super::msg::Msg::Choices`].
    Complete(String),
    /// A key that an extension has registered, as it is written there.
    Shortcut(String),
    /// Answered with [`ExtensionMsg::Rendered`].
    #[expect(missing_docs, reason = "the names say what they are")]
    Render {
        component: ComponentId,
        columns: u16,
        /// Of the terminal.
        screen: Size,
    },
    /// Where the rows of an overlay are on the screen.
    Placed(ComponentId, Rect),
    /// Bytes of a terminal; answered with [`ExtensionMsg::Handled`].
    Input(ComponentId, String),
    /// Another text for the editor in place of offshoot's, with so many characters after the cursor.
    #[expect(missing_docs, reason = "the names say what they are")]
    EditorText {
        component: ComponentId,
        text: String,
        after: usize,
    },
    /// This editor has lost its place.
    LeaveEditor(ComponentId),
    /// Bytes of a terminal for those who listen; answered with [`ExtensionMsg::Heard`].
    Listen(u64, String),
    /// Answered with [`ExtensionMsg::Suggested`]. With what offshoot itself offers; by force if the user asked for it.
    #[expect(missing_docs, reason = "the names say what they are")]
    Suggest {
        text: Completing,
        own: Option<(String, Vec<Choice>)>,
        is_forced: bool,
    },
    /// Answered with [`ExtensionMsg::Applied`].
    #[expect(missing_docs, reason = "the names say what they are")]
    Apply {
        text: Completing,
        item: serde_json::Value,
        prefix: String,
    },
    /// Draw these calls again.
    Redraw(Vec<String>),
    /// The colours have changed.
    Theme(serde_json::Value),
}

/// The rows of a component. Foreign, perhaps with styles.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ComponentRows {
    pub rows: Vec<String>,
    /// Column and row.
    pub cursor: Option<(u16, u16)>,
}

/// A component that takes the place of the editor, or is above everything else.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpenComponent {
    /// Names the answer.
    pub id: u64,
    pub component: ComponentId,
    /// Whether it is not shown for now.
    pub is_hidden: bool,
    /// Of an overlay.
    pub place: Option<OverlayPlace>,
    /// Whether it gets the keys.
    pub is_focused: bool,
}

/// What is known of a component that is on the screen.
#[derive(Debug, Default)]
pub struct ShownComponent {
    pub drawn: ComponentRows,
    /// The width of these rows.
    pub columns: u16,
    /// The last place of an overlay.
    area: Option<Rect>,
    /// Whether it would draw other rows now.
    is_stale: bool,
    is_asked: bool,
}

/// The state of the front end that belongs to extensions.
#[derive(Debug, Default)]
pub struct Extensions {
    pub screen: ExtensionScreen,
    /// Questions that wait for their turn, with the times when they are withdrawn.
    pub waiting: VecDeque<(AskedQuestion, Option<Millis>)>,
    /// In place of the editor, or above everything else, the last one on top.
    pub open: Vec<OpenComponent>,
    pub components: BTreeMap<ComponentId, ShownComponent>,
    /// The component that has not dealt with a key yet, and since when it has had it.
    pub unhandled: Option<(ComponentId, Millis)>,
    /// The header that is printed.
    pub printed_header: Option<ComponentId>,
    /// When a key has last changed the editor's text.
    pub typed_at: Option<Millis>,
    /// The command of an extension, template or skill that was sent and has not begun a turn.
    pub called: Option<String>,
    /// Keys of extensions, with their texts.
    pub shortcuts: Vec<(Key, String)>,
    /// Whether an extension wants the program to end.
    pub is_ending: bool,
    /// The title of the window that one of them has set.
    pub title: Option<String>,
    /// The editor that was in place of offshoot's last.
    pub last_editor: Option<ComponentId>,
    /// Whether the user has heard that the editor of an extension hangs.
    pub is_hanging: bool,
    /// The text that the editor in place of offshoot's has, as far as is known.
    pub editor_text: String,
    pub listening: Listening,
    pub completing: ForeignCompletion,
    /// What overlays are drawn upon, with the editor's cursor.
    pub beneath: Option<(Buffer, Option<TextCursor>)>,
    /// The theme that extensions know; `None` if none has asked.
    pub theme: Option<Theme>,
    numbers: u64,
}

/// Keys that extensions get before offshoot.
#[derive(Debug, Default)]
pub struct Listening {
    pub is_on: bool,
    /// Keys that wait for their answers, in their order.
    pub held: VecDeque<HeldInput>,
    /// Whether keys go past extensions that did not answer in time, until they do.
    pub is_late: bool,
}

/// A key that waits for what extensions make of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct HeldInput {
    pub id: u64,
    pub input: Input,
    pub since: Millis,
    pub heard: Option<HeardKey>,
}

/// A key, or a pasted text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Input {
    Key(KeyEvent),
    Paste(String),
}

/// What extensions know of what is written.
#[derive(Debug, Default)]
pub struct ForeignCompletion {
    /// At which characters a word begins that they may complete; `None` without such an extension.
    pub triggers: Option<Vec<char>>,
    /// The text that they were asked about last.
    pub asked: Option<u64>,
    pub suggested: Option<ForeignSuggestions>,
}

/// A question waits so long after the last letter that was typed, in milliseconds: it would take the next one for its answer.
pub const AFTER_TYPING: Millis = 700;

impl Extensions {
    /// The component that gets the keys.
    #[must_use]
    pub fn top(&self) -> Option<OpenComponent> {
        self.open.iter().rev().find(|open| !open.is_hidden && open.is_focused).copied()
    }

    /// The components above everything else, the last one on top.
    pub fn overlays(&self) -> impl Iterator<Item = (OpenComponent, OverlayPlace)> {
        let shown = self.open.iter().filter(|open| !open.is_hidden);
        shown.filter_map(|open| Some((*open, open.place?))).filter(|(open, _)| !self.rows(open.component).is_empty())
    }

    /// A number that names an answer.
    pub fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// The editor in place of offshoot's, once it has been drawn.
    #[must_use]
    pub fn editor(&self) -> Option<ComponentId> {
        self.screen.editor.filter(|editor| !self.rows(*editor).is_empty())
    }

    /// The rows of a component, as far as they are known.
    #[must_use]
    pub fn rows(&self, component: ComponentId) -> &[String] {
        self.components.get(&component).map_or(&[], |shown| &shown.drawn.rows)
    }

    /// Which components have to draw anew on a terminal of this size. Each is asked once until it has answered.
    pub fn to_render(&mut self, screen: Size) -> Vec<(ComponentId, u16)> {
        let widgets = self.screen.widgets.iter().filter_map(|widget| match widget.content {
            WidgetContent::Component(component) => Some(component),
            WidgetContent::Lines(_) => None,
        });
        let header = self.screen.header.filter(|header| self.printed_header != Some(*header));
        let open = self.open.iter().map(|open| open.component);
        let places = [self.screen.footer, self.screen.editor, header];
        let shown: Vec<ComponentId> = widgets.chain(places.into_iter().flatten()).chain(open).collect();
        self.components.retain(|known, _| shown.contains(known));
        let mut wanted = Vec::new();
        for id in shown {
            let place = self.open.iter().find(|open| open.component == id).and_then(|open| open.place);
            let columns = place.map_or(screen.width, |place| place.columns(screen));
            let component = self.components.entry(id).or_default();
            if !component.is_asked && (component.is_stale || component.columns != columns) {
                (component.is_asked, component.is_stale) = (true, false);
                wanted.push((id, columns));
            }
        }
        wanted
    }

    /// Takes the rows of a component. The place of an overlay on a terminal of this size, if it has another one now.
    pub fn rendered(
        &mut self,
        component: ComponentId,
        (columns, screen): (u16, Size),
        drawn: ComponentRows,
    ) -> Option<Rect> {
        let shown = self.components.get_mut(&component)?;
        (shown.drawn, shown.columns, shown.is_asked) = (drawn, columns, false);
        let place = self.open.iter().find(|open| open.component == component)?.place?;
        let area = place.area(shown.drawn.rows.len(), screen);
        (shown.area.replace(area) != Some(area)).then_some(area)
    }

    /// Something has happened of which components may draw something.
    pub fn invalidate_all(&mut self) {
        self.components.values_mut().for_each(|shown| shown.is_stale = true);
    }

    /// These would draw other rows.
    pub fn invalidate(&mut self, components: &[ComponentId]) {
        let known = self.components.iter_mut().filter(|(id, _)| components.contains(id));
        known.for_each(|(_, shown)| shown.is_stale = true);
    }

    /// The milliseconds until the next question or component may take the keys; `None` if none waits.
    #[must_use]
    pub fn patience(&self, now: Millis) -> Option<Millis> {
        if self.waiting.is_empty() && self.top().is_none() {
            return None;
        }
        Some(self.typed_at.map_or(0, |typed| (typed + AFTER_TYPING - now).clamp(0, AFTER_TYPING)))
    }
}

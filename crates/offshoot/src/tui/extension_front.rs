//! What extensions show in the terminal and ask there. It bounds what they send and passes it to the front end: of what
//! is shown only the newest, and of notices only as many as a person could read.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use offshoot_app::extensions::{ExtensionFront, unheard};
use offshoot_extensions::contract::{Failure, HostFuture, ProgramMode};
use offshoot_extensions::program::ExtensionFailure;
use offshoot_protocol::ApprovalMode;
use offshoot_session::clock::Millis;
use offshoot_session::transcript::Level;
use offshoot_tui::app::extension::{ComponentId, ExtensionLook, ExtensionMsg, ExtensionScreen};
use offshoot_tui::app::msg::Msg;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::extension_dialogs::ExtensionDialogs;
use super::extension_notices::ExtensionNotices;
use super::extension_screen::{
    MAX_WRITTEN, bounded, of_editor, set_indicator, set_status, set_widget, text_of, triggers,
};
use super::extension_streams::StreamingCalls;
use super::extension_themes::ThemeShelf;

/// How long changes are collected before the front end gets them.
const TOGETHER: Duration = Duration::from_millis(16);
/// How long an extension waits for the front end, which may have given the terminal to another program.
const LOOKING: Duration = Duration::from_secs(1);
/// Calls whose last drawing is kept.
const MAX_CALLS: usize = 100;
/// Texts of answers that are kept.
const MAX_TEXTS: usize = 16;
/// So many bytes a message counts for beside its text.
const BYTES_OF_A_MESSAGE: usize = 4 << 10;

/// The front end of the terminal, for extensions.
pub(super) struct TuiFront(pub(super) Arc<ExtensionUiState>);

/// What is shown, and who waits for an answer.
pub(super) struct ExtensionUiState {
    news: Sender<Msg>,
    runtime: Handle,
    shown: Mutex<Shown>,
    pub(super) dialogs: ExtensionDialogs,
    looks: Mutex<HashMap<u64, SyncSender<Value>>>,
    notices: Arc<ExtensionNotices>,
    next: AtomicU64,
    /// Whether the process of the extensions has ended, and the user has heard of it.
    is_gone: AtomicBool,
    /// Until when no extension is asked to draw.
    drawing_after: AtomicI64,
    calls: Mutex<VecDeque<DrawnCall>>,
    streams: Mutex<StreamingCalls>,
    /// Texts of answers with what extensions made of them.
    texts: Mutex<VecDeque<(String, String)>>,
    themes: ThemeShelf,
    written: WritingBudget,
    /// The completion that is being looked for.
    completing: Mutex<Option<AbortHandle>>,
    /// Ends the loan of the terminal.
    loan: Mutex<Option<Sender<()>>>,
}

#[derive(Default)]
struct Shown {
    screen: ExtensionScreen,
    /// Whether it has changed since the front end got it.
    is_changed: bool,
    /// Components that would draw other rows.
    invalid: Vec<ComponentId>,
    /// Calls that would be drawn otherwise, by their ids.
    stale_calls: Vec<String>,
    /// Whether the front end will get it.
    is_announced: bool,
}

/// Counts the bytes for the editor until they are many.
#[derive(Default)]
struct WritingBudget(AtomicUsize);

impl WritingBudget {
    /// Whether the front end must take the texts before another one is sent. Then the count begins anew.
    fn spend(&self, bytes: usize) -> bool {
        let bytes = bytes + BYTES_OF_A_MESSAGE;
        let is_much = self.0.fetch_add(bytes, Ordering::Relaxed) + bytes > MAX_WRITTEN;
        if is_much {
            self.0.store(0, Ordering::Relaxed);
        }
        is_much
    }
}

/// A call that an extension draws.
#[derive(Clone)]
pub(super) struct DrawnCall {
    pub(super) id: String,
    pub(super) tool: String,
    /// Of the request to the extension, but for the width.
    pub(super) members: Value,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ExtensionUiState {
    pub(super) fn new(news: Sender<Msg>, runtime: Handle, themes: ThemeShelf) -> Arc<Self> {
        Arc::new(Self {
            dialogs: ExtensionDialogs::new(news.clone()),
            notices: ExtensionNotices::new(news.clone(), runtime.clone()),
            news,
            runtime,
            shown: Mutex::default(),
            looks: Mutex::default(),
            next: AtomicU64::new(1),
            is_gone: AtomicBool::new(false),
            drawing_after: AtomicI64::new(0),
            calls: Mutex::default(),
            streams: Mutex::default(),
            texts: Mutex::default(),
            themes,
            written: WritingBudget::default(),
            completing: Mutex::default(),
            loan: Mutex::default(),
        })
    }

    /// Ends the search for completions before this one.
    pub(super) fn completes(&self, search: AbortHandle) {
        lock(&self.completing).replace(search).into_iter().for_each(|before| before.abort());
    }

    /// Another folder's themes count.
    pub(super) fn follow(&self, folder: std::path::PathBuf) {
        self.themes.follow(folder);
    }

    /// The editor of an extension has lost its place.
    pub(super) fn leave_editor(self: &Arc<Self>, component: ComponentId) {
        self.change(|screen| screen.editor = screen.editor.filter(|editor| *editor != component));
    }

    /// The front end may have ended.
    pub(super) fn send(&self, message: ExtensionMsg) {
        drop(self.news.send(Msg::Extension(message)));
    }

    pub(super) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Changes what is shown. The front end gets it soon, together with what changes until then.
    fn change(self: &Arc<Self>, change: impl FnOnce(&mut ExtensionScreen)) {
        self.announce(|shown| {
            change(&mut shown.screen);
            shown.is_changed = true;
        });
    }

    /// Gives the front end what has changed until now, in one order even if two threads do it.
    fn hand_over(&self) {
        let mut shown = lock(&self.shown);
        shown.is_announced = false;
        let stale = std::mem::take(&mut shown.stale_calls);
        if !stale.is_empty() {
            self.send(ExtensionMsg::StaleCalls(stale));
        }
        if std::mem::take(&mut shown.is_changed) {
            self.send(ExtensionMsg::Screen(Box::new(shown.screen.clone())));
        }
        let invalid = std::mem::take(&mut shown.invalid);
        if !invalid.is_empty() {
            self.send(ExtensionMsg::Invalid(invalid));
        }
    }

    fn announce(self: &Arc<Self>, change: impl FnOnce(&mut Shown)) {
        let mut shown = lock(&self.shown);
        change(&mut shown);
        if std::mem::replace(&mut shown.is_announced, true) {
            return;
        }
        drop(shown);
        let ui_state = Arc::clone(self);
        drop(self.runtime.spawn(async move {
            tokio::time::sleep(TOGETHER).await;
            ui_state.hand_over();
        }));
    }

    fn notice(&self, level: Level, text: &str) {
        self.notices.pass(level, text);
    }

    /// An extension failed at a key or a drawing. If its process has ended, nothing of it stays on the screen.
    pub(super) fn failed_on_screen(self: &Arc<Self>, at: &str, failure: &Failure) {
        if failure.is_gone {
            if self.is_gone.swap(true, Ordering::Relaxed) {
                return;
            }
            self.clear();
        }
        self.notice(Level::Warning, &format!("an extension failed at {at}: {}", failure.message));
    }

    /// Whether nothing is drawn for now.
    pub(super) fn pauses_drawing(&self, now: Millis) -> bool {
        now < self.drawing_after.load(Ordering::Relaxed)
    }

    pub(super) fn pause_drawing(&self, until: Millis) {
        self.drawing_after.store(until, Ordering::Relaxed);
    }

    /// Keeps how a call is drawn: it may be drawn again, and its result comes without its arguments.
    pub(super) fn keep_call(&self, call: DrawnCall) {
        let mut kept = lock(&self.calls);
        kept.retain(|known| known.id != call.id);
        if kept.len() >= MAX_CALLS {
            kept.pop_front();
        }
        kept.push_back(call);
    }

    /// Keeps what extensions made of a text: it is needed at its end and at that of the answer.
    pub(super) fn keep_text(&self, text: &str, shown: &str) {
        let mut kept = lock(&self.texts);
        if kept.len() >= MAX_TEXTS {
            kept.pop_front();
        }
        kept.push_back((text.to_owned(), shown.to_owned()));
    }

    pub(super) fn shown_text(&self, text: &str) -> Option<String> {
        lock(&self.texts).iter().rev().find(|(known, _)| known == text).map(|(_, shown)| shown.clone())
    }

    /// The calls of the answer that streams.
    pub(super) fn streams(&self) -> MutexGuard<'_, StreamingCalls> {
        lock(&self.streams)
    }

    pub(super) fn call(&self, id: &str) -> Option<DrawnCall> {
        lock(&self.calls).iter().find(|known| known.id == id).cloned()
    }

    /// Gives the extension what it wanted to read. `false` if it has stopped waiting.
    pub(super) fn seen(&self, id: u64, value: Value) -> bool {
        lock(&self.looks).remove(&id).is_some_and(|facts| facts.try_send(value).is_ok())
    }

    fn look_at(&self, what: ExtensionLook) -> Value {
        self.answered(|id| ExtensionMsg::Look(id, what))
    }

    /// The extension has the terminal now, if it still waits for it. Answers what ends that.
    pub(super) fn lends(&self, wish: u64) -> Option<Receiver<()>> {
        let (over, is_over) = channel();
        *lock(&self.loan) = Some(over);
        self.seen(wish, json!(true)).then_some(is_over)
    }

    fn takes_terminal_back(&self) {
        // Its end is what the borrower waits for.
        drop(lock(&self.loan).take());
    }

    fn answered(&self, message: impl FnOnce(u64) -> ExtensionMsg) -> Value {
        let (id, (answer, answered)) = (self.number(), sync_channel(1));
        lock(&self.looks).insert(id, answer);
        self.send(message(id));
        let seen = answered.recv_timeout(LOOKING);
        lock(&self.looks).remove(&id);
        seen.unwrap_or_default()
    }

    /// Gives a text to the editor. An extension that writes faster than the front end takes it has to wait.
    fn write(&self, message: impl FnOnce(String) -> ExtensionMsg, text: String) {
        let is_much = self.written.spend(text.len());
        self.send(message(text));
        if is_much {
            // It has taken all that came before when it answers.
            self.look_at(ExtensionLook::ToolsExpanded);
        }
    }

    /// The process of the extensions loads them anew.
    fn reset(self: &Arc<Self>) {
        self.is_gone.store(false, Ordering::Relaxed);
        self.clear();
    }

    fn clear(self: &Arc<Self>) {
        self.takes_terminal_back();
        self.change(|screen| *screen = ExtensionScreen::default());
        self.send(ExtensionMsg::Listens(false));
        self.send(ExtensionMsg::Completes(Vec::new()));
    }
}

impl ExtensionFront for TuiFront {
    fn mode(&self) -> ProgramMode {
        ProgramMode::Tui
    }

    fn has_ui(&self) -> bool {
        true
    }

    fn ask(&self, method: String, params: Value) -> HostFuture<'static, Value> {
        let ui_state = Arc::clone(&self.0);
        Box::pin(async move {
            if method == "custom" {
                ui_state.dialogs.show(&params).await;
                return Value::Null;
            }
            ui_state.dialogs.ask(&method, &params).await.unwrap_or_else(|| unheard(&method))
        })
    }

    fn tell(&self, method: &str, params: Value) {
        let ui_state = &self.0;
        match method {
            "notify" => {
                let level = match params["type"].as_str() {
                    Some("error") => Level::Error,
                    Some("warning") => Level::Warning,
                    _ => Level::Info,
                };
                ui_state.notice(level, params["message"].as_str().unwrap_or_default());
            }
            // Something failed that nobody waited for.
            "error" => {
                let why = params["message"].as_str().unwrap_or_default();
                let event = params["event"].as_str().unwrap_or_default();
                ui_state.notice(Level::Warning, &format!("an extension failed ({event}): {why}"));
            }
            "setStatus" => ui_state.change(|screen| set_status(screen, &params)),
            "approval" => {
                let mode = ApprovalMode::ALL.into_iter().find(|mode| params["mode"] == mode.as_str());
                mode.into_iter().for_each(|mode| ui_state.send(ExtensionMsg::Approval(mode)));
            }
            "setWidget" => ui_state.change(|screen| set_widget(screen, &params)),
            "setFooter" => ui_state.change(|screen| screen.footer = params["component"].as_u64()),
            "setHeader" => ui_state.change(|screen| screen.header = params["component"].as_u64()),
            "setEditorComponent" => ui_state.change(|screen| screen.editor = params["component"].as_u64()),
            "editor.changed" | "editor.submit" | "editor.action" => {
                of_editor(method, &params).into_iter().for_each(|message| ui_state.send(message));
            }
            "terminalInput" => ui_state.send(ExtensionMsg::Listens(params["on"] == true)),
            "addAutocompleteProvider" => ui_state.send(ExtensionMsg::Completes(triggers(&params))),
            "setTitle" => ui_state.send(ExtensionMsg::Title(text_of(&params, "title").unwrap_or_default())),
            "setWorkingMessage" => ui_state.change(|screen| screen.work.message = text_of(&params, "message")),
            "setWorkingVisible" => ui_state.change(|screen| screen.work.is_hidden = params["visible"] == false),
            "setWorkingIndicator" => ui_state.change(|screen| set_indicator(screen, &params["options"])),
            // An answer is printed once: the label must be there before the next one.
            "setHiddenThinkingLabel" => {
                ui_state.change(|screen| screen.thinking_label = text_of(&params, "label"));
                ui_state.hand_over();
            }
            "reset" => ui_state.reset(),
            "component.invalidate" => {
                let component = params["component"].as_u64();
                ui_state.announce(|shown| shown.invalid.extend(component.filter(|one| !shown.invalid.contains(one))));
            }
            "toolRender.invalidate" => {
                let call = text_of(&params, "toolCallId");
                ui_state.announce(|shown| {
                    let is_new =
                        |call: &String| !shown.stale_calls.contains(call) && shown.stale_calls.len() < MAX_CALLS;
                    let call = call.filter(is_new);
                    shown.stale_calls.extend(call);
                });
            }
            "shortcuts" => {
                let keys = params["keys"].as_array().into_iter().flatten();
                let keys = keys.filter_map(Value::as_str).map(str::to_owned).collect();
                ui_state.send(ExtensionMsg::Shortcuts(keys));
            }
            "component.done" => {
                params["component"].as_u64().into_iter().for_each(|component| ui_state.dialogs.done(component));
            }
            "component.overlay" => {
                let Some(component) = params["component"].as_u64() else { return };
                let hidden = params["hidden"].as_bool().map(|is| ExtensionMsg::HideComponent(component, is));
                let focused = params["focused"].as_bool().map(|is| ExtensionMsg::FocusComponent(component, is));
                hidden.into_iter().chain(focused).for_each(|message| ui_state.send(message));
            }
            _ => {}
        }
    }

    fn look(&self, method: &str, params: &Value) -> Value {
        let ui_state = &self.0;
        let text = || bounded(params["text"].as_str().unwrap_or_default(), MAX_WRITTEN);
        match method {
            "getEditorText" => return ui_state.look_at(ExtensionLook::EditorText),
            "getToolsExpanded" => return ui_state.look_at(ExtensionLook::ToolsExpanded),
            "getTheme" => match params["name"].as_str() {
                None => return ui_state.look_at(ExtensionLook::Theme),
                Some(name) => return ui_state.themes.colours(name),
            },
            "getAllThemes" => return ui_state.themes.all(),
            "setTheme" => {
                let (answer, message) = ui_state.themes.choose(params);
                message.into_iter().for_each(|message| ui_state.send(message));
                return answer;
            }
            // The process of the extensions leads its group.
            "suspend" => {
                let group = params["process"].as_u64().and_then(|process| u32::try_from(process).ok());
                return group
                    .map(|group| ui_state.answered(|wish| ExtensionMsg::Lend(wish, group)))
                    .unwrap_or_default();
            }
            "resume" => ui_state.takes_terminal_back(),
            "editor" => return ui_state.look_at(ExtensionLook::Editor),
            "keys" => return ui_state.look_at(ExtensionLook::Keys),
            "footerData" => {
                let statuses = lock(&ui_state.shown).screen.statuses.clone();
                return json!({"gitBranch": ui_state.look_at(ExtensionLook::GitBranch), "statuses": statuses});
            }
            // Here and not among the notes: what reads the editor next must see it.
            "setEditorText" => ui_state.write(ExtensionMsg::SetEditor, text()),
            "pasteToEditor" => ui_state.write(ExtensionMsg::PasteToEditor, text()),
            "setToolsExpanded" => ui_state.send(ExtensionMsg::SetToolsExpanded(params["expanded"] == true)),
            _ => {}
        }
        Value::Null
    }

    fn failed(&self, failure: &ExtensionFailure) {
        let ExtensionFailure { path, event, error, .. } = failure;
        let first = error.lines().next().unwrap_or_default();
        let words = match path.as_str() {
            "" => first.to_owned(),
            path => format!("the extension {path} failed at {event}: {first}"),
        };
        self.0.notice(Level::Warning, &words);
    }

    fn shutdown(&self) {
        self.0.send(ExtensionMsg::Shutdown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Many small texts, and a few large ones.
    #[test]
    fn a_flood_of_texts_for_the_editor_waits_for_the_front_end() {
        for bytes in [0, 100_000, MAX_WRITTEN] {
            let budget = WritingBudget::default();
            let unread: Vec<usize> = (0..10_000)
                .map(|_| budget.spend(bytes))
                .collect::<Vec<_>>()
                .split(|waits| *waits)
                .map(<[bool]>::len)
                .collect();
            let most = unread.into_iter().max().unwrap_or_default() * bytes;
            assert!(most <= MAX_WRITTEN, "{most} bytes wait");
        }
        let budget = WritingBudget::default();
        assert!((0..2_000).any(|_| budget.spend(0)), "messages without a text count too");
    }
}

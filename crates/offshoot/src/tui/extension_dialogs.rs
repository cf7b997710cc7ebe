//! Questions and components of extensions that wait for the user. A question whose asker has gone is withdrawn.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use offshoot_tui::app::extension::{AskedId, AskedQuestion, ComponentId, ExtensionAnswer, ExtensionMsg, OpenComponent};
use offshoot_tui::app::msg::Msg;
use offshoot_tui::app::overlay_place::{Extent, OverlayPlace, Placing, Side};
use offshoot_tui::overlay::dialog::DialogKind;
use serde_json::Value;
use tokio::sync::oneshot;

/// A longer text does not fit an editor.
const MAX_WRITTEN: usize = 4 << 20;

pub(super) struct ExtensionDialogs {
    news: Sender<Msg>,
    questions: Mutex<HashMap<u64, oneshot::Sender<ExtensionAnswer>>>,
    /// The questions of the components in place of the editor.
    open: Mutex<HashMap<ComponentId, u64>>,
    next: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ExtensionDialogs {
    pub(super) fn new(news: Sender<Msg>) -> Self {
        Self { news, questions: Mutex::default(), open: Mutex::default(), next: AtomicU64::new(1) }
    }

    /// The front end may have ended.
    fn send(&self, message: ExtensionMsg) {
        drop(self.news.send(Msg::Extension(message)));
    }

    fn open_question(&self) -> (OpenQuestion<'_>, oneshot::Receiver<ExtensionAnswer>) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        lock(&self.questions).insert(id, answer);
        (OpenQuestion { dialogs: self, id }, answered)
    }

    /// Gives the user's answer to the extension. It may have stopped waiting.
    pub(super) fn answer(&self, id: u64, answer: ExtensionAnswer) {
        if let Some(asked) = lock(&self.questions).remove(&id) {
            drop(asked.send(answer));
        }
    }

    /// Asks with a method of pi's user interface. Without an answer, and for a method that asks nothing, it is nothing.
    pub(super) async fn ask(&self, method: &str, params: &Value) -> ExtensionAnswer {
        let Some(kind) = kind_of(method, params) else { return ExtensionAnswer::Nothing };
        let (question, answered) = self.open_question();
        let timeout = params["timeout"].as_u64();
        let title = params["title"].as_str().unwrap_or_default().to_owned();
        self.send(ExtensionMsg::Ask(AskedQuestion { id: AskedId::Extension(question.id), title, kind, timeout }));
        let answer = match timeout.map(Duration::from_millis) {
            Some(limit) => tokio::time::timeout(limit, answered).await.ok().and_then(Result::ok),
            None => answered.await.ok(),
        };
        drop(question);
        answer.unwrap_or(ExtensionAnswer::Nothing)
    }

    /// Shows a component in place of the editor, until its extension is done with it.
    pub(super) async fn show(&self, params: &Value) {
        let Some(component) = params["component"].as_u64() else { return };
        let (question, answered) = self.open_question();
        lock(&self.open).insert(component, question.id);
        let options = &params["options"];
        let place = (params["overlay"] == true).then(|| overlay_place(options));
        let open = OpenComponent {
            id: question.id,
            component,
            is_hidden: options["hidden"] == true,
            place,
            is_focused: options["nonCapturing"] != true,
        };
        self.send(ExtensionMsg::OpenComponent(open));
        drop(answered.await);
        lock(&self.open).remove(&component);
        drop(question);
    }

    /// The extension is done with a component.
    pub(super) fn done(&self, component: ComponentId) {
        let id = lock(&self.open).remove(&component);
        id.into_iter().for_each(|id| self.answer(id, ExtensionAnswer::Nothing));
    }
}

struct OpenQuestion<'a> {
    dialogs: &'a ExtensionDialogs,
    id: u64,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        lock(&self.dialogs.questions).remove(&self.id);
        self.dialogs.send(ExtensionMsg::Withdraw(self.id));
    }
}

/// Where an overlay is, by pi's options.
fn overlay_place(options: &Value) -> OverlayPlace {
    let margin = |side: &str| {
        let margin = options["margin"].as_f64().or_else(|| options["margin"][side].as_f64());
        cells(margin.unwrap_or_default().max(0.0))
    };
    let anchor = options["anchor"].as_str().unwrap_or_default();
    let side = |start: &str, end: &str| match anchor {
        anchor if anchor.contains(start) => Side::Start,
        anchor if anchor.contains(end) => Side::End,
        _ => Side::Centre,
    };
    let offset = |name: &str| cells(options[name].as_f64().unwrap_or_default());
    OverlayPlace {
        width: extent(&options["width"]),
        least_width: options["minWidth"].as_f64().map(cells),
        most_rows: extent(&options["maxHeight"]),
        across: Placing {
            side: side("left", "right"),
            at: extent(&options["col"]),
            offset: offset("offsetX"),
            margin: (margin("left"), margin("right")),
        },
        down: Placing {
            side: side("top", "bottom"),
            at: extent(&options["row"]),
            offset: offset("offsetY"),
            margin: (margin("top"), margin("bottom")),
        },
    }
}

/// A number of cells, or such as `50%`.
fn extent(value: &Value) -> Option<Extent> {
    match value {
        Value::String(text) => {
            let part = text.strip_suffix('%').and_then(|part| part.parse::<f64>().ok());
            part.filter(|part| (0.0..=1_000.0).contains(part)).map(Extent::Percent)
        }
        number => number.as_f64().map(|number| Extent::Cells(cells(number))),
    }
}

/// More cells has no terminal.
fn cells(number: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "it was limited")]
    let cells = number.clamp(-10_000.0, 10_000.0) as i32;
    cells
}

/// What a question asks; `None` for another method.
fn kind_of(method: &str, params: &Value) -> Option<DialogKind> {
    let text = |name: &str| params[name].as_str().unwrap_or_default();
    Some(match method {
        "select" => {
            let options = params["options"].as_array().into_iter().flatten();
            DialogKind::Choice(options.filter_map(Value::as_str).map(str::to_owned).collect())
        }
        "confirm" => DialogKind::Confirmation(text("message").to_owned()),
        "input" => DialogKind::Line { placeholder: text("placeholder").to_owned() },
        "editor" => {
            let prefill = text("prefill");
            DialogKind::Text(prefill.get(..prefill.floor_char_boundary(MAX_WRITTEN)).unwrap_or_default().to_owned())
        }
        _ => return None,
    })
}

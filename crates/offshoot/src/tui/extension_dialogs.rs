//! Questions and components of extensions that wait for the user. A question whose asker has gone is withdrawn.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use offshoot_protocol::{FieldKind, Form, FormAnswer, FormField, FormSource};
use offshoot_tui::app::extension::{AskedId, AskedQuestion, ComponentId, ExtensionMsg, OpenComponent};
use offshoot_tui::app::msg::Msg;
use offshoot_tui::app::overlay_place::{Extent, OverlayPlace, Placing, Side};
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// Names the answer in the form of a question.
const ANSWER: &str = "answer";
/// A longer text does not fit an editor.
const MAX_WRITTEN: usize = 4 << 20;

pub(super) struct ExtensionDialogs {
    news: Sender<Msg>,
    questions: Mutex<HashMap<u64, oneshot::Sender<FormAnswer>>>,
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

    fn open_question(&self) -> (OpenQuestion<'_>, oneshot::Receiver<FormAnswer>) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        lock(&self.questions).insert(id, answer);
        (OpenQuestion { dialogs: self, id }, answered)
    }

    /// Gives the user's answer to the extension. It may have stopped waiting.
    pub(super) fn answer(&self, id: u64, answer: FormAnswer) {
        if let Some(asked) = lock(&self.questions).remove(&id) {
            drop(asked.send(answer));
        }
    }

    /// Asks with a method of pi's user interface. `None` without an answer, and for a method that asks nothing.
    pub(super) async fn ask(&self, method: &str, params: &Value) -> Option<Value> {
        let form = form_of(method, params)?;
        let (question, answered) = self.open_question();
        let timeout = params["timeout"].as_u64();
        self.send(ExtensionMsg::Ask(AskedQuestion { id: AskedId::Extension(question.id), form, timeout }));
        let answer = match timeout.map(Duration::from_millis) {
            Some(limit) => tokio::time::timeout(limit, answered).await.ok().and_then(Result::ok),
            None => answered.await.ok(),
        };
        drop(question);
        answered_value(method, answer?)
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
        id.into_iter().for_each(|id| self.answer(id, FormAnswer::Cancel));
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

/// The form of a question; `None` for a method that asks nothing.
fn form_of(method: &str, params: &Value) -> Option<Form> {
    let text = |name: &str| params[name].as_str().unwrap_or_default();
    let (mut default, mut placeholder) = (None, None);
    let kind = match method {
        "select" => {
            let options = params["options"].as_array().into_iter().flatten();
            FieldKind::one_of(options.filter_map(Value::as_str).map(str::to_owned))
        }
        "confirm" => FieldKind::Flag { default: None },
        "input" | "editor" => {
            let (prefill, is_long) = (text("prefill"), method == "editor");
            match is_long {
                true => default = prefill.get(..prefill.floor_char_boundary(MAX_WRITTEN)).map(str::to_owned),
                false => placeholder = Some(text("placeholder").to_owned()),
            }
            FieldKind::Text { default, placeholder, is_long, min_length: None, max_length: None, format: None }
        }
        _ => return None,
    };
    let field =
        FormField { id: ANSWER.to_owned(), header: None, question: text("title").to_owned(), kind, required: true };
    let message = (method == "confirm").then(|| text("message").to_owned());
    Some(Form { source: FormSource::Extension, message, fields: vec![field] })
}

/// An answer as pi gives it.
fn answered_value(method: &str, answer: FormAnswer) -> Option<Value> {
    let FormAnswer::Send(mut answers) = answer else { return None };
    let answer = answers.remove(ANSWER)?;
    match method {
        "select" => answer.selected.into_iter().next().map(Value::String),
        "confirm" => Some(json!(answer.text.as_deref() == Some("true"))),
        _ => answer.text.map(Value::String),
    }
}

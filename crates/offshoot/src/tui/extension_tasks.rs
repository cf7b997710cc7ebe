//! What the front end wants of the extensions: answers, rows of components, and that keys reach them.

use std::sync::Arc;

use offshoot_app::extensions::{NO_EXTENSION, listing};
use offshoot_extensions::ExtensionSet;
use offshoot_session::transcript::Level;
use offshoot_tui::app::extension::{ComponentId, ComponentRows, ExtensionMsg, ExtensionTask};
use offshoot_tui::app::msg::Msg;
use serde_json::{Value, json};

use super::extension_front::ExtensionUiState;
use super::extension_writing::Writing;
use super::job_context::JobContext;
use super::{choices, extension_drawing};

/// More rows of a component are not kept, and longer ones are cut.
const MAX_ROWS: usize = 500;
const MAX_ROW: usize = 16 << 10;

/// Runs a task. What takes longer is not waited for.
pub(super) fn take(context: &JobContext, task: ExtensionTask) {
    let Some(ui_state) = context.ui_state.clone() else { return };
    match task {
        ExtensionTask::Answer(id, answer) => ui_state.dialogs.answer(id, answer),
        // It may have stopped waiting.
        ExtensionTask::Seen(id, value) => drop(ui_state.seen(id, value)),
        ExtensionTask::List => list(context),
        ExtensionTask::Redraw(calls) => drop(tokio::spawn(extension_drawing::redraw(context.clone(), calls))),
        ExtensionTask::EditorText { .. }
        | ExtensionTask::LeaveEditor(_)
        | ExtensionTask::Listen(..)
        | ExtensionTask::Suggest { .. }
        | ExtensionTask::Apply { .. }
        | ExtensionTask::Theme(_) => {
            if let Some(extensions) = context.extensions.clone() {
                write(Writing { ui_state, extensions }, task);
            }
        }
        ExtensionTask::Complete(name) => {
            let context = context.clone();
            drop(tokio::spawn(async move { choices::of_extension(&context, &name).await }));
        }
        ExtensionTask::Shortcut(key) => {
            if let Some(extensions) = context.extensions.clone() {
                drop(tokio::spawn(async move { extensions.shortcut(&key).await }));
            }
        }
        ExtensionTask::Render { component, columns, screen } => {
            if let Some(extensions) = context.extensions.clone() {
                let what = json!({
                    "kind": "component.render", "component": component, "width": columns, "height": screen.height,
                    "screenWidth": screen.width
                });
                drop(tokio::spawn(render((ui_state, extensions), (component, columns), what)));
            }
        }
        ExtensionTask::Placed(component, area) => {
            if let Some(extensions) = context.extensions.clone() {
                let what = json!({
                    "kind": "component.placed", "component": component, "row": area.y, "col": area.x,
                    "width": area.width, "height": area.height
                });
                // A component that is gone has no place.
                drop(tokio::spawn(async move { drop(extensions.on_screen(what).await) }));
            }
        }
        ExtensionTask::Input(component, data) => {
            if let Some(extensions) = context.extensions.clone() {
                // Spawned in order, and each is sent at once: keys stay in order.
                drop(tokio::spawn(async move {
                    let what = json!({"kind": "component.input", "component": component, "data": data});
                    match extensions.on_screen(what).await {
                        Ok(answer) if answer["isGone"] == true => {
                            ui_state.send(ExtensionMsg::NotTaken(component, data));
                        }
                        Ok(_) => {}
                        Err(failure) => ui_state.failed_on_screen("a key", &failure),
                    }
                    ui_state.send(ExtensionMsg::Handled(component));
                }));
            }
        }
    }
}

/// Spawned in order, and each is sent at once: what is written stays in order.
fn write(writing: Writing, task: ExtensionTask) {
    match task {
        ExtensionTask::EditorText { component, text, after } => {
            drop(tokio::spawn(writing.set_text(component, text, after)));
        }
        ExtensionTask::LeaveEditor(component) => drop(tokio::spawn(writing.leave(component))),
        ExtensionTask::Listen(id, data) => drop(tokio::spawn(writing.listen(id, data))),
        ExtensionTask::Suggest { text, own, is_forced } => writing.suggest_instead(text, own, is_forced),
        ExtensionTask::Apply { text, item, prefix } => drop(tokio::spawn(writing.apply(text, item, prefix))),
        ExtensionTask::Theme(theme) => drop(tokio::spawn(async move {
            // A process that does not run reads the colours when it starts.
            drop(writing.extensions.on_screen(json!({"kind": "theme", "theme": theme})).await);
        })),
        ExtensionTask::Answer(..)
        | ExtensionTask::Seen(..)
        | ExtensionTask::List
        | ExtensionTask::Redraw(_)
        | ExtensionTask::Complete(_)
        | ExtensionTask::Shortcut(_)
        | ExtensionTask::Render { .. }
        | ExtensionTask::Placed(..)
        | ExtensionTask::Input(..) => {}
    }
}

/// Shows each extension with its host, origin, time of loading, what it registered, and its error.
fn list(context: &JobContext) {
    let listed = context.extensions.iter().flat_map(|extensions| extensions.list()).collect::<Vec<_>>();
    if listed.is_empty() {
        context.notice(Level::Info, NO_EXTENSION);
        return;
    }
    let lines = listing(&context.app.environment, &listed);
    context.tell(Msg::Page("Extensions".to_owned(), lines));
}

async fn render(
    (ui_state, extensions): (Arc<ExtensionUiState>, Arc<ExtensionSet>),
    (component, columns): (ComponentId, u16),
    what: Value,
) {
    let drawn = extensions.on_screen(what).await;
    let drawn = match drawn {
        Ok(drawn) => Ok(rows_of(&drawn)),
        Err(failure) if failure.is_gone => return ui_state.failed_on_screen("drawing", &failure),
        Err(failure) => Err(failure.message),
    };
    ui_state.send(ExtensionMsg::Rendered(component, columns, drawn));
}

fn rows_of(drawn: &Value) -> ComponentRows {
    let rows = drawn["rows"].as_array().into_iter().flatten().take(MAX_ROWS);
    let cut = |row: &Value| {
        let row = row.as_str().unwrap_or_default();
        row.get(..row.floor_char_boundary(MAX_ROW)).unwrap_or_default().to_owned()
    };
    let number = |name: &str| drawn["cursor"][name].as_u64().and_then(|number| u16::try_from(number).ok());
    let cursor = number("column").zip(number("row"));
    ComponentRows { rows: rows.map(cut).collect(), cursor }
}

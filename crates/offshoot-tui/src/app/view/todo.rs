//! The todo list of the branch, as one row above the editor: how much is done, and what comes next. `/todo` shows all of it.

use offshoot_session::todo::{TodoList, TodoStatus, TodoTask};
use ratatui::text::Line;

use crate::app::model::Model;
use crate::text::{clean, fit};
use crate::theme::Token;

/// The row, unless nothing is left to do. It is short: a terminal that gets narrower must not wrap it.
pub(super) fn rows(model: &Model) -> Vec<Line<'static>> {
    let Some(words) = model.facts.todo.as_ref().and_then(words) else { return Vec::new() };
    let columns = usize::from(model.size.width);
    let columns = columns.min((columns / 2).max(40));
    vec![Line::styled(fit(&words, columns).into_owned(), model.preferences.theme.style(Token::Muted))]
}

fn words(list: &TodoList) -> Option<String> {
    let with = |status| list.tasks().filter(move |task: &&TodoTask| task.status == status);
    let text = |task: &TodoTask| clean(&task.content).split_whitespace().collect::<Vec<_>>().join(" ");
    let closed = list.tasks().filter(|task| task.status.is_closed()).count();
    let all = list.tasks().count();
    let next = match (with(TodoStatus::InProgress).next(), with(TodoStatus::Blocked).next()) {
        _ if closed == all => return None,
        (Some(task), _) => text(task),
        (None, Some(task)) => {
            format!("waits: {}", task.blocker.as_deref().map_or_else(|| text(task), |why| clean(why).into_owned()))
        }
        (None, None) => with(TodoStatus::Pending).next().map(text)?,
    };
    Some(format!("todo {closed}/{all} · {next}"))
}

#[cfg(test)]
mod tests {
    use offshoot_session::json::Json;

    use super::*;

    #[test]
    fn the_row_names_what_is_worked_on() {
        let words = |tasks: &str| {
            let json = format!(r#"[{{"name":"P","tasks":[{tasks}]}}]"#);
            super::words(&TodoList::of_json(Json::parse(&json).unwrap()).unwrap())
        };
        let done = r#"{"content":"a","status":"completed"}"#;
        let now = "{\"content\":\"b\\u001b[31m c\",\"status\":\"in_progress\"}";
        let blocked = r#"{"content":"d","status":"blocked","blocker":"a key"}"#;
        assert_eq!(words(&format!("{done},{blocked},{now}")).as_deref(), Some("todo 1/3 · b␛[31m c"));
        assert_eq!(words(&format!("{done},{blocked}")).as_deref(), Some("todo 1/2 · waits: a key"));
        assert_eq!(words(done), None);
        assert_eq!(words(""), None);
    }
}

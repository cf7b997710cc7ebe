//! Asks the client's user whether a call may run and what tools ask, and passes the answers on.

use std::sync::Arc;
use std::time::Duration;

use offshoot_protocol::Event;
use offshoot_protocol::request::{AnswerForm, Approve};

use crate::form_questions::FormStep;
use crate::questions::NextStep;
use crate::request::UiResponse;
use crate::server::RpcServer;
use crate::ui_request::UiMethod;

/// Asks what an event asks. A question that nobody answers in time counts as a no.
pub(crate) fn ask(server: &Arc<RpcServer>, event: &Event, timeout: Option<u64>) {
    let asked = match event {
        Event::QuestionRequest { id, form } => server.client().forms.begin(*id, form.clone(), timeout),
        Event::QuestionEnd { id } => {
            server.client().forms.end(*id);
            None
        }
        event => server.client().questions.ask(event, timeout),
    };
    let Some((id, method)) = asked else { return };
    show(server, id, method, timeout);
}

fn show(server: &Arc<RpcServer>, id: String, method: UiMethod, timeout: Option<u64>) {
    server.show(id.clone(), method);
    if let Some(limit) = timeout {
        let server = Arc::clone(server);
        drop(tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(limit)).await;
            let nothing = UiResponse { id, value: None, confirmed: None, cancelled: Some(true) };
            answered(server, nothing).await;
        }));
    }
}

/// One that comes too late is ignored, as pi ignores it.
pub(crate) async fn answered(server: Arc<RpcServer>, response: UiResponse) {
    let (form, answer, timeout) = {
        let mut client = server.client();
        let timeout = client.ui_timeout;
        (client.forms.answer(&response, timeout), client.questions.answer(&response, timeout), timeout)
    };
    match form {
        Some((id, FormStep::Answer(answer))) => drop(server.agent.ask(AnswerForm { id, answer }).await),
        Some((_, FormStep::Ask(id, method))) => show(&server, id, method, timeout),
        None => {}
    }
    match answer {
        Some((id, NextStep::Decide(decision, message))) => {
            drop(server.agent.ask(Approve { id, decision, message, rule: None, scope: None }).await);
        }
        Some((_, NextStep::Ask(id, method))) => server.show(id, method),
        None => {}
    }
}

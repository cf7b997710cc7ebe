//! Asks the client's user whether a call may run, and passes the answer on.

use std::sync::Arc;
use std::time::Duration;

use offshoot_protocol::Event;
use offshoot_protocol::request::Approve;

use crate::questions::NextStep;
use crate::request::UiResponse;
use crate::server::RpcServer;

/// Asks what an event asks. A question that nobody answers in time counts as a no.
pub(crate) fn ask(server: &Arc<RpcServer>, event: &Event, timeout: Option<u64>) {
    let asked = server.client().questions.ask(event, timeout);
    let Some((id, method)) = asked else { return };
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
    let answer = {
        let client = server.client();
        client.questions.answer(&response, client.ui_timeout)
    };
    match answer {
        Some((id, NextStep::Decide(decision, message))) => {
            drop(server.agent.ask(Approve { id, decision, message, rule: None, scope: None }).await);
        }
        Some((_, NextStep::Ask(id, method))) => server.show(id, method),
        None => {}
    }
}

//! What other code may see and change of a request on its way: headers and body before it is sent, status and headers of
//! the response. Knows no extensions.

use std::pin::Pin;
use std::sync::Arc;

use offshoot_protocol::Secret;
use offshoot_protocol::model::Model;

use super::wire::Outgoing;

/// May take as long as a person takes. Dropping it ends the wait.
pub type Hooked<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A header; without a value it is not sent.
pub type HeaderChange = (String, Option<Secret>);

/// Sees requests on their way.
pub trait RequestHooks: Send + Sync {
    /// Gets the headers that belong to the model; returns those to send instead. `None`: they stay.
    fn before_headers(&self, headers: Vec<(String, Secret)>) -> Hooked<'_, Option<Vec<HeaderChange>>>;

    /// Gets the body, as JSON; returns the body to send instead. `None`: it stays.
    fn before_body(&self, body: String) -> Hooked<'_, Option<String>>;

    /// Gets the response, before its body is read.
    fn after_response(&self, status: u16, headers: Vec<(String, String)>) -> Hooked<'_, ()>;

    /// Whether somebody wants the events of the response.
    fn wants_events(&self) -> bool {
        false
    }

    /// Gets the data of one event of the response, as JSON, before the answer made of it.
    fn stream_event(&self, _model: &Model, _data: String) -> Hooked<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// The hooks of a request, if there are any.
#[derive(Clone, Default)]
pub struct Hooks(pub Option<Arc<dyn RequestHooks>>);

impl std::fmt::Debug for Hooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Hooks" } else { "no hooks" })
    }
}

impl Hooks {
    /// Changes the request. Headers that the wire format needs can be replaced and left out, too.
    pub(super) async fn change(&self, of_model: &[(String, Secret)], outgoing: &mut Outgoing) {
        let Some(hooks) = &self.0 else { return };
        if let Some(changes) = hooks.before_headers(of_model.to_vec()).await {
            let is = |name: &str, known: &str| known.eq_ignore_ascii_case(name);
            outgoing.headers.retain(|(known, _)| !of_model.iter().any(|(name, _)| is(name, known)));
            for (name, value) in changes {
                outgoing.headers.retain(|(known, _)| !is(&name, known));
                outgoing.headers.extend(value.map(|value| (name, value)));
            }
        }
        if let Some(body) = hooks.before_body(outgoing.body.clone()).await {
            outgoing.body = body;
        }
    }

    pub(super) fn want_events(&self) -> bool {
        self.0.as_ref().is_some_and(|hooks| hooks.wants_events())
    }

    /// In the order in which they came.
    pub(super) async fn stream_events(&self, model: &Model, events: Vec<String>) {
        let Some(hooks) = &self.0 else { return };
        for data in events {
            hooks.stream_event(model, data).await;
        }
    }

    pub(super) async fn received(&self, status: u16, headers: impl Iterator<Item = (String, String)>) {
        if let Some(hooks) = &self.0 {
            hooks.after_response(status, headers.collect()).await;
        }
    }
}

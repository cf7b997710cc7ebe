//! Lets extensions see requests on their way, in the form in which the provider asks.

use std::sync::Arc;

use offshoot_protocol::Secret;
use offshoot_protocol::model::Model;

use crate::extensions::{Extensions, Question, StreamEvent};
use crate::provider::{Deltas, HeaderChange, Hooked, Hooks, Provider, Request, RequestHooks};

/// What extensions see depends on what a request is for, as in pi.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    Turn,
    /// Only its headers.
    Summary,
}

struct ExtensionHooks {
    extensions: Arc<dyn Extensions>,
    kind: RequestKind,
}

/// The hooks of a request; none without extensions.
pub(crate) fn hooks(extensions: Option<&Arc<dyn Extensions>>, kind: RequestKind) -> Hooks {
    let hooks = |extensions: &Arc<dyn Extensions>| {
        Arc::new(ExtensionHooks { extensions: extensions.clone(), kind }) as Arc<dyn RequestHooks>
    };
    Hooks(extensions.map(hooks))
}

impl RequestHooks for ExtensionHooks {
    fn before_headers(&self, headers: Vec<(String, Secret)>) -> Hooked<'_, Option<Vec<HeaderChange>>> {
        Box::pin(async move {
            match self.extensions.answers(Question::BeforeHeaders) {
                true => self.extensions.before_headers(headers).await,
                false => None,
            }
        })
    }

    fn before_body(&self, body: String) -> Hooked<'_, Option<String>> {
        Box::pin(async move {
            match self.kind == RequestKind::Turn && self.extensions.answers(Question::BeforeBody) {
                true => self.extensions.before_body(body).await,
                false => None,
            }
        })
    }

    fn wants_events(&self) -> bool {
        self.kind == RequestKind::Turn && self.extensions.answers(Question::StreamEvent)
    }

    fn stream_event(&self, model: &Model, data: String) -> Hooked<'_, ()> {
        let Model { provider, api, id, .. } = model;
        let event = StreamEvent { provider: provider.clone(), api: api.clone(), model: id.clone(), data };
        self.extensions.stream_event(event)
    }

    fn after_response(&self, status: u16, headers: Vec<(String, String)>) -> Hooked<'_, ()> {
        Box::pin(async move {
            if self.kind == RequestKind::Turn && self.extensions.answers(Question::AfterResponse) {
                self.extensions.after_response(status, headers).await;
            }
        })
    }
}

/// Gives each request these hooks.
pub(crate) struct HookedProvider {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) hooks: Hooks,
}

impl Provider for HookedProvider {
    fn sends_images(&self) -> bool {
        self.provider.sends_images()
    }

    fn stream(&self, request: Request) -> Deltas {
        self.provider.stream(Request { hooks: self.hooks.clone(), ..request })
    }
}

//! What a server says unasked: lines of its log, the end of its connection, and changed lists, which are read anew.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;

use super::{Server, ServerState};
use crate::peer::ServerNews;

type Listening = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// Boxed: connecting leads to listening, and listening here.
fn relist(server: Arc<Server>, changed: Vec<ServerNews>) -> Listening {
    Box::pin(async move {
        // What cannot be listed now is asked again when somebody calls it.
        if changed.contains(&ServerNews::PromptsChanged) {
            drop(server.list_prompts().await);
            drop(server.changed.send(server.name().to_owned()));
        }
        if changed.contains(&ServerNews::ToolsChanged) {
            drop(server.list_tools().await);
        }
    })
}

/// So long after a change a list is read: servers announce several at once.
const DEBOUNCE: Duration = Duration::from_millis(200);

pub(super) async fn listen(server: std::sync::Weak<Server>, mut heard: UnboundedReceiver<ServerNews>) {
    while let Some(news) = heard.recv().await {
        let Some(server) = server.upgrade() else { return };
        match news {
            ServerNews::Log(line) => server.log(line),
            ServerNews::Gone => {
                let mut inner = server.inner();
                if matches!(inner.state, ServerState::Ready(_)) {
                    inner.state = ServerState::Idle;
                }
                return;
            }
            first @ (ServerNews::ToolsChanged | ServerNews::PromptsChanged) => {
                tokio::time::sleep(DEBOUNCE).await;
                let (mut is_gone, mut changed) = (false, vec![first]);
                while let Ok(more) = heard.try_recv() {
                    match more {
                        ServerNews::Log(line) => server.log(line),
                        ServerNews::Gone => is_gone = true,
                        more if changed.contains(&more) => {}
                        more => changed.push(more),
                    }
                }
                if is_gone {
                    return;
                }
                relist(server, changed).await;
            }
        }
    }
}

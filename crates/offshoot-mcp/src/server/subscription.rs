//! A server of the newer era says that its lists have changed in a stream that it is asked for, once for all kinds. A stream that has ended is asked
//! for again, as long as anybody has the connection.

use std::sync::Arc;

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

use crate::client::Client;
use crate::pauses::Pauses;
use crate::peer::{CallError, ServerNews};

/// The subscription of a connection: dropping it ends it.
pub(super) struct Subscription(AbortHandle);

impl Drop for Subscription {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// `None`: the server announces no changes, or does so unasked.
pub(super) fn subscribe(client: &Arc<Client>, news: UnboundedSender<ServerNews>) -> Option<Subscription> {
    let wish = client.subscription()?;
    let client = client.clone();
    let task = tokio::spawn(async move {
        let mut pauses = Pauses::default();
        while !news.is_closed() {
            let begun = Instant::now();
            match client.listen(wish.clone()).await {
                Ok(()) | Err(CallError::Gone(_) | CallError::Late(_)) if !client.peer.is_gone() => {}
                // It does not do this, or the next call says what is wrong.
                _ => return,
            }
            sleep(pauses.after(begun.elapsed())).await;
        }
    });
    Some(Subscription(task.abort_handle()))
}

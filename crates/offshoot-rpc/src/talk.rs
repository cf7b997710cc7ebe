//! Prompts, and the messages that wait for a turn.

use std::sync::Arc;

use offshoot_app::extensions::{ExtensionFront as _, asks_for_list};
use offshoot_protocol::message::Block;
use offshoot_protocol::request::{FollowUp, Prompt, Spoken, Steer, UserPrompt};
use offshoot_protocol::{AgentError, Settled};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::extension_front::SharedFront;
use crate::request::StreamingBehavior;
use crate::responder::{Answered, Responder, RpcData, RpcFailure};
use crate::server::{HANDLED, QUEUED, RpcServer, STARTED};

/// What the client says to the model.
pub(crate) fn said(message: String, images: Option<Vec<Block>>) -> Result<UserPrompt, RpcFailure> {
    let images = images.unwrap_or_default();
    if !images.iter().all(|block| matches!(block, Block::Image { .. })) {
        return Err(
            "images holds objects such as {\"type\":\"image\",\"data\":BASE64,\"mimeType\":\"image/png\"}".into()
        );
    }
    Ok(UserPrompt { text: message, images, ..UserPrompt::default() })
}

/// Answers when the prompt is accepted or refused; the events tell the rest.
pub(crate) async fn prompt(
    server: &RpcServer,
    said: UserPrompt,
    behavior: Option<StreamingBehavior>,
    responder: Responder,
) {
    if let Some(extensions) = &server.extensions
        && extensions.is_command(&said.text).await
    {
        // Other prompts may come while it runs.
        let done = server.agent.ask(Prompt(said)).await;
        return responder.send(done.map_err(Into::into).and_then(|_| RpcData::of(&HANDLED)));
    }
    if server.extensions.is_none() && asks_for_list(&said.text) {
        SharedFront(Arc::clone(&server.front)).tell("extensions", Value::Array(Vec::new()));
        return responder.send(RpcData::of(&HANDLED));
    }
    let only_one = server.prompting.lock().await;
    let (accepted, is_accepted) = oneshot::channel();
    server.client().prompt = Some((responder, accepted));
    let talking = server.agent.ask(Prompt(said.clone()));
    tokio::pin!(talking);
    let settled = tokio::select! {
        biased;
        settled = &mut talking => settled,
        // The response is sent. The run continues, and nobody waits for its end.
        _ = is_accepted => return,
    };
    let Some((responder, _)) = server.client().prompt.take() else { return };
    drop(only_one);
    let answer = match (settled, behavior) {
        (Ok(Spoken::Handled), _) => RpcData::of(&HANDLED),
        // It is not in the session, but kept beside it.
        (Ok(Spoken::Taken(Settled::Broken(why))), _) => Err(why.into()),
        (Ok(_), _) => RpcData::of(&STARTED),
        (Err(AgentError::Busy(_)), Some(behavior)) => queued(server, said, behavior).await,
        (Err(AgentError::Busy(why)), None) => {
            Err(RpcFailure(format!("{why}; with \"streamingBehavior\" (steer or followUp) the message is queued")))
        }
        (Err(error), _) => Err(error.into()),
    };
    server.answer_prompt(responder, answer);
}

/// Queues a message; without a run it begins one.
pub(crate) async fn queued(server: &RpcServer, said: UserPrompt, behavior: StreamingBehavior) -> Answered {
    let state = server.agent.state();
    let is_idle = state.await.is_ok_and(|state| !state.is_streaming && !state.is_at_a_job);
    let spoken = match behavior {
        StreamingBehavior::Steer => server.agent.ask(Steer(said)).await?,
        StreamingBehavior::FollowUp => server.agent.ask(FollowUp(said)).await?,
    };
    RpcData::of(&match spoken {
        Spoken::Handled => HANDLED,
        Spoken::Taken(()) if is_idle => STARTED,
        Spoken::Taken(()) => QUEUED,
    })
}

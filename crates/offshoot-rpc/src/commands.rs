//! Carries out the commands of a client. Each is answered once, by its responder.

use std::sync::Arc;

use offshoot_agent::request_queue::Askable;
use offshoot_protocol::FilesAlong;
use offshoot_protocol::request::{
    AbortBash, AnswerForm, Approve, ChildOrder, Children, ClearedQueue, SetApproval, SetAutoCompaction, SetAutoRetry,
    SetFollowUpMode, SetSteeringMode, StopBackground, ToChild,
};

use crate::records::{ChildrenData, LevelsData, QueueData};
use crate::request::{RpcCommand, StreamingBehavior};
use crate::responder::{Answered, Responder, RpcData};
use crate::rows::Shape;
use crate::server::RpcServer;
use crate::{actions, answers, rows, schema, talk};
use offshoot_workspace::{ArgValue, Given};

pub(crate) async fn run(server: Arc<RpcServer>, command: RpcCommand, responder: Responder) {
    if let RpcCommand::Prompt { message, images, streaming_behavior } = command {
        return match talk::said(message, images) {
            Ok(said) => talk::prompt(&server, said, streaming_behavior, responder).await,
            Err(failure) => responder.send(Err(failure)),
        };
    }
    let answer = answer(&server, command, &responder).await;
    responder.send(answer);
}

async fn answer(server: &RpcServer, command: RpcCommand, responder: &Responder) -> Answered {
    let agent = &server.agent;
    match command {
        // Answered by `run`.
        RpcCommand::Prompt { .. } => Ok(RpcData::Nothing),
        RpcCommand::Steer { message, images } => {
            talk::queued(server, talk::said(message, images)?, StreamingBehavior::Steer).await
        }
        RpcCommand::FollowUp { message, images } => {
            talk::queued(server, talk::said(message, images)?, StreamingBehavior::FollowUp).await
        }
        RpcCommand::Abort => agent.abort().await.map(nothing).map_err(Into::into),
        RpcCommand::ClearQueue => {
            let ClearedQueue { steering, follow_up } = agent.clear_queue().await?;
            RpcData::of(&QueueData { steering, follow_up })
        }
        RpcCommand::NewSession { parent_session } => actions::moved_on(agent.new_session(parent_session).await),
        RpcCommand::GetState => answers::state(server).await,
        RpcCommand::GetMessages => answers::messages(server).await,
        RpcCommand::SetModel { provider, model_id } => actions::set_model(server, provider, model_id).await,
        RpcCommand::CycleModel => actions::cycle_model(server).await,
        RpcCommand::GetAvailableModels => answers::models(server).await,
        RpcCommand::SetThinkingLevel { level } => actions::set_thinking(server, &level).await,
        RpcCommand::CycleThinkingLevel => actions::cycle_thinking(server).await,
        RpcCommand::GetAvailableThinkingLevels => RpcData::of(&LevelsData::of(&agent.state().await?.model)),
        RpcCommand::SetSteeringMode { mode } => done(server, SetSteeringMode(mode)).await,
        RpcCommand::SetFollowUpMode { mode } => done(server, SetFollowUpMode(mode)).await,
        RpcCommand::Compact { custom_instructions } => {
            Ok(RpcData::Json(agent.compact(custom_instructions).await?.to_json()))
        }
        RpcCommand::SetAutoCompaction { enabled } => done(server, SetAutoCompaction(enabled)).await,
        RpcCommand::SetAutoRetry { enabled } => done(server, SetAutoRetry(enabled)).await,
        RpcCommand::AbortRetry => abort_retry(server).await,
        RpcCommand::Bash { command, exclude_from_context } => {
            bash(server, command, exclude_from_context == Some(true), responder).await
        }
        RpcCommand::AbortBash => done(server, AbortBash).await,
        RpcCommand::GetSessionStats => answers::stats(server).await,
        RpcCommand::ExportHtml { output_path } => actions::export_html(server, output_path).await,
        RpcCommand::SwitchSession { session_path, session_folder } => {
            actions::switch_session(server, session_path, session_folder).await
        }
        RpcCommand::Fork { entry_id, files, across_commits } => {
            actions::fork(server, entry_id, FilesAlong::of(files).across_commits(across_commits)).await
        }
        RpcCommand::Clone => actions::moved_on(agent.clone_session().await),
        RpcCommand::GetForkMessages => answers::fork_messages(server).await,
        RpcCommand::GetEntries { since } => answers::entries(server, since).await,
        RpcCommand::GetTree => answers::tree(server).await,
        RpcCommand::GetLastAssistantText => answers::last_answer(server).await,
        RpcCommand::SetSessionName { name } => actions::set_name(server, &name).await,
        RpcCommand::GetCommands => answers::commands(server).await,
        RpcCommand::GetSchema => RpcData::of(&schema::schema()),
        RpcCommand::ListSessions { all } => answers::sessions(server, all).await,
        RpcCommand::GetBranches => answers::all_branches(server).await,
        RpcCommand::NavigateTree {
            target_id,
            summarize,
            custom_instructions,
            replace_instructions,
            label,
            files,
            across_commits,
        } => {
            let mut given = with_files(FilesAlong::of(files).across_commits(across_commits));
            put_flags(&mut given, &[("summarize", summarize), ("replace_instructions", replace_instructions)]);
            put_texts(
                &mut given,
                [("entry", Some(target_id)), ("instructions", custom_instructions), ("label", label)],
            );
            rows::operate(server, "navigate", given, Shape::Known).await
        }
        RpcCommand::SetLabel { entry_id, label } => actions::set_label(server, entry_id, label).await,
        RpcCommand::Pick { selections, files } => pick(server, selections, files).await,
        RpcCommand::Merge { entry_id, custom_instructions, files } => {
            merge(server, [("source", Some(entry_id)), ("instructions", custom_instructions)], files).await
        }
        RpcCommand::Undo { files, across_commits } => {
            let given = with_files(FilesAlong::of(files).across_commits(across_commits));
            rows::operate(server, "undo", given, Shape::Known).await
        }
        RpcCommand::Operation { row, given } => rows::operate(server, row.about.name, given, Shape::Own).await,
        RpcCommand::Uncompact => rows::operate(server, "uncompact", Given::default(), Shape::Known).await,
        RpcCommand::Compare { a, b, patch } => answers::compare(server, a, b, patch).await,
        RpcCommand::Forecast { entry_id } => answers::forecast(server, entry_id).await,
        RpcCommand::Subscribe { events, approvals, ui, ui_timeout, children } => {
            server.client().hears_children = children.unwrap_or_default();
            server.subscribe(events, approvals, ui, ui_timeout)
        }
        RpcCommand::Approve { request_id: id, decision, message, rule, scope } => {
            actions::approve(server, Approve { id, decision, message, rule, scope }).await
        }
        RpcCommand::Answer { request_id: id, answer } => done(server, AnswerForm { id, answer }).await,
        RpcCommand::StopBackground { command_id } => stop_background(server, command_id).await,
        RpcCommand::SetApproval { mode } => done(server, SetApproval(mode)).await,
        RpcCommand::GetChildren => RpcData::of(&ChildrenData { children: agent.ask(Children).await? }),
        RpcCommand::SteerChild { child_id, message } => order(server, child_id, ChildOrder::Steer(message)).await,
        RpcCommand::FollowUpChild { child_id, message } => order(server, child_id, ChildOrder::FollowUp(message)).await,
        RpcCommand::StopChild { child_id } => order(server, child_id, ChildOrder::Stop).await,
    }
}

/// Of a command, or of all.
async fn stop_background(server: &RpcServer, command: Option<String>) -> Answered {
    server.agent.ask(StopBackground(command)).await.map(|_| nothing(())).map_err(Into::into)
}

/// For a child that runs.
async fn order(server: &RpcServer, id: String, order: ChildOrder) -> Answered {
    done(server, ToChild { id, order }).await
}

async fn pick(server: &RpcServer, selections: Vec<String>, files: bool) -> Answered {
    let mut given = with_files(FilesAlong::of(files));
    given.put("selection", ArgValue::Many(selections));
    rows::operate(server, "pick", given, Shape::Known).await
}

async fn merge(server: &RpcServer, texts: [(&'static str, Option<String>); 2], files: bool) -> Answered {
    let mut given = with_files(FilesAlong::of(files));
    put_texts(&mut given, texts);
    rows::operate(server, "merge", given, Shape::Known).await
}

async fn abort_retry(server: &RpcServer) -> Answered {
    let is_retrying = server.client().is_retrying;
    if is_retrying {
        server.agent.abort().await?;
    }
    Ok(RpcData::Nothing)
}

/// What an operation gets that brings files along, if a client wants it.
fn with_files(along: FilesAlong) -> Given {
    let mut given = Given::default();
    let (files, across) = (along != FilesAlong::Stay, along == FilesAlong::ComeAcrossCommits);
    put_flags(&mut given, &[("files", files), ("across_commits", across)]);
    given
}

fn put_flags(given: &mut Given, flags: &[(&'static str, bool)]) {
    flags.iter().filter(|(_, is_set)| *is_set).for_each(|(name, _)| given.put(name, ArgValue::Flag));
}

fn put_texts<const N: usize>(given: &mut Given, texts: [(&'static str, Option<String>); N]) {
    texts
        .into_iter()
        .filter_map(|(name, text)| Some((name, text?)))
        .for_each(|(name, text)| given.put_text(name, text));
}

fn nothing<T>(_: T) -> RpcData {
    RpcData::Nothing
}

async fn done(server: &RpcServer, request: impl Askable<Reply = ()>) -> Answered {
    server.agent.ask(request).await.map(nothing).map_err(Into::into)
}

/// Meanwhile its output is sent with its id.
async fn bash(server: &RpcServer, command: String, exclude: bool, responder: &Responder) -> Answered {
    let is_first = {
        let mut client = server.client();
        let is_first = client.bash.is_none();
        if is_first {
            client.bash = responder.id();
        }
        is_first
    };
    let ran = server.agent.bash(command, exclude).await;
    if is_first {
        server.client().bash = None;
    }
    RpcData::of(&ran?.run)
}

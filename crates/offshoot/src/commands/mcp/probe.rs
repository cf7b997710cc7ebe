//! `offshoot mcp probe URL`: what a server says that no file names.

use std::io::Write as _;
use std::sync::Arc;

use offshoot_agent::tool::{FormAsker, FormMessage};
use offshoot_app::app::App;
use offshoot_app::config::Environment;
use offshoot_app::config::mcp_tokens::ServerTokens;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::http::http;
use offshoot_app::mcp::{ServerSecrets, context};
use offshoot_mcp::config_file::{ConfigFile, ConfigScope, ConfigSource, merge};
use offshoot_mcp::oauth::TokenStore;
use offshoot_mcp::server::{Presence, Server, ServerContext, ServerState};
use offshoot_mcp::server_config::ConfigDialect;
use offshoot_protocol::{FieldAnswer, FieldKind, FormAnswer, FormField};
use serde_json::{Value, json};

use super::sign_in::signed_in;
use super::{Args, in_runtime, selection};

/// A server that is never content must not ask for ever.
const MOST_SIGN_INS: usize = 3;

pub(super) fn run(app: &App, args: &Args) -> Result<()> {
    let url = args.words.first().ok_or_else(|| CommandError::usage("no address is named"))?;
    if !url.starts_with("http://") && !url.starts_with("https://") {
        let why = format!("{url} is no address: it does not begin with http:// or https://");
        return Err(CommandError::usage(why).hint("`offshoot mcp` tries the servers that your files name"));
    }
    let json = |flag: &str, text: &str| {
        serde_json::from_str::<Value>(text).map_err(|error| CommandError::usage(format!("{flag}: {error}")))
    };
    let arguments = args.arguments.as_deref().map_or(Ok(json!({})), |text| json("--arguments", text))?;
    let answers = args.answers.as_deref().map(|text| json("--answers", text)).transpose()?;
    let file = ConfigFile::of(&json!({"mcpServers": {"probe": entry(args, url)}}), ConfigDialect::Common);
    let source =
        ConfigSource { path: "the command line".into(), scope: ConfigScope::Named, dialect: ConfigDialect::Common };
    let (mut servers, troubles) = merge(&[(Arc::new(source), file)]);
    let Some(configured) = servers.pop() else { return Err(CommandError::usage(troubles.join("; "))) };
    let (settings, _) = selection(app, args)?;
    // Nothing is kept.
    let app_of_run = App { environment: Environment { data: None, ..app.environment.clone() }, ..app.clone() };
    let kept: Arc<dyn TokenStore> = Arc::new(ServerTokens::of(None, "probe", url));
    let context = context(&app_of_run, &app.environment.cwd, http(app, &settings), &ServerSecrets::default());
    let person = if answers.is_some() { Presence::Somebody } else { Presence::Nobody };
    let context = ServerContext { tokens: Arc::new(move |_, _| kept.clone()), person, ..context };
    let server = Server::new(configured, context, None, tokio::sync::mpsc::unbounded_channel().0);
    answers.into_iter().for_each(|answers| server.ask_through(answering(answers)));
    let probed = in_runtime(async {
        let mut probed = probe(&server, args.call.as_deref(), arguments.clone()).await;
        // A call may need more rights than the list.
        for _ in 0..MOST_SIGN_INS {
            if !args.sign_in || !matches!(server.state(), ServerState::NeedsSignIn(_)) {
                break;
            }
            let tokens = signed_in(app, &server).await?;
            if let Some(store) = server.token_store().await {
                store.keep(Some(&tokens)).map_err(|why| CommandError::new(FailureKind::Failed, why))?;
            }
            server.reset();
            probed = probe(&server, args.call.as_deref(), arguments.clone()).await;
        }
        server.close().await;
        Ok::<_, CommandError>(probed)
    })??;
    let report =
        probed.map_err(|why| CommandError::new(FailureKind::Failed, format!("the server cannot be used: {why}")))?;
    let mut out = app.ui.raw();
    writeln!(out, "{report}")?;
    Ok(out.finish()?)
}

/// Somebody who answers what is given, and else what the server proposes.
fn answering(answers: Value) -> FormAsker {
    let answer = move |field: &FormField| match (&answers[&field.id], &field.kind) {
        (Value::Null, _) => field.usual_answer(),
        (Value::String(label), FieldKind::Choice { .. }) => Some(FieldAnswer::chosen(label)),
        (Value::Array(labels), _) => {
            let selected = labels.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            Some(FieldAnswer { selected, text: None })
        }
        (Value::String(text), _) => Some(FieldAnswer::text(text)),
        (other, _) => Some(FieldAnswer::text(other.to_string())),
    };
    FormAsker::new(move |message| {
        if let FormMessage::Ask(_, form, reply) = message {
            let answers = form.fields.iter().filter_map(|field| Some((field.id.clone(), answer(field)?))).collect();
            let fits = form.check(&answers).is_ok();
            // The call may have ended.
            drop(reply.send(if fits { FormAnswer::Send(answers) } else { FormAnswer::Decline }));
        }
    })
}

fn entry(args: &Args, url: &str) -> Value {
    let (id, secret) = (&args.client_id, &args.client_secret);
    json!({"url": url, "oauth": {"clientId": id, "clientSecret": secret}})
}

async fn probe(server: &Arc<Server>, call: Option<&str>, arguments: Value) -> std::result::Result<Value, String> {
    server.list_tools().await.map_err(|error| error.to_string())?;
    let ServerState::Ready(of) = server.state() else { return Err("it is not ready".to_owned()) };
    let tools = server.tools().unwrap_or_default();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    // As models get them.
    let schemas: serde_json::Map<String, Value> =
        tools.iter().map(|tool| (tool.name.clone(), tool.parameters.clone())).collect();
    let mut report = json!({
        "server": {"name": of.name, "version": of.version}, "protocol": of.protocol, "tools": names, "schemas": schemas,
    });
    if let (Some(tool), Some(members)) = (call, report.as_object_mut()) {
        let result = server.call_once(tool, arguments).await.map_err(|error| error.to_string())?;
        members.insert("result".to_owned(), result);
    }
    Ok(report)
}

//! `offshoot mcp`: the MCP servers of the user's and the project's files.

mod edit;
mod sign_in;
mod probe;

use std::io::Write as _;
use std::sync::Arc;

use clap::ValueEnum;
use offshoot_app::agent::server_confine;
use offshoot_app::app::App;
use offshoot_app::config::mcp_files::EnabledServers;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::http::http;
use offshoot_app::mcp::{FoundServer, HeldBack, McpSelection, ServerSecrets, context, definitions, find};
use offshoot_mcp::cache::DefinitionCache;
use offshoot_mcp::server::{Server, ServerState};
use offshoot_mcp::start_plan::{shown_reach, shown_whole};
use offshoot_session::text::{clean_lines, counted};
use offshoot_settings::Settings;
use serde_json::{Value, json};

/// List, add, remove and try MCP servers
///
/// Without an ACTION the command connects to the servers of this folder and of
/// the user, and lists them; it exits with 1 if one cannot be used. `add NAME --
/// COMMAND ARGS…` or `add NAME --url URL` writes mcp.json in the data folder,
/// with --local .offshoot/mcp.json; `remove NAME` takes it out. `enable NAME`
/// lets a server of this project run as its file names it now in a trusted
/// folder; a changed entry asks again. `login NAME` prints the address at which
/// you sign in, and keeps what the server gives in mcp-auth.json in the data
/// folder; `logout NAME` forgets it. `probe URL` connects to a server that no
/// file names, lists its tools and calls one.
///
/// --json of the list prints an array: [{"name", "state", "tools", "runs",
/// "source", "scope", "why"?, "protocol"?}]; `state` is ready, failed,
/// needs-sign-in, off, untrusted or not-enabled.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// list (default), add, remove, enable, login, logout or probe
    #[arg(value_enum, default_value_t, hide_default_value = true, hide_possible_values = true)]
    action: Action,

    /// The server's name, and after -- its command; or the address to probe
    words: Vec<String>,

    /// add: a server that is reached over HTTP
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// add: a variable of the server; ${NAME} in it is filled in at the start (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,

    /// add: a header of requests to the server (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    header: Vec<String>,

    /// add: the variable whose value is the server's bearer token
    #[arg(long, value_name = "NAME")]
    bearer_token_env_var: Option<String>,

    /// add: the folder in which the server starts
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,

    /// add and remove: the file of this folder's project
    #[arg(short, long)]
    local: bool,

    /// probe: call this tool
    #[arg(long, value_name = "TOOL")]
    call: Option<String>,

    /// probe: the arguments of the call, as JSON
    #[arg(long, value_name = "JSON", requires = "call")]
    arguments: Option<String>,

    /// probe: answers to what the server asks during the call, as a JSON object by the names of its questions; others are answered as the server proposes
    #[arg(long, value_name = "JSON", requires = "call")]
    answers: Option<String>,

    /// probe: sign in first if the server asks for it; nothing is kept
    #[arg(long)]
    sign_in: bool,

    /// probe: the client that is registered at the server's authorization server
    #[arg(long, value_name = "ID", requires = "sign_in")]
    client_id: Option<String>,

    /// probe: the secret of that client. Other users can see it in the process list
    #[arg(long, value_name = "SECRET", requires = "client_id")]
    client_secret: Option<String>,

    /// Use the servers of this file, too (repeatable)
    #[arg(long, value_name = "FILE")]
    mcp_config: Vec<std::path::PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Action {
    #[default]
    List,
    Add,
    Remove,
    Enable,
    Login,
    Logout,
    Probe,
}

const EXAMPLES: &str = "\
Examples:
  offshoot mcp
  offshoot mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  offshoot mcp add docs --url https://example.com/mcp --bearer-token-env-var DOCS_TOKEN
  offshoot mcp enable files";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    match args.action {
        Action::List if !args.words.is_empty() => Err(CommandError::usage("the list takes no name")),
        Action::List => list(app, args),
        Action::Add => edit::add(app, args),
        Action::Remove => edit::remove(app, args),
        Action::Enable => enable(app, args),
        Action::Login => sign_in::login(app, args),
        Action::Logout => sign_in::logout(app, args),
        Action::Probe => probe::run(app, args),
    }
}

/// The name of a server that an action needs.
fn name(args: &Args) -> Result<&str> {
    let name = args.words.first().map(String::as_str);
    name.ok_or_else(|| CommandError::usage("no server is named").hint("`offshoot mcp` lists them"))
}

/// The user's settings, and which files of servers count.
fn selection(app: &App, args: &Args) -> Result<(Settings, McpSelection)> {
    let (layers, troubles) = app.settings_files(&app.environment.cwd).load()?;
    troubles.iter().for_each(|trouble| app.ui.warning(trouble));
    let settings = Settings::from(&layers);
    let selection = McpSelection { named: args.mcp_config.clone(), imports: settings.mcp_import.clone() };
    Ok((settings, selection))
}

fn enable(app: &App, args: &Args) -> Result<()> {
    let name = name(args)?;
    let (_, selection) = selection(app, args)?;
    let folder = app.environment.cwd.clone();
    // Trust is another question: here it is only looked at what the files name.
    let trusting = App { trust: offshoot_app::trust::RunTrust::EveryFolder(true), ..app.clone() };
    let (found, _) = find(&trusting, &folder, &selection);
    let server = found.iter().find(|server| server.configured.config.name == name);
    let server = server.ok_or_else(|| unknown(name, &found))?;
    if !matches!(server.held_back, Some(HeldBack::NotNamed | HeldBack::Refused)) {
        return app.ui.nothing_to_do(&format!("{name} needs no permission"));
    }
    let data = app.environment.data.as_deref();
    let data = data.ok_or_else(|| CommandError::new(FailureKind::Failed, "the data folder is not known"))?;
    EnabledServers::of(data).enable(&server.configured)?;
    let mut out = app.ui.text();
    let runs = shown_whole(&server.configured.config.reach);
    writeln!(out, "{name} may run: {}", clean_lines(&runs.join("\n    ")))?;
    let is_trusted = app.trust_of(&folder).0 == offshoot_app::trust::Trust::Given;
    if !is_trusted {
        writeln!(
            out,
            "it starts when this folder is trusted: `offshoot` on a terminal asks, --trust does it this once"
        )?;
    }
    Ok(out.finish()?)
}

fn unknown(name: &str, found: &[FoundServer]) -> CommandError {
    let names: Vec<&str> = found.iter().map(|server| server.configured.config.name.as_str()).collect();
    let error = CommandError::new(FailureKind::NotFound, format!("no file names a server {}", clean_lines(name)));
    match names.is_empty() {
        true => error.hint("`offshoot mcp add NAME -- COMMAND` adds one"),
        false => error.hint(format!("there are {}", names.join(", "))),
    }
}

/// A server as it is listed.
struct ListedServer {
    found: FoundServer,
    state: Option<ServerState>,
    tools: usize,
    troubles: Vec<String>,
    last: Vec<String>,
}

impl ListedServer {
    fn word(&self) -> &'static str {
        match (self.found.held_back, &self.state) {
            (Some(HeldBack::Disabled), _) => "off",
            (Some(HeldBack::Untrusted), _) => "untrusted",
            (Some(HeldBack::NotNamed | HeldBack::Refused), _) => "not-enabled",
            (None, Some(ServerState::Ready(_))) => "ready",
            (None, Some(ServerState::NeedsSignIn(_))) => "needs-sign-in",
            (None, _) => "failed",
        }
    }

    fn why(&self) -> Option<&str> {
        match &self.state {
            Some(ServerState::Failed(why) | ServerState::NeedsSignIn(why) | ServerState::Suspended(why)) => Some(why),
            Some(ServerState::Idle | ServerState::Connecting | ServerState::Ready(_)) | None => None,
        }
    }

    fn to_json(&self) -> Value {
        let configured = &self.found.configured;
        let mut json = json!({
            "name": configured.config.name, "state": self.word(), "tools": self.tools,
            "runs": shown_reach(&configured.config.reach),
            "source": configured.source.path.display().to_string(), "scope": scope(configured.source.scope),
        });
        if let (Some(members), Some(why)) = (json.as_object_mut(), self.why()) {
            members.insert("why".to_owned(), json!(why));
        }
        if let (Some(members), Some(ServerState::Ready(of))) = (json.as_object_mut(), &self.state) {
            members.insert("protocol".to_owned(), json!(of.protocol));
        }
        json
    }
}

fn scope(scope: offshoot_mcp::config_file::ConfigScope) -> &'static str {
    use offshoot_mcp::config_file::ConfigScope;
    match scope {
        ConfigScope::Named => "command-line",
        ConfigScope::Project => "project",
        ConfigScope::User => "user",
        ConfigScope::Extension => "extension",
    }
}

fn list(app: &App, args: &Args) -> Result<()> {
    let (settings, selection) = selection(app, args)?;
    let folder = app.environment.cwd.clone();
    let (found, troubles) = find(app, &folder, &selection);
    troubles.iter().for_each(|trouble| app.ui.warning(trouble));
    let mut context = context(app, &folder, http(app, &settings), &ServerSecrets::default());
    context.around.confine = server_confine(app, &folder);
    let listed = in_runtime(async {
        let mut trying = Vec::new();
        for found in found {
            let (changed, _) = tokio::sync::mpsc::unbounded_channel();
            let server = Server::new(found.configured.clone(), context.clone(), None, changed);
            trying.push(tokio::spawn(tried(found, server, definitions(app))));
        }
        let mut listed = Vec::new();
        for one in trying {
            listed.extend(one.await.ok());
        }
        listed
    })?;
    if args.json {
        let all: Vec<Value> = listed.iter().map(ListedServer::to_json).collect();
        let mut out = app.ui.raw();
        writeln!(out, "{}", Value::Array(all))?;
        out.finish()?;
    } else {
        print(app, &listed)?;
    }
    let is_bad =
        !troubles.is_empty() || listed.iter().any(|server| matches!(server.word(), "failed" | "needs-sign-in"));
    if is_bad { Err(CommandError::new(FailureKind::Failed, "not every server can be used")) } else { Ok(()) }
}

async fn tried(found: FoundServer, server: Arc<Server>, definitions: DefinitionCache) -> ListedServer {
    let mut listed = ListedServer { found, state: None, tools: 0, troubles: Vec::new(), last: Vec::new() };
    if listed.found.held_back.is_some() {
        return listed;
    }
    let tried = server.list_tools().await;
    listed.state = Some(match tried {
        Ok(()) => server.state(),
        Err(error) => match server.state() {
            ServerState::Ready(_) | ServerState::Idle | ServerState::Connecting => {
                ServerState::Failed(error.to_string())
            }
            state => state,
        },
    });
    // The next conversation declares them at once.
    server.remember_in(&definitions);
    listed.tools = server.tools().map_or(0, |tools| tools.len());
    listed.troubles = server.troubles();
    listed.last = server.last_lines();
    server.close().await;
    listed
}

fn print(app: &App, listed: &[ListedServer]) -> Result<()> {
    let mut out = app.ui.text();
    if listed.is_empty() {
        writeln!(out, "no servers; `offshoot mcp add NAME -- COMMAND` adds one")?;
    }
    for server in listed {
        let configured = &server.found.configured;
        let tools = match &server.state {
            Some(ServerState::Ready(of)) => {
                format!("  {}  protocol {}", counted(server.tools, "tool", "tools"), of.protocol)
            }
            _ => String::new(),
        };
        let source = app.environment.short(&configured.source.path.display().to_string());
        writeln!(out, "{}  {}{tools}  ({source})", configured.config.name, server.word())?;
        writeln!(out, "    {}", clean_lines(&shown_reach(&configured.config.reach)))?;
        if matches!(server.found.held_back, Some(HeldBack::NotNamed | HeldBack::Refused)) {
            writeln!(out, "    `offshoot mcp enable {}` lets it run", configured.config.name)?;
        }
        let odd = server.why().into_iter().chain(server.troubles.iter().map(String::as_str));
        for words in odd {
            writeln!(out, "    {}", clean_lines(words))?;
        }
        if server.word() == "failed" {
            for line in &server.last {
                writeln!(out, "    | {}", clean_lines(line))?;
            }
        }
    }
    Ok(out.finish()?)
}

/// Runs what waits for servers.
fn in_runtime<T>(work: impl Future<Output = T>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CommandError::io("start the client", &error))?;
    Ok(runtime.block_on(work))
}

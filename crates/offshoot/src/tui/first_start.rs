//! What is asked before the first conversation, in one panel: trust, the project's extensions and MCP servers, the own folders of pi and
//! oh-my-pi, copies of other agents' sessions, a key. Each answer goes to whoever asked. Draws nothing.

use offshoot_app::agent::Args;
use offshoot_app::app::App;
use offshoot_app::error::Result;
use offshoot_app::trust::Trust;
use offshoot_session::session::Session;

use super::start_panel::{StartAnswer, StartQuestion, ask};
use super::{copies_question, extension_question, mcp_question, peer_question, trust_question};
use crate::commands::auth::{first_key, lacks_key};

/// Asks what nobody has answered yet, and returns the program with the decision about the session's folder.
pub(super) fn settled(app: &App, args: &Args, session: &Session) -> Result<App> {
    let folder = &app.folder_of(session);
    let (app, trust) = &trust_question::question(app, folder);
    // Of a folder that is not trusted yet the extensions and servers are listed with it.
    let trusting = trust.as_ref().map_or_else(|| app.clone(), |_| trust_question::decided(app, folder, true));
    let extensions = extension_question::question(&trusting, args, session)?;
    let servers = mcp_question::questions(&trusting, args, folder)?;
    let peers = peer_question::questions(app)?;
    let copies = copies_question::question(app);
    let others = [trust, &extensions.as_ref().map(|(question, _)| question.clone())];
    let of_servers = servers.iter().map(|(_, question)| question);
    let of_peers = peers.iter().map(|(_, question)| question);
    let of_copies = copies.iter().map(|(_, question)| question);
    let mut questions: Vec<StartQuestion> =
        others.into_iter().flatten().chain(of_servers).chain(of_peers).chain(of_copies).cloned().collect();
    let wants_key = begins_without_a_key(args) && lacks_key(app)?;
    // Alone, the list of providers is the panel.
    let is_key_alone = questions.is_empty();
    questions.extend((wants_key && !is_key_alone).then(key_question));
    let mut answers = ask(app, &questions)?.into_iter();
    let mut answer_if = |is_asked: bool| if is_asked { answers.next().flatten() } else { None };
    let trusted = answer_if(trust.is_some());
    let decided = if trust.is_some() { trust_question::settle(app, folder, trusted) } else { app.clone() };
    let runs_extensions = answer_if(extensions.is_some());
    if let Some((_, asked)) = extensions.filter(|_| decided.trust_of(folder).0 == Trust::Given) {
        extension_question::settle(app, &asked, runs_extensions)?;
    }
    for (server, _) in &servers {
        let answer = answer_if(true);
        if decided.trust_of(folder).0 == Trust::Given {
            mcp_question::settle(app, server, answer)?;
        }
    }
    peers.iter().for_each(|(peer, _)| peer_question::settle(app, *peer, answer_if(true)));
    copies.iter().for_each(|(archive, _)| copies_question::settle(app, archive, answer_if(true)));
    // Another program's folder may have brought one meanwhile.
    let enters_key = is_key_alone || answer_if(true).is_some();
    if wants_key && enters_key && lacks_key(app)? {
        first_key(app)?;
    }
    Ok(decided)
}

fn key_question() -> StartQuestion {
    StartQuestion {
        title: "Enter the key of a provider? offshoot has none of its own.".to_owned(),
        about: "",
        details: Vec::new(),
        notes: Vec::new(),
        answers: vec![StartAnswer::new("yes", "enter one now, if the files above bring none (/login does it later)")],
        otherwise: "go on without",
    }
}

/// Whether the run begins a conversation, and the command line says nothing of a model: whoever looks at an old session may need no
/// key.
fn begins_without_a_key(args: &Args) -> bool {
    let opens = args.go_on || args.resume || args.session.is_some() || args.fork.is_some();
    let names = args.api_key.is_some() || args.model.model.is_some() || args.model.provider.is_some();
    !opens && !names && args.extension.is_empty()
}

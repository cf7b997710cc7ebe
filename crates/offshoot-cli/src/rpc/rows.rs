//! Runs operations of the table for a client, and makes responses of their outcomes. Operations that clients knew before the
//! table keep their shapes here; a new one needs nothing.

use std::any::Any;

use offshoot_agent::command::Command;
use offshoot_workspace::label::{Label, LabelOutput};
use offshoot_workspace::name::{Name, NameOutput};
use offshoot_workspace::undo::{Undo, UndoOutput};
use offshoot_workspace::{ArgKind, Given, Note, Operation, Outcome, Output, Words, find_operation};

use super::records::NavigatedData;
use super::responder::{Answered, RpcData, RpcFailure};
use super::server::RpcServer;
use crate::error::CommandError;

/// The session is the open one, whatever its name.
const SESSION: &str = "session";

/// How clients know an operation that is older than the table.
trait OldRpc: Operation {
    /// Whether its data say where the session is now.
    const MOVES: bool;

    /// Its data. `said` is what it says to people, `leaf` where the session is now.
    fn shape(output: &Self::Output, told: Told) -> Answered;
}

/// What is told beside an output.
struct Told {
    said: String,
    warning: Option<String>,
    leaf: Option<String>,
}

impl Told {
    fn moved(self) -> Answered {
        RpcData::of(&NavigatedData::moved(self.said, self.warning, self.leaf))
    }
}

impl OldRpc for Label {
    const MOVES: bool = false;

    fn shape(_: &LabelOutput, _: Told) -> Answered {
        Ok(RpcData::Nothing)
    }
}

impl OldRpc for Name {
    const MOVES: bool = false;

    fn shape(_: &NameOutput, _: Told) -> Answered {
        Ok(RpcData::Nothing)
    }
}

impl OldRpc for Undo {
    const MOVES: bool = true;

    fn shape(_: &UndoOutput, told: Told) -> Answered {
        told.moved()
    }
}

struct KnownShape {
    of: &'static str,
    moves: bool,
    shape: fn(&dyn Any, Told) -> Option<Answered>,
}

impl KnownShape {
    const fn of<O: OldRpc>() -> Self {
        // The name and the type come from one place: the downcast cannot miss.
        Self {
            of: O::ABOUT.name,
            moves: O::MOVES,
            shape: |output, told| output.downcast_ref().map(|output| O::shape(output, told)),
        }
    }
}

const KNOWN: &[KnownShape] = &[KnownShape::of::<Label>(), KnownShape::of::<Name>(), KnownShape::of::<Undo>()];

/// The shape of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Of the command by which clients know the operation.
    Known,
    /// Of the operation.
    Own,
}

/// Runs the operation on the open session. Nothing is looked up before the agent has it, so operations keep their order.
pub(super) async fn operate(server: &RpcServer, name: &'static str, mut given: Given, shape: Shape) -> Answered {
    let row = find_operation(name).ok_or_else(|| RpcFailure(format!("there is no operation {name}")))?;
    if row.args.iter().any(|arg| arg.name == SESSION && arg.kind == ArgKind::Session) {
        given.put_text(SESSION, "");
    }
    let place = server.app.place();
    let failed = |failure| RpcFailure::from(CommandError::of_operation(failure, None));
    let (operation, wait) = row.hold(given, &place, false).map_err(failed)?;
    server.agent.ask(Command::Operate(operation)).await?;
    let outcome = wait.outcome().map_err(failed)?;
    let warning = place.take_notes().into_iter().find_map(|note| match note {
        Note::Warning(why) => Some(why),
        Note::Told(_) | Note::Odd(_) | Note::OddOf(..) => None,
    });
    let (output, nothing) = match outcome {
        Outcome::Done(output) => (output, None),
        Outcome::Nothing { why, output } => (output, Some(format!("nothing to do: {}", why.plain()))),
    };
    let said = nothing.unwrap_or_else(|| said(output.as_ref()));
    let known = KNOWN.iter().find(|known| shape == Shape::Known && known.of == row.about.name);
    let leaf = match known {
        Some(KnownShape { moves: true, .. }) => leaf(server).await?,
        Some(_) | None => None,
    };
    shaped(known, output.as_ref(), Told { said, warning, leaf })
}

async fn leaf(server: &RpcServer) -> Result<Option<String>, RpcFailure> {
    Ok(server.agent.read(|session| session.leaf_id().map(|leaf| leaf.as_str().to_owned())).await?)
}

fn shaped(known: Option<&KnownShape>, output: &dyn Output, told: Told) -> Answered {
    if let Some(answered) = known.and_then(|known| (known.shape)(output, told)) {
        return answered;
    }
    let mut data = Vec::new();
    output.json(&mut data).map_err(|error| RpcFailure(error.to_string()))?;
    // A response is one line. In JSON a line feed is white space: strings spell theirs out.
    data.retain(|byte| *byte != b'\n');
    Ok(RpcData::Json(String::from_utf8(data).map_err(|error| RpcFailure(error.to_string()))?))
}

/// What the operation says, on one line, with what can be done next.
fn said(output: &dyn Output) -> String {
    let mut words = Words::default();
    output.words(&mut words);
    let next = words.next.iter().map(|next| format!("{} {}", next.operation, next.says));
    let notes = words.notes.iter().filter_map(|note| match note {
        Note::Told(text) => Some(text.clone()),
        Note::Warning(_) | Note::Odd(_) | Note::OddOf(..) => None,
    });
    let lines = words.plain().lines().map(str::to_owned).collect::<Vec<_>>();
    lines.into_iter().chain(notes).chain(next).collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};

    use super::*;

    struct TwoLines;

    impl Output for TwoLines {
        fn json(&self, out: &mut dyn Write) -> io::Result<()> {
            out.write_all(b"[1,\n2]")
        }

        fn words(&self, _: &mut Words) {}
    }

    /// `branches` has a line for each branch.
    #[test]
    fn a_response_is_one_line() {
        let told = Told { said: String::new(), warning: None, leaf: None };
        let Ok(RpcData::Json(json)) = shaped(None, &TwoLines, told) else { panic!("no JSON") };
        assert_eq!(json, "[1,2]");
    }
}

//! Runs operations of the table for a client, and makes responses of their outcomes. Operations that clients knew before the
//! table keep their shapes here; a new one needs nothing.

use std::any::Any;
use std::io::{self, Write};

use offshoot_app::error::CommandError;
use offshoot_app::held;
use offshoot_workspace::label::{Label, LabelOutput};
use offshoot_workspace::merge::{Merge, MergeOutput};
use offshoot_workspace::name::{Name, NameOutput};
use offshoot_workspace::navigate::{Navigate, NavigateOutput};
use offshoot_workspace::pick::{Pick, PickOutput};
use offshoot_workspace::uncompact::{Uncompact, UncompactOutput};
use offshoot_workspace::undo::{Undo, UndoOutput};
use offshoot_workspace::{Failure, Given, Operation, OperationOrder, Output};

use crate::records::NavigatedData;
use crate::responder::{Answered, RpcData, RpcFailure};
use crate::server::RpcServer;
use crate::ui_request::UiMethod;

/// How clients know an operation that is older than the table.
trait OldRpc: Operation {
    /// Whether its data say where the session is now.
    const MOVES: bool;

    /// Its data. `said` is what it says to people, `leaf` where the session is now.
    fn shape(output: &Self::Output, told: Told) -> Answered;
}

/// What is reported with an output.
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

impl OldRpc for Pick {
    const MOVES: bool = true;

    fn shape(_: &PickOutput, told: Told) -> Answered {
        told.moved()
    }
}

impl OldRpc for Undo {
    const MOVES: bool = true;

    fn shape(_: &UndoOutput, told: Told) -> Answered {
        told.moved()
    }
}

impl OldRpc for Merge {
    const MOVES: bool = true;

    fn shape(_: &MergeOutput, told: Told) -> Answered {
        told.moved()
    }
}

impl OldRpc for Navigate {
    const MOVES: bool = true;

    fn shape(output: &NavigateOutput, told: Told) -> Answered {
        let summary = output.summary.as_ref().map(ToString::to_string);
        RpcData::of(&NavigatedData::navigated(output.to_edit.clone(), summary, (told.warning, told.leaf)))
    }
}

impl OldRpc for Uncompact {
    const MOVES: bool = true;

    fn shape(_: &UncompactOutput, told: Told) -> Answered {
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

const KNOWN: &[KnownShape] = &[
    KnownShape::of::<Label>(),
    KnownShape::of::<Merge>(),
    KnownShape::of::<Name>(),
    KnownShape::of::<Navigate>(),
    KnownShape::of::<Pick>(),
    KnownShape::of::<Uncompact>(),
    KnownShape::of::<Undo>(),
];

/// The shape of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Of the command by which clients know the operation.
    Known,
    /// Of the operation.
    Own,
}

/// Runs the operation on the open session.
pub(crate) async fn operate(server: &RpcServer, name: &'static str, given: Given, shape: Shape) -> Answered {
    let known = KNOWN.iter().find(|known| shape == Shape::Known && known.of == name);
    let moves = known.is_some_and(|known| known.moves);
    let outcome = match held::operate(&server.app, &server.agent, OperationOrder::new(name, given)).await {
        Ok(outcome) => outcome,
        Err(Failure::Stopped) if moves => return RpcData::of(&NavigatedData::stopped(leaf(server).await?)),
        Err(failure) => return Err(RpcFailure::from(CommandError::of_operation(failure, None))),
    };
    let leaf = if moves { leaf(server).await? } else { None };
    if moves && let Some(text) = outcome.to_edit() {
        server.tell_user(UiMethod::SetEditorText { text });
    }
    let answered = known.and_then(|known| {
        let said = outcome.said(|operation, says| format!("{operation} {says}"));
        (known.shape)(outcome.output.as_ref(), Told { said, warning: outcome.warning(), leaf })
    });
    answered.unwrap_or_else(|| Ok(streamed(outcome.output)))
}

async fn leaf(server: &RpcServer) -> Result<Option<String>, RpcFailure> {
    Ok(server.agent.read(|session| session.leaf_id().map(|leaf| leaf.as_str().to_owned())).await?)
}

/// As the operation writes it, and where the client reads it: no answer needs to fit into memory.
fn streamed(output: Box<dyn Output>) -> RpcData {
    RpcData::streamed(move |out| output.json(&mut OnOneLine(out)))
}

/// A response is one line. In JSON a line feed is white space: strings spell theirs out.
struct OnOneLine<'a>(&'a mut dyn Write);

impl Write for OnOneLine<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        bytes.split(|byte| *byte == b'\n').try_for_each(|part| self.0.write_all(part))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

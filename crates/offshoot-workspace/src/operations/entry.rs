//! Shows one record, byte for byte.

use std::io::{self, Write};

use offshoot_session::entry::Source as _;
use offshoot_session::provenance::Origin;
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;

use crate::failure::{Failure, FailureKind, Result};
use crate::given::{EntryName, SessionName};
use crate::input;
use crate::lookup::LatestOf;
use crate::operation::{About, Finished, FrontEnd, Operation, OperationEffect, Output};
use crate::originals::{find_elsewhere, not_here};
use crate::place::Place;
use crate::run::open_session;
use crate::session_to_read::SessionToRead;
use crate::words::Words;

input! {
    /// What `entry` gets.
    pub struct EntryInput {
        /// The session
        of: SessionToRead = group,
        /// An id or its unique start, a label, `@`, `@-`, or a time such as 2h
        entry: EntryName = arg,
        /// Print the entry that a copy or a merge comes from
        source: bool = flag,
    }
}

/// Shows one entry as it is in the file.
#[derive(Debug)]
pub struct ShowEntry;

/// The line of an entry.
#[derive(Debug)]
pub struct EntryOutput {
    /// As in the file, without line feed.
    pub line: Vec<u8>,
}

impl Operation for ShowEntry {
    type Input = EntryInput;
    type Plan = EntryOutput;
    type Written = ();
    type Output = EntryOutput;

    const ABOUT: About = About {
        name: "entry",
        aliases: &[],
        title: "Print one entry exactly as it is in the file",
        says: "Prints the bytes of the line and a line feed, even if the line is damaged\n\
               or the file has an old version.\n\n\
               --source prints the original of a copy, or the last entry of the branch that\n\
               a merge stands for. It is looked for in the session, in those that it was\n\
               forked from, and in the one that the copy names; if it is in none of them\n\
               the exit code is 3. The original has the tokens and the cost.",
        examples: "Examples:\n  offshoot entry latest 1a2b3c4d\n  \
                   offshoot entry latest 1a2b | jq .message.usage",
        past: "shown",
        effect: OperationEffect::Reads,
    };
    // A damaged line is no JSON.
    const NOT_ON: &'static [FrontEnd] = &[FrontEnd::Rpc, FrontEnd::Slash];
    const IS_RAW: bool = true;

    fn session(input: &EntryInput) -> Option<&SessionName> {
        Some(&input.of.session)
    }

    fn latest_of(input: &EntryInput) -> LatestOf {
        input.of.latest_of()
    }

    fn plan(place: &Place, at: Option<&Session>, input: &EntryInput) -> Result<EntryOutput> {
        let session = open_session(at)?;
        let ix = place.entry(session, &input.entry.0)?;
        Ok(EntryOutput { line: if input.source { original(place, session, ix)? } else { session.raw_line(ix)? } })
    }

    fn output(shown: EntryOutput, _: Finished<'_, ()>) -> Result<EntryOutput> {
        Ok(shown)
    }
}

fn original(place: &Place, session: &Session, ix: NodeIx) -> Result<Vec<u8>> {
    let missing = |why: String| Failure::refused(FailureKind::NotFound, why);
    let origin = Origin::of_copy_or_merge(&session.entry(ix)?);
    let origin = origin.ok_or_else(|| missing("the entry was written here: it is no copy and no merge".to_owned()))?;
    let is_own = origin.session.as_deref().is_none_or(|named| named == session.id());
    if let Some(own) = session.tree().find(origin.id.as_str()).filter(|_| is_own) {
        return Ok(session.raw_line(own)?);
    }
    match find_elsewhere(place, session.ancestors(), &origin) {
        Some((other, ix)) => Ok(other.raw_line(ix)?),
        None => Err(missing(not_here(&origin))),
    }
}

impl Output for EntryOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.line)
    }

    fn words(&self, words: &mut Words) {
        words.line(String::from_utf8_lossy(&self.line).into_owned());
    }
}

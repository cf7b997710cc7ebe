//! When a plan is made: a row that plans what version the session has.

use std::io::{self, Write};

use offshoot_session::session::{Session, SpillPolicy};

use super::{Folder, done, json, line};
use crate::{
    About, Finished, Given, Operation, OperationEffect, Output, Place, Result, Row, SessionName, Words, input,
};

input! {
    struct VersionInput {
        /// Any
        session: SessionName = arg,
    }
}

struct Version;

/// The version in the plan, and the one that was written.
struct Versions(u32, Option<u32>);

impl Operation for Version {
    type Input = VersionInput;
    type Plan = u32;
    type Written = u32;
    type Output = Versions;

    const ABOUT: About = About {
        name: "version",
        aliases: &[],
        title: "",
        says: "",
        examples: "",
        past: "",
        effect: OperationEffect::Writes {
            dry_run: "",
            refused_at_work: None,
            moves: false,
            spill: SpillPolicy::Temporary,
        },
    };

    fn session(input: &VersionInput) -> Option<&SessionName> {
        Some(&input.session)
    }

    fn plan(_: &Place, at: Option<&Session>, _: &VersionInput) -> Result<u32> {
        Ok(at.unwrap().version())
    }

    fn commit(_: &Place, at: &mut Session, _: &u32) -> Result<Option<u32>> {
        Ok(Some(at.version()))
    }

    fn output(plan: u32, finished: Finished<'_, u32>) -> Result<Versions> {
        Ok(Versions(plan, finished.written))
    }
}

impl Output for Versions {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "planned for {}, written to {:?}", self.0, self.1)
    }

    fn words(&self, _: &mut Words) {}
}

/// An upgrade moves entries to other places of the tree: a plan for the old places would write below another entry.
#[test]
fn a_plan_is_made_again_after_an_upgrade() {
    let header = r#"{"type":"session","version":2,"id":"0198c2aa","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
    let folder = Folder::with(&[header.to_owned(), line("question00", None, "user", "the question")]);
    let row = Row::of::<Version>();
    let run = |is_dry| {
        let mut given = Given::default();
        given.put_text("session", folder.file().to_str().unwrap());
        json(done(row.run(given, &folder.place(), is_dry)).as_ref())
    };
    assert_eq!(run(true), "planned for 2, written to None");
    assert_eq!(run(false), "planned for 3, written to Some(3)");
}

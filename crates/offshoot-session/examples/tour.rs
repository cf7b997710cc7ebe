//! The program that docs/tour.md shows; `tests/it/tour.rs` compares the two and runs it.
#![expect(clippy::disallowed_methods, reason = "an example prints")]

#[rustfmt::skip]
fn main() -> Result<(), Box<dyn std::error::Error>> {
use offshoot_session::{compose::NewEntry, json::Json, session::{Options, Session}};

let mut session = Session::open("session.jsonl".as_ref(), Options::default())?;
session.append(&NewEntry::message(Json::parse(r#"{"role":"user","content":"why?"}"#)?)?)?; // on the disk now
session.context()?.write_json(&session, &mut std::io::stdout())?;
Ok(())
}

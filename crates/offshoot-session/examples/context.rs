//! Prints the context at the end of a session file: `cargo run --example context -- FILE`.

#![expect(clippy::disallowed_methods, reason = "an example is a whole program")]

use std::io::Write as _;
use std::path::PathBuf;

use offshoot_session::session::{Options, Session};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file: PathBuf = std::env::args_os().nth(1).ok_or("which file?")?.into();
    let session = Session::open(&file, Options::default())?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    session.context()?.write_json(&session, &mut out)?;
    out.flush()?;
    Ok(())
}

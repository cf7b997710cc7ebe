//! What offshoot makes of an extension's module: the parameters of the host's calls as lines on standard input, and their answers as
//! lines on standard output. For tests of the host without offshoot.

#![expect(clippy::disallowed_methods, reason = "an example is a whole program")]

use std::io::{BufRead as _, Write as _};

use offshoot_extensions::node::transformed;
use serde_json::json;

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        match transformed(&line?) {
            Ok(made) => writeln!(out, "{{\"ok\":{made}}}")?,
            Err(message) => writeln!(out, "{}", json!({"error": {"message": message}}))?,
        }
        out.flush()?;
    }
    Ok(())
}

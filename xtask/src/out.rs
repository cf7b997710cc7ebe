//! The only file of the tools that prints. Write errors (a closed pipe, a full disk) are ignored.

#![expect(clippy::disallowed_methods, reason = "the one place of the tools that prints")]

use std::io::Write as _;

pub fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).ok();
    if !line.ends_with('\n') {
        out.write_all(b"\n").ok();
    }
    out.flush().ok();
}

pub fn warn(line: &str) {
    let mut err = std::io::stderr().lock();
    err.write_all(line.as_bytes()).ok();
    if !line.ends_with('\n') {
        err.write_all(b"\n").ok();
    }
}

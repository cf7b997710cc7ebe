//! The floor: the bare work of reading a file and counting its lines, copying it durably, or appending lines to it. That
//! of a list is `find`.
//!
//! No reader of sessions can be faster; the distance from the floor says more than seconds do.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use xtask::out;

pub(crate) const FLOOR: &str = "bench-floor";
pub(crate) const FLOOR_COPY: &str = "bench-floor-copy";
pub(crate) const FLOOR_APPEND: &str = "bench-floor-append";

/// `bench-floor FILE`: prints the number of newlines.
pub(crate) fn floor(args: &[String]) -> Result<ExitCode> {
    let [path] = args else { bail!("`{FLOOR}` wants one file") };
    let mut file = File::open(path).with_context(|| path.clone())?;
    let mut block = vec![0; 1 << 20];
    let mut lines = 0;
    loop {
        let read = file.read(&mut block)?;
        if read == 0 {
            break;
        }
        lines += memchr::memchr_iter(b'\n', &block[..read]).count();
    }
    out::say(&lines.to_string());
    Ok(ExitCode::SUCCESS)
}

/// `bench-floor-copy FROM TO`: a durable copy in blocks.
pub(crate) fn floor_copy(args: &[String]) -> Result<ExitCode> {
    let [from, to] = args else { bail!("`{FLOOR_COPY}` wants two files") };
    let mut from = File::open(from).with_context(|| from.clone())?;
    let mut to = File::create(to).with_context(|| to.clone())?;
    let mut block = vec![0; 1 << 20];
    loop {
        let read = from.read(&mut block)?;
        if read == 0 {
            break;
        }
        to.write_all(&block[..read])?;
    }
    to.sync_all()?;
    Ok(ExitCode::SUCCESS)
}

/// `bench-floor-append os|data TO`: one write per line of stdin, with `data` a sync after each.
pub(crate) fn floor_append(args: &[String]) -> Result<ExitCode> {
    let [level, to] = args else { bail!("`{FLOOR_APPEND}` wants a level and a file") };
    let mut to = OpenOptions::new().append(true).create(true).open(to).with_context(|| to.clone())?;
    let mut lines = BufReader::with_capacity(1 << 20, io::stdin().lock());
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        if level == "data" {
            to.sync_data()?;
        }
        line.clear();
    }
    Ok(ExitCode::SUCCESS)
}

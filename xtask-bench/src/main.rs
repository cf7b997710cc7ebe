//! The commands `bench`, `bench search`, `screen` and `sandbox` of `cargo xtask`: programs measured from outside. Nothing depends on this package.

mod figures;
mod inputs;
mod release;
mod bench;
mod search;
mod screen;
mod sandbox;
mod files;

use std::process::ExitCode;

use anyhow::{Result, bail};
use xtask::{env, out};

fn main() -> ExitCode {
    match dispatch(&env::args()) {
        Ok(code) => code,
        Err(error) => {
            out::warn(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[String]) -> Result<ExitCode> {
    let Some((command, rest)) = args.split_first() else {
        bail!("run it as `cargo xtask bench`, `cargo xtask screen` or `cargo xtask sandbox`")
    };
    match command.as_str() {
        "bench" if rest.first().is_some_and(|first| first == "search") => search::run(&rest[1..]),
        "search" => search::run(rest),
        "bench" if rest.first().is_some_and(|first| first == "files") => files::run(&rest[1..]),
        "bench" => bench::run(rest),
        "screen" => screen::run(rest),
        "sandbox" => sandbox::run(rest),
        bench::FLOOR => bench::floor(rest),
        bench::FLOOR_COPY => bench::floor_copy(rest),
        bench::FLOOR_APPEND => bench::floor_append(rest),
        bench::MEASURE => bench::measure_one(rest),
        other => bail!("nothing is measured under the name `{other}`"),
    }
}

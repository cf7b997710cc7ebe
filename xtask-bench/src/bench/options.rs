//! The options of `cargo xtask bench`.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use xtask::env;

#[derive(Debug)]
pub(super) struct Options {
    /// Parts of case names; all cases if empty.
    names: Vec<String>,
    pub(super) huge: bool,
    pub(super) runs: usize,
    pub(super) dir: PathBuf,
    pub(super) peers: PathBuf,
    /// Where the report is written besides stdout: its place in the documents, unless only some cases run. If a file is
    /// named then, only the lines of those cases change in it.
    pub(super) write: Option<PathBuf>,
}

impl Options {
    pub(super) fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self {
            names: Vec::new(),
            huge: false,
            runs: 5,
            dir: env::cache_home().context("neither XDG_CACHE_HOME nor HOME is set; use --dir")?.join("offshoot-bench"),
            peers: env::root().join("conformance/node_modules"),
            write: None,
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().with_context(|| format!("{arg} wants a value"));
            match arg.as_str() {
                "--huge" => options.huge = true,
                "--only" => options.names.push(value()?.clone()),
                "--runs" | "--rounds" => {
                    let runs = value()?.parse().ok().filter(|runs| *runs > 0);
                    options.runs = runs.context("--rounds wants a number above 0")?;
                }
                "--dir" => options.dir = value()?.into(),
                "--peers" => options.peers = value()?.into(),
                "--write" => options.write = Some(value()?.into()),
                other if other.starts_with('-') => bail!("unexpected option `{other}`"),
                other => options.names.push(other.to_owned()),
            }
        }
        if options.write.is_none() && options.names.is_empty() {
            options.write = Some(env::root().join("docs/benchmarks.md"));
        }
        // Programs run in folders of their own, so paths must be absolute.
        options.dir = std::path::absolute(&options.dir)?;
        options.peers = std::path::absolute(&options.peers)?;
        Ok(options)
    }

    pub(super) fn measures_all(&self) -> bool {
        self.names.is_empty()
    }

    /// `tree` selects every tree, `tree/L` one case, `L` everything on L.
    pub(super) fn selects(&self, case: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| case == name || case.split('/').any(|part| part == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Options> {
        Options::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn names_select_by_task_input_or_both() {
        let options = parse(&["tree/L", "--only", "list", "--rounds", "1", "--dir", "x"]).unwrap();
        assert!(options.selects("tree/L") && options.selects("list/many") && !options.selects("tree/M"));
        assert!(parse(&["L"]).unwrap().selects("context/L") && parse(&[]).unwrap().selects("tree/deep"));
        assert!(
            options.write.is_none() && parse(&[]).unwrap().write.is_some_and(|path| path.ends_with("benchmarks.md"))
        );
        assert!(options.runs == 1 && options.dir.is_absolute() && options.dir.ends_with("x"));
    }

    #[test]
    fn wrong_options_are_refused() {
        assert!(parse(&["--runs", "0"]).is_err() && parse(&["--dir"]).is_err() && parse(&["--fast"]).is_err());
    }
}

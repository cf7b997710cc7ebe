//! `cargo xtask screen`: response times and memory of the terminal front end with large sessions.
//!
//! The release binary runs in a real pseudo-terminal, once per scene and round.

mod terminal;
mod stage;
mod rounds;
mod scenes;
mod scroll;
mod bars;
mod report;
mod beside;
mod stream;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use xtask::{cargo, env, machine, out, run};

use crate::figures::grouped;
use crate::inputs::{Input, Inputs, size, stamp};
use crate::release;
use beside::Comparison;
use report::Report;
use rounds::Figures;
use scenes::SCENES;
use stage::Stage;
use stream::StreamComparison;

const INPUTS: [Input; 5] = [Input::Fifty, Input::Hundred, Input::Million, Input::Crowd, Input::Archive];
/// The program that scrolls and counts its allocations.
const SCROLL: [&str; 5] = ["--package", "offshoot-tui", "--bins", "--example", "scroll"];

#[derive(Debug)]
struct Options {
    /// All scenes if empty.
    names: Vec<String>,
    rounds: usize,
    dir: PathBuf,
    /// Where the page is written besides stdout: its place in the documents, unless only some scenes run.
    write: Option<PathBuf>,
    /// Whether to show the same conversations in pi, omp and offshoot instead of measuring.
    is_beside: bool,
    /// Whether to measure a paced stream in pi and offshoot instead.
    is_stream: bool,
    /// The folder in which npm installed the peers.
    peers: PathBuf,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self> {
        let dir =
            env::cache_home().context("neither XDG_CACHE_HOME nor HOME is set; use --dir")?.join("offshoot-bench");
        let peers = env::root().join("conformance/node_modules");
        let mut options =
            Self { names: Vec::new(), rounds: 5, dir, write: None, is_beside: false, is_stream: false, peers };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().with_context(|| format!("{arg} wants a value"));
            match arg.as_str() {
                "--rounds" => {
                    let rounds = value()?.parse().ok().filter(|rounds| *rounds > 0);
                    options.rounds = rounds.context("--rounds wants a number above 0")?;
                }
                "--dir" => options.dir = value()?.into(),
                "--beside" => options.is_beside = true,
                "--stream" => options.is_stream = true,
                "--peers" => options.peers = std::path::absolute(value()?)?,
                "--write" => options.write = Some(value()?.into()),
                other if other.starts_with('-') => bail!("unexpected option `{other}`"),
                other if SCENES.iter().any(|scene| scene.name == other) => options.names.push(other.to_owned()),
                other => {
                    let names: Vec<&str> = SCENES.iter().map(|scene| scene.name).collect();
                    bail!("no scene `{other}`; scenes are {}", names.join(", "));
                }
            }
        }
        if options.write.is_none() && options.names.is_empty() {
            options.write = Some(env::root().join("docs/screen.md"));
        }
        // Programs run in folders of their own, so paths must be absolute.
        options.dir = std::path::absolute(&options.dir)?;
        Ok(options)
    }

    fn selects(&self, scene: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| name == scene)
    }
}

pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let options = Options::parse(args)?;
    if options.is_beside {
        if !cargo::command(&["build", "--package", "offshoot"]).status()?.success() {
            bail!("offshoot was not built");
        }
        let folder = options.dir.join("beside");
        Comparison { binary: binary()?, peers: options.peers, folder }.run()?;
        return Ok(ExitCode::SUCCESS);
    }
    if cfg!(debug_assertions) {
        return release::again("screen", &SCROLL, args);
    }
    if options.is_stream {
        fs::create_dir_all(&options.dir)?;
        StreamComparison { binary: binary()?, peers: options.peers, folder: options.dir }.run()?;
        return Ok(ExitCode::SUCCESS);
    }
    let report = measure(&options)?;
    let text = report.markdown();
    out::say(&text);
    if let Some(path) = &options.write {
        #[expect(clippy::disallowed_methods, reason = "a document of the work tree, kept by git")]
        fs::write(path, text).with_context(|| path.display().to_string())?;
        out::say(&format!("written to {}", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// The program that cargo built beside this one.
fn binary() -> std::io::Result<PathBuf> {
    Ok(env::this_program()?.with_file_name("offshoot"))
}

fn measure(options: &Options) -> Result<Report> {
    let binary = binary()?;
    let inputs = Inputs::new(&options.dir)?;
    let paths = INPUTS.map(|input| inputs.path(input));
    let scratch = tempfile::Builder::new().prefix("offshoot-screen-").tempdir_in(&options.dir)?;
    let [fifty, hundred, million, crowd, archive] = paths;
    let stage = Stage {
        binary: binary.clone(),
        scratch: scratch.path().to_path_buf(),
        project: inputs.project().to_path_buf(),
        fifty: fifty?,
        hundred: hundred?,
        million: million?,
        crowd: crowd?,
        archive: archive?,
    };
    let looked_at = [&stage.fifty, &stage.hundred, &stage.million];
    let stamps = || looked_at.iter().map(|path| stamp(path)).collect::<std::io::Result<Vec<_>>>();
    let before = stamps()?;
    let mut figures = Figures::default();
    for round in 1..=options.rounds {
        for scene in SCENES.iter().filter(|scene| options.selects(scene.name)) {
            out::warn(&format!("round {round}: {} ...", scene.name));
            let taken = (scene.play)(&stage).with_context(|| format!("scene {}", scene.name))?;
            figures.add(scene.name, taken);
        }
    }
    if before != stamps()? {
        bail!("a session that was only looked at has changed");
    }
    let scrolled = options.names.is_empty().then(|| scroll::run(&binary, &stage.hundred)).transpose()?;
    let described = INPUTS.map(|input| Ok((input.name(), grouped(size(&inputs.path(input)?)?), input.what())));
    let version = run::first_line(&binary.to_string_lossy(), &["--version"]).unwrap_or_else(|| "unknown".to_owned());
    let mut facts = machine::facts(&env::root());
    facts.push(("offshoot", version));
    Ok(Report { figures, scrolled, inputs: described.into_iter().collect::<Result<_>>()?, facts })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Options> {
        Options::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn some_scenes_are_not_written_down() {
        let options = parse(&["tree", "--rounds", "1", "--dir", "x"]).unwrap();
        assert!(options.selects("tree") && !options.selects("resume") && options.write.is_none());
        assert!(options.rounds == 1 && options.dir.is_absolute());
        let all = parse(&[]).unwrap();
        assert!(all.selects("resume") && all.write.is_some_and(|path| path.ends_with("docs/screen.md")));
    }

    #[test]
    fn wrong_options_are_refused() {
        assert!(parse(&["--rounds", "0"]).is_err() && parse(&["trees"]).is_err() && parse(&["--fast"]).is_err());
    }
}

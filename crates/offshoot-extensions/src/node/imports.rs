//! The files that extensions import, found by the host's own reading of them in a process that runs none of them.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::{NodeOptions, files, find_node};

/// Extensions whose imports are not found in this time are not run.
const LONGEST: Duration = Duration::from_secs(60);
/// Of 2,000 files.
const MOST_SAID: u64 = 16 << 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Said {
    Files(BTreeMap<PathBuf, String>),
    Error(String),
}

/// These files and all that they import, each with its SHA-256.
///
/// # Errors
/// There is no Node.js, they import too much, or a file cannot be read. The text says which.
pub fn imports(options: &NodeOptions, entries: &[PathBuf]) -> Result<BTreeMap<PathBuf, String>, String> {
    let node = find_node(&options.search)?;
    let folder = files::unpacked(&options.cache)
        .map_err(|error| format!("could not write the host to {}: {error}", options.cache.display()))?;
    let failed = |error: std::io::Error| format!("could not ask {} what it imports: {error}", node.display());
    let mut child = command(&node, &folder).spawn().map_err(failed)?;
    let question = json!({"entries": entries}).to_string();
    let (Some(mut to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("a process has no pipes".to_owned());
    };
    // A process that has ended reads nothing, and its answer says why.
    drop(to.write_all(question.as_bytes()));
    drop(to);
    let (done, said) = channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        drop(from.take(MOST_SAID).read_to_end(&mut text));
        drop(done.send(text));
    });
    let text = said.recv_timeout(LONGEST);
    end(&mut child);
    let text = text.map_err(|_| format!("what it imports was not found in {} s", LONGEST.as_secs()))?;
    match serde_json::from_slice(&text) {
        Ok(Said::Files(files)) => Ok(files),
        Ok(Said::Error(why)) => Err(why),
        Err(error) => Err(format!("what it imports could not be found: {error}")),
    }
}

fn command(node: &Path, folder: &Path) -> Command {
    let mut command = Command::new(node);
    command.args(["--no-warnings", "--experimental-import-meta-resolve", "--max-old-space-size=1024"]);
    command.arg(folder.join("closure.mjs")).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// It may have ended by itself.
fn end(child: &mut Child) {
    drop(child.kill());
    drop(child.wait());
}

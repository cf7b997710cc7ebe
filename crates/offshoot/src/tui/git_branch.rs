//! The branch checked out in the session's folder, from git's own files: git is not run. Reads a few bytes of regular
//! files, on a thread that may wait for a slow disk.

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_agent::agent_session::AgentSession;
use offshoot_session::medium::read_regular;

use super::job_context::{JobContext, blocking};

/// git's files of this kind have one line.
const MAX_BYTES: u64 = 4096;
/// The digits of a shortened commit id.
const DIGITS: usize = 7;

pub(super) async fn find(context: &JobContext, agent: &AgentSession) -> Option<String> {
    let app = context.app.clone();
    let folder = agent.read(move |session| app.folder_of(session)).await.ok()?;
    blocking(move || Ok(checked_out(&folder))).await.ok().flatten()
}

/// The branch checked out in a folder or in its nearest git repository; for a detached head its commit.
fn checked_out(folder: &Path) -> Option<String> {
    let git = folder.ancestors().find_map(git_folder)?;
    let head = one_line(&git.join("HEAD"))?;
    match head.strip_prefix("ref: ") {
        // git writes this if its branches are in a reftable, which only git reads.
        Some("refs/heads/.invalid") => None,
        Some(branch) => Some(branch.strip_prefix("refs/heads/").unwrap_or(branch).to_owned()),
        None => {
            let is_commit = head.len() >= DIGITS && head.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_commit.then(|| format!("at {}", &head[..DIGITS]))
        }
    }
}

/// The git directory of a folder: `.git`, or in a worktree or submodule the one named in the file `.git`.
fn git_folder(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if fs::metadata(&git).ok()?.is_dir() {
        return Some(git);
    }
    let named = one_line(&git)?;
    Some(folder.join(named.strip_prefix("gitdir: ")?))
}

fn one_line(file: &Path) -> Option<String> {
    let text = String::from_utf8(read_regular(file, MAX_BYTES).ok()?).ok()?;
    Some(text.lines().next()?.trim_end().to_owned()).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "a test prepares its own files")]
    fn write(root: &Path, name: &str, text: &str) {
        let file = root.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    #[test]
    fn the_branch_is_that_of_the_nearest_folder_that_git_keeps() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        write(root, ".git/HEAD", "ref: refs/heads/feature/pages\n");
        write(root, "src/deep/file", "");
        assert_eq!(checked_out(&root.join("src/deep")).as_deref(), Some("feature/pages"));
        write(root, "sub/.git", "gitdir: ../.git/modules/sub\n");
        assert_eq!(checked_out(&root.join("sub")), None, "its folder is gone");
        write(root, ".git/modules/sub/HEAD", "0123456789abcdef0123456789abcdef01234567\n");
        assert_eq!(checked_out(&root.join("sub")).as_deref(), Some("at 0123456"));
        let elsewhere = tempfile::tempdir().unwrap();
        write(elsewhere.path(), ".git", &format!("gitdir: {}\n", root.join(".git/worktrees/w").display()));
        write(root, ".git/worktrees/w/HEAD", "ref: refs/heads/w\n");
        assert_eq!(checked_out(elsewhere.path()).as_deref(), Some("w"));
    }

    #[test]
    fn what_is_no_head_names_no_branch() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        for head in ["", "\n", "ref: refs/heads/.invalid", "main", "\0\0\0\0\0\0\0\0", "ééééééééé", &"a".repeat(5000)]
        {
            write(root, ".git/HEAD", head);
            assert_eq!(checked_out(root), None, "{head:?}");
        }
        fs::remove_file(root.join(".git/HEAD")).unwrap();
        // A pipe without a writer: opening it like a regular file would block forever.
        assert!(std::process::Command::new("mkfifo").arg(root.join(".git/HEAD")).status().unwrap().success());
        assert_eq!(checked_out(root), None, "a pipe");
    }
}

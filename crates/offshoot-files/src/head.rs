//! What git has checked out in a folder, read from its files: the commit, or the branch before its first one. Runs no git.

use std::path::Path;

use offshoot_session::medium::read_regular_text;

use crate::git_place::GitPlace;

const LONGEST_HEAD: u64 = 4 << 10;
const LONGEST_REFS: u64 = 8 << 20;

/// The commit at `HEAD`; `None` outside of git.
pub(crate) fn read_head(root: &Path) -> Option<String> {
    let GitPlace { own, common, .. } = GitPlace::of(root)?;
    let head = read_regular_text(&own.join("HEAD"), LONGEST_HEAD).ok()?;
    let head = head.trim();
    let Some(name) = head.strip_prefix("ref: ") else { return Some(head.to_owned()).filter(|head| is_commit(head)) };
    let is_plain = name.starts_with("refs/") && !name.split('/').any(|part| matches!(part, "" | "." | ".."));
    if !is_plain {
        return None;
    }
    let loose = read_regular_text(&common.join(name), LONGEST_HEAD).ok().map(|text| text.trim().to_owned());
    let packed = || {
        let refs = read_regular_text(&common.join("packed-refs"), LONGEST_REFS).ok()?;
        let line = refs.lines().find(|line| line.split_once(' ').is_some_and(|(_, of)| of == name))?;
        line.split_once(' ').map(|(commit, _)| commit.to_owned())
    };
    loose.or_else(packed).filter(|commit| is_commit(commit)).or_else(|| Some(name.to_owned()))
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

//! What a text points at is in the repository: the files and headings that links of Markdown name, and the pages of `docs/`
//! that prose and comments of code name, the latter by their name alone too.

use std::path::Path;

use super::finding::Finding;
use crate::repo::{Repo, RepoFile};

const PAGES: &str = "docs/";

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    repo.texts().filter(|(file, _)| !file.is_test()).flat_map(|(file, text)| of_file(repo, file, text)).collect()
}

fn of_file(repo: &Repo, file: &RepoFile, text: &str) -> Vec<Finding> {
    let is_page = file.path.ends_with(".md");
    let mut findings = Vec::new();
    let mut in_block = false;
    for (at, line) in text.lines().enumerate() {
        let starts = line.trim_start();
        in_block ^= is_page && starts.starts_with("```");
        let is_prose = is_page || file.is_rust() && starts.starts_with("//");
        if in_block || !is_prose {
            continue;
        }
        let links = links(line).filter(|_| is_page).filter_map(|link| wrong(repo, &file.path, link));
        let pages = pages(line)
            .filter(|page| !is_page || page.starts_with(PAGES))
            .filter(|page| !is_there(repo, page))
            .map(|page| format!("there is no `{page}`"));
        findings.extend(links.chain(pages).map(|why| Finding::at(&file.path, at + 1, why)));
    }
    findings
}

/// The targets of `[words](target)`, without those in backticks.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let spans = line.split('`').step_by(2);
    let after = spans.flat_map(|span| span.split("](").skip(1));
    // A link whose words are in backticks ends in the next span, which begins with `](`.
    after.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

/// Why the target of a link in the page `from` is not there.
fn wrong(repo: &Repo, from: &str, target: &str) -> Option<String> {
    if target.contains(':') {
        return None;
    }
    let (path, heading) = target.split_once('#').map_or((target, None), |(path, heading)| (path, Some(heading)));
    let path = if path.is_empty() { from.to_owned() } else { joined(from, path) };
    let folder = format!("{path}/");
    match (repo.file(&path), heading) {
        (None, None) if repo.files.iter().any(|file| file.path.starts_with(&folder)) => None,
        (None, _) => Some(format!("there is no `{path}`")),
        (Some(_), None) => None,
        (Some(file), Some(heading)) => {
            let is_known = anchors(file.text.as_deref().unwrap_or_default()).iter().any(|known| known == heading);
            (!is_known).then(|| format!("`{path}` has no heading `#{heading}`"))
        }
    }
}

fn joined(from: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Path::new(from).parent().and_then(Path::to_str).unwrap_or_default().split('/').collect();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
}

/// What links to a page's headings are called, as GitHub makes them.
fn anchors(page: &str) -> Vec<String> {
    let mut in_block = false;
    let mut plain: Vec<String> = Vec::new();
    for line in page.lines() {
        in_block ^= line.trim_start().starts_with("```");
        let Some(heading) = line.strip_prefix('#').filter(|_| !in_block) else { continue };
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
        plain.push(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
    }
    let again = |at: usize| plain[..at].iter().filter(|known| **known == plain[at]).count();
    let anchor = |at| if again(at) == 0 { plain[at].clone() } else { format!("{}-{}", plain[at], again(at)) };
    (0..plain.len()).map(anchor).collect()
}

/// The pages that a line names, by their path or by their name alone. Names in capitals, such as `AGENTS.md`, are files of users.
fn pages(line: &str) -> impl Iterator<Item = &str> {
    let words =
        line.split(|c: char| !c.is_alphanumeric() && !"/._-~*<".contains(c)).map(|word| word.trim_end_matches('.'));
    words.filter(|word| {
        let is_page = word.strip_suffix(".md").is_some_and(|name| !name.is_empty() && !name.contains(['~', '*', '<']));
        is_page && (word.starts_with(PAGES) || word.starts_with(|c: char| c.is_lowercase()) && !word.contains('/'))
    })
}

/// Whether the repository has a page of this path, or of this name.
fn is_there(repo: &Repo, page: &str) -> bool {
    let of_name = format!("/{page}");
    repo.files.iter().any(|file| file.path == page || !page.contains('/') && file.path.ends_with(&of_name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::lines;

    fn found(path: &str, text: &str) -> Vec<String> {
        let page = "# A page\n\n## Its `end`, twice\n\n```\n# no heading\n```\n\n## Its end, twice\n";
        lines(&check(&Repo::of(&[("docs/adr/page.md", page), (path, text)])))
    }

    #[test]
    fn a_link_to_what_is_not_there_is_found() {
        let links = "[a](adr/page.md) [b](./adr/page.md#its-end-twice) [`c`](adr/page.md#its-end-twice-1) [d](adr) [e](#x)\n\n# X\n";
        assert_eq!(found("docs/x.md", links), [""; 0]);
        assert_eq!(found("docs/x.md", "[a](https://page.org) `[b](gone.md)`\n```\n[c](gone.md)\n```\n"), [""; 0]);
        assert_eq!(
            found("docs/x.md", "[a](gone.md)\n[`b`](adr/page.md#no-heading) [c](../page.md)\n[d](#y)\n"),
            [
                "docs/x.md:1: there is no `docs/gone.md`",
                "docs/x.md:2: `docs/adr/page.md` has no heading `#no-heading`",
                "docs/x.md:2: there is no `page.md`",
                "docs/x.md:3: `docs/x.md` has no heading `#y`",
            ]
        );
    }

    #[test]
    fn a_page_that_is_named_and_not_there_is_found() {
        assert_eq!(
            found("crates/a/src/x.rs", "//! See docs/adr/page.md.\nconst A: &str = \"docs/gone.md\";\n"),
            [""; 0]
        );
        let gone = "crates/a/src/x.rs:2: there is no `docs/gone.md`";
        assert_eq!(found("crates/a/src/x.rs", "//! See `other/docs/gone.md`,\n/// and docs/gone.md.\n"), [gone]);
        assert_eq!(found("README.md", "See docs/gone.md.\n"), ["README.md:1: there is no `docs/gone.md`"]);
    }
}

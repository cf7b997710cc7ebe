//! Links of pages in a package: a page leads to another page of the package, to the repository, or nowhere, which is an error.

use std::path::{Component, Path, PathBuf};

use anyhow::{Result, bail};

/// Where the pages of one package lie, and what their links can lead to.
pub(super) struct PackageLinks<'a> {
    /// The folder of the package, which is complete but for its pages' links.
    pub(super) package: &'a Path,
    /// The folder of the repository.
    pub(super) repository: &'a Path,
    /// The address of the repository's files at the version of the package, without a slash at its end.
    pub(super) address: &'a str,
}

impl PackageLinks<'_> {
    /// A page with each link to a file that the package lacks made absolute. `page` is its path in the package and the repository.
    ///
    /// # Errors
    ///
    /// A link leads to a file that neither has.
    pub(super) fn relinked(&self, page: &Path, text: &str) -> Result<String> {
        let mut relinked = String::new();
        let mut in_block = false;
        for line in text.split_inclusive('\n') {
            in_block ^= line.trim_start().starts_with("```");
            let mut rest = line;
            while let Some((before, after)) = rest.split_once("](").filter(|_| !in_block) {
                let end = after.find(')').unwrap_or(0);
                relinked.push_str(before);
                relinked.push_str("](");
                relinked.push_str(&self.target(page, &after[..end])?);
                rest = &after[end..];
            }
            relinked.push_str(rest);
        }
        Ok(relinked)
    }

    fn target(&self, page: &Path, target: &str) -> Result<String> {
        let file = target.split('#').next().unwrap_or_default();
        if file.is_empty() || file.contains(':') {
            return Ok(target.to_owned());
        }
        let path = joined(page.parent().unwrap_or(Path::new("")), file);
        if self.package.join(&path).exists() {
            return Ok(target.to_owned());
        }
        if !self.repository.join(&path).exists() {
            bail!("{}: a dead link: {target}", page.display());
        }
        Ok(format!("{}/{}{}", self.address, path.display(), &target[file.len()..]))
    }
}

fn joined(folder: &Path, file: &str) -> PathBuf {
    let mut path = folder.to_owned();
    for part in Path::new(file).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use xtask::env;

    fn relinked(text: &str) -> Result<String> {
        let root = env::root();
        let package = root.join("docs");
        let links = PackageLinks { package: &package, repository: &root, address: "https://host/v1" };
        links.relinked(Path::new("adr/x.md"), text)
    }

    #[test]
    fn a_link_leads_into_the_package_or_to_the_repository_or_is_an_error() {
        let in_package = "see [a](../tree.md#naming) and [b](https://x) and [c](#here)\n";
        assert_eq!(relinked(in_package).unwrap(), in_package);
        assert_eq!(relinked("see [`a`](../Cargo.toml#x).").unwrap(), "see [`a`](https://host/v1/Cargo.toml#x).");
        assert!(relinked("[a](nowhere.md)").unwrap_err().to_string().contains("a dead link: nowhere.md"));
        let code = "```\n[a](nowhere.md)\n```\n";
        assert_eq!(relinked(code).unwrap(), code);
    }
}

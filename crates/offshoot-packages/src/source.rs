//! Where a package comes from, as it is written: `npm:name@range`, a git address, or a path. The forms
//! are pi's. Touches no file.

use std::fmt;
use std::path::{Path, PathBuf};

use offshoot_agent::expand_home;

use crate::error::{PackageError, Result};

/// The source of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum PackageSource {
    Npm {
        name: String,
        /// A version, a range or a tag.
        wanted: Option<String>,
    },
    Git {
        host: String,
        /// Without `.git`.
        path: String,
        /// What git gets.
        url: String,
        /// A branch, a tag or a commit.
        reference: Option<String>,
    },
    /// A folder that is used where it is.
    Path(String),
}

const LONGEST_NAME: usize = 214;
const GITHUB: &str = "github.com";

impl PackageSource {
    /// Parses what the user wrote.
    ///
    /// # Errors
    /// A name, a host or a path that could lead out of its folder or be taken for an option.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        let wrong = |why: &str| PackageError::Source { text: text.to_owned(), why: why.to_owned() };
        if text.is_empty() || text.contains(|sign: char| sign.is_control()) {
            return Err(wrong("a source is npm:NAME, git:HOST/PATH, an https address or a path"));
        }
        if let Some(spec) = text.strip_prefix("npm:") {
            return npm(spec).ok_or_else(|| wrong("npm names a package as name, @scope/name or name@version"));
        }
        let is_address = ["https://", "http://", "ssh://"].iter().any(|scheme| text.starts_with(scheme));
        if let Some(rest) =
            text.strip_prefix("git:").filter(|rest| !rest.starts_with("//")).or(is_address.then_some(text))
        {
            return git(rest)
                .ok_or_else(|| wrong("git takes HOST/PATH, https://HOST/PATH or git@HOST:PATH, each with @REF"));
        }
        if text.starts_with("github:") || text.starts_with("git@") || text.starts_with("git://") {
            return Err(wrong("write git:HOST/PATH"));
        }
        Ok(Self::Path(text.strip_prefix("file://").unwrap_or(text).to_owned()))
    }

    /// What two ways to write the same package have in common. Paths are absolute: relative ones begin at `base`.
    #[must_use]
    pub fn identity(&self, base: &Path, home: Option<&Path>) -> String {
        match self {
            Self::Npm { name, .. } => format!("npm:{name}"),
            Self::Git { host, path, .. } => format!("git:{host}/{path}"),
            Self::Path(path) => format!("local:{}", absolute(path, base, home).display()),
        }
    }

    /// Whether an update would change nothing.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        match self {
            Self::Npm { wanted, .. } => wanted.as_deref().is_some_and(is_exact),
            Self::Git { reference, .. } => reference.is_some(),
            Self::Path(_) => true,
        }
    }
}

impl fmt::Display for PackageSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Npm { name, wanted: Some(wanted) } => write!(f, "npm:{name}@{wanted}"),
            Self::Npm { name, wanted: None } => write!(f, "npm:{name}"),
            Self::Git { host, path, reference: Some(reference), .. } => write!(f, "git:{host}/{path}@{reference}"),
            Self::Git { host, path, .. } => write!(f, "git:{host}/{path}"),
            Self::Path(path) => f.write_str(path),
        }
    }
}

/// A path of a source or of a list; `~` is the home folder.
#[must_use]
pub fn absolute(path: &str, base: &Path, home: Option<&Path>) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in base.join(expand_home(path, home)).components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// Whether this is one version, not a range or a tag.
pub(crate) fn is_exact(wanted: &str) -> bool {
    let version = wanted.strip_prefix('v').unwrap_or(wanted);
    let (core, _) = version.split_once(['-', '+']).unwrap_or((version, ""));
    let numbers: Vec<&str> = core.split('.').collect();
    let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.len() == 3 && numbers.iter().all(is_number)
}

fn npm(spec: &str) -> Option<PackageSource> {
    let at = spec.char_indices().skip(1).find(|(_, sign)| *sign == '@').map(|(at, _)| at);
    let (name, wanted) = at.map_or((spec, None), |at| (&spec[..at], Some(&spec[at + 1..])));
    let part = |part: &str| {
        let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        !part.is_empty() && !part.starts_with(['.', '_', '-']) && part.bytes().all(is_sign)
    };
    let is_name = match name.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').is_some_and(|(scope, name)| part(scope) && part(name)),
        None => part(name),
    };
    let is_range = |wanted: &str| {
        let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"-._+^~<>=*| ".contains(&byte);
        !wanted.is_empty() && !wanted.starts_with('-') && wanted.bytes().all(is_sign)
    };
    let fits = is_name && name.len() <= LONGEST_NAME && wanted.is_none_or(is_range);
    fits.then(|| PackageSource::Npm { name: name.to_owned(), wanted: wanted.map(str::to_owned) })
}

/// `host/path`, `user/repository` of GitHub, an address with a scheme, or `git@host:path`; each with `@ref` or `#ref`.
fn git(text: &str) -> Option<PackageSource> {
    let (scheme, rest) = match text.find("://") {
        Some(at) => (&text[..at + 3], &text[at + 3..]),
        None => ("", text),
    };
    let (user, rest) = match rest.split_once('@') {
        Some((user, rest)) if !user.contains(['/', ':']) => (format!("{user}@"), rest),
        _ => (String::new(), rest),
    };
    let is_short = scheme.is_empty() && !user.is_empty();
    let (host, rest) = if is_short { rest.split_once(':')? } else { rest.split_once('/')? };
    let is_host = host.contains(['.', ':']) || host == "localhost" || !scheme.is_empty() || is_short;
    let (host, rest) = if is_host { (host, rest.to_owned()) } else { (GITHUB, format!("{host}/{rest}")) };
    let (path, reference) = match rest.find(['@', '#']) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest.as_str(), None),
    };
    let path = path.trim_end_matches('/');
    let bare = path.strip_suffix(".git").unwrap_or(path);
    if !is_sound_host(host) || !bare.split('/').all(is_sound_part) || !reference.is_none_or(is_sound_reference) {
        return None;
    }
    if !user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._@".contains(&byte)) || user.starts_with('-') {
        return None;
    }
    let url = match (scheme, is_short) {
        (_, true) => format!("{user}{host}:{path}"),
        ("", false) => format!("https://{host}/{path}"),
        (scheme, false) => format!("{scheme}{user}{host}/{path}"),
    };
    let reference = reference.map(str::to_owned);
    Some(PackageSource::Git { host: host.to_owned(), path: bare.to_owned(), url, reference })
}

fn is_sound_host(host: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b".-:".contains(&byte);
    !host.is_empty() && !host.starts_with(['-', '.']) && !host.contains("..") && host.bytes().all(is_sign)
}

fn is_sound_part(part: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+".contains(&byte);
    !part.is_empty() && part != "." && part != ".." && !part.starts_with('-') && part.bytes().all(is_sign)
}

fn is_sound_reference(reference: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/+".contains(&byte);
    !reference.is_empty()
        && !reference.starts_with(['-', '/'])
        && !reference.contains("..")
        && reference.bytes().all(is_sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        match PackageSource::parse(text) {
            Ok(PackageSource::Npm { name, wanted }) => format!("npm {name} {}", wanted.unwrap_or_default()),
            Ok(PackageSource::Git { host, path, url, reference }) => {
                format!("git {host} {path} {url} {}", reference.unwrap_or_default())
            }
            Ok(PackageSource::Path(path)) => format!("path {path}"),
            Err(_) => "refused".to_owned(),
        }
    }

    #[test]
    fn sources_are_those_of_pi() {
        for (text, expected) in [
            ("npm:foo", "npm foo "),
            ("npm:@s/foo@latest", "npm @s/foo latest"),
            ("npm:foo@^1", "npm foo ^1"),
            ("npm:foo@1.2.3", "npm foo 1.2.3"),
            ("git:github.com/u/r@v1", "git github.com u/r https://github.com/u/r v1"),
            ("git:u/r", "git github.com u/r https://github.com/u/r "),
            ("git:host.x/u", "git host.x u https://host.x/u "),
            ("https://h/u/r.git#main", "git h u/r https://h/u/r.git main"),
            ("ssh://git@h/u/r@feature/x", "git h u/r ssh://git@h/u/r feature/x"),
            ("git:git@h.x:u/r", "git h.x u/r git@h.x:u/r "),
            ("http://localhost:3000/u/r", "git localhost:3000 u/r http://localhost:3000/u/r "),
            ("./x", "path ./x"),
            ("~/x", "path ~/x"),
            ("file:///x", "path /x"),
            ("foo", "path foo"),
        ] {
            assert_eq!(parsed(text), expected, "{text}");
        }
    }

    #[test]
    fn nothing_leads_out_of_its_folder_or_is_an_option() {
        for text in [
            "",
            "npm:",
            "npm:../x",
            "npm:@s",
            "npm:.x",
            "npm:-x",
            "npm:a/b",
            "npm:foo@--x",
            "npm:foo@$(x)",
            "git:h.x/../r",
            "git:h.x/%2e%2e/r",
            "git:h.x/u\\r",
            "git:h.x/-u",
            "git:-h.x/u",
            "git:u/r@--upload-pack=x",
            "git:u/r@a..b",
            "ssh://-oProxyCommand=x/u",
            "ssh://-o@h/u/r",
            "https://h",
            "github:u/r",
            "git@github.com:u/r",
            "git://h/u/r",
            "npm:a\nb",
        ] {
            assert_eq!(parsed(text), "refused", "{text}");
        }
    }

    #[test]
    fn ways_to_write_a_package_have_one_identity() {
        let same = |text: &str| PackageSource::parse(text).unwrap().identity(Path::new("/d"), Some(Path::new("/h")));
        assert_eq!(same("npm:foo@1.0.0"), same("npm:foo"));
        assert_eq!(same("https://github.com/u/r.git@v1"), same("git:u/r"));
        assert_eq!(
            (same("../x"), same("./a/../../x"), same("~/x")),
            ("local:/x".into(), "local:/x".into(), "local:/h/x".into())
        );
        let pinned = |text: &str| PackageSource::parse(text).unwrap().is_pinned();
        assert!(pinned("npm:foo@1.2.3-rc.1") && pinned("git:u/r@v1") && pinned("./x"));
        assert!(!pinned("npm:foo@^1.2.3") && !pinned("npm:foo@1.2") && !pinned("npm:foo") && !pinned("git:u/r"));
    }
}

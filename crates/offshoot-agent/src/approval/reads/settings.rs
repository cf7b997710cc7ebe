//! The settings of a repository in which git runs nothing: the keys of a repository that are harmless, and those that offshoot sets. Reads git's own
//! list of its settings; runs nothing.

/// The words for git that list its settings with their scopes.
pub(crate) const LISTING: &[&str] = &["config", "--list", "-z", "--show-scope"];

/// Keys of a repository by which git reads and prints. `*` is a name. Every other key may run a program, lead to other files or fetch something.
const HARMLESS: &[&str] = &[
    "advice.*",
    "branch.*.*",
    "color.*",
    "color.*.*",
    "column.*",
    "commit.gpgsign",
    "commit.verbose",
    "core.abbrev",
    "core.autocrlf",
    "core.bare",
    "core.bigfilethreshold",
    "core.checkstat",
    "core.commentchar",
    "core.commitgraph",
    "core.compression",
    "core.createobject",
    "core.deltabasecachelimit",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.ignorestat",
    "core.logallrefupdates",
    "core.longpaths",
    "core.loosecompression",
    "core.multipackindex",
    "core.precomposeunicode",
    "core.preloadindex",
    "core.protecthfs",
    "core.protectntfs",
    "core.quotepath",
    "core.repositoryformatversion",
    "core.safecrlf",
    "core.sharedrepository",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.symlinks",
    "core.trustctime",
    "core.untrackedcache",
    "core.warnambiguousrefs",
    "core.whitespace",
    "core.fsync",
    "core.fsyncmethod",
    "diff.algorithm",
    "diff.colormoved",
    "diff.context",
    "diff.interhunkcontext",
    "diff.mnemonicprefix",
    "diff.noprefix",
    "diff.renamelimit",
    "diff.renames",
    "diff.wserrorhighlight",
    "extensions.objectformat",
    "extensions.refstorage",
    "extensions.worktreeconfig",
    "feature.manyfiles",
    "fetch.*",
    "gc.*",
    "gui.*",
    "i18n.commitencoding",
    "index.threads",
    "index.version",
    "init.defaultbranch",
    "log.abbrevcommit",
    "log.date",
    "log.decorate",
    "log.follow",
    "maintenance.*",
    "merge.conflictstyle",
    "merge.ff",
    "merge.renamelimit",
    "pack.*",
    "pull.ff",
    "pull.rebase",
    "push.autosetupremote",
    "push.default",
    "push.followtags",
    "rebase.autosquash",
    "rebase.autostash",
    "rebase.updaterefs",
    "receive.denycurrentbranch",
    "remote.*.fetch",
    "remote.*.gh-resolved",
    "remote.*.prune",
    "remote.*.push",
    "remote.*.pushurl",
    "remote.*.skipdefaultupdate",
    "remote.*.skipfetchall",
    "remote.*.tagopt",
    "remote.*.url",
    "rerere.autoupdate",
    "rerere.enabled",
    "status.branch",
    "status.renames",
    "status.short",
    "status.showuntrackedfiles",
    "submodule.active",
    "submodule.*.active",
    "submodule.*.url",
    "tag.gpgsign",
    "tag.sort",
    "user.email",
    "user.name",
    "user.signingkey",
    "user.useconfigonly",
];

/// What offshoot sets above all settings.
const NEUTRAL: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.sshCommand", "false"),
    ("core.alternateRefsCommand", "false"),
    ("core.askPass", "false"),
    ("credential.helper", ""),
    ("diff.autoRefreshIndex", "false"),
    ("diff.submodule", "short"),
    ("gpg.program", "false"),
    ("gpg.openpgp.program", "false"),
    ("gpg.x509.program", "false"),
    ("gpg.ssh.program", "false"),
    ("log.showSignature", "false"),
    ("log.diffMerges", "separate"),
    ("protocol.allow", "never"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
];

/// Variables that turn off what settings do not.
const VARIABLES: &[(&str, &str)] = &[
    ("GIT_PAGER", "cat"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ASKPASS", "false"),
    ("SSH_ASKPASS", "false"),
];

/// Settings for a run of git, above all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NeutralSettings(Vec<(String, String)>);

impl NeutralSettings {
    /// Before anything is known of a repository.
    pub(crate) fn new() -> Self {
        Self(NEUTRAL.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
    }

    /// The variables that set them.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let named = |(at, (key, value)): (usize, &(String, String))| {
            [(format!("GIT_CONFIG_KEY_{at}"), key.clone()), (format!("GIT_CONFIG_VALUE_{at}"), value.clone())]
        };
        let mut variables: Vec<_> =
            VARIABLES.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        variables.push(("GIT_CONFIG_COUNT".to_owned(), self.0.len().to_string()));
        variables.extend(self.0.iter().enumerate().flat_map(named));
        variables
    }

    /// Takes what git lists with these settings: filters of the person's own settings are turned off.
    ///
    /// # Errors
    /// Why git must not run, as a clause.
    pub(crate) fn follow(&mut self, listed: &[u8]) -> Result<(), String> {
        let settings = listed_settings(listed).ok_or("git's list of its settings cannot be read")?;
        let is_set =
            |key: &str| settings.iter().any(|found| found.scope == "command" && found.key == key.to_lowercase());
        if !NEUTRAL.iter().all(|(key, _)| is_set(key)) {
            return Err("this git does not take settings from variables".to_owned());
        }
        for ListedSetting { scope, key } in &settings {
            let is_of_repository = match *scope {
                "local" | "worktree" => true,
                "system" | "global" | "command" => false,
                _ => return Err(format!("the setting {key} is of no known scope")),
            };
            if (is_of_repository && !is_harmless(key)) || fetches(key) {
                return Err(format!("the repository's setting {key} may run a program or lead elsewhere"));
            }
            if let Some(filter) = key.strip_prefix("filter.").and_then(|rest| rest.rsplit_once('.')) {
                let off = [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];
                self.0.extend(off.map(|(name, value)| (format!("filter.{}.{name}", filter.0), value.to_owned())));
            }
        }
        Ok(())
    }
}

struct ListedSetting<'a> {
    scope: &'a str,
    key: &'a str,
}

/// The scopes and keys of the list, which has a scope, a NUL, a key, a line end, a value and a NUL for each.
fn listed_settings(listed: &[u8]) -> Option<Vec<ListedSetting<'_>>> {
    let text = std::str::from_utf8(listed).ok()?.strip_suffix('\0')?;
    let mut found = Vec::new();
    let mut rest = text.split('\0');
    while let Some(scope) = rest.next() {
        let setting = rest.next()?;
        let key = setting.split_once('\n').map_or(setting, |(key, _)| key);
        found.push(ListedSetting { scope, key });
    }
    Some(found)
}

fn is_harmless(key: &str) -> bool {
    let (Some((section, rest)), Some((before, name))) = (key.split_once('.'), key.rsplit_once('.')) else {
        return false;
    };
    HARMLESS.iter().any(|known| {
        *known == key
            || match known.split('.').collect::<Vec<_>>().as_slice() {
                [of, "*"] => *of == section && before == section,
                [of, "*", "*"] => *of == section && rest.contains('.'),
                [of, "*", last] => *of == section && rest.contains('.') && *last == name,
                _ => false,
            }
    })
}

/// Whether git may fetch what the repository lacks.
fn fetches(key: &str) -> bool {
    let name = key.rsplit('.').next().unwrap_or_default();
    key == "extensions.partialclone"
        || (key.starts_with("remote.") && matches!(name, "promisor" | "partialclonefilter"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(settings: &[(&str, &str)]) -> Vec<u8> {
        let of_offshoot = NEUTRAL.iter().map(|(key, value)| format!("command\0{}\n{value}\0", key.to_lowercase()));
        let others = settings.iter().map(|(scope, key)| format!("{scope}\0{key}\nx\0"));
        of_offshoot.chain(others).collect::<String>().into_bytes()
    }

    fn follow(settings: &[(&str, &str)]) -> Result<NeutralSettings, String> {
        let mut neutral = NeutralSettings::new();
        neutral.follow(&listed(settings)).map(|()| neutral)
    }

    #[test]
    fn a_repository_has_only_settings_that_are_known_to_be_harmless() {
        for key in [
            "core.bare",
            "core.repositoryformatversion",
            "remote.origin.url",
            "remote.a.b.fetch",
            "branch.main.merge",
            "branch.a.b.c.remote",
            "user.name",
            "color.ui",
        ] {
            assert!(follow(&[("local", key)]).is_ok(), "{key}");
        }
        for key in [
            "core.fsmonitor",
            "core.hookspath",
            "core.pager",
            "core.sshcommand",
            "core.worktree",
            "core.excludesfile",
            "core.attributesfile",
            "core.editor",
            "core.alternaterefscommand",
            "diff.external",
            "diff.x.textconv",
            "diff.x.command",
            "diff.orderfile",
            "filter.x.clean",
            "filter.x.process",
            "gpg.program",
            "gpg.ssh.program",
            "log.showsignature",
            "format.pretty",
            "pretty.x",
            "alias.log",
            "pager.log",
            "include.path",
            "includeif.gitdir:/.path",
            "extensions.partialclone",
            "remote.origin.promisor",
            "remote.origin.partialclonefilter",
            "remote.origin.uploadpack",
            "remote.origin.vcs",
            "merge.x.driver",
            "mailmap.file",
            "blame.ignorerevsfile",
            "submodule.x.update",
            "submodule.recurse",
            "url.x.insteadof",
            "credential.helper",
            "http.proxy",
            "lfs.url",
            "trace2.eventtarget",
            "safe.directory",
            "remote.url",
            "branch.merge",
            "",
        ] {
            for scope in ["local", "worktree"] {
                assert!(follow(&[(scope, key)]).is_err(), "{scope} {key}");
            }
        }
        assert!(follow(&[("elsewhere", "core.bare")]).is_err());
    }

    #[test]
    fn the_persons_own_filters_are_turned_off_and_their_other_settings_count() {
        let own = [("global", "filter.a.b.clean"), ("system", "filter.lfs.process"), ("global", "diff.external")];
        let NeutralSettings(set) = follow(&own).unwrap();
        for (key, value) in [("filter.a.b.clean", ""), ("filter.lfs.process", ""), ("filter.lfs.required", "false")] {
            assert!(set.contains(&(key.to_owned(), value.to_owned())), "{key}");
        }
        assert!(follow(&[("global", "remote.x.promisor")]).is_err());
    }

    #[test]
    fn a_list_that_lacks_what_offshoot_sets_or_is_broken_is_refused() {
        assert!(NeutralSettings::new().follow(b"local\0core.bare\nfalse\0").is_err());
        assert!(NeutralSettings::new().follow(b"").is_err());
        let whole = listed(&[]);
        assert!(NeutralSettings::new().follow(&whole[..whole.len() - 1]).is_err());
        assert!(NeutralSettings::new().follow(&[whole.as_slice(), b"local\0"].concat()).is_err());
    }
}

//! The files and folders that are asked about before they change, in every mode: programs run them unasked, log in by them, or
//! let the agent do more. The only list of them. Reads links; knows no command and no rule.

use std::path::{Path, PathBuf};

use offshoot_session::medium::real_path_or_same;

const ACCOUNTS: &str = "it changes who may use this computer";
const LOGIN: &str = "it changes a file that runs when you log in or open a shell";
const KEYS: &str = "it changes keys or who may log in";
const LATER: &str = "it changes what runs later by itself";
const GIT: &str = "it changes your git settings, by which git runs programs";
const AGENTS: &str = "it changes the settings, sessions or extensions of a coding agent";

/// Each with all that is below it.
const ANYWHERE: &[(&str, &[&str])] = &[
    (ACCOUNTS, &["/etc/passwd", "/etc/shadow", "/etc/group", "/etc/sudoers", "/etc/sudoers.d", "/etc/pam.d"]),
    (
        LOGIN,
        &["/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", "/etc/zsh", "/etc/environment", "/etc/ld.so.preload"],
    ),
    (KEYS, &["/etc/ssh"]),
    (
        LATER,
        &[
            "/etc/crontab",
            "/etc/cron.d",
            "/etc/cron.hourly",
            "/etc/cron.daily",
            "/etc/cron.weekly",
            "/etc/cron.monthly",
            "/var/spool/cron",
            "/etc/systemd",
            "/etc/xdg/autostart",
            "/etc/init.d",
        ],
    ),
    (GIT, &["/etc/gitconfig"]),
];

/// The same, below the home directory.
const AT_HOME: &[(&str, &[&str])] = &[
    (
        LOGIN,
        &[
            ".bashrc",
            ".bash_profile",
            ".bash_login",
            ".bash_logout",
            ".bash_aliases",
            ".profile",
            ".zshrc",
            ".zshenv",
            ".zprofile",
            ".zlogin",
            ".zlogout",
            ".kshrc",
            ".cshrc",
            ".tcshrc",
            ".login",
            ".xprofile",
            ".xinitrc",
            ".xsession",
            ".xsessionrc",
            ".pam_environment",
            ".config/fish",
            ".config/zsh",
            ".config/environment.d",
        ],
    ),
    (
        KEYS,
        &[
            ".ssh",
            ".gnupg",
            ".aws",
            ".azure",
            ".kube",
            ".netrc",
            ".docker/config.json",
            ".config/gh",
            ".config/gcloud",
            ".password-store",
            ".local/share/keyrings",
        ],
    ),
    (
        LATER,
        &[
            ".config/autostart",
            ".config/systemd",
            ".local/share/systemd",
            ".local/share/dbus-1",
            ".crontab",
            "Library/LaunchAgents",
        ],
    ),
    (GIT, &[".gitconfig", ".config/git"]),
    (AGENTS, &[".local/share/offshoot", ".local/state/offshoot", ".cache/offshoot", ".config/offshoot", ".pi", ".omp"]),
];

/// Where the table counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct CriticalPlaces<'a> {
    pub(super) home: Option<&'a Path>,
    /// The agents' folders, if variables name others.
    pub(super) agents: &'a [PathBuf],
}

impl CriticalPlaces<'_> {
    /// Why changing this path is asked about: it is, or leads to, one of the list.
    pub(super) fn reason(&self, path: &Path) -> Option<&'static str> {
        let real = real_path_or_same(path);
        let is_below = |place: &Path| {
            path.starts_with(place) || real.starts_with(place) || real.starts_with(real_path_or_same(place))
        };
        let agents = self.agents.iter().map(|place| (AGENTS, place.clone()));
        let anywhere = ANYWHERE.iter().flat_map(|(why, names)| names.iter().map(|name| (*why, PathBuf::from(name))));
        let at_home = self.home.into_iter().flat_map(|home| {
            AT_HOME.iter().flat_map(move |(why, names)| names.iter().map(move |name| (*why, home.join(name))))
        });
        anywhere.chain(at_home).chain(agents).find(|(_, place)| is_below(place)).map(|(why, _)| why)
    }
}

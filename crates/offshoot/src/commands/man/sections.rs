//! What a manual page says that no option does: exit codes, variables, files, examples, other pages.

use clap_mangen::roff::{Roff, bold, roman};
use offshoot_app::error::EXIT_CODES;

/// The variables of the environment, as docs/settings.md lists them.
const VARIABLES: &[(&str, &str)] = &[
    (
        "OFFSHOOT_HOME",
        "the data folder, with sessions, settings and keys; by default $XDG_DATA_HOME/offshoot, else ~/.local/share/offshoot",
    ),
    ("OFFSHOOT_SESSION", "the session of commands without SESSION"),
    ("OFFSHOOT_PAGER", "the command that pages long output on a terminal; by default PAGER, else less"),
    ("OFFSHOOT_IMAGES", "the protocol for images, if the setting terminal.images is auto"),
    ("OFFSHOOT_DURABILITY", "when an append counts as written: os, data or full"),
    ("OFFSHOOT_LOCK_WAIT", "how many seconds to wait for a session that another program has locked; by default 10"),
    ("NO_COLOR", "no colours, unless --color always"),
];

const FILES: &[(&str, &str)] = &[
    ("~/.local/share/offshoot/sessions", "the sessions, a folder for each working folder"),
    ("~/.local/share/offshoot/settings.json", "the settings; a project's are in .offshoot/settings.json of its folder"),
    ("~/.local/share/offshoot/models.json", "models and providers of your own, in pi's form"),
    ("~/.local/share/offshoot/auth.json", "keys"),
    ("~/.local/share/offshoot/trust.json", "the projects whose settings are used"),
    (
        "~/.local/state/offshoot/spill",
        "entries that could not be written into their session; `offshoot repair` puts them there",
    ),
    ("~/.cache/offshoot", "the side indexes and the catalogue of sessions; they can be deleted"),
    (
        "~/.pi/agent/sessions, ~/.omp/agent/sessions",
        "the sessions of pi and of oh-my-pi, which are read and written where they are",
    ),
];

/// The sections behind the options. The page of a command names the program's for what all commands share.
pub(super) fn of(command: &clap::Command) -> Roff {
    let mut page = Roff::default();
    if let Some(examples) = command.get_after_help().map(ToString::to_string) {
        page.control("SH", ["EXAMPLES"]).control("nf", []);
        let lines = examples.lines().filter(|line| *line != "Examples:");
        lines.for_each(|line| {
            page.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
        });
        page.control("fi", []);
    }
    page.control("SH", ["EXIT STATUS"]);
    EXIT_CODES.iter().for_each(|(code, _, says)| item(&mut page, &code.to_string(), says));
    if command.has_subcommands() {
        page.control("SH", ["ENVIRONMENT"]);
        VARIABLES.iter().for_each(|(name, says)| item(&mut page, name, says));
        page.control("SH", ["FILES"]);
        FILES.iter().for_each(|(path, says)| item(&mut page, path, says));
    }
    page.control("SH", ["SEE ALSO"]);
    match command.has_subcommands() {
        true => {
            let names = command.get_subcommands().filter(|command| !command.is_hide_set());
            let pages: Vec<String> = names.map(|command| format!("offshoot-{}(1)", command.get_name())).collect();
            // No name is broken.
            page.control("nh", []).control("ad", ["l"]).text([roman(pages.join(", "))])
        }
        false => {
            page.text([bold("offshoot"), roman("(1), for the global options, SESSION and ENTRY, variables and files")])
        }
    };
    page
}

fn item(page: &mut Roff, name: &str, says: &str) {
    page.control("TP", []).text([bold(name)]).text([roman(says)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variables_are_those_of_the_page_about_settings() {
        let page = include_str!("../../../../../docs/settings.md");
        let table =
            page.split("## Environment variables").nth(1).unwrap_or_default().split("\n## ").next().unwrap_or_default();
        let rows = table.lines().filter_map(|row| row.strip_prefix("| `")?.split('`').next());
        assert_eq!(rows.collect::<Vec<_>>(), VARIABLES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }
}

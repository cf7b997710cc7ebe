//! The program's help: its purpose, its commands in groups, examples. Knows no option.

use offshoot_workspace::{CommandGroup, find_operation};

pub(super) const ABOUT: &str = "`offshoot` alone starts a conversation; its commands read, branch and grow sessions";

pub(super) const LONG_ABOUT: &str = "\
`offshoot` alone starts a conversation with a model in this folder. The commands read, branch and grow the sessions of \
offshoot, pi and oh-my-pi, in their own folders.

A session is one append-only file in which every entry names its parent, so it is a tree. Commands that only look never \
change a session.

SESSION is the path of a session file, a session's id or its unique start or end, its name, or `latest`. \
Without it commands use the variable OFFSHOOT_SESSION; `tree`, `show`, `branches`, `context` and `export` else the latest \
session of this folder.

ENTRY is an entry's id or its unique start, a label (`label:TEXT` where it looks like something else), `@` for the \
current entry, `@-` for its parent, or a time for the last entry at or before it on the current path: 30m, 2h, 3d, \
2026-01-14T10:00. `offshoot tree SESSION` lists the ids.

PROMPT is one argument that contains white space. After `-p`, `--` or `chat` it can be several words.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 damaged input, 5 conflict, 6 the model failed, \
7 limit reached, 130 stopped.";

pub(super) const EXAMPLES: &str = "\
Examples:
  offshoot                            # start a conversation here
  offshoot -c                         # continue the newest session of this folder
  offshoot -p 'why does the build fail?'
  offshoot list                       # sessions of this folder, newest first
  offshoot tree latest                # the branches of the newest session
  offshoot switch latest 1a2b3c4d     # go back to an entry; pi and oh-my-pi open there too";

/// The groups of commands, by task.
const GROUPS: &[(CommandGroup, &str)] = &[
    (CommandGroup::Look, "Look"),
    (CommandGroup::Move, "Move"),
    (CommandGroup::BringBack, "Bring back"),
    (CommandGroup::Write, "Write"),
    (CommandGroup::Agent, "Agent"),
    (CommandGroup::Packages, "Packages"),
    (CommandGroup::Maintain, "Maintain"),
];

/// The group of a command: operations say it themselves.
fn group_of(command: &str) -> CommandGroup {
    if let Some(row) = find_operation(command) {
        return row.group;
    }
    match command {
        "tail" | "bisect" => CommandGroup::Look,
        "append" => CommandGroup::Write,
        "chat" | "api" | "permissions" | "auth" | "mcp" => CommandGroup::Agent,
        "install" | "remove" | "update" | "config" | "packages" => CommandGroup::Packages,
        _ => CommandGroup::Maintain,
    }
}

const INDENT: usize = 18;

/// The command line with a help that groups its commands. They are hidden from clap's own list, so this is not for
/// completions and manual pages.
pub(super) fn grouped(mut all: clap::Command) -> clap::Command {
    all.build();
    let mut listed = String::new();
    for (group, title) in GROUPS {
        listed.push_str(&format!("{title}:\n"));
        for command in all.get_subcommands().filter(|command| group_of(command.get_name()) == *group) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let names: Vec<&str> = command.get_name_and_visible_aliases();
            listed.push_str(&format!("  {:INDENT$}{about}\n", names.join(", ")));
        }
        listed.push('\n');
    }
    let template = format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listed}{{all-args}}{{after-help}}");
    all.mut_subcommands(|command| command.hide(true)).help_template(template)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new operation is listed without a word here.
    #[test]
    fn every_command_is_listed_once() {
        let mut all = super::super::command_line();
        let help = grouped(all.clone()).render_help().to_string();
        all.build();
        for command in all.get_subcommands() {
            let starts = format!("  {}", command.get_name_and_visible_aliases().join(", "));
            let listed =
                help.lines().filter(|line| line.strip_prefix(&starts).is_some_and(|rest| rest.starts_with(' ')));
            assert_eq!(listed.count(), 1, "{}: {help}", command.get_name());
        }
    }

    #[test]
    fn names_leave_room_for_a_description() {
        let all = super::super::command_line();
        for command in all.get_subcommands() {
            assert!(command.get_name_and_visible_aliases().join(", ").len() < INDENT, "{}", command.get_name());
        }
    }
}

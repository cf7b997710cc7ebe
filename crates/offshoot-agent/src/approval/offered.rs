//! The rules that a question about a call offers: the call itself, the group that it belongs to, its tool. Each of them would have let the call run.

use super::known::{self, Effect, Table};
use super::shell_line::{ShellLine, SimpleCommand, base};
use super::{ApprovalCall, Rule, is_allowed};
use crate::tool::Tier;

/// Programs whose first words say nothing about what they do: a group of their commands would be all commands.
const RUN_ANYTHING: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "fish",
    "eval",
    "source",
    ".",
    "exec",
    "su",
    "sudo",
    "doas",
    "ssh",
    "docker",
    "podman",
    "npx",
    "pnpx",
    "bunx",
    "uvx",
    "python",
    "python2",
    "python3",
    "node",
    "deno",
    "bun",
    "perl",
    "ruby",
    "php",
    "lua",
    "osascript",
    "rm",
    "dd",
];

/// Programs without a table whose first argument says what they do.
const HAVE_SUBCOMMANDS: &[&str] = &[
    "terraform",
    "tofu",
    "kubectl",
    "helm",
    "gh",
    "glab",
    "aws",
    "gcloud",
    "az",
    "brew",
    "apt",
    "apt-get",
    "systemctl",
    "bundle",
    "rails",
    "mix",
    "dotnet",
    "swift",
    "zig",
    "flutter",
    "dart",
    "composer",
    "poetry",
    "uv",
    "pip",
    "pip3",
    "conda",
    "bazel",
    "gradle",
    "gradlew",
    "mvn",
    "stack",
    "cabal",
];

/// The rules, the narrowest first.
pub(super) fn rules(call: &ApprovalCall<'_>, line: &ShellLine) -> Vec<Rule> {
    let mut found: Vec<Rule> = Vec::new();
    for rule in [Rule::exact(call), group(call, line), tool(call)].into_iter().flatten() {
        if !found.contains(&rule) && is_allowed(std::slice::from_ref(&rule), call, line).is_ok() {
            found.push(rule);
        }
    }
    found
}

/// The commands that begin as this one, or the host.
fn group(call: &ApprovalCall<'_>, line: &ShellLine) -> Option<Rule> {
    if let Tier::Net(host) = call.tier {
        return Rule::parse(&format!("{}(domain:{host})", call.tool)).ok();
    }
    let [SimpleCommand { words, .. }] = line.commands.as_slice() else { return None };
    let program = words.first().map(|program| base(program))?;
    let count = match known::table_of(words) {
        _ if RUN_ANYTHING.contains(&program) => return None,
        Table::Row(row) => match row.effect() {
            Effect::Launches | Effect::LaunchesWithMore => return None,
            Effect::OnlyReads | Effect::Reads | Effect::Changes | Effect::RunsProject => row.name().split(' ').count(),
        },
        Table::None => {
            1 + usize::from(HAVE_SUBCOMMANDS.contains(&program) && words.get(1).is_some_and(|word| is_subcommand(word)))
        }
        Table::Unlisted => return None,
    };
    let words = words.get(..count).filter(|words| words.iter().all(|word| is_plain(word)))?;
    Rule::parse(&format!("bash({}:*)", words.join(" "))).ok()
}

fn tool(call: &ApprovalCall<'_>) -> Option<Rule> {
    let name = match call.tier {
        Tier::Write(_) => "edit",
        Tier::Read(_) => "read",
        Tier::Command(_) | Tier::Exec | Tier::Net(_) => call.tool,
    };
    Rule::parse(name).ok()
}

fn is_subcommand(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '-' | ':'))
}

fn is_plain(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '+' | '-'))
}

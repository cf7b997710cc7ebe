//! Other programs' words for commands, and which names pi keeps for itself.

/// The words of Claude Code, Codex, opencode, Gemini and omp, each with the command that does what is meant, and its
/// argument where the word says that, too.
pub const ALIASES: &[(&str, &str)] = &[
    ("exit", "quit"),
    ("q", "quit"),
    ("clear", "new"),
    ("reset", "new"),
    ("continue", "resume"),
    ("sessions", "resume"),
    ("history", "resume"),
    ("rewind", "branch-here"),
    ("checkpoint", "branch-here"),
    ("redo", "undo"),
    ("cost", "session"),
    ("usage", "session"),
    ("stats", "session"),
    ("status", "session"),
    ("config", "settings"),
    ("themes", "theme"),
    ("allowed-tools", "permissions"),
    ("approvals", "approval"),
    ("plan", "approval plan"),
    ("models", "model"),
    ("effort", "thinking"),
    ("think", "thinking"),
    ("reasoning", "thinking"),
    ("summarize", "compact"),
    ("compress", "compact"),
    ("rename", "name"),
    ("title", "name"),
    ("tag", "label"),
    ("bookmark", "label"),
    ("save", "export"),
    ("keys", "help"),
    ("keybindings", "help"),
    ("shortcuts", "help"),
    ("commands", "help"),
    ("plugins", "extensions"),
];

/// The commands of pi. Neither an extension nor a skill nor a template takes their names.
const OF_PI: &[&str] = &[
    "settings",
    "model",
    "tree",
    "thinking",
    "scoped-models",
    "export",
    "import",
    "copy",
    "name",
    "session",
    "hotkeys",
    "fork",
    "clone",
    "trust",
    "new",
    "compact",
    "resume",
    "reload",
    "quit",
];

/// The command that another program's word stands for.
pub(super) fn meant_by(name: &str) -> Option<&'static str> {
    written_for(name)?.split(' ').next()
}

/// The argument that another program's word says.
pub(super) fn said_by(name: &str) -> Option<&'static str> {
    Some(written_for(name)?.split_once(' ')?.1)
}

fn written_for(name: &str) -> Option<&'static str> {
    ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, command)| *command)
}

/// Whether a command of this name gives way to an extension, a skill or a template of the same name.
pub(crate) fn yields(name: &str) -> bool {
    !OF_PI.contains(&name)
}

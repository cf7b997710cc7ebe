//! The commands that bash has built in. A row without options is covered with operands alone; [`NEVER`] are those that change what later words mean,
//! evaluate a subscript such as `a[$(…)]`, or run a text: no group of them can be allowed.

use super::row::{CommandRow, Effect, Operands, OptionStyle, ROW};

const fn words(name: &'static str) -> CommandRow {
    CommandRow { name, effect: Effect::OnlyReads, style: OptionStyle::NoOptions, ..ROW }
}

pub(super) const ROWS: &[CommandRow] = &[
    words("echo"),
    words("true"),
    words("false"),
    words(":"),
    CommandRow { name: "printf", style: OptionStyle::BundledFirst, operands: Operands::PrintfFormat, ..ROW },
    CommandRow {
        name: "test",
        style: OptionStyle::Whole,
        flags: &[
            "-# -a -b -c -d -e -f -g -h -k -n -o -p -r -s -t -u -w -x -z -G -L -N -O -S -nt -ot -ef -eq -ne -lt -le -gt -ge",
        ],
        ..ROW
    },
    CommandRow { name: "pwd", flags: &["-L -P"], operands: Operands::AtMost(0), ..ROW },
    CommandRow { name: "type", flags: &["-a -f -p -P -t"], ..ROW },
    CommandRow { name: "hash", flags: &["-l -t"], ..ROW },
    CommandRow { name: "export", flags: &["-p"], operands: Operands::HarmlessVariables, ..ROW },
    CommandRow { name: "umask", flags: &["-p -S"], operands: Operands::AtMost(0), ..ROW },
    CommandRow { name: "ulimit", flags: &["-a"], operands: Operands::AtMost(0), ..ROW },
    CommandRow { name: "jobs", flags: &["-l -n -p -r -s"], operands: Operands::AtMost(0), ..ROW },
    CommandRow { name: "wait", operands: Operands::AtMost(0), ..ROW },
    CommandRow { name: "exit", operands: Operands::AtMost(0), ..ROW },
    CommandRow { name: "times", operands: Operands::AtMost(0), ..ROW },
    CommandRow { name: "help", flags: &["-d -m -s"], ..ROW },
];

/// Built-in commands that no group can allow; a rule for the whole line can.
pub(super) const NEVER: &[&str] = &[
    "read",
    "mapfile",
    "readarray",
    "declare",
    "typeset",
    "local",
    "readonly",
    "let",
    "unset",
    "getopts",
    "compgen",
    "complete",
    "compopt",
    "bind",
    "fc",
    "history",
    "shift",
    "return",
    "break",
    "continue",
    "logout",
    "suspend",
    "dirs",
    "disown",
    "bg",
    "fg",
    "caller",
    "alias",
    "unalias",
    "set",
    "shopt",
    "enable",
    "trap",
    "eval",
    "exec",
    "source",
    ".",
    "command",
    "builtin",
];

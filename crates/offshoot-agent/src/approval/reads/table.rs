//! The commands that only read, on the rows of the tables of known options: what is left out of a row, and what its words name. An option of which
//! nothing is said here is judged as a file if it could be one.

/// A command that reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadRow {
    /// As in the tables of known options.
    pub(super) name: &'static str,
    /// Options of the known ones that do more, or never end.
    pub(super) without: &'static [&'static str],
    /// Options whose value is a text, whatever it looks like.
    pub(super) texts: &'static [&'static str],
    pub(super) operands: ReadOperands,
    pub(super) walk: Walk,
    /// The program that runs, if it has another name.
    pub(super) program: Option<&'static str>,
    /// Words that are put after the name.
    pub(super) adds: &'static [&'static str],
}

/// What the operands are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadOperands {
    Files,
    /// Nothing that is opened.
    Texts,
    /// A pattern or a script before the files, unless one of these options has it.
    TextThenFiles(&'static [&'static str]),
    /// As of `TextThenFiles`; the text is a program for awk.
    AwkThenFiles,
    /// As of `TextThenFiles`; every word may be a program for jq.
    JqThenFiles,
    /// Folders, and the brackets of an expression.
    Expression,
    /// Commits and files of a repository.
    Revisions(GitRow),
}

/// Whether files are read that the line does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Walk {
    Never,
    /// Of a folder it would read files that are links: folders are refused.
    RefusesFolders,
    /// With one of these options.
    With(&'static [&'static str]),
    Always,
}

/// What else counts for a command of git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GitRow {
    /// It reads contents of any file of the repository.
    Contents,
    /// It reads names and commits.
    Names,
    /// It compares files with those of the repository, and looks into submodules.
    WorkTree,
    /// Operands are allowed only with one of these options: else they name what is made.
    Lists(&'static [&'static str]),
}

const ROW: ReadRow = ReadRow {
    name: "",
    without: &[],
    texts: &[],
    operands: ReadOperands::Files,
    walk: Walk::Never,
    program: None,
    adds: &[],
};

const fn files(name: &'static str) -> ReadRow {
    ReadRow { name, ..ROW }
}

const fn texts(name: &'static str) -> ReadRow {
    ReadRow { name, operands: ReadOperands::Texts, ..ROW }
}

const fn checksum(name: &'static str) -> ReadRow {
    ReadRow { name, without: &["-c --check"], ..ROW }
}

const fn grep(name: &'static str, adds: &'static [&'static str]) -> ReadRow {
    ReadRow {
        name,
        without: &["-R --dereference-recursive -D --devices -d --directories"],
        texts: &["-e --regexp --include --exclude --exclude-dir --label"],
        operands: ReadOperands::TextThenFiles(&["-e --regexp -f --file"]),
        walk: Walk::With(&["-r --recursive"]),
        program: Some("grep"),
        adds,
    }
}

const fn awk(name: &'static str) -> ReadRow {
    ReadRow { name, texts: &["-F -v"], operands: ReadOperands::AwkThenFiles, ..ROW }
}

/// Of all that shows commits or differences: what runs another program, another git, or reads other files.
const GIT: &str = "--ignore-submodules --diff-merges --no-index --dirty --broken";
const GIT_TEXTS: &str = "-S -G -L --grep --author --committer --since --after --until --before --format --pretty --date --match --exclude --glob \
    --decorate-refs --decorate-refs-exclude --branches --tags --remotes --word-diff-regex --anchored --src-prefix --dst-prefix --line-prefix --sort \
    --diff-filter";

const fn git(name: &'static str, row: GitRow, adds: &'static [&'static str]) -> ReadRow {
    ReadRow { name, without: &[GIT], texts: &[GIT_TEXTS], operands: ReadOperands::Revisions(row), adds, ..ROW }
}

const SHOWS_DIFFS: &[&str] = &["--no-ext-diff", "--no-textconv"];
const LISTING: &[&str] = &["--list --contains --no-contains --merged --no-merged --points-at"];

pub(super) const ROWS: &[ReadRow] = &[
    ReadRow {
        without: &["-L -H --dereference --dereference-command-line"],
        texts: &["-I --ignore --hide --time-style"],
        ..files("ls")
    },
    files("cat"),
    files("head"),
    ReadRow { without: &["-f -F --follow --retry --pid -s --sleep-interval"], ..files("tail") },
    files("wc"),
    ReadRow { texts: &["-c --format --printf"], ..files("stat") },
    ReadRow { without: &["-s"], texts: &["-F --separator"], ..files("file") },
    ReadRow { without: &["-L -D -H"], texts: &["--exclude"], ..files("du") },
    files("df"),
    ReadRow { without: &["-l"], texts: &["-P -I --timefmt --charset"], ..files("tree") },
    texts("basename"),
    texts("dirname"),
    files("realpath"),
    files("readlink"),
    texts("which"),
    texts("pwd"),
    ReadRow { texts: &["-d --date"], ..texts("date") },
    texts("uname"),
    texts("nproc"),
    texts("whoami"),
    texts("id"),
    texts("echo"),
    texts("printf"),
    texts("true"),
    texts("false"),
    ReadRow { texts: &["-b -d -s"], ..files("nl") },
    ReadRow { texts: &["-s --separator"], ..files("tac") },
    files("rev"),
    files("od"),
    files("hexdump"),
    files("xxd"),
    checksum("cksum"),
    checksum("md5sum"),
    checksum("sha1sum"),
    checksum("sha256sum"),
    checksum("sha512sum"),
    files("fold"),
    ReadRow { texts: &["-s --separator -o --output-separator -N"], ..files("column") },
    files("cmp"),
    ReadRow { texts: &["--output-delimiter"], ..files("comm") },
    ReadRow {
        without: &["-r --recursive"],
        walk: Walk::RefusesFolders,
        texts: &["-F --label -L -I --ignore-matching-lines -x --exclude --show-function-line"],
        ..files("diff")
    },
    ReadRow { texts: &["-t -e -o"], ..files("join") },
    ReadRow { texts: &["-d --delimiters"], ..files("paste") },
    ReadRow { texts: &["-t --field-separator -k --key -S --buffer-size"], ..files("sort") },
    files("uniq"),
    ReadRow { texts: &["-d --delimiter --output-delimiter"], ..files("cut") },
    texts("tr"),
    grep("grep", &[]),
    grep("egrep", &["-E"]),
    grep("fgrep", &["-F"]),
    ReadRow {
        name: "rg",
        without: &["-L --follow"],
        texts: &[
            "-e --regexp -g --glob --iglob -t --type -T --type-not -r --replace --color --colors --context-separator",
        ],
        operands: ReadOperands::TextThenFiles(&["-e --regexp -f --file --files --type-list"]),
        walk: Walk::Always,
        adds: &["--no-config"],
        ..ROW
    },
    ReadRow {
        name: "find",
        without: &["-L -H -follow"],
        texts: &[
            "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -lname -ilname -printf -newermt",
        ],
        operands: ReadOperands::Expression,
        ..ROW
    },
    ReadRow {
        name: "fd",
        without: &["-L --follow"],
        texts: &["-e --extension -E --exclude -t --type --changed-within --changed-before"],
        operands: ReadOperands::TextThenFiles(&[]),
        ..ROW
    },
    ReadRow {
        name: "sed",
        texts: &["-e --expression"],
        operands: ReadOperands::TextThenFiles(&["-e --expression"]),
        ..ROW
    },
    awk("awk"),
    awk("gawk"),
    awk("mawk"),
    ReadRow {
        name: "jq",
        without: &["--args --jsonargs"],
        texts: &["--indent"],
        operands: ReadOperands::JqThenFiles,
        ..ROW
    },
    ReadRow { without: &[GIT, "-v --verbose"], ..git("git status", GitRow::WorkTree, &["--ignore-submodules=dirty"]) },
    git("git diff", GitRow::WorkTree, &["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"]),
    git("git log", GitRow::Contents, SHOWS_DIFFS),
    git("git show", GitRow::Contents, SHOWS_DIFFS),
    git("git stash list", GitRow::Contents, SHOWS_DIFFS),
    git("git reflog", GitRow::Contents, SHOWS_DIFFS),
    git("git reflog show", GitRow::Contents, SHOWS_DIFFS),
    git("git blame", GitRow::Contents, &["--no-textconv"]),
    ReadRow { without: &["--batch --batch-check --batch-all-objects"], ..git("git cat-file", GitRow::Contents, &[]) },
    ReadRow { without: &[GIT, "-l -t --track --no-track"], ..git("git branch", GitRow::Lists(LISTING), &[]) },
    ReadRow {
        without: &[GIT, "-a --annotate -m --message"],
        ..git("git tag", GitRow::Lists(&["-l --list --contains --no-contains --merged --no-merged --points-at"]), &[])
    },
    git("git rev-parse", GitRow::Names, &[]),
    git("git rev-list", GitRow::Names, &[]),
    ReadRow { without: &["-X --exclude-from --exclude-per-directory"], ..git("git ls-files", GitRow::Names, &[]) },
    git("git ls-tree", GitRow::Names, &[]),
    git("git describe", GitRow::Names, &[]),
    git("git merge-base", GitRow::Names, &[]),
    git("git shortlog", GitRow::Names, &[]),
    git("git show-ref", GitRow::Names, &[]),
];

/// The row of the command, by as many of its words as one has.
pub(super) fn row_of(words: &[String]) -> Option<&'static ReadRow> {
    let is_named = |row: &&ReadRow| {
        row.name.split(' ').enumerate().all(|(at, name)| words.get(at).is_some_and(|word| word == name))
    };
    ROWS.iter().filter(is_named).max_by_key(|row| row.name.len())
}

//! Commands that read files, and filters. Left out are the options that write a file, run a program, or name a file that says more.

use super::row::{CommandRow, Effect, Operands, OptionStyle, ROW};

const fn only_reads(name: &'static str, flags: &'static [&'static str], values: &'static [&'static str]) -> CommandRow {
    CommandRow { name, flags, values, effect: Effect::OnlyReads, ..ROW }
}

const GREP: &str = "-# -E -F -G -P -i -y -v -w -x -c -L -l -q -s -b -H -h -n -o -T -U -Z -z -a -I -r -R --extended-regexp --fixed-strings \
    --basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --files-without-match \
    --files-with-matches --quiet --silent --no-messages --byte-offset --with-filename --no-filename --line-number --only-matching \
    --initial-tab --null --null-data --text --recursive --dereference-recursive --binary --line-buffered";
const GREP_VALUES: &str = "-e --regexp -f --file -m --max-count -A --after-context -B --before-context -C --context -d --directories -D --devices \
    --include --exclude --exclude-dir --exclude-from --label --binary-files";

const fn grep(name: &'static str) -> CommandRow {
    CommandRow {
        name,
        flags: &[GREP],
        values: &[GREP_VALUES],
        optional: &["--color --colour"],
        effect: Effect::OnlyReads,
        ..ROW
    }
}

const CHECKSUM: &str =
    "-b -t -c -z -w --binary --text --check --tag --zero --ignore-missing --quiet --status --strict --warn";

const fn checksum(name: &'static str) -> CommandRow {
    only_reads(name, &[CHECKSUM], &["-a --algorithm"])
}

pub(super) const ROWS: &[CommandRow] = &[
    CommandRow {
        optional: &[
            "--color --hyperlink --classify --time --sort --format --indicator-style --quoting-style --block-size --time-style",
        ],
        ..only_reads(
            "ls",
            &[
                "-a -A -b -B -c -C -d -f -F -g -G -h -H -i -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -u -U -v -x -X -Z -1 -# --all --almost-all \
                 --author --escape --ignore-backups --directory --file-type --full-time --no-group --human-readable --si --dereference \
                 --inode --kibibytes --numeric-uid-gid --literal --hide-control-chars --show-control-chars --quote-name --reverse --recursive \
                 --size --group-directories-first --context --zero --dereference-command-line",
            ],
            &["-I --ignore --hide -w --width -T --tabsize"],
        )
    },
    only_reads(
        "cat",
        &[
            "-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting",
        ],
        &[],
    ),
    only_reads("head", &["-# -q -v -z --quiet --silent --verbose --zero-terminated"], &["-n --lines -c --bytes"]),
    CommandRow {
        optional: &["--follow"],
        ..only_reads(
            "tail",
            &["-# -f -F -q -v -z -r --retry --quiet --silent --verbose --zero-terminated"],
            &["-n --lines -c --bytes -s --sleep-interval --pid"],
        )
    },
    only_reads("wc", &["-c -m -l -L -w --bytes --chars --lines --max-line-length --words"], &["--total"]),
    grep("grep"),
    grep("egrep"),
    grep("fgrep"),
    only_reads(
        "cut",
        &["-n -s -z --complement --only-delimited --zero-terminated"],
        &["-b --bytes -c --characters -d --delimiter -f --fields --output-delimiter"],
    ),
    only_reads("tr", &["-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1"], &[]),
    only_reads("paste", &["-s -z --serial --zero-terminated"], &["-d --delimiters"]),
    only_reads(
        "comm",
        &["-1 -2 -3 -z --check-order --nocheck-order --total --zero-terminated"],
        &["--output-delimiter"],
    ),
    only_reads("join", &["-i -z --header --ignore-case --check-order --nocheck-order"], &["-1 -2 -a -e -j -o -t -v"]),
    only_reads("nl", &["-p --no-renumber"], &["-b -d -f -h -i -l -n -s -v -w"]),
    only_reads("fold", &["-b -s --bytes --spaces"], &["-w --width"]),
    only_reads("rev", &["-0"], &[]),
    only_reads("tac", &["-b -r --before --regex"], &["-s --separator"]),
    only_reads("column", &["-t -x -e -R -n -J -L"], &["-s --separator -c -N -o --output-separator"]),
    only_reads(
        "od",
        &["-a -b -c -d -f -i -l -o -s -v -x --output-duplicates"],
        &["-A --address-radix -j --skip-bytes -N --read-bytes -S -t --format -w"],
    ),
    only_reads("hexdump", &["-b -c -C -d -o -v -x --canonical"], &["-n --length -s --skip"]),
    CommandRow {
        style: OptionStyle::BundledFirst,
        operands: Operands::AtMost(1),
        effect: Effect::Reads,
        ..only_reads("xxd", &["-a -b -C -d -e -i -p -ps -u"], &["-c -g -l -n -o -s"])
    },
    only_reads("stat", &["-L -f -t --dereference --file-system --terse"], &["-c --format --printf"]),
    CommandRow {
        optional: &["--time --block-size"],
        ..only_reads(
            "du",
            &[
                "-0 -a -b -c -D -H -h -k -L -l -m -P -S -s -x --null --all --apparent-size --bytes --total --human-readable --count-links --summarize --separate-dirs --one-file-system --si --inodes",
            ],
            &["-d --max-depth -t --threshold --exclude -B"],
        )
    },
    only_reads(
        "df",
        &["-a -h -H -i -k -l -P -T --all --human-readable --si --inodes --local --portability --print-type --total"],
        &["-B -t --type -x --exclude-type"],
    ),
    only_reads("basename", &["-a -z --multiple --zero"], &["-s --suffix"]),
    only_reads("dirname", &["-z --zero"], &[]),
    only_reads(
        "realpath",
        &[
            "-e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --logical --physical --quiet --strip --no-symlinks --zero",
        ],
        &["--relative-to --relative-base"],
    ),
    only_reads(
        "readlink",
        &["-f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline"],
        &[],
    ),
    only_reads("cmp", &["-b -l -s --print-bytes --verbose --quiet --silent"], &["-i --ignore-initial -n --bytes"]),
    checksum("cksum"),
    checksum("md5sum"),
    checksum("sha1sum"),
    checksum("sha256sum"),
    checksum("sha512sum"),
    CommandRow {
        effect: Effect::Reads,
        optional: &["--color"],
        ..only_reads(
            "diff",
            &[
                "-# -q -s -c -u -e -n -y -p -t -T -r -N -a -i -E -Z -b -w -B -d --brief --report-identical-files --side-by-side --normal --recursive \
         --new-file --text --ignore-case --ignore-tab-expansion --ignore-trailing-space --ignore-space-change --ignore-all-space \
         --ignore-blank-lines --strip-trailing-cr --minimal --speed-large-files --show-c-function --suppress-common-lines --left-column \
         --expand-tabs --initial-tab --no-dereference --unidirectional-new-file",
            ],
            &["-C -U -F -L --label -W --width -I --ignore-matching-lines -x --exclude --show-function-line"],
        )
    },
    CommandRow {
        name: "sort",
        flags: &[
            "-b -d -f -g -i -M -h -n -R -r -V -c -C -m -s -u -z --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort \
             --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort --reverse --version-sort --merge --stable \
             --unique --zero-terminated --debug",
        ],
        values: &["-k --key -t --field-separator -S --buffer-size --parallel --batch-size"],
        optional: &["--check --sort"],
        ..ROW
    },
    CommandRow {
        name: "uniq",
        flags: &["-c -d -D -i -u -z --count --repeated --ignore-case --unique --zero-terminated"],
        values: &["-f --skip-fields -s --skip-chars -w --check-chars"],
        optional: &["--all-repeated --group"],
        operands: Operands::AtMost(1),
        ..ROW
    },
    CommandRow {
        name: "sed",
        flags: &[
            "-n -E -r -s -u -z --quiet --silent --regexp-extended --separate --unbuffered --null-data --posix --debug --sandbox",
        ],
        judged: &["-e --expression"],
        operands: Operands::SedScript,
        ..ROW
    },
    CommandRow { name: "awk", values: &["-F -v"], operands: Operands::AwkProgram, ..ROW },
    CommandRow { name: "gawk", values: &["-F -v"], operands: Operands::AwkProgram, ..ROW },
    CommandRow { name: "mawk", values: &["-F -v"], operands: Operands::AwkProgram, ..ROW },
    CommandRow {
        name: "find",
        style: OptionStyle::Whole,
        flags: &[
            "-H -L -P -O0 -O1 -O2 -O3 -print -print0 -ls -empty -executable -readable -writable -depth -d -xdev -mount -follow -daystart -not -and -or \
             -a -o -prune -quit -true -false -noleaf -nouser -nogroup -ignore_readdir_race -warn -nowarn",
        ],
        values: &[
            "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -maxdepth -mindepth -type -xtype -size -mtime -atime \
             -ctime -mmin -amin -cmin -newer -anewer -cnewer -newermt -perm -user -group -uid -gid -links -inum -samefile -lname -ilname \
             -fstype -printf -used",
        ],
        ..ROW
    },
    CommandRow {
        name: "fd",
        flags: &[
            "-H -I -u -s -i -g -F -a -L -p -0 -1 -q --hidden --no-ignore --no-ignore-vcs --unrestricted --case-sensitive --ignore-case --glob --regex \
             --fixed-strings --absolute-path --follow --full-path --print0 --quiet --show-errors --strip-cwd-prefix --prune",
        ],
        values: &[
            "-d --max-depth --min-depth --exact-depth -t --type -e --extension -E --exclude -S --size --changed-within --changed-before -c --color --max-results -j --threads",
        ],
        ..ROW
    },
    CommandRow {
        name: "rg",
        flags: &[
            "-# -i -S -s -v -w -x -c -l -n -N -o -q -F -U -P -u -uu -uuu -H -I -a -L -0 -p -. --ignore-case --smart-case --case-sensitive --invert-match \
             --word-regexp --line-regexp --count --count-matches --files-with-matches --files-without-match --line-number --no-line-number \
             --only-matching --quiet --fixed-strings --multiline --multiline-dotall --pcre2 --hidden --no-ignore --no-ignore-vcs --unrestricted \
             --with-filename --no-filename --text --follow --files --json --heading --no-heading --column --trim --stats --vimgrep --null \
             --no-messages --pretty --type-list --passthru --crlf --no-config --one-file-system",
        ],
        values: &[
            "-e --regexp -A --after-context -B --before-context -C --context -m --max-count -g --glob --iglob -t --type -T --type-not -f --file -r --replace \
             --color --colors --max-depth -d --max-columns -M --sort --sortr -j --threads --max-filesize --context-separator -E --encoding",
        ],
        ..ROW
    },
    CommandRow {
        name: "tree",
        flags: &[
            "-a -d -l -f -x -p -s -h -u -g -D -F -q -N -Q -r -t -c -U -v -n -C -A -S -i -J -X --noreport --dirsfirst --filesfirst --gitignore --prune --inodes --device --du --si",
        ],
        values: &["-L -P -I --filelimit --charset --timefmt --sort"],
        ..ROW
    },
    CommandRow {
        name: "jq",
        flags: &[
            "-n -c -C -M -r -R -s -S -e -j -a --null-input --compact-output --color-output --monochrome-output --raw-output --raw-input --slurp --sort-keys --exit-status --join-output --ascii-output --tab --stream --seq --args --jsonargs",
        ],
        values: &["--arg --argjson --indent"],
        ..ROW
    },
    CommandRow {
        name: "file",
        flags: &[
            "-b -i -L -h -k -r -s -v -0 --brief --mime --mime-type --mime-encoding --dereference --no-dereference --keep-going --raw --extension",
        ],
        values: &["-F --separator"],
        ..ROW
    },
    CommandRow {
        name: "tar",
        flags: &[
            "-t -v -z -j -J -Z -O --list --verbose --gzip --bzip2 --xz --zstd --lzma --to-stdout --wildcards --no-wildcards --anchored --no-anchored \
             --ignore-case --full-time --numeric-owner --utc --show-defaults --force-local --no-recursion",
        ],
        values: &["--strip-components --exclude --occurrence"],
        judged: &["-f --file"],
        operands: Operands::LocalArchive,
        ..ROW
    },
    CommandRow {
        name: "less",
        flags: &[
            "-# -e -E -F -i -I -M -m -N -n -q -Q -r -R -S -s -u -X --RAW-CONTROL-CHARS --chop-long-lines --no-init --quit-if-one-screen",
        ],
        values: &["-x -h -j -y"],
        operands: Operands::NoCommand,
        ..ROW
    },
    CommandRow {
        name: "man",
        flags: &["-a -f -k -w -W --where --path --all --whatis --apropos"],
        values: &["-s --sections -S"],
        operands: Operands::PageName,
        ..ROW
    },
    CommandRow {
        name: "curl",
        flags: &[
            "-s -S -f -i -I -v -4 -6 --silent --show-error --fail --fail-with-body --include --head --verbose --compressed --no-progress-meter --globoff -g",
        ],
        values: &["-m --max-time --connect-timeout --retry --retry-delay -A --user-agent"],
        operands: Operands::Addresses,
        ..ROW
    },
    CommandRow {
        name: "date",
        flags: &["-u --utc --universal -R --rfc-email --debug"],
        values: &["-d --date -r --reference --rfc-3339"],
        optional: &["-I --iso-8601"],
        operands: Operands::DateFormat,
        ..ROW
    },
    only_reads(
        "ps",
        &["-a -A -d -e -f -F -j -l -L -T -w -H -y -ww -ef --forest --no-headers"],
        &["-o -p -u -U -C -t --sort --ppid --pid"],
    ),
    only_reads("id", &["-a -g -G -n -r -u -z --group --groups --name --real --user --zero"], &[]),
    only_reads("whoami", &[], &[]),
    only_reads("uname", &["-a -s -n -r -v -m -p -i -o"], &[]),
    only_reads("nproc", &["--all"], &["--ignore"]),
    only_reads("which", &["-a -s"], &[]),
    only_reads("seq", &["-w --equal-width -#"], &["-s --separator -f --format"]),
    only_reads("sleep", &[], &[]),
    only_reads("printenv", &["-0 --null"], &[]),
    CommandRow { name: "env", flags: &["-0 --null"], operands: Operands::AtMost(0), ..ROW },
    CommandRow {
        name: "xargs",
        style: OptionStyle::BundledFirst,
        effect: Effect::LaunchesWithMore,
        flags: &["-0 -r -t -x --null --no-run-if-empty --verbose --exit"],
        values: &["-n --max-args -L --max-lines -P --max-procs -s --max-chars -d --delimiter -E"],
        judged: &["-I"],
        operands: Operands::Command(0),
        ..ROW
    },
    CommandRow {
        name: "timeout",
        style: OptionStyle::BundledFirst,
        effect: Effect::Launches,
        flags: &["-v -f -p --verbose --foreground --preserve-status"],
        values: &["-k --kill-after -s --signal"],
        operands: Operands::Command(1),
        ..ROW
    },
    CommandRow {
        name: "nice",
        style: OptionStyle::BundledFirst,
        effect: Effect::Launches,
        values: &["-n --adjustment"],
        operands: Operands::Command(0),
        ..ROW
    },
];

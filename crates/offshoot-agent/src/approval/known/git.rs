//! The commands of git. What they do with the known options is theirs by name: the configuration, hooks, pagers and filters of the repository
//! count as they are. Left out are the options that name a program, a file to write, another repository or an editor.

use super::row::{CommandRow, Effect, Operands, ROW};

/// Of everything that shows a diff.
const DIFF: &str = "-p -u --patch -s --no-patch --raw --patch-with-raw --patience --minimal --histogram --numstat --shortstat \
    --summary --name-only --name-status --check --full-index --binary --no-renames --find-copies-harder -R -a --text \
    --ignore-cr-at-eol --ignore-space-at-eol -b --ignore-space-change -w --ignore-all-space --ignore-blank-lines -W \
    --function-context --exit-code --quiet --no-ext-diff --no-textconv --no-prefix --no-color --cc -c -m --combined-all-paths \
    -z --pickaxe-all --pickaxe-regex --no-color-moved --no-relative --compact-summary --irreversible-delete --no-indent-heuristic \
    --indent-heuristic --first-parent --color-words --patch-with-stat --default-prefix";
const DIFF_VALUES: &str = "-S -G -l --diff-filter";
const DIFF_OPTIONAL: &str = "-U --unified --stat --dirstat --color --color-moved --word-diff --word-diff-regex -M --find-renames -B \
    --break-rewrites -C --find-copies -D --abbrev --diff-algorithm --anchored --relative --inter-hunk-context --src-prefix --dst-prefix \
    --stat-width --stat-count --stat-name-width --ignore-submodules --ws-error-highlight --diff-merges --line-prefix --max-depth";

/// Of everything that walks commits.
const WALK: &str = "-# --oneline --graph --all --merges --no-merges --reverse --decorate --no-decorate --follow --full-diff --topo-order \
    --date-order --author-date-order --no-abbrev-commit --abbrev-commit --parents --children --left-right --cherry --cherry-pick \
    --cherry-mark --left-only --right-only --boundary --simplify-by-decoration --full-history --dense --sparse --simplify-merges \
    --ancestry-path --no-notes --notes --source --use-mailmap --mailmap --no-mailmap --relative-date --no-walk --walk-reflogs -g \
    --branches --tags --remotes -i --regexp-ignore-case -E --extended-regexp -F --fixed-strings -P --perl-regexp \
    --invert-grep --all-match --clear-decorations --no-graph --merge --not --show-pulls --date --remove-empty --no-color --no-patch";
const WALK_VALUES: &str = "-n -L --max-count --skip --since --after --until --before --author --committer --grep";
const WALK_OPTIONAL: &str = "--pretty --format --date --decorate --decorate-refs --decorate-refs-exclude --branches --tags --remotes --glob \
    --exclude --notes --encoding --max-parents --min-parents --since-as-filter --color --no-walk --ancestry-path";

const LIST_REFS: &str = "-l --list -a --all -r --remotes -v -vv --verbose -q --quiet -i --ignore-case --show-current --no-color --omit-empty \
    --no-column --no-abbrev";
const LIST_REFS_VALUES: &str = "--sort --points-at --format";
const LIST_REFS_OPTIONAL: &str = "--contains --no-contains --merged --no-merged --color --column --abbrev";

const fn reads(name: &'static str, flags: &'static [&'static str]) -> CommandRow {
    CommandRow { name, flags, ..ROW }
}

const fn changes(name: &'static str, flags: &'static [&'static str], values: &'static [&'static str]) -> CommandRow {
    CommandRow { name, flags, values, effect: Effect::Changes, ..ROW }
}

const fn walks(name: &'static str) -> CommandRow {
    CommandRow {
        name,
        flags: &[DIFF, WALK],
        values: &[DIFF_VALUES, WALK_VALUES],
        optional: &[DIFF_OPTIONAL, WALK_OPTIONAL],
        ..ROW
    }
}

const fn diffs(name: &'static str) -> CommandRow {
    CommandRow {
        name,
        flags: &[
            DIFF,
            "--cached --staged --merge-base --no-index -1 -2 -3 --base --ours --theirs -0 -q -r -t --root --no-commit-id --always",
        ],
        values: &[DIFF_VALUES],
        optional: &[DIFF_OPTIONAL, "--pretty --format"],
        ..ROW
    }
}

pub(super) const ROWS: &[CommandRow] = &[
    walks("git log"),
    walks("git show"),
    CommandRow { operands: Operands::AtMost(0), ..walks("git reflog") },
    walks("git reflog show"),
    walks("git whatchanged"),
    walks("git stash show"),
    diffs("git diff"),
    diffs("git diff-tree"),
    diffs("git diff-index"),
    diffs("git diff-files"),
    CommandRow { operands: Operands::AtMost(0), ..walks("git stash list") },
    CommandRow {
        name: "git rev-list",
        flags: &[WALK, "--count --objects --header --timestamp --no-commit-header --disk-usage"],
        values: &[WALK_VALUES],
        optional: &[WALK_OPTIONAL],
        ..ROW
    },
    CommandRow {
        name: "git shortlog",
        flags: &[WALK, "-n -s -e --numbered --summary --email -c"],
        values: &["--since --after --until --before --author --committer --grep"],
        optional: &["-w --group --format --pretty --date"],
        ..ROW
    },
    CommandRow {
        name: "git status",
        flags: &[
            "-s --short -b --branch -v --verbose --long -z --show-stash --ahead-behind --no-ahead-behind --renames --no-renames --no-column",
        ],
        optional: &["--porcelain -u --untracked-files --ignored --ignore-submodules --column -M --find-renames"],
        ..ROW
    },
    CommandRow {
        name: "git grep",
        flags: &[
            "-# --cached --untracked --no-index --exclude-standard --no-exclude-standard -v --invert-match -i --ignore-case -w --word-regexp -a --text \
             -I --no-textconv -r --recursive --no-recursive -E --extended-regexp -G --basic-regexp -F --fixed-strings -P \
             --perl-regexp -n --line-number --column -h -H --full-name -l --files-with-matches --name-only -L --files-without-match -z \
             --null -o --only-matching -c --count --no-color --break --heading -p --show-function -W --function-context -q --quiet \
             --all-match --and --or --not",
        ],
        values: &["-e -A -B -C -m --max-count --after-context --before-context --context --max-depth --threads"],
        optional: &["--color"],
        ..ROW
    },
    CommandRow {
        name: "git branch",
        flags: &[LIST_REFS, "-t --track --no-track"],
        values: &[LIST_REFS_VALUES],
        optional: &[LIST_REFS_OPTIONAL],
        effect: Effect::Changes,
        ..ROW
    },
    CommandRow {
        name: "git tag",
        flags: &["-l --list -i --ignore-case --omit-empty --no-column -a --annotate"],
        values: &[LIST_REFS_VALUES, "-m --message"],
        optional: &[LIST_REFS_OPTIONAL, "-n"],
        effect: Effect::Changes,
        ..ROW
    },
    CommandRow {
        name: "git for-each-ref",
        flags: &["--ignore-case --omit-empty --include-root-refs"],
        values: &["--sort --points-at --format --count --exclude"],
        optional: &["--contains --no-contains --merged --no-merged --color"],
        ..ROW
    },
    CommandRow {
        name: "git blame",
        flags: &[
            "-l -t -s -e -w -f -n -p -c -b --porcelain --line-porcelain --incremental --show-name --show-number --show-email --show-stats \
             --root --reverse --first-parent --progress --no-progress --color-lines --color-by-age",
        ],
        values: &["-L --since --ignore-rev"],
        optional: &["-M -C --abbrev --date"],
        ..ROW
    },
    CommandRow {
        optional: &["--batch --batch-check"],
        ..reads("git cat-file", &["-e -p -t -s --batch-all-objects --unordered"])
    },
    CommandRow {
        optional: &[
            "--abbrev-ref --short --symbolic-full-name --branches --tags --remotes --glob --exclude --show-object-format --disambiguate --path-format",
        ],
        values: &["--git-path --default --prefix"],
        ..reads(
            "git rev-parse",
            &[
                "--verify -q --quiet --show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-git-dir \
                 --is-inside-work-tree --is-bare-repository --is-shallow-repository --symbolic --all --revs-only --no-revs --flags --no-flags \
                 --show-superproject-working-tree --shared-index-path --local-env-vars --not --sq",
            ],
        )
    },
    CommandRow {
        values: &["-x --exclude -X --exclude-from --exclude-per-directory --format --with-tree"],
        optional: &["--abbrev"],
        ..reads(
            "git ls-files",
            &[
                "-c --cached -d --deleted -m --modified -o --others -i --ignored -s --stage -u --unmerged -k --killed --directory \
                 --no-empty-directory --eol -z --exclude-standard --error-unmatch -t -v -f --full-name --deduplicate --resolve-undo --debug",
            ],
        )
    },
    CommandRow {
        values: &["--format"],
        optional: &["--abbrev"],
        ..reads(
            "git ls-tree",
            &["-d -r -t -l --long -z --name-only --name-status --object-only --full-name --full-tree"],
        )
    },
    CommandRow {
        values: &["--candidates --match --exclude"],
        optional: &["--abbrev --dirty --broken"],
        ..reads("git describe", &["--all --tags --contains --exact-match --long --first-parent --always --debug"])
    },
    reads("git merge-base", &["-a --all --octopus --independent --is-ancestor --fork-point"]),
    CommandRow {
        values: &["--refs --exclude"],
        ..reads("git name-rev", &["--tags --name-only --all --always --no-undefined"])
    },
    CommandRow {
        optional: &["--hash --abbrev"],
        ..reads("git show-ref", &["--heads --branches --tags -d --dereference -s -q --quiet --verify --head"])
    },
    CommandRow { operands: Operands::AtMost(1), ..reads("git symbolic-ref", &["-q --quiet --short --no-recurse"]) },
    reads("git check-ignore", &["-q --quiet -v --verbose -z -n --non-matching --no-index --stdin"]),
    reads("git check-attr", &["-a --all --cached -z --stdin"]),
    reads("git count-objects", &["-v --verbose -H --human-readable"]),
    CommandRow { operands: Operands::AtMost(1), ..reads("git var", &["-l"]) },
    reads("git version", &["--build-options"]),
    reads("git --version", &[]),
    reads("git worktree list", &["--porcelain -z -v --verbose"]),
    CommandRow { operands: Operands::AtMost(0), ..reads("git remote", &["-v --verbose"]) },
    reads("git remote get-url", &["--all --push"]),
    CommandRow { operands: Operands::Remote, ..reads("git remote show", &["-n"]) },
    CommandRow {
        values: &["--sort"],
        operands: Operands::Remote,
        ..reads("git ls-remote", &["-h -t --heads --branches --tags --refs -q --quiet --exit-code --symref --get-url"])
    },
    CommandRow {
        operands: Operands::ConfigName,
        optional: &["--type"],
        ..reads(
            "git config",
            &[
                "--get --get-all -l --list --global --local --system --worktree -z --null --name-only --show-origin --show-scope --bool --int --path --includes --no-includes",
            ],
        )
    },
    CommandRow {
        operands: Operands::AtMost(0),
        ..reads(
            "git config list",
            &["--global --local --system --worktree -z --null --name-only --show-origin --show-scope"],
        )
    },
    CommandRow {
        operands: Operands::ConfigName,
        ..reads("git config get", &["--global --local --system --worktree -z --null --all --show-origin --show-scope"])
    },
    CommandRow {
        values: &["--format --prefix"],
        ..reads("git archive", &["-l --list -v --verbose --worktree-attributes -#"])
    },
    CommandRow {
        operands: Operands::Remote,
        effect: Effect::Changes,
        values: &["--depth --deepen --shallow-since -j --jobs"],
        ..reads(
            "git fetch",
            &[
                "--all -p --prune -P --prune-tags -t --tags -n --no-tags -q --quiet -v --verbose --progress --no-progress --dry-run --unshallow -4 -6 --no-recurse-submodules --atomic",
            ],
        )
    },
    CommandRow {
        operands: Operands::Remote,
        ..changes(
            "git pull",
            &[
                "--ff-only --ff --no-ff --rebase -r --no-rebase -q --quiet -v --verbose --autostash --no-autostash -p --prune -t --tags --all --no-edit --no-recurse-submodules --stat --no-stat --dry-run",
            ],
            &["--depth"],
        )
    },
    CommandRow {
        operands: Operands::Remote,
        ..changes(
            "git push",
            &[
                "-u --set-upstream --tags --follow-tags -q --quiet -v --verbose -n --dry-run --porcelain --progress --atomic --all --branches",
            ],
            &[],
        )
    },
    changes(
        "git add",
        &[
            "-A --all -u --update -v --verbose -n --dry-run -f --force -N --intent-to-add --no-all --ignore-errors --refresh --renormalize",
        ],
        &["--chmod"],
    ),
    changes("git rm", &["-r -f --force -n --dry-run -q --quiet --cached --ignore-unmatch"], &[]),
    changes("git mv", &["-f --force -k -n --dry-run -v --verbose"], &[]),
    changes(
        "git restore",
        &["-S --staged -W --worktree -q --quiet --ours --theirs --overlay --no-overlay"],
        &["-s --source"],
    ),
    changes("git reset", &["-q --quiet --soft --mixed -N --intent-to-add --refresh --no-refresh"], &[]),
    changes("git switch", &["-d --detach -q --quiet --no-guess --guess -t --track --no-track"], &["-c --create"]),
    changes(
        "git checkout",
        &["-q --quiet --detach --ours --theirs -t --track --no-track --guess --no-guess --no-progress"],
        &["-b"],
    ),
    changes(
        "git commit",
        &[
            "-a --all -q --quiet -v --verbose -s --signoff --amend --no-edit --allow-empty --dry-run --short --porcelain --long --no-status -o --only -i --include --no-gpg-sign --reset-author --branch",
        ],
        &["-m --message --author --date -F --file --fixup"],
    ),
    CommandRow {
        operands: Operands::AtMost(0),
        ..changes("git stash", &["-u --include-untracked -k --keep-index -q --quiet"], &[])
    },
    changes(
        "git stash push",
        &["-u --include-untracked -a --all -k --keep-index --no-keep-index -q --quiet -S --staged"],
        &["-m --message"],
    ),
    changes("git stash pop", &["-q --quiet --index"], &[]),
    changes("git stash apply", &["-q --quiet --index"], &[]),
    changes(
        "git merge",
        &[
            "--ff-only --ff --no-ff --no-edit --squash --no-squash -q --quiet -v --verbose --stat --no-stat -n --abort --continue --quit --no-commit --autostash --no-autostash --no-gpg-sign",
        ],
        &["-m"],
    ),
    changes(
        "git rebase",
        &[
            "--continue --abort --skip --quit -q --quiet -v --verbose --autostash --no-autostash --stat --no-stat -n --keep-base --root --fork-point --no-fork-point --show-current-patch --no-gpg-sign",
        ],
        &["--onto"],
    ),
    changes(
        "git cherry-pick",
        &["-x -n --no-commit --abort --continue --skip --quit --ff --allow-empty -s --signoff --no-gpg-sign"],
        &["-m --mainline"],
    ),
    changes(
        "git revert",
        &["--no-edit -n --no-commit --abort --continue --skip --quit -s --signoff --no-gpg-sign"],
        &["-m --mainline"],
    ),
];

//! Commands that build and test a project. They run what the project's files say; left out are the options that name another program, another
//! configuration, another folder or a file to write.

use super::row::{CommandRow, Effect, Operands, OptionStyle, ROW};

const CARGO: &str = "-q -v -vv -r --quiet --verbose --release --workspace --all --all-features --no-default-features --locked --offline --frozen --keep-going \
    --lib --bins --examples --tests --benches --all-targets --ignore-rust-version --future-incompat-report";
const CARGO_VALUES: &str =
    "-p --package --exclude -F --features -j --jobs --profile --bin --example --test --bench --color --message-format";

/// What a test program of Rust may be told after `--`.
const RUST_TESTS: &CommandRow = &CommandRow {
    flags: &["--nocapture --no-capture --ignored --include-ignored --exact --show-output -q --quiet --list"],
    values: &["--test-threads --skip --color"],
    ..ROW
};

const RUST_LINTS: &CommandRow =
    &CommandRow { values: &["-D -W -A -F --deny --warn --allow --forbid"], operands: Operands::AtMost(0), ..ROW };

const RUST_FORMAT: &CommandRow =
    &CommandRow { flags: &["--check -l"], values: &["--edition"], operands: Operands::AtMost(0), ..ROW };

/// Words for a script of the project.
const ANY_WORDS: &CommandRow = &CommandRow { style: OptionStyle::NoOptions, ..ROW };

const fn cargo(name: &'static str, flags: &'static [&'static str]) -> CommandRow {
    CommandRow { name, flags, values: &[CARGO_VALUES], effect: Effect::RunsProject, ..ROW }
}

const fn cargo_tests(name: &'static str) -> CommandRow {
    CommandRow { after_dashes: Some(RUST_TESTS), ..cargo(name, &[CARGO, "--no-run --no-fail-fast --doc"]) }
}

const fn go(name: &'static str) -> CommandRow {
    CommandRow {
        name,
        effect: Effect::RunsProject,
        style: OptionStyle::Whole,
        flags: &["-v -race -short -cover -benchmem -failfast -json -x -a -trimpath -m -e -deps -test -find"],
        values: &["-run -skip -bench -count -timeout -tags -p -parallel -cpu -benchtime -shuffle -covermode -f"],
        operands: Operands::Below,
        ..ROW
    }
}

const fn npm(name: &'static str) -> CommandRow {
    CommandRow {
        name,
        effect: Effect::RunsProject,
        flags: &["-s --silent --if-present --workspaces"],
        values: &["-w --workspace"],
        after_dashes: Some(ANY_WORDS),
        ..ROW
    }
}

pub(super) const ROWS: &[CommandRow] = &[
    CommandRow { operands: Operands::AtMost(0), ..cargo("cargo build", &[CARGO]) },
    CommandRow { operands: Operands::AtMost(0), ..cargo("cargo check", &[CARGO]) },
    CommandRow {
        operands: Operands::AtMost(0),
        after_dashes: Some(RUST_LINTS),
        ..cargo("cargo clippy", &[CARGO, "--no-deps"])
    },
    CommandRow { operands: Operands::AtMost(0), ..cargo("cargo doc", &[CARGO, "--no-deps --document-private-items"]) },
    cargo_tests("cargo test"),
    cargo_tests("cargo bench"),
    CommandRow {
        flags: &[CARGO, "--no-run --no-fail-fast --no-capture --status-level"],
        values: &[
            CARGO_VALUES,
            "-E --filterset --filter-expr --retries --test-threads --partition --run-ignored --build-jobs",
        ],
        ..cargo_tests("cargo nextest run")
    },
    CommandRow {
        operands: Operands::AtMost(0),
        after_dashes: Some(RUST_FORMAT),
        ..cargo("cargo fmt", &["-q -v --quiet --verbose --all --check"])
    },
    CommandRow {
        operands: Operands::AtMost(0),
        effect: Effect::Reads,
        ..cargo(
            "cargo tree",
            &[
                "-q -v --quiet --all-features --no-default-features --workspace --offline --locked --frozen -d --duplicates --no-dedupe -i",
            ],
        )
    },
    CommandRow {
        operands: Operands::AtMost(0),
        effect: Effect::Reads,
        optional: &["--format-version"],
        ..cargo("cargo metadata", &["-q --no-deps --offline --locked --frozen --all-features --no-default-features"])
    },
    CommandRow { name: "cargo --version", flags: &["-v --verbose"], operands: Operands::AtMost(0), ..ROW },
    npm("npm test"),
    npm("npm t"),
    npm("npm run"),
    npm("npm run-script"),
    CommandRow {
        name: "npm ls",
        flags: &["-a --all --json -l --long -p --parseable -g --global"],
        values: &["--depth"],
        ..ROW
    },
    CommandRow { name: "npm --version", operands: Operands::AtMost(0), ..ROW },
    CommandRow {
        name: "pytest",
        effect: Effect::RunsProject,
        flags: &[
            "-q -v -vv -s -x -l -ra -rA -rs -rf --quiet --verbose --exitfirst --lf --last-failed --ff --failed-first --nf --sw --stepwise --co --collect-only \
             --showlocals --no-header --no-summary --strict-markers --disable-warnings --cache-show",
        ],
        values: &["-k -m --tb -n --maxfail --durations --color --timeout --capture --deselect"],
        operands: Operands::Below,
        ..ROW
    },
    go("go test"),
    go("go build"),
    go("go vet"),
    go("go list"),
    CommandRow { name: "go version", operands: Operands::AtMost(0), ..ROW },
    CommandRow {
        name: "make",
        effect: Effect::RunsProject,
        flags: &[
            "-k -s -n -B -q -i -w --keep-going --silent --quiet --dry-run --just-print --always-make --no-print-directory --print-directory",
        ],
        optional: &["-j --jobs -l -O --output-sync"],
        operands: Operands::NoAssignment,
        ..ROW
    },
    CommandRow {
        name: "gcc",
        effect: Effect::Changes,
        flags: &[
            "-c -E -S -fsyntax-only -Wall -Wextra -Werror -Wpedantic -pedantic -Wshadow -Wconversion -g -O0 -O1 -O2 -O3 -Os -std=c99 -std=c11 -std=c17 \
             -std=gnu11 -std=gnu17 -fPIC -shared -static -pthread -dumpversion -dumpmachine -v --version",
        ],
        values: &["-D -U -I -l -L"],
        judged: &["-o"],
        operands: Operands::Below,
        ..ROW
    },
];

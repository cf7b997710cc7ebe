//! The tables are well formed, and rows judge words as their programs read them.

use std::collections::BTreeSet;

use super::*;

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// The first word that the row of the command does not know, after so many that a rule has.
fn unknown(text: &str, of_rule: usize) -> Option<String> {
    let words = words(text);
    let Table::Row(row) = table_of(&words) else { panic!("{text} has no row") };
    row.inner(KnownWords { words: &words, of_rule, folder: Path::new("/nowhere") }).err().map(str::to_owned)
}

#[test]
fn each_command_has_one_row_and_each_option_one_meaning() {
    let mut names = BTreeSet::new();
    for row in rows() {
        assert!(names.insert(row.name), "{} has two rows", row.name);
        assert!(!shell::NEVER.contains(&row.name), "{}", row.name);
        let mut options = BTreeSet::new();
        for column in [row.flags, row.values, row.judged] {
            for option in column.iter().flat_map(|text| text.split_ascii_whitespace()) {
                assert!(option.starts_with('-'), "{}: {option}", row.name);
                options.insert(option);
            }
        }
        let both = row.values.iter().flat_map(|text| text.split_ascii_whitespace());
        let both: Vec<_> = both.filter(|option| lists(row.flags, option) || lists(row.optional, option)).collect();
        assert!(both.is_empty(), "{}: {both:?} both with and without a value", row.name);
    }
}

#[test]
fn options_that_run_or_write_are_in_no_row() {
    for (command, options) in [
        ("git log", "--output --ext-diff --show-signature -O"),
        ("git diff", "--output --ext-diff --submodule"),
        ("git grep", "-O --open-files-in-pager --recurse-submodules"),
        ("git fetch", "--upload-pack -o --refmap --recurse-submodules"),
        ("git ls-remote", "--upload-pack --exec -o"),
        ("git push", "--exec --receive-pack --force -f --delete --mirror"),
        ("git rebase", "-x --exec -i --interactive -s --strategy"),
        ("git archive", "-o --output --exec --remote"),
        ("git blame", "--contents"),
        ("git config", "-f --file --add --unset -e --edit --replace-all"),
        ("git commit", "-S --gpg-sign -n --no-verify -t --template -e"),
        ("git branch", "-D -d -m -M -f --edit-description -u"),
        ("git cat-file", "--textconv --filters --batch-command"),
        (
            "tar",
            "-I --use-compress-program --to-command --checkpoint-action -F --info-script --rsh-command -c -x -g --index-file -C",
        ),
        ("sed", "-i --in-place -f --file -l"),
        ("sort", "-o --output -T --compress-program --files0-from"),
        ("find", "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from -D"),
        ("gcc", "-wrapper -fplugin -specs -B"),
        ("awk", "-f --file -i --include -l -e -o -d -p -W"),
        ("xargs", "-a --arg-file -p -i -o --process-slot-var"),
        ("env", "-S --split-string -C --chdir -u -i"),
        ("rg", "--pre --hostname-bin -z"),
        ("fd", "-x -X --exec --exec-batch -l"),
        ("tree", "-o -R"),
        ("date", "-s --set"),
        ("file", "-C -m"),
        ("diff", "-l --paginate"),
        ("less", "-o -O --log-file -k"),
        ("man", "-P --pager -C -H -l"),
        ("curl", "-o -O -K -T -d -X -w -x"),
        ("printf", "-v"),
        ("test", "-v -R"),
        ("export", "-f -n"),
        ("hash", "-p -r"),
        ("cargo test", "--config --manifest-path --target-dir --target -Z"),
        ("npm test", "--script-shell --prefix -c"),
        ("pytest", "-p -c --rootdir -o --junitxml --basetemp"),
        ("go test", "-exec -toolexec -o -coverprofile -C -vet"),
        ("make", "-f -C --eval -I"),
        ("gcc", "-wrapper -fplugin -B -specs"),
    ] {
        for option in options.split(' ') {
            let row = rows().find(|row| row.name == command).unwrap();
            for column in [row.flags, row.values, row.optional] {
                assert!(!lists(column, option), "{command} {option}");
            }
        }
    }
}

#[test]
fn words_are_read_as_their_programs_read_them() {
    for known in [
        "sort -nrk2,2 -t: a",
        "sort -t : --key=2 a -u",
        "head -20 a",
        "git log -5 -Sx --since=1 --stat=80",
        "find . -size -3k -o ( -name a )",
        "tar tvf a.tar b",
        "tar -tvfa.tar",
        "sed -ne p a",
        "sed -n 5p a -s",
        "awk -F: {print} a",
        "printf %s -v",
        "echo -n --anything",
        "uniq -f 1 a",
        "xxd a",
        "git push origin main",
        "cargo test a -- --nocapture --test-threads 1",
        "npm run x -- --any=thing",
        "go test -run=X ./...",
        "make -j8 all",
        "gcc -DX=1 -Iinc -c a.c -o b/a.o",
        "/usr/bin/sort -u a",
    ] {
        assert_eq!(unknown(known, 0), None, "{known}");
    }
    for (text, word) in [
        ("sort -uo a", "-uo"),
        ("sort a --outp=b", "--outp=b"),
        ("sort -k 1 -o b", "-o"),
        ("git log --outpu=a", "--outpu=a"),
        ("git log --oneline=x", "--oneline=x"),
        ("tar tIf x a", "tIf"),
        ("tar tf a:b", "tf"),
        ("tar -tf a:b", "-tf"),
        ("sed -n 1e", "1e"),
        ("sed -n -e p -e 1w", "-e"),
        ("sed --expression=e a", "--expression=e"),
        ("uniq a b", "b"),
        ("uniq -- a b", "b"),
        ("date 01010000", "01010000"),
        ("git push origin +a", "+a"),
        ("git fetch ../x", "../x"),
        ("git config a.b c", "c"),
        ("cargo test -- --logfile=x", "--logfile=x"),
        ("cargo clippy -- -C linker=x", "-C"),
        ("make all SHELL=x", "SHELL=x"),
        ("make -- SHELL=x", "SHELL=x"),
        ("gcc -o ../x a.c", "-o"),
        ("gcc -o .git/hooks/post-commit a.c", "-o"),
        ("gcc @x", "@x"),
        ("pytest ../x", "../x"),
        ("curl -s file:///etc/passwd", "file:///etc/passwd"),
        ("man ./x", "./x"),
    ] {
        assert_eq!(unknown(text, 0).as_deref(), Some(word), "{text}");
    }
}

#[test]
fn a_word_of_the_rule_itself_is_covered() {
    assert_eq!(unknown("sort -o a b", 2), None);
    assert_eq!(unknown("curl http://localhost", 2), None);
    assert_eq!(unknown("curl -s http://localhost http://elsewhere", 2), None, "the rule has no address");
    assert_eq!(unknown("curl http://localhost http://elsewhere", 2).as_deref(), Some("http://elsewhere"));
    assert_eq!(unknown("git rebase -x make main", 3), None);
    assert_eq!(unknown("sort -o a -T b", 2).as_deref(), Some("-T"));
}

#[test]
fn a_command_without_a_row_is_told_from_a_program_without_a_table() {
    assert!(matches!(table_of(&words("git frobnicate")), Table::Unlisted));
    assert!(matches!(table_of(&words("git -C x log")), Table::Unlisted));
    assert!(matches!(table_of(&words("read x")), Table::Unlisted));
    assert!(matches!(table_of(&words("terraform plan")), Table::None));
    assert!(matches!(table_of(&words("./sort a")), Table::None), "another program");
    assert!(matches!(table_of(&words("git stash list")), Table::Row(row) if row.name == "git stash list"));
}

#[test]
fn the_page_on_security_names_every_command_of_the_tables() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/security.md")).unwrap();
    let table = page.split("What a rule for a group of commands covers").nth(1).unwrap();
    for row in rows() {
        let (program, command) = row.name.split_once(' ').unwrap_or((row.name, ""));
        assert!(table.contains(&format!("`{program}`")), "{program}");
        let is_git = program == "git" && !command.starts_with('-');
        let named = table.contains(&format!("`{command}`"))
            || command.split(' ').next().is_some_and(|word| table.contains(&format!("`{word}`")));
        assert!(!is_git || named, "git {command}");
    }
}

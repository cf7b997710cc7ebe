//! What command lines mean, right and mistyped ones. A line that a person may have meant as a command never becomes a prompt.

use std::ffi::OsString;

use super::*;

fn words(line: &str) -> Vec<OsString> {
    let quoted = line.split('\'').enumerate();
    let words = quoted.flat_map(|(at, part)| match at % 2 {
        1 => vec![part.to_owned()],
        _ => part.split_whitespace().map(str::to_owned).collect(),
    });
    std::iter::once("offshoot".to_owned()).chain(words).map(OsString::from).collect()
}

/// What a line means, in a few words.
fn meaning(line: &str) -> String {
    let read = match read(&words(line), None, true, &&KnownFlags::default()) {
        Ok(read) => read,
        Err(error) if error.use_stderr() => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            let tip =
                text.lines().find_map(|line| line.trim().strip_prefix("tip: ")).filter(|tip| tip.contains("offshoot"));
            return first.replace("error: ", "refused: ") + &tip.map(|tip| format!(" {tip}")).unwrap_or_default();
        }
        Err(error) => return format!("{:?}", error.kind()),
    };
    match read.task {
        Ok(Task::Command(command)) => {
            let name = format!("{command:?}");
            format!("command {}", name.split('(').next().unwrap_or_default().to_lowercase())
        }
        Ok(Task::Operation(operation)) => format!("command {}", operation.name()),
        Ok(Task::Conversation(args)) => {
            let how = if args.print { "print" } else { "talk" };
            let prompt = args.prompt_words().collect::<Vec<_>>().join(" ");
            let files: String = args.attachments().map(|name| format!(" @{name}")).collect();
            let then: String = args.then.iter().map(|text| format!(" then <{text}>")).collect();
            format!("{how} <{prompt}>{files}{then}")
        }
        Err(error) => {
            let hint = error.hints.first().map(|hint| format!("; {hint}")).unwrap_or_default();
            format!("refused: {}{hint}", error.message)
        }
    }
}

fn table(lines: &str) -> String {
    lines
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| format!("{line}\n    {}\n", meaning(line)))
        .collect()
}

#[test]
fn commands_stay_commands_wherever_global_options_stand() {
    insta::assert_snapshot!(table(
        "
        list
        --color never list
        list --color never
        --no-pager tree FILE
        --no-pager --no-index show latest
        --session-dir /tmp/x list
        --session-dir=/tmp/x list
        --color never list files
        --color=always show latest
        ls
        log latest
        rm latest
        checkout latest 1a2b3c4d
        tree
        tree latest --no-pager
        tree latest extra
        switch latest
        switch latest 1a2b
        label s e 'two words'
        trash ''
        models
        api
        doctor 'the one I miss'
        check a b c
        help
        help tree
        --help
        -h
        list --help
        chat --help
        --version
        -V
        completions bash
        man
        compact latest --dry-run
        export latest -o -
    "
    ));
}

#[test]
fn a_conversation_without_a_prompt() {
    insta::assert_snapshot!(table(
        "
        -c
        -r
        --continue
        --no-session
        --session latest
        --session ./new.jsonl
        --fork latest
        --model sonnet
        --model=sonnet:high -c
        --session-dir /tmp/x
        chat
        chat -c
        -p
        --mode json
    "
    ));
}

#[test]
fn a_prompt_is_one_argument_with_white_space_or_is_marked() {
    insta::assert_snapshot!(table(
        "
        'fix the build'
        'list files'
        'list files' -c
        -c 'and now mend it'
        --model sonnet 'fix the build'
        'fix the build' --model sonnet
        --no-session 'fix it' --tools ''
        @README.md
        @README.md 'what is this?'
        'what is this?' @README.md @LICENSE
        -p fix the build
        -p 'fix the build'
        -p list
        -p list files
        -p ls
        -p rm x
        -p help
        -p tree latest
        -pc and now mend it
        -cp and now mend it
        -c -p and now mend it
        --print fix it
        -p --model sonnet fix it
        -p fix it --model sonnet
        --model sonnet -p list files
        --session-dir /tmp/x -p list files
        fix it -p
        'fix it' -p
        fix the list -p
        -p @a.rs explain
        -p explain @a.rs
        -p what is @ for
        -p 'first part' --then 'second part'
        -p fix it --then 'run the tests' --then 'commit it'
        'fix it' --then 'run the tests'
        -- list
        -- fix the build
        -- -p
        -p -- -v is broken
        --model sonnet -- fix it
        chat fix the build
        chat 'fix the build'
        chat list
        chat list files
        chat -c and now mend it
        chat --model sonnet fix it
        chat -- --weird
        --mode json 'fix it'
        --mode json -p fix it
        --mode text -p fix it
        -p --output-format json fix it
    "
    ));
}

#[test]
fn what_may_be_a_mistyped_command_is_refused() {
    insta::assert_snapshot!(table(
        "
        lst
        lsit
        tre latest
        shwo latest
        brnaches
        compcat latest
        expotr latest -o x.html
        fix
        fix the build
        list-sessions
        rmdir x
        mv a b
        rename latest x
        delete latest
        del x
        cat latest
        sessions
        resume
        resum
        sesions
        extensions
        continue
        new
        login
        config
        install npm:x
        update
        version
        quit
        exit
        /tree
        /resume x
        !ls
        s.jsonl
        s.jsonl tree
        s.jsonl show
        ./s.jsonl
        ../sessions/a.jsonl
        1a2b3c4d
        latest
        ''
        ' '
        '' ''
        a b c d
        'fix the build' now
        'fix the build' 'and test it'
        list 'fix the build'
        'fix the build' list
        --mode json fix
        --mode json list
        --mode json fix it
        --no-pager tere latest
        --color never lst
        --model sonnet fix
        --then 'second'
        -- ''
        -p ''
        -p 'one prompt' 'another prompt'
        chat 'one prompt' 'another prompt'
        -c tree latest
        --model sonnet list
        --print=list
        -x
        --nope
        --nope list
        --no-sesion 'fix it'
        list --model sonnet
        list -p
        tree -p latest
        -p --model
        --color
        --color purple list
        chat list -- -p
        help nope
        hepl
        Tree latest
        LIST
    "
    ));
}

#[test]
fn without_a_terminal_nothing_typed_shows_the_help() {
    let error = read(&words(""), None, false, &&KnownFlags::default()).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("Look:\n  list"), "{error}");
    assert!(read(&words(""), None, true, &&KnownFlags::default()).is_ok());
}

/// Every alias and every command is known to the walk that looks for the first word.
#[test]
fn the_first_word_is_found_behind_every_option() {
    let all = command_line();
    for option in all.get_arguments().filter(|option| !option.is_positional()) {
        let Some(long) = option.get_long().filter(|long| !["help", "version", "print"].contains(long)) else {
            continue;
        };
        let value = if option.get_action().takes_values() { " 'a value'" } else { "" };
        let seen = look(&all, &words(&format!("--{long}{value} list")));
        assert_eq!((seen.first.as_deref(), seen.is_print), (Some("list"), false), "--{long}");
    }
}

#[test]
fn a_variable_gives_the_session_of_a_command_that_lacks_an_argument() {
    let meaning = |line: &str| match read(&words(line), Some("/s.jsonl"), true, &&KnownFlags::default()) {
        Ok(CommandLine { task: Ok(Task::Command(command)), .. }) => {
            format!("{command:?}").replace("Some(\"/s.jsonl\")", "\"/s.jsonl\"")
        }
        Ok(CommandLine { task: Ok(Task::Operation(operation)), .. }) => {
            format!("{operation:?}").replace("(\"session\", Text(\"/s.jsonl\"))", "session: \"/s.jsonl\"")
        }
        Ok(_) => "no command".to_owned(),
        Err(error) => error.to_string().lines().next().unwrap_or_default().to_owned(),
    };
    for line in
        ["tree", "--color never tree --open", "show --at 1a2b", "switch 1a2b", "label 1a2b", "name 'a name'", "append"]
    {
        assert!(meaning(line).contains("session: \"/s.jsonl\""), "{line}: {}", meaning(line));
    }
    assert!(meaning("check").contains(r#"("session", Many(["/s.jsonl"]))"#), "{}", meaning("check"));
    for line in ["tree other", "switch other 1a2b", "check other"] {
        assert!(!meaning(line).contains("/s.jsonl"), "{line}: {}", meaning(line));
    }
    // Without a session it names what all agents have.
    assert!(!meaning("import").contains("/s.jsonl"), "{}", meaning("import"));
    for line in ["trash", "export", "switch"] {
        assert!(meaning(line).starts_with("error: the following required arguments"), "{line}: {}", meaning(line));
    }
    let option = read(&words("tree"), Some("--open"), true, &&KnownFlags::default()).map(|_| ()).unwrap_err();
    assert_eq!(option.kind(), ErrorKind::MissingRequiredArgument);
}

#[test]
fn a_command_line_of_pi_works() {
    insta::assert_snapshot!(table(
        "
        -nc -np -ns -ne -p 'fix it'
        -nt -p 'what is this?'
        -t read,grep -xt grep -p look
        -na -p x
        -a 'do it now'
        --offline --verbose -p x
        --no-themes --no-extensions --mode rpc
        --list-models opus
        -p x --list-models
        x --list-models
        -p list -nt
        --export s.jsonl
        --export s.jsonl page.html
        --system-prompt a.md --system-prompt b --append-system-prompt c -p x
        -p -- -nc
        list -nc
        -v
        --tui-mode regular
        -n 'a name' -p x
        --name list -nc -p x
        chat -nc fix it
        -n
        --session-id a.b-1 -p x
        --session-id a -c
        --models a,b -p x
        -p x --theme t.json
        -e ./x.ts
        -p x -- --models
        --session-idd x
        lst --session-idd
        "
    ), @r#"
    -nc -np -ns -ne -p 'fix it'
        print <fix it>
    -nt -p 'what is this?'
        print <what is this?>
    -t read,grep -xt grep -p look
        print <look>
    -na -p x
        print <x>
    -a 'do it now'
        talk <do it now>
    --offline --verbose -p x
        print <x>
    --no-themes --no-extensions --mode rpc
        talk <>
    --list-models opus
        command models
    -p x --list-models
        refused: unexpected argument '--list-models' found
    x --list-models
        refused: "x" is not a command, and a prompt needs quotes or `-p`; `offshoot --help` lists the commands
    -p list -nt
        print <list>
    --export s.jsonl
        command export
    --export s.jsonl page.html
        command export
    --system-prompt a.md --system-prompt b --append-system-prompt c -p x
        print <x>
    -p -- -nc
        print <-nc>
    list -nc
        refused: invalid value 'c' for '--number <N>': invalid digit found in string
    -v
        DisplayVersion
    --tui-mode regular
        talk <>
    -n 'a name' -p x
        print <x>
    --name list -nc -p x
        print <x>
    chat -nc fix it
        talk <fix it>
    -n
        refused: a value is required for '--name <NAME>' but none was supplied
    --session-id a.b-1 -p x
        print <x>
    --session-id a -c
        refused: the argument '--session-id <ID>' cannot be used with '--continue'
    --models a,b -p x
        print <x>
    -p x --theme t.json
        print <x>
    -e ./x.ts
        talk <>
    -p x -- --models
        print <x --models>
    --session-idd x
        refused: unexpected argument '--session-idd' found
    lst --session-idd
        refused: "lst" is not a command, and a prompt needs quotes or `-p`; did you mean `offshoot list`?
    "#);
}

/// Each row of the table of pi's options in docs/agent.md says what the parser does.
#[test]
fn the_table_of_pis_options_is_true() {
    let page = include_str!("../../../../../docs/agent.md");
    let rows = page.split("## Options of pi").nth(1).unwrap().split("\n## ").next().unwrap().lines();
    let mut counts = [0; 3];
    for row in rows.filter(|row| row.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let at = ["works", "differs", "missing"].iter().position(|kind| *kind == cells[1]).unwrap();
        for line in cells[0].split('`').skip(1).step_by(2) {
            let meaning = meaning(line);
            let is_missing = meaning.contains("is missing here");
            assert_eq!(at == 2, is_missing, "{line}: {meaning}");
            assert!(is_missing || !meaning.starts_with("refused: "), "{line}: {meaning}");
            counts[at] += 1;
        }
    }
    // None is missing any more.
    assert!(counts[0] > 0 && counts[1] > 0, "{counts:?}");
}

/// What is looked at without a SESSION is the latest one; what is changed is named.
#[test]
fn a_line_that_lacks_an_argument_or_has_one_too_many_names_the_line_that_works() {
    insta::assert_snapshot!(table(
        "
        tree
        show
        log
        branches
        context --llm
        export
        export -o page.html
        tree --all
        --no-pager tree --open
        switch
        switch 4e8a
        switch --summarize 4e8a
        switch latest
        switch s.jsonl
        pop 4e8a
        undo
        fork
        name
        name latest
        label
        label 4e8a
        label latest
        pick
        pick 4e8a
        merge 4e8a
        compare
        compare 4e8a
        compare 4e8a 5b9e
        compact
        entry
        entry 4e8a
        trash
        migrate
        show latest 4e8a
        show latest 4e8a 5b9e
        show latest --at 4e8a 5b9e
        tree latest 4e8a
        context latest 4e8a --llm
        branches latest 4e8a
        export latest out.html
        label latest 4e8a two words
        label latest 4e8a three more words
        label latest 4e8a two --json
        name latest two words
        undo latest 4e8a
        show latest --nope
    "
    ));
}

#[test]
fn the_variable_of_the_environment_comes_before_the_latest_session() {
    let read = |line: &str| read(&words(line), Some("mine"), true, &&KnownFlags::default());
    assert!(read("tree").is_ok_and(|line| line.assumed_latest.is_none()));
    assert!(read("switch 4e8a").is_ok());
    assert!(read("trash").is_err());
}

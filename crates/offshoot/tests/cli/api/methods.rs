//! Every method, at least once, with what it answers.

use std::path::Path;

use super::client::{Api, each, items, member, string};
use super::document::discovered;

const HI: &str = r#"{"role":"user","content":"hi","timestamp":1}"#;
const YO: &str =
    r#"{"role":"assistant","content":[{"type":"text","text":"yo"}],"provider":"p","model":"m","timestamp":2}"#;

fn say(api: &mut Api, session: &str, message: &str) -> String {
    api.appended("appendMessage", &format!(r#"{{"session":{session},"message":{message}}}"#))
}

#[test]
fn every_method_is_exercised() {
    let folder = tempfile::tempdir().unwrap();
    let mut api = Api::start(folder.path());
    begin_and_end(&mut api, folder.path());
    append(&mut api);
    move_the_leaf(&mut api, folder.path());
    look(&mut api, folder.path());
    plan(&mut api);
    bring_back(&mut api);
    after_trouble(&mut api, folder.path());
    without_a_session(&mut api, folder.path());
    search(&mut api);
    let names = |name: &String| name.split('{').next().unwrap().to_owned();
    let all: std::collections::BTreeSet<String> = discovered(&mut api).iter().map(names).collect();
    assert_eq!(api.used, all);
}

fn after_trouble(api: &mut Api, folder: &Path) {
    let session = api.opened("open", r#"{"path":"trouble.jsonl","durability":"full"}"#);
    let first = say(api, &session, HI);
    let whole = std::fs::read(folder.join("trouble.jsonl")).unwrap();
    std::fs::remove_file(folder.join("trouble.jsonl")).unwrap();
    let error = api.error("appendMessage", &format!(r#"{{"session":{session},"message":{YO}}}"#));
    let kept = items(&member(&member(&error, "data").unwrap(), "ids").unwrap());
    assert_eq!(api.result("recreate", &format!(r#"{{"session":{session}}}"#)), "null");
    assert_eq!(std::fs::read(folder.join("trouble.jsonl")).unwrap(), whole);
    assert_eq!(items(&api.result("giveBack", &format!(r#"{{"session":{session}}}"#))), kept);
    assert_eq!(api.result("giveBack", &format!(r#"{{"session":{session}}}"#)), "[]");
    let entries = api.result("getEntries", &format!(r#"{{"session":{session}}}"#));
    assert_eq!(string(&items(&entries)[1], "parentId"), first);
    let error = api.error("open", r#"{"path":"trouble.jsonl","durability":"most"}"#);
    assert!(error.contains("use os, data or full"), "{error}");
    // Each number is a program: each is warned about the other's branch.
    let other = api.opened("open", r#"{"path":"trouble.jsonl"}"#);
    say(api, &other, HI);
    let told = api.result("appendMessage", &format!(r#"{{"session":{session},"message":{YO}}}"#));
    assert_eq!(each(&member(&told, "diagnostics").unwrap(), "code"), ["diverged"], "{told}");
}

fn begin_and_end(api: &mut Api, folder: &Path) {
    let here = folder.to_str().unwrap();
    let new = api.result("create", r#"{"cwd":"sub","sessionDir":"s","id":"chosen","parentSession":"before"}"#);
    let file = string(&new, "sessionFile");
    assert!(file.starts_with(&format!("{here}/s/")) && file.ends_with("_chosen.jsonl"), "{file}");
    assert!(!Path::new(&file).exists(), "nothing is written before the first entry");
    say(api, "1", HI);
    let header = api.result("getHeader", r#"{"session":1}"#);
    assert_eq!(
        (string(&header, "cwd"), string(&header, "parentSession")),
        (format!("{here}/sub"), "before".to_owned())
    );

    let stored = api.result("create", "{}");
    assert!(string(&stored, "sessionFile").starts_with(&format!("{here}/home/sessions/--")), "{stored}");
    say(api, "2", HI);

    let opened = api.result("open", &format!(r#"{{"path":"{file}","cwd":"/elsewhere","sessionDir":"other"}}"#));
    assert_eq!(string(&opened, "sessionId"), "chosen");
    assert_eq!(api.result("getCwd", r#"{"session":3}"#), r#""/elsewhere""#);
    let absent = api.opened("open", r#"{"path":"new.jsonl"}"#);
    say(api, &absent, HI);
    assert!(folder.join("new.jsonl").exists());

    let recent = api.result("continueRecent", r#"{"cwd":"sub","sessionDir":"s"}"#);
    assert_eq!(string(&recent, "sessionId"), "chosen");
    let none = api.result("continueRecent", r#"{"cwd":"nowhere","sessionDir":"s"}"#);
    assert_ne!(string(&none, "sessionId"), "chosen");

    let fork =
        api.result("forkFrom", &format!(r#"{{"sourcePath":"{file}","targetCwd":"/w","sessionDir":"f","id":"fork"}}"#));
    assert!(string(&fork, "sessionFile").ends_with("_fork.jsonl"));
    let number = member(&fork, "session").unwrap();
    let header = api.result("getHeader", &format!(r#"{{"session":{number}}}"#));
    assert_eq!((string(&header, "cwd"), string(&header, "parentSession")), ("/w".to_owned(), file.clone()));
    // As in pi, only a name that is given is written.
    assert_eq!(api.result("getEntryCount", &format!(r#"{{"session":{number}}}"#)), "1");
    assert_eq!(api.result("getSessionName", &format!(r#"{{"session":{number}}}"#)), "null");
    let named = format!(r#"{{"sourcePath":"{file}","targetCwd":"/w","sessionDir":"n","name":"tried"}}"#);
    let named = member(&api.result("forkFrom", &named), "session").unwrap();
    assert_eq!(api.result("getSessionName", &format!(r#"{{"session":{named}}}"#)), r#""tried""#);
    let leaf = api.result("getLeafId", &format!(r#"{{"session":{number}}}"#));
    api.result("createBranchedSession", &format!(r#"{{"session":{named},"leafId":{leaf}}}"#));
    assert_eq!(api.result("getEntryCount", &format!(r#"{{"session":{named}}}"#)), "1");

    let next = api.result("newSession", &format!(r#"{{"session":{number},"id":"next"}}"#));
    assert_eq!((member(&next, "session").unwrap(), string(&next, "sessionId")), (number.clone(), "next".to_owned()));
    assert!(string(&next, "sessionFile").starts_with(&format!("{here}/f/")));
    assert_eq!(api.result("close", &format!(r#"{{"session":{number}}}"#)), "null");
    assert!(api.error("getLeafId", &format!(r#"{{"session":{number}}}"#)).contains("is not open"));

    assert_eq!(each(&api.result("list", r#"{"cwd":"sub","sessionDir":"s"}"#), "id"), ["chosen"]);
    assert_eq!(api.result("list", r#"{"sessionDir":"s"}"#), "[]", "those of the program's own folder");
    let all = items(&api.result("listAll", r#"{"sessionDir":"f"}"#));
    assert_eq!((all.len(), string(&all[0], "parentSessionPath")), (1, file.clone()));
    std::fs::write(folder.join("s/odd.jsonl"), "odd\n").unwrap();
    let with = api.result("listAll", r#"{"sessionDir":"s","withDiagnostics":true}"#);
    assert_eq!(each(&member(&with, "sessions").unwrap(), "id"), ["chosen"]);
    assert_eq!(each(&member(&with, "diagnostics").unwrap(), "code"), ["unreadable-session"]);

    assert_eq!(api.result("findMostRecentSession", r#"{"sessionDir":"s"}"#), format!("\"{file}\""));
    assert_eq!(api.result("findMostRecentSession", r#"{"sessionDir":"s","cwd":"x"}"#), "null");
    assert_eq!(api.result("findMostRecentSession", "{}"), member(&stored, "sessionFile").unwrap());
}

/// Appends and looks at the entry, without what every entry has.
fn written(api: &mut Api, session: &str, method: &str, params: &str) -> String {
    let id = api.appended(method, &format!(r#"{{"session":{session},{params}}}"#));
    let entry = api.result("getEntry", &format!(r#"{{"session":{session},"id":"{id}"}}"#));
    let start = entry.find(r#""id":"#).unwrap();
    let end = entry.find(r#""timestamp":"#).unwrap() + r#""timestamp":"2026-01-01T00:00:00.000Z""#.len();
    let rest = format!("{}{}", &entry[..start], entry[end..].trim_start_matches(','));
    rest.replace(",}", "}").replace(&id, "OWN")
}

fn append(api: &mut Api) {
    let pi = api.opened("inMemory", r#"{"cwd":"/w"}"#);
    let first = say(api, &pi, HI);
    append_what_pi_has(api, &pi, &first);
    append_what_omp_has(api);

    let leaf = api.result("getLeafId", &format!(r#"{{"session":{pi}}}"#));
    let params = format!(r#"{{"session":{pi},"message":{YO},"parentId":"{first}"}}"#);
    let aside = api.appended("appendMessageToBranch", &params);
    assert_eq!(api.result("getLeafId", &format!(r#"{{"session":{pi}}}"#)), leaf);
    let entry = api.result("getEntry", &format!(r#"{{"session":{pi},"id":"{aside}"}}"#));
    assert_eq!((string(&entry, "parentId"), member(&entry, "message").unwrap()), (first, YO.to_owned()));
}

fn append_what_pi_has(api: &mut Api, session: &str, first: &str) {
    for (method, params, expected) in [
        ("appendThinkingLevelChange", r#""thinkingLevel":"high""#, r#""thinking_level_change","thinkingLevel":"high""#),
        ("appendModelChange", r#""provider":"p","modelId":"m/n""#, r#""model_change","provider":"p","modelId":"m/n""#),
        ("appendModelChange", r#""model":"p/m/n""#, r#""model_change","provider":"p","modelId":"m/n""#),
        (
            "appendCompaction",
            r#""summary":"S","firstKeptEntryId":null,"tokensBefore":7,"details":null,"fromHook":true,"usage":{}"#,
            r#""compaction","summary":"S","firstKeptEntryId":"OWN","tokensBefore":7,"details":null,"fromHook":true,"usage":{}"#,
        ),
        ("appendCustomEntry", r#""customType":"t","data":null"#, r#""custom","customType":"t","data":null"#),
        ("appendCustomEntry", r#""customType":"t""#, r#""custom","customType":"t""#),
        (
            "appendCustomMessageEntry",
            r#""customType":"t","content":"c","display":true,"details":{}"#,
            r#""custom_message","customType":"t","content":"c","display":true,"details":{}"#,
        ),
        ("appendLabelChange", r#""targetId":"FIRST","label":"L""#, r#""label","targetId":"FIRST","label":"L""#),
        ("appendLabelChange", r#""targetId":"FIRST","label":null"#, r#""label","targetId":"FIRST""#),
        ("appendSessionInfo", r#""name":" a\r\nb ""#, r#""session_info","name":"a b""#),
        (
            "appendUsage",
            r#""kind":"k","provider":"p","model":"m","usage":{"input":1},"note":"n""#,
            r#""usage","kind":"k","provider":"p","model":"m","usage":{"input":1},"note":"n""#,
        ),
        (
            "appendContextEdit",
            r#""targetId":"FIRST","replacement":{"content":"E"}"#,
            r#""context_edit","targetId":"FIRST","replacement":{"content":"E"}"#,
        ),
        ("appendEntry", r#""entry":{"x":1e5,"type":"novel"}"#, r#""novel","x":1e5"#),
    ] {
        let found = written(api, session, method, &params.replace("FIRST", first));
        assert_eq!(found, format!(r#"{{"type":{expected}}}"#).replace("FIRST", first), "{method} {params}");
    }
}

fn append_what_omp_has(api: &mut Api) {
    let session = api.opened("inMemory", r#"{"entries":[{"type":"session","version":3,"id":"o","title":"T"}]}"#);
    for (method, params, expected) in [
        (
            "appendThinkingLevelChange",
            r#""thinkingLevel":"high","configured":"auto""#,
            r#""thinking_level_change","thinkingLevel":"high","configured":"auto""#,
        ),
        (
            "appendCustomMessageEntry",
            r#""customType":"t","content":[],"display":false,"attribution":"agent""#,
            r#""custom_message","customType":"t","content":[],"display":false,"attribution":"agent""#,
        ),
        (
            "appendModelChange",
            r#""provider":"p","modelId":"m""#,
            r#""model_change","model":"p/m","resolvedModelIsFallback":false"#,
        ),
        (
            "appendModelChange",
            r#""model":"p/m","role":"smol""#,
            r#""model_change","model":"p/m","role":"smol","resolvedModelIsFallback":false"#,
        ),
        (
            "appendCompaction",
            r#""summary":"S","firstKeptEntryId":"k","tokensBefore":7,"fromHook":true,"shortSummary":"s","preserveData":{}"#,
            r#""compaction","summary":"S","shortSummary":"s","firstKeptEntryId":"k","tokensBefore":7,"fromExtension":true,"preserveData":{}"#,
        ),
        (
            "appendSessionInit",
            r#""systemPrompt":"s","task":"t","tools":["read"],"agent":"a""#,
            r#""session_init","systemPrompt":"s","task":"t","tools":["read"],"agent":"a""#,
        ),
        ("appendTtsrInjection", r#""injectedRules":["r"]"#, r#""ttsr_injection","injectedRules":["r"]"#),
        ("appendModeChange", r#""mode":"plan","data":{"f":1}"#, r#""mode_change","mode":"plan","data":{"f":1}"#),
        ("appendServiceTierChange", r#""serviceTier":null"#, r#""service_tier_change","serviceTier":null"#),
    ] {
        let found = written(api, &session, method, params);
        assert_eq!(found, format!(r#"{{"type":{expected}}}"#), "{method} {params}");
    }
    api.appended("appendResetBoundary", &format!(r#"{{"session":{session}}}"#));
    let context = api.result("buildSessionContext", &format!(r#"{{"session":{session}}}"#));
    assert_eq!(member(&context, "models").unwrap(), r#"{"default":"p/m","smol":"p/m"}"#);
}

fn move_the_leaf(api: &mut Api, folder: &Path) {
    let opened = api.result("create", r#"{"sessionDir":"leaf"}"#);
    let (s, file) = (member(&opened, "session").unwrap(), string(&opened, "sessionFile"));
    let a = say(api, &s, HI);
    let b = say(api, &s, YO);
    api.appended("appendLabelChange", &format!(r#"{{"session":{s},"targetId":"{a}","label":"L"}}"#));
    let written = std::fs::read(&file).unwrap();
    assert_eq!(api.result("branch", &format!(r#"{{"session":{s},"entryId":"{a}"}}"#)), "null");
    assert_eq!(api.result("getLeafId", &format!(r#"{{"session":{s}}}"#)), format!("\"{a}\""));
    assert_eq!(api.result("resetLeaf", &format!(r#"{{"session":{s}}}"#)), "null");
    assert_eq!(api.result("getLeafEntry", &format!(r#"{{"session":{s}}}"#)), "null");
    assert_eq!(std::fs::read(&file).unwrap(), written, "moving the leaf writes nothing");
    for (name, id) in [("L", &a), (&b[..7], &b), ("@-", &a), ("label:L", &a)] {
        assert_eq!(api.result("branch", &format!(r#"{{"session":{s},"entryId":"{name}"}}"#)), "null", "{name}");
        assert_eq!(api.result("getLeafId", &format!(r#"{{"session":{s}}}"#)), format!("\"{id}\""), "{name}");
    }
    for name in ["", "@--------", "no such entry"] {
        let error = api.error("branch", &format!(r#"{{"session":{s},"entryId":"{name}"}}"#));
        assert_eq!(string(&member(&error, "data").unwrap(), "kind"), "notFound", "{error}");
    }
    let short = api.error("switch", &format!(r#"{{"session":{s},"entryId":"{}"}}"#, &b[..3]));
    // Three characters of a random id may be an age, such as 90d.
    assert!(["too short", "ambiguous", "not found"].iter().any(|why| short.contains(why)), "{short}");

    api.result("branch", &format!(r#"{{"session":{s},"entryId":"{b}"}}"#));
    let summary = format!(
        r#"{{"session":{s},"entryId":"{a}","summary":"S","details":{{"x":1}},"fromExtension":false,"usage":{{}}}}"#
    );
    let summary = api.appended("branchWithSummary", &summary);
    let entry = api.result("getEntry", &format!(r#"{{"session":{s},"id":"{summary}"}}"#));
    assert!(
        entry
            .ends_with(&format!(r#""fromId":"{b}","summary":"S","details":{{"x":1}},"fromHook":false,"usage":{{}}}}"#)),
        "{entry}"
    );
    let at_root = api.appended("branchWithSummary", &format!(r#"{{"session":{s},"entryId":null,"summary":"R"}}"#));
    let entry = api.result("getEntry", &format!(r#"{{"session":{s},"id":"{at_root}"}}"#));
    assert_eq!((member(&entry, "parentId").unwrap().as_str(), string(&entry, "fromId")), ("null", summary));

    let leaf = api.appended("switch", &format!(r#"{{"session":{s},"entryId":"{b}"}}"#));
    let again = api.opened("open", &format!(r#"{{"path":"{file}"}}"#));
    let leaf_entry = api.result("getLeafEntry", &format!(r#"{{"session":{again}}}"#));
    assert_eq!((string(&leaf_entry, "id"), string(&leaf_entry, "parentId")), (leaf, b.clone()));

    let path = api.result("createBranchedSession", &format!(r#"{{"session":{s},"leafId":"{b}"}}"#));
    assert!(path.starts_with(&format!("\"{}/leaf/", folder.display())), "{path}");
    let entries = api.result("getEntries", &format!(r#"{{"session":{s}}}"#));
    assert_eq!(each(&entries, "type"), ["message", "message", "label"], "no name was given");
    assert_eq!(api.result("getSessionFile", &format!(r#"{{"session":{s}}}"#)), path);
    let header = api.result("getHeader", &format!(r#"{{"session":{s}}}"#));
    assert_eq!(string(&header, "parentSession"), file);
    let memory = api.opened("inMemory", &format!(r#"{{"entries":{entries}}}"#));
    assert_eq!(api.result("createBranchedSession", &format!(r#"{{"session":{memory},"leafId":"{a}"}}"#)), "null");
}

fn look(api: &mut Api, folder: &Path) {
    let entries = r#"[{"type":"session","version":3,"id":"seed","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"},
        {"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"A"}},
        {"type":"x","id":"c","parentId":"a","timestamp":"2026-01-01T00:00:03.000Z"},
        {"type":"x","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:02.000Z"},
        {"type":"label","id":"l","parentId":"b","timestamp":"2026-01-01T00:00:04.000Z","targetId":"a","label":"L"},
        {"type":"session_info","id":"n","parentId":"l","timestamp":"2026-01-01T00:00:05.000Z","name":"N"},
        {"type":"x","id":"o","parentId":"gone","timestamp":"2026-01-01T00:00:06.000Z"}]"#;
    let seed = api.opened("inMemory", &format!(r#"{{"entries":{}}}"#, entries.replace('\n', "")));
    let mut get = |method: &str, more: &str| api.result(method, &format!(r#"{{"session":{seed}{more}}}"#));
    assert_eq!(get("getLeafId", ""), r#""o""#);
    assert_eq!(each(&get("getEntries", ""), "id"), ["a", "c", "b", "l", "n", "o"]);
    assert_eq!(get("getEntryCount", ""), "6");
    assert_eq!(get("getEntry", r#","id":"c""#), items(&entries.replace('\n', ""))[2]);
    assert_eq!(get("getEntry", r#","id":"zzz""#), "null");
    for (name, id) in [("c", "c"), ("L", "a"), ("label:L", "a"), ("@", "o"), ("2026-01-01T00:00:09Z", "o")] {
        assert_eq!(get("findEntry", &format!(r#","entry":"{name}""#)), format!("\"{id}\""), "{name}");
    }
    assert_eq!(each(&get("getChildren", r#","parentId":"a""#), "id"), ["c", "b"], "file order");
    assert_eq!(each(&get("getChildren", r#","parentId":null"#), "id"), ["a"]);
    assert_eq!(each(&get("getChildren", r#","parentId":"gone""#), "id"), ["o"]);
    assert_eq!(each(&get("getBranch", r#","fromId":"n""#), "id"), ["a", "b", "l", "n"]);
    assert_eq!(each(&get("getBranch", ""), "id"), ["o"]);
    assert_eq!(get("getBranch", r#","fromId":"zzz""#), "[]");
    let roots = items(&get("getTree", ""));
    assert_eq!(
        (roots.len(), string(&roots[0], "label"), string(&roots[0], "labelTimestamp")),
        (2, "L".to_owned(), "2026-01-01T00:00:04.000Z".to_owned())
    );
    let children = items(&member(&roots[0], "children").unwrap());
    let ids = children.iter().map(|child| string(&member(child, "entry").unwrap(), "id"));
    assert_eq!(ids.collect::<Vec<_>>(), ["b", "c"], "by time");
    assert_eq!(get("getLabel", r#","id":"a""#), r#""L""#);
    assert_eq!(get("getLabel", r#","id":"b""#), "null");
    assert_eq!(get("getSessionName", ""), r#""N""#);
    assert_eq!(get("getSessionId", ""), r#""seed""#);
    assert_eq!(get("getCwd", ""), r#""/w""#);
    assert_eq!(
        [get("getSessionFile", ""), get("getSessionDir", ""), get("isPersisted", "")],
        ["null", "null", "false"]
    );
    assert_eq!(each(&get("getDiagnostics", ""), "code"), ["orphan"]);

    let kept = api.opened("create", r#"{"sessionDir":"kept"}"#);
    let mut get = |method: &str| api.result(method, &format!(r#"{{"session":{kept}}}"#));
    assert_eq!(get("getSessionDir"), format!("\"{}/kept\"", folder.display()));
    assert_eq!([get("isPersisted"), get("getEntries"), get("getTree"), get("getLeafId")], ["true", "[]", "[]", "null"]);
    assert_eq!(get("buildSessionContext"), r#"{"messages":[],"thinkingLevel":"off","model":null}"#);
}

fn plan(api: &mut Api) {
    let session = api.opened("inMemory", "{}");
    let ids: Vec<String> = [HI, YO, HI, YO].iter().map(|message| say(api, &session, message)).collect();
    let mut get = |method: &str, more: &str| api.result(method, &format!(r#"{{"session":{session}{more}}}"#));
    assert_eq!(get("prepareCompaction", ""), "null", "all of it is recent enough");
    let plan = get("prepareCompaction", r#","settings":{"keepRecentTokens":2}"#);
    assert_eq!(string(&plan, "firstKeptEntryId"), ids[2]);
    assert_eq!(string(&plan, "conversation"), "[User]: hi\n\n[Assistant]: yo");
    assert_eq!(member(&plan, "isSplitTurn").as_deref(), Some("false"));
    let earlier = get("prepareCompaction", &format!(r#","leafId":"{}","settings":{{"keepRecentTokens":1}}"#, ids[1]));
    assert_eq!(member(&earlier, "isSplitTurn").as_deref(), Some("true"));
    let plan = get("prepareBranchSummary", &format!(r#","targetId":"{}""#, ids[0]));
    assert_eq!(items(&member(&plan, "entries").unwrap()).len(), 3);
    assert_eq!(string(&plan, "commonAncestorId"), ids[0]);
    let budget = format!(r#","targetId":null,"oldLeafId":"{}","tokenBudget":1"#, ids[2]);
    assert_eq!(member(&get("prepareBranchSummary", &budget), "leftOut").as_deref(), Some("2"));
}

/// A session of one question with two answers, the leaf at the second: its number, and the ids.
fn two_answers(api: &mut Api) -> (String, [String; 3]) {
    let session = api.opened("inMemory", "{}");
    let (question, first) = (say(api, &session, HI), say(api, &session, YO));
    api.result("branch", &format!(r#"{{"session":{session},"entryId":"{question}"}}"#));
    let second = say(api, &session, YO);
    (session, [question, first, second])
}

fn bring_back(api: &mut Api) {
    let (session, [question, first, second]) = two_answers(api);
    let mut get = |method: &str, more: &str| api.result(method, &format!(r#"{{"session":{session}{more}}}"#));

    let compared = get("compare", &format!(r#","a":"{first}","b":"@""#));
    assert_eq!(string(&compared, "ancestorId"), question);
    assert_eq!(each(&member(&compared, "sides").unwrap(), "tipId"), [first.as_str(), &second]);
    let forecast = get("forecast", &format!(r#","entryId":"{question}""#));
    assert_eq!(member(&forecast, "contextTokens").as_deref(), Some("1"));
    assert_eq!(member(&forecast, "cachedTokens").as_deref(), Some("null"));

    // A plan is shown, then written by its number; a second time there is nothing to do.
    let selection = format!(r#","selections":["..{first}"]"#);
    let plan = get("planPick", &selection);
    assert_eq!(each(&member(&plan, "copies").unwrap(), "entryId"), [first.as_str()]);
    assert_eq!(get("getLeafId", ""), format!("\"{second}\""), "a plan writes nothing");
    let number = member(&plan, "plan").unwrap();
    let brought = get("pick", &format!(r#","plan":{number}"#));
    let copies = items(&member(&brought, "entryIds").unwrap());
    assert_eq!(copies.len(), 1);
    assert_eq!(get("getLeafId", ""), copies[0]);
    assert_eq!(get("pick", &selection), "null");
    assert_eq!(get("pick", &format!(r#","selections":[{{"turn":"{first}"}}]"#)), "null");

    let shown = get("undo", r#","dryRun":true"#);
    assert_eq!((string(&shown, "operation"), string(&shown, "to")), ("pick".to_owned(), second.clone()));
    assert_eq!(get("getLeafId", ""), copies[0]);
    get("undo", "");
    let plan = get("planMerge", &format!(r#","source":"{first}""#));
    assert_eq!(string(&plan, "conversation"), "[Assistant]: yo");
    assert_eq!(string(&member(&plan, "merged").unwrap(), "tip"), first);
    let number = member(&plan, "plan").unwrap();
    let merged = get("merge", &format!(r#","plan":{number},"summary":"a dead end""#));
    assert_eq!(string(&merged, "summary"), "a dead end");
    assert_eq!(get("merge", &format!(r#","source":"{first}""#)), "null", "nothing is new");
    get("undo", "");
    let extracted = get("merge", &format!(r#","source":"{first}""#));
    assert!(string(&extracted, "summary").contains("yo"), "{extracted}");

    assert_eq!([get("planUncompact", ""), get("uncompact", "")], ["null", "null"]);
    get("appendCompaction", &format!(r#","summary":"S","firstKeptEntryId":"{second}","tokensBefore":7"#));
    let plan = get("planUncompact", "");
    assert_eq!(member(&plan, "copies").as_deref(), Some("[]"));
    let number = member(&plan, "plan").unwrap();
    assert_eq!(member(&get("uncompact", &format!(r#","plan":{number}"#)), "entryIds").as_deref(), Some("[]"));
    assert_eq!(get("planUncompact", ""), "null");
}

#[test]
fn a_plan_is_written_once_and_only_where_it_was_made() {
    let folder = tempfile::tempdir().unwrap();
    let mut api = Api::start(folder.path());
    let session = api.opened("open", r#"{"path":"s.jsonl"}"#);
    let (question, first) = (say(&mut api, &session, HI), say(&mut api, &session, YO));
    let switch = format!(r#"{{"session":{session},"entryId":"{question}"}}"#);
    api.result("switch", &switch);
    let plan = format!(r#"{{"session":{session},"selections":["{first}"]}}"#);
    let planned = member(&api.result("planPick", &plan), "plan").unwrap();
    let commit = |planned: &str| format!(r#"{{"session":{session},"plan":{planned}}}"#);

    // Another program's move between plan and write.
    let other = api.opened("open", r#"{"path":"s.jsonl"}"#);
    api.result("switch", &format!(r#"{{"session":{other},"entryId":"{first}"}}"#));
    let before = std::fs::read(folder.path().join("s.jsonl")).unwrap();
    let refused = api.error("pick", &commit(&planned));
    assert_eq!(string(&member(&refused, "data").unwrap(), "kind"), "conflict");
    assert_eq!(std::fs::read(folder.path().join("s.jsonl")).unwrap(), before);

    api.result("branch", &switch);
    let (old, new) = (api.result("planPick", &plan), api.result("planPick", &plan));
    let number = |plan: &str| member(plan, "plan").unwrap();
    let refused = api.error("pick", &commit(&number(&old)));
    assert!(refused.contains("is not the session's last one"), "{refused}");
    assert_ne!(api.result("pick", &commit(&number(&new))), "null");
    assert!(api.error("pick", &commit(&number(&new))).contains("is not the session's last one"));
    let both = format!(r#"{{"session":{session},"plan":{planned},"selections":["{first}"]}}"#);
    assert!(api.error("pick", &both).contains("exclude each other"));

    // From another open session.
    let (from, [_, away, _]) = two_answers(&mut api);
    let of_other = format!(r#"{{"session":{session},"selections":["{away}"],"from":{from}}}"#);
    let brought = api.result("pick", &of_other);
    assert_eq!(items(&member(&brought, "entryIds").unwrap()).len(), 1);
    let told = api.error("planPick", &format!(r#"{{"session":{session},"selections":["nowhere"]}}"#));
    assert_eq!(string(&member(&told, "data").unwrap(), "kind"), "notFound");
    // The number means another session.
    let planned = member(&api.result("planPick", &plan.replace("pick", "planPick")), "plan").unwrap();
    api.result("newSession", &format!(r#"{{"session":{session}}}"#));
    assert!(api.error("pick", &commit(&planned)).contains("is not the session's last one"));
}

/// What was said is found, in pages, as on the command line.
fn search(api: &mut Api) {
    let session = api.opened("create", "{}");
    say(api, &session, r#"{"role":"user","content":"where is the xylophone?","timestamp":1}"#);
    say(api, &session, r#"{"role":"user","content":"xylophone again","timestamp":2}"#);
    let all = api.result("search", r#"{"query":"xylophone"}"#);
    assert_eq!((member(&all, "count").as_deref(), items(&member(&all, "hits").unwrap()).len()), (Some("2"), 2));
    let second = api.result("search", r#"{"query":"xylophone","number":1,"skip":1,"here":true}"#);
    let hits = items(&member(&second, "hits").unwrap());
    assert_eq!(hits, [items(&member(&all, "hits").unwrap())[1].clone()]);
    let none = api.result("search", r#"{"query":"bassoon","scan":true}"#);
    assert_eq!(member(&none, "hits").as_deref(), Some("[]"), "{none}");
    let wrong = api.error("search", r#"{"query":"since:soon x"}"#);
    assert!(wrong.contains("since:soon is not a time"), "{wrong}");
}

fn without_a_session(api: &mut Api, folder: &Path) {
    let user = |id: &str, parent: &str, text: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let entries = format!("[{},{},{}]", user("a", "null", "A"), user("b", "\"a\"", "B"), user("c", "\"a\"", "C"));
    let mut contents = |leaf: &str| {
        let context = api.result("buildSessionContext", &format!(r#"{{"entries":{entries}{leaf}}}"#));
        each(&member(&context, "messages").unwrap(), "content").concat()
    };
    assert_eq!(contents(""), "AC");
    assert_eq!(contents(r#","leafId":"b""#), "AB");
    assert_eq!(contents(r#","leafId":"zzz""#), "AC", "unknown: the last entry");
    assert_eq!(contents(r#","leafId":null"#), "");

    let parsed = api.result("parseSessionEntries", r#"{"content":"{\"a\":1.0}\nodd\n\n5\r\n{\"b\":\"\\ud800\"}"}"#);
    assert_eq!(parsed, r#"[{"a":1.0},5,{"b":"\ud800"}]"#);

    let v1 = r#"[{"type":"session","id":"s","provider":"p"},{"type":"message","message":{"role":"user","n":1.0}},7]"#;
    let migrated = items(&api.result("migrateSessionEntries", &format!(r#"{{"entries":{v1}}}"#)));
    assert_eq!(migrated[0], r#"{"type":"session","id":"s","provider":"p","version":3}"#);
    assert_eq!((member(&migrated[1], "parentId").unwrap().as_str(), string(&migrated[1], "id").len()), ("null", 8));
    assert!(migrated[1].contains("\"n\":1.0") && migrated[2] == "7", "{migrated:?}");
    let v3 = format!("[{}]", &user("a", "null", "A"));
    let v3 = v3.replacen('[', r#"[{"type":"session","version":3,"id":"s"},"#, 1);
    assert_eq!(api.result("migrateSessionEntries", &format!(r#"{{"entries":{v3}}}"#)), v3);

    std::fs::write(folder.join("v1.jsonl"), items(v1)[..2].join("\n")).unwrap();
    let loaded = api.result("loadEntriesFromFile", r#"{"path":"v1.jsonl"}"#);
    assert_eq!(items(&loaded), items(v1)[..2], "as they stand");
    assert_eq!(api.result("loadEntriesFromFile", r#"{"path":"none.jsonl"}"#), "[]");
    std::fs::write(folder.join("empty.jsonl"), "").unwrap();
    assert_eq!(api.result("loadEntriesFromFile", r#"{"path":"empty.jsonl"}"#), "[]");
}

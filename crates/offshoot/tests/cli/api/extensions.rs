//! The methods of the session manager, called by a client of `offshoot api` and by an extension: both get the same answer, or
//! the same refusal.

use std::fs;
use std::path::Path;

use offshoot_agent::testing::script::Reply;
use offshoot_session::json::{Json, Object};
use serde_json::{Value, json};

use super::client::{Api, member, string};
use crate::agent::Talk;
use crate::extensions::{extension, has_node, run};

/// A method, its arguments in pi's order, and calls: all, or those that are given.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

const READS: &[Row] = &[
    ("getLeafId", &[], &["{}"]),
    ("getLeafEntry", &[], &["{}"]),
    ("getTree", &[], &["{}"]),
    ("getEntries", &[], &["{}"]),
    ("getEntryCount", &[], &["{}"]),
    ("getHeader", &[], &["{}"]),
    ("getSessionName", &[], &["{}"]),
    ("getSessionFile", &[], &["{}"]),
    ("getSessionId", &[], &["{}"]),
    ("getSessionDir", &[], &["{}"]),
    ("getCwd", &[], &["{}"]),
    ("isPersisted", &[], &["{}"]),
    ("buildSessionContext", &[], &["{}"]),
    ("getEntry", &["id"], &[r#"{"id":"aaaa0001"}"#, r#"{"id":"nope"}"#]),
    ("getLabel", &["id"], &[r#"{"id":"aaaa0001"}"#, r#"{"id":"bbbb0002"}"#, r#"{"id":"nope"}"#]),
    ("getChildren", &["parentId"], &[r#"{"parentId":"aaaa0001"}"#, r#"{"parentId":null}"#, r#"{"parentId":"nope"}"#]),
    ("getBranch", &["fromId"], &["{}", r#"{"fromId":null}"#, r#"{"fromId":"cccc0003"}"#, r#"{"fromId":"nope"}"#]),
];

const HALF: &str = r#"{"customType":"\ud800","data":{"x":"\udc00","n":1.5}}"#;

/// Each is called without its last required argument and with a wrong one, too.
const WRITES: &[Row] = &[
    (
        "appendMessage",
        &["message"],
        &[
            r#"{"message":{"role":"user","content":"half \ud800","timestamp":1}}"#,
            r#"{"message":{"content":"no role"}}"#,
            r#"{"message":7}"#,
            "{}",
        ],
    ),
    (
        "appendThinkingLevelChange",
        &["thinkingLevel"],
        &[r#"{"thinkingLevel":"high"}"#, r#"{"thinkingLevel":7}"#, r#"{"thinkingLevel":null}"#, "{}"],
    ),
    (
        "appendModelChange",
        &["provider", "modelId"],
        &[r#"{"provider":"p","modelId":"\ud800"}"#, r#"{"provider":"p"}"#, r#"{"provider":"p","modelId":7}"#],
    ),
    (
        "appendCustomEntry",
        &["customType", "data"],
        &[HALF, r#"{"customType":"x"}"#, r#"{"data":1}"#, r#"{"customType":[]}"#],
    ),
    (
        "appendCustomMessageEntry",
        &["customType", "content", "display", "details"],
        &[
            r#"{"customType":"x","content":"\ud800","display":true,"details":{"a":"\udc00"}}"#,
            r#"{"customType":"x","content":7,"display":true}"#,
            r#"{"customType":"x","content":"y","display":1}"#,
            r#"{"customType":"x","display":true}"#,
        ],
    ),
    (
        "appendContextEdit",
        &["targetId", "replacement"],
        &[
            r#"{"targetId":"bbbb0002","replacement":{"content":"\ud800"}}"#,
            r#"{"targetId":"bbbb0002","replacement":null}"#,
            r#"{"targetId":"bbbb0002","replacement":7}"#,
            r#"{"targetId":"bbbb0002"}"#,
            r#"{"targetId":"dddd0004","replacement":null}"#,
            r#"{"targetId":"nope","replacement":null}"#,
        ],
    ),
    (
        "appendUsage",
        &["kind", "provider", "model", "usage", "note"],
        &[
            r#"{"kind":"k","provider":"p","model":"m","usage":{"input":1},"note":"\ud800"}"#,
            r#"{"kind":"k","provider":"p","usage":{"input":1}}"#,
            r#"{"kind":"k","provider":"p","model":"m","usage":{},"note":7}"#,
        ],
    ),
    ("appendSessionInfo", &["name"], &[r#"{"name":" a \ud800 b "}"#, r#"{"name":7}"#, "{}"]),
    (
        "appendLabelChange",
        &["targetId", "label"],
        &[
            r#"{"targetId":"aaaa0001","label":"\ud800"}"#,
            r#"{"targetId":"aaaa0001"}"#,
            r#"{"targetId":"nope","label":"x"}"#,
            r#"{"targetId":"aaaa0001","label":7}"#,
            r#"{"label":"x"}"#,
        ],
    ),
    (
        "appendCompaction",
        &["summary", "firstKeptEntryId", "tokensBefore", "details", "fromHook", "usage"],
        &[
            r#"{"summary":"\ud800","firstKeptEntryId":"bbbb0002","tokensBefore":7,"details":{"a":1},"fromHook":true,"usage":{}}"#,
            r#"{"firstKeptEntryId":"bbbb0002","tokensBefore":7}"#,
            r#"{"summary":"s","firstKeptEntryId":"bbbb0002","tokensBefore":"many"}"#,
            r#"{"summary":"s","firstKeptEntryId":"bbbb0002"}"#,
            r#"{"summary":"s","tokensBefore":7}"#,
        ],
    ),
    ("branch", &["entryId"], &[r#"{"entryId":"bbbb0002"}"#, r#"{"entryId":"nope"}"#, r#"{"entryId":7}"#, "{}"]),
    ("resetLeaf", &[], &["{}"]),
    (
        "branchWithSummary",
        &["entryId", "summary", "details"],
        &[
            r#"{"entryId":"dddd0004","summary":"\ud800","details":{"a":1}}"#,
            r#"{"entryId":"nope","summary":"s"}"#,
            r#"{"entryId":null,"summary":7}"#,
            r#"{"summary":"s"}"#,
        ],
    ),
];

/// Calls the methods in order. Ids and times of a written entry are left out of its answer.
const CALLER: &str = r#"
import * as fs from "node:fs";
const answer = (session, [method, names, params]) => {
  try {
    const given = JSON.parse(params);
    const value = session[method](...names.map((name) => given[name]));
    const entry = value?.id !== undefined && method === "appendUsage" ? value : session.getEntry(value);
    if (!/^append|WithSummary$/.test(method)) return value ?? null;
    const { id, parentId, timestamp, fromId, ...rest } = entry;
    return rest;
  } catch (error) {
    return { refused: error.message };
  }
};
export default (pi) => pi.registerCommand("calls", { handler: (args, ctx) => ctx.newSession({
  setup: async (session) => {
    session.setSessionFile("extension/s.jsonl");
    const calls = JSON.parse(fs.readFileSync("calls.json", "utf8"));
    for (const call of calls) fs.appendFileSync("answers", JSON.stringify(answer(session, call)) + "\n");
  },
}) });
"#;

fn seed(cwd: &Path) -> String {
    let time = "2026-01-01T00:00:00.000Z";
    let line = |id: &str, parent: Value, message: Value| json!({"type": "message", "id": id, "parentId": parent, "timestamp": time, "message": message});
    let user = |text: &str| json!({"role": "user", "content": text, "timestamp": 1});
    let lines = [
        json!({"type": "session", "version": 3, "id": "seed", "timestamp": time, "cwd": cwd}),
        line("aaaa0001", json!(null), user("one")),
        line("dddd0004", json!("aaaa0001"), user("aside")),
        line("bbbb0002", json!("aaaa0001"), user("two")),
        json!({"type": "label", "id": "eeee0005", "parentId": "bbbb0002", "timestamp": time, "targetId": "aaaa0001", "label": "L"}),
        line("cccc0003", json!("eeee0005"), user("three")),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

/// The answer to a client, in the words of the extension.
fn answered(api: &mut Api, session: &str, method: &str, params: &str) -> String {
    let members = Json::parse(params).unwrap().members();
    let given = members.fold(Object::new().raw("session", session), |given, (name, value)| given.json(&name, value));
    // pi's has no such argument, and extensions write summaries of their own.
    let given = if method == "branchWithSummary" { given.raw("fromHook", true) } else { given };
    let answer = api.ask(&format!(r#"{{"jsonrpc":"2.0","id":0,"method":"{method}","params":{}}}"#, given.finish()));
    if let Some(error) = member(&answer, "error") {
        return Object::new().str("refused", &string(&error, "message")).finish();
    }
    let result = member(&answer, "result").unwrap();
    if !method.starts_with("append") && method != "branchWithSummary" {
        return result;
    }
    let id = string(&result, "id");
    let entry = api.result("getEntry", &format!(r#"{{"session":{session},"id":"{id}"}}"#));
    let own = ["id", "parentId", "timestamp", "fromId"];
    let rest = Json::parse(&entry).unwrap().members().filter(|(name, _)| !own.contains(&name.as_ref()));
    rest.fold(Object::new(), |rest, (name, value)| rest.json(&name, value)).finish()
}

#[test]
fn clients_and_extensions_get_the_same_answers() {
    if !has_node() {
        return;
    }
    let talk = Talk::new(["One.", "Two."].map(Reply::text));
    let work = talk.world.work();
    for holder in ["client", "extension"] {
        fs::create_dir(work.join(holder)).unwrap();
        fs::write(work.join(holder).join("s.jsonl"), seed(&work)).unwrap();
    }
    let rows = || READS.iter().chain(WRITES);
    let calls: Vec<_> =
        rows().flat_map(|(method, names, given)| given.iter().map(move |params| (*method, *names, *params))).collect();
    fs::write(work.join("calls.json"), json!(calls).to_string()).unwrap();
    extension(&talk, "calls.js", CALLER);
    let printed = run(&talk, &["-p", "first", "--then", "/calls"]);
    let answers = fs::read_to_string(work.join("answers")).unwrap_or_default();
    assert_eq!(answers.lines().count(), calls.len(), "{printed} {answers}");
    let mut api = Api::start(&work);
    let session = api.opened("open", r#"{"path":"client/s.jsonl"}"#);
    let mut refusals = 0;
    for ((method, _, params), of_extension) in calls.iter().zip(answers.lines()) {
        let of_client = answered(&mut api, &session, method, params).replace("/client", "/extension");
        assert_eq!(of_extension, of_client, "{method} {params}");
        refusals += usize::from(of_client.starts_with(r#"{"refused":"#));
    }
    assert_eq!(
        (rows().count(), refusals),
        (30, 34),
        "all but newSession and createBranchedSession, which replace the session"
    );
}

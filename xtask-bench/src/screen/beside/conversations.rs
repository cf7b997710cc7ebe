//! The ten conversations, as sessions in pi's format.

use serde_json::{Value, json};

#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) name: &'static str,
    entries: Vec<Value>,
    /// What is typed after it was opened.
    pub(super) keys: &'static [&'static str],
}

impl Conversation {
    /// Entries follow each other, unless they name another parent.
    fn new(name: &'static str, bodies: impl IntoIterator<Item = Value>) -> Self {
        let entries = bodies.into_iter().enumerate().map(|(at, mut entry)| {
            entry["id"] = json!(id(at));
            entry["timestamp"] = json!(format!("2026-02-01T11:{at:02}:00.000Z"));
            if entry.get("parentId").is_none() {
                entry["parentId"] = at.checked_sub(1).map_or(Value::Null, |before| json!(id(before)));
            }
            entry
        });
        Self { name, entries: entries.collect(), keys: &[] }
    }

    /// The session file of a project's folder.
    pub(super) fn file(&self, cwd: &str) -> String {
        let id = "0198c200-0000-7000-8000-000000000000";
        let header =
            json!({"type": "session", "version": 3, "id": id, "timestamp": "2026-02-01T11:00:00.000Z", "cwd": cwd});
        let lines = std::iter::once(&header).chain(&self.entries).map(|line| format!("{line}\n"));
        lines.collect()
    }
}

fn id(at: usize) -> String {
    format!("a{at:07x}")
}

fn message(message: &Value) -> Value {
    json!({"type": "message", "message": message})
}

fn user(text: &str) -> Value {
    message(&json!({"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1_769_943_600_000_u64}))
}

/// An answer; `stop` is its reason, and after a blank an error.
fn answer(content: &Value, stop: &str) -> Value {
    let (stop, error) = stop.split_once(' ').map_or((stop, None), |(stop, error)| (stop, Some(error)));
    let cost = json!({"input": 0.003, "output": 0.002, "cacheRead": 0, "cacheWrite": 0, "total": 0.005});
    let usage =
        json!({"input": 1200, "output": 150, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1350, "cost": cost});
    let mut said = json!({"role": "assistant", "content": content, "api": "anthropic-messages", "provider": "none",
        "model": "m1", "usage": usage, "stopReason": stop, "timestamp": 1_769_943_600_000_u64});
    if let Some(error) = error {
        said["errorMessage"] = json!(error);
    }
    message(&said)
}

fn said(text: &str) -> Value {
    answer(&json!([{"type": "text", "text": text}]), "stop")
}

fn call(name: &str, arguments: &Value) -> Value {
    let call = json!({"type": "toolCall", "id": format!("call_{name}"), "name": name, "arguments": arguments});
    answer(&json!([call]), "toolUse")
}

fn result(name: &str, text: &str, more: &Value) -> Value {
    let mut result = json!({"role": "toolResult", "toolCallId": format!("call_{name}"), "toolName": name,
        "content": [{"type": "text", "text": text}], "isError": false, "timestamp": 1_769_943_600_000_u64});
    if let (Some(result), Some(more)) = (result.as_object_mut(), more.as_object()) {
        result.extend(more.clone());
    }
    message(&result)
}

const MARKDOWN: &str = "## What it does\n\nThe pager splits the **rows** into pages of `size` rows each. Two things matter:\n\n\
1. pages are counted from 1\n2. the last page may be shorter\n   - it is never empty\n\n```rust\n/// The rows of a page.\n\
pub fn page(rows: &[Row], number: usize, size: usize) -> &[Row] {\n    let start = (number - 1) * size;\n    \
&rows[start..rows.len().min(start + size)]\n}\n```\n\n| function | cost | remark |\n|---|--:|---|\n\
| `page` | O(1) | borrows the rows |\n| `pages` | O(n) | allocates one vector for each page, so it is slower |\n\n\
> Pages are views: nothing is copied.\n\nSee [the documentation](https://example.com/pager) for more.";

const DIFF: &str = "  1 fn count(text: &str) -> usize {\n- 2     text.split(' ').count()\n+ 2     text.split_whitespace().count()\n  3 }\n  4 \n  5 fn main() {\n+ 6     // Runs of blanks are one.\n  6     println!(\"{}\", count(\"one  two\"));\n  7 }";

pub(super) fn conversations() -> Vec<Conversation> {
    let build: String = (1..=60).map(|at| format!("   Compiling crate-{at} v0.{at}.0\n")).collect();
    let thought = "The person asks for pages. Rows are a slice, so a page can borrow them. The number counts from 1.";
    let thinking = json!([{"type": "thinking", "thinking": thought, "thinkingSignature": ""},
        {"type": "text", "text": "A page is a slice of the rows."}]);
    let picture = json!({"role": "user", "timestamp": 1_769_943_600_000_u64, "content": [
        {"type": "text", "text": "what is this?"}, {"type": "image", "data": PICTURE, "mimeType": "image/png"}]});
    let summary = "## Goal\nA pager with page numbers.\n\n## Done\n- `page` returns a slice\n\n## Next\n- tests";
    let mut branches = Conversation::new(
        "10-branches",
        [
            user("How do I count words?"),
            said("Split the text at white space."),
            user("With a regular expression?"),
            said("`\\w+` finds words, but it needs the regex crate."),
            user_below(1, "Without a dependency?"),
            said("`split_whitespace` is in the standard library."),
            user("Write a test."),
            said("Done: it counts runs of blanks as one."),
        ],
    );
    branches.keys = &["/tree", "\r"];
    vec![
        Conversation::new("01-plain", [user("What is a pager?"), said("A program that shows a text page by page.")]),
        Conversation::new("02-markdown", [user("Explain the module."), said(MARKDOWN)]),
        Conversation::new(
            "03-tools",
            [
                user("Is there a TODO?"),
                call("grep", &json!({"pattern": "TODO", "path": "src"})),
                result("grep", "src/main.rs:4: // TODO: page numbers\nsrc/pages.rs:9: // TODO: tests", &json!({})),
                call("read", &json!({"path": "src/lost.rs"})),
                result("read", "ENOENT: no such file or directory, open 'src/lost.rs'", &json!({"isError": true})),
                said("Two, and `src/lost.rs` does not exist."),
            ],
        ),
        Conversation::new(
            "04-edit",
            [
                user("Count runs of blanks as one."),
                call(
                    "edit",
                    &json!({"path": "src/main.rs", "edits": [
                    {"oldText": "text.split(' ').count()", "newText": "text.split_whitespace().count()"}]}),
                ),
                result(
                    "edit",
                    "Successfully replaced 1 block(s) in src/main.rs.",
                    &json!({"details": {"diff": DIFF, "firstChangedLine": 2}}),
                ),
                said("Runs of blanks count as one now."),
            ],
        ),
        Conversation::new(
            "05-output",
            [
                user("Build it."),
                call("bash", &json!({"command": "cargo build --release 2>&1 | tail -n 100"})),
                result("bash", &format!("{build}    Finished `release` profile in 3m 12s"), &json!({})),
                said("It builds."),
            ],
        ),
        Conversation::new("06-thinking", [user("How do pages work?"), answer(&thinking, "stop")]),
        Conversation::new(
            "07-error",
            [
                user("Go on."),
                answer(
                    &json!([]),
                    "error 529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
                ),
                user("Again."),
                answer(&json!([{"type": "text", "text": "The first half of an ans"}]), "aborted Request was aborted"),
            ],
        ),
        Conversation::new("08-picture", [message(&picture), said("A red square.")]),
        Conversation::new(
            "09-compaction",
            [
                user("Write a pager."),
                said("It is in src/pager.rs."),
                user("And page numbers?"),
                json!({"type": "compaction", "summary": summary, "firstKeptEntryId": id(2), "tokensBefore": 152_340}),
                said("They are counted from 1."),
            ],
        ),
        branches,
    ]
}

fn user_below(parent: usize, text: &str) -> Value {
    let mut entry = user(text);
    entry["parentId"] = json!(id(parent));
    entry
}

/// A red picture of 64 by 32.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAEAAAAAgCAIAAAAt/+nTAAAAN0lEQVR42u3PQQkAAAgEsIty/dMYyQw+hcEKLNO+FgEBAQEBAQEBAQEBAQEBAQEBAQEBAQGBqwWavYB5nZPt7AAAAABJRU5ErkJggg==";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_ten_whose_entries_have_parents() {
        let all = conversations();
        assert_eq!(all.len(), 10);
        for conversation in all {
            let ids: Vec<_> = conversation.entries.iter().map(|entry| entry["id"].clone()).collect();
            let parents = conversation.entries.iter().map(|entry| &entry["parentId"]);
            assert!(parents.skip(1).all(|parent| ids.contains(parent)), "{}", conversation.name);
            assert!(conversation.file("/p").lines().count() > ids.len(), "a header comes first");
        }
    }
}

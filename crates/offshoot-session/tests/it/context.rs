//! Contexts in pi's and omp's form, beyond the vectors.

use offshoot_session::error::Code;
use offshoot_session::llm;

use super::common::{context_json, messages, open_messages, session};

/// The context's JSON after the messages.
fn settings(pictures: &[&str]) -> String {
    let json = context_json(&session(pictures));
    json[json.find("],\"thinkingLevel\"").map_or(0, |at| at + 2)..].to_owned()
}

const MODEL: &str = r#"m - {"type":"model_change","provider":"p1","modelId":"m1"}"#;
const OMP: &str = r#"x - {"type":"title_change","title":"T"}"#; // only omp writes this: the file is omp's

#[test]
fn pi_takes_the_last_word_on_model_and_level() {
    assert_eq!(settings(&[MODEL]), r#""thinkingLevel":"off","model":{"provider":"p1","modelId":"m1"}}"#);
    assert_eq!(settings(&[MODEL, "a m A"]), r#""thinkingLevel":"off","model":{"provider":"p","modelId":"m"}}"#);
    let level = r#"t m {"type":"thinking_level_change","thinkingLevel":"high"}"#;
    let again = r#"n t {"type":"model_change","provider":"p2","modelId":"m2"}"#;
    assert_eq!(settings(&[MODEL, level, again]), r#""thinkingLevel":"high","model":{"provider":"p2","modelId":"m2"}}"#);
    // Settings before a compaction still count.
    assert!(settings(&[MODEL, level, "k t k=none"]).contains(r#""thinkingLevel":"high""#));
}

#[test]
fn pi_repairs_missing_content_and_passes_unknown_roles() {
    let message = |json: &str| format!(r#"a - {{"type":"message","message":{json}}}"#);
    for (stored, sent) in [
        (r#"{"role":"user","content":null,"x":1.0}"#, r#"{"role":"user","content":[],"x":1.0}"#),
        (r#"{"role":"assistant"}"#, r#"{"role":"assistant","content":[]}"#),
        (r#"{"role":"system"}"#, r#"{"role":"system","content":""}"#),
        (r#"{"role":"novel","content":null}"#, r#"{"role":"novel","content":null}"#),
        (r#"{"role":"user","content":"\ud83d 1e400"}"#, r#"{"role":"user","content":"\ud83d 1e400"}"#),
    ] {
        let json = context_json(&session(&[&message(stored)]));
        assert!(json.starts_with(&format!(r#"{{"messages":[{sent}],"#)), "{json}");
    }
}

#[test]
fn pi_writes_custom_messages_and_system_messages_of_compactions() {
    let custom =
        r#"c - {"type":"custom_message","customType":"gate","content":"hey","display":false,"details":{"n":1.50}}"#;
    assert!(context_json(&session(&[custom])).starts_with(
        r#"{"messages":[{"role":"custom","customType":"gate","content":"hey","display":false,"details":{"n":1.50},"timestamp":1767225601000}]"#
    ));
    let system = r#"s a {"type":"message","message":{"role":"system","content":"old"}}"#;
    let compaction = r#"k s {"type":"compaction","summary":"S","firstKeptEntryId":"a","tokensBefore":1,"systemMessage":{"role":"system","content":"now"}}"#;
    let after = r#"s2 k {"type":"message","message":{"role":"system","content":"later"}}"#;
    let session = session(&["a - U", system, compaction, after]);
    assert_eq!(open_messages(&session), ["system(now)", "compactionSummary(S)", "a", "system(later)"]);
}

#[test]
fn edits_count_among_the_chosen_entries() {
    let gone = session(&["a - U", "b a A", r#"e b edit=a=null"#]);
    assert_eq!(open_messages(&gone), ["b"]);
    let back = session(&["a - U", "b a A", "e b edit=a=null", r#"f e edit=a={"content":"again"}"#]);
    assert_eq!(open_messages(&back), ["again", "b"]);
    // An edit that the compaction dropped has no effect, even if its target is kept.
    let dropped = session(&["a - U", "b a U", "e b edit=b=null", "c e U", "k c k=c"]);
    assert_eq!(open_messages(&dropped), ["compactionSummary(Sk)", "c"]);
    let blocks = session(&["a - U", "b a A", r#"e b edit=b={"content":"text"}"#]);
    assert!(context_json(&blocks).contains(r#"{"role":"assistant","content":[{"type":"text","text":"text"}],"#));
    let summary = session(&["a - U", "s a bs=X", r#"e s edit=s={"content":"no"}"#, "f e edit=a=null"]);
    assert_eq!(open_messages(&summary), ["branchSummary(X)"], "only messages take another content");
}

#[test]
fn a_damaged_entry_keeps_its_place_and_says_nothing() {
    let damaged = super::common::text(&["a - U", "b a A", "c b U"]).replacen(r#""text":"b""#, r#""text":b"#, 1);
    let session =
        offshoot_session::session::Session::from_text(&damaged, offshoot_session::testing::fixed_options()).unwrap();
    assert_eq!(open_messages(&session), ["a", "c"]);
}

#[test]
fn omp_settings() {
    assert_eq!(settings(&[OMP]), r#""thinkingLevel":"off","models":{},"injectedTtsrRules":[],"mode":"none"}"#);
    let everything = [
        r#"x - {"type":"model_change","model":"openai/gpt","role":"default"}"#,
        r#"a x {"type":"thinking_level_change","thinkingLevel":"high","configured":"auto"}"#,
        r#"b a {"type":"mode_change","mode":"plan","data":{"planFile":"p.md"}}"#,
        r#"c b {"type":"ttsr_injection","injectedRules":["r2","r1"]}"#,
        r#"d c {"type":"ttsr_injection","injectedRules":["r1","r3"]}"#,
        r#"e d {"type":"service_tier_change","serviceTier":{"openai":"flex","zzz":"x","google":"nope"}}"#,
        r#"f e {"type":"model_change","model":"x/tiny","role":"smol"}"#,
        "g f A",
    ];
    assert_eq!(
        settings(&everything),
        r#""thinkingLevel":"high","configuredThinkingLevel":"auto","serviceTier":{"openai":"flex"},"models":{"default":"openai/gpt","smol":"x/tiny"},"injectedTtsrRules":["r2","r1","r3"],"mode":"plan","modeData":{"planFile":"p.md"}}"#
    );
    assert!(
        settings(&[OMP, "a x A"]).contains(r#""models":{"default":"p/m"}"#),
        "without a choice, the last answer's model"
    );
    let reset = r#"r a {"type":"reset_boundary"}"#;
    let json = context_json(&session(&[OMP, "a x A", reset]));
    assert!(json.starts_with(r#"{"messages":[],"#) && json.contains("p/m"), "a reset cuts messages, not settings");
}

#[test]
fn omp_resets_and_compactions() {
    let reset = |id: &str, parent: &str| format!(r#"{id} {parent} {{"type":"reset_boundary"}}"#);
    let pictures = [OMP, "a x U", &reset("r", "a"), "b r U"];
    assert_eq!(open_messages(&session(&pictures)), ["b"]);
    let pictures = [OMP, "a x U", &reset("r", "a"), "b r U", "k b k=a", "c k U"];
    assert_eq!(open_messages(&session(&pictures)), ["compactionSummary(Sk)", "a", "b", "c"]);
    let pictures = [OMP, "a x U", "k a k=a", "b k U", &reset("r", "b"), "c r U"];
    assert_eq!(open_messages(&session(&pictures)), ["c"]);
}

#[test]
fn omp_compaction_checkpoints() {
    let compaction = |preserve: &str| {
        format!(
            r#"k b {{"type":"compaction","summary":"S","shortSummary":"s","firstKeptEntryId":"b","tokensBefore":1,"preserveData":{preserve},"providerReplayThroughEntryId":"a"}}"#
        )
    };
    let openai = compaction(r#"{"openaiRemoteCompaction":{"provider":"openai","replacementHistory":[{"x":1.0}]}}"#);
    let json = context_json(&session(&[OMP, "a x U", "b a U", &openai, "c k U"]));
    assert!(
        json.contains(r#""providerPayload":{"type":"openaiResponsesHistory","provider":"openai","items":[{"x":1.0}]}"#),
        "{json}"
    );
    assert_eq!(open_messages(&session(&[OMP, "a x U", "b a U", &openai, "c k U"])), ["compactionSummary(S)", "b", "c"]);
    let anthropic = compaction(r#"{"anthropicCompaction":{"provider":"anthropic","content":"C","other":1}}"#);
    let json = context_json(&session(&[OMP, "a x U", "b a U", &anthropic]));
    assert!(
        json.contains(r#""providerPayload":{"type":"anthropicCompaction","provider":"anthropic","content":"C"}"#),
        "{json}"
    );
    assert!(json.contains(r#""timestamp":1767225602999}"#), "dated just before what is kept: {json}");
}

/// A compaction as omp 18.3 writes it when entries came while the provider made its block.
fn snapshot(id: &str, parent: &str, through: &str) -> String {
    format!(
        r#"{id} {parent} {{"type":"compaction","summary":"S","firstKeptEntryId":"","tokensBefore":1,"providerReplayThroughEntryId":"{through}","preserveData":{{"anthropicCompaction":{{"provider":"anthropic","content":"S"}}}}}}"#
    )
}

#[test]
fn a_compaction_of_a_snapshot_keeps_what_followed_the_snapshot() {
    let with = |through: &str| {
        session(&[OMP, "a x U", "b a A", "c b A", "d c U", "e d A", &snapshot("k", "e", through), "f k U"])
    };
    let whole = with("c");
    assert_eq!(open_messages(&whole), ["compactionSummary(S)", "d", "e", "f"]);
    assert!(whole.context().unwrap().diagnostics.is_empty());
    assert!(context_json(&whole).contains(r#""timestamp":1767225604999}"#), "dated just before what is kept");
    let missing = with("nope");
    assert_eq!(open_messages(&missing), ["compactionSummary(S)", "f"]);
    let codes: Vec<Code> = missing.context().unwrap().diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(codes, [Code::KeptEntryMissing]);
    // Nothing came meanwhile: omp names no snapshot, and nothing is kept on purpose.
    let alone = snapshot("k", "b", "").replace(r#","providerReplayThroughEntryId":"""#, "");
    let alone = session(&[OMP, "a x U", "b a A", &alone, "f k U"]);
    assert_eq!(open_messages(&alone), ["compactionSummary(S)", "f"]);
    assert!(alone.context().unwrap().diagnostics.is_empty());
    // Without the block the member has no meaning.
    let foreign = snapshot("k", "b", "a").replace("anthropicCompaction", "other");
    assert_eq!(open_messages(&session(&[OMP, "a x U", "b a A", &foreign])), ["compactionSummary(S)"]);
}

fn assistant(id: &str, parent: &str, content: &str, more: &str) -> String {
    format!(r#"{id} {parent} {{"type":"message","message":{{"role":"assistant","content":{content}{more}}}}}"#)
}

fn result(id: &str, parent: &str, call: &str) -> String {
    format!(
        r#"{id} {parent} {{"type":"message","message":{{"role":"toolResult","toolCallId":"{call}","content":[{{"type":"text","text":"{id}"}}]}}}}"#
    )
}

const BLOCKS: &str = r#"[{"type":"thinking","thinking":"t","thinkingSignature":"sig"},{"type":"redactedThinking","data":"d"},{"type":"text","text":"x","textSignature":"ts"},{"type":"toolCall","id":"c1","name":"ls","arguments":{}},{"type":"toolCall","id":"c2","name":"ls","arguments":{}}]"#;

#[test]
fn omp_drops_calls_without_results_and_failed_turns() {
    let json =
        context_json(&session(&[OMP, "u x U", &assistant("a", "u", BLOCKS, ""), &result("r", "a", "c2"), "v r U"]));
    assert!(
        json.contains(r#""content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"x","textSignature":"ts"},{"type":"toolCall","id":"c2","name":"ls","arguments":{}}]"#),
        "{json}"
    );
    let only_call = r#"[{"type":"toolCall","id":"c1","name":"ls","arguments":{}}]"#;
    assert_eq!(open_messages(&session(&[OMP, "u x U", &assistant("a", "u", only_call, ""), "v a U"])), ["u", "v"]);
    let failed = assistant("a", "u", only_call, r#","stopReason":"error""#);
    assert_eq!(open_messages(&session(&[OMP, "u x U", &failed, &result("r", "a", "c1"), "v r U"])), ["u", "v"]);
    let aborted = assistant("a", "u", r#"[{"type":"text","text":"half"}]"#, r#","stopReason":"aborted""#);
    let note = r#"n a {"type":"custom_message","customType":"interrupted-thinking","content":"note","display":false}"#;
    assert_eq!(open_messages(&session(&[OMP, "u x U", &aborted, note])), ["u", "half", "custom(note)"]);
    assert_eq!(open_messages(&session(&[OMP, "u x U", &aborted, "v a U"])), ["u", "v"]);
    let empty_error = assistant("a", "u", "[]", r#","stopReason":"error""#);
    assert_eq!(open_messages(&session(&[OMP, "u x U", &empty_error])), ["u"]);
    let recovered = assistant("a", "u", r#"[{"type":"text","text":"x"}]"#, r#","retryRecovery":{"n":1}"#);
    assert_eq!(open_messages(&session(&[OMP, "u x U", &recovered])), ["u"]);
}

#[test]
fn every_entry_of_a_tree_has_a_context() {
    let session = session(&["a - U", "b a A", "c a A", "l c l=a=x", "d l U"]);
    let tree = offshoot_session::entry::Source::tree(&session);
    let lengths: Vec<_> = tree.entries().map(|ix| messages(&session, Some(ix)).len()).collect();
    assert_eq!(lengths, [1, 2, 2, 2, 3]);
}

#[test]
fn the_models_messages_have_valid_pairs_at_every_entry() {
    let session = session(&[
        "u - U",
        &assistant("a", "u", BLOCKS, ""),
        &result("r", "a", "c2"),
        "v r U",
        &result("s", "v", "c1"),
    ]);
    let tree = offshoot_session::entry::Source::tree(&session);
    for ix in tree.entries() {
        let context = session.context_at(Some(ix)).unwrap();
        let stored = context.messages(&session).map(Result::unwrap).collect();
        let (sent, diagnostics) = llm::convert(stored);
        let mut open: Vec<String> = Vec::new();
        for message in &sent {
            let json = message.json();
            if json.str("role").unwrap() == "toolResult" {
                let id = json.str("toolCallId").unwrap();
                let at = open.iter().position(|open| *open == id).expect("a result has its call before it");
                open.remove(at);
            } else {
                assert!(open.is_empty(), "a turn ends with all its results");
                let blocks = json.get("content").into_iter().flat_map(offshoot_session::json::Json::items);
                open.extend(
                    blocks
                        .filter(|b| b.str("type").is_some_and(|t| t == "toolCall"))
                        .map(|b| b.str("id").unwrap().into_owned()),
                );
            }
        }
        assert!(open.is_empty());
        assert!(diagnostics.iter().all(|d| matches!(d.code, Code::DanglingToolCall | Code::OrphanToolResult)));
    }
}

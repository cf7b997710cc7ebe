//! Small files: what opens, which diagnostics it has, what is refused.

use super::*;
use crate::id::EntryId;
use crate::medium::MemoryMedium;

const HEADER: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;

fn open(bytes: impl AsRef<[u8]>) -> Result<Loaded> {
    load(&MemoryMedium::new(bytes.as_ref().to_vec()))
}

fn entry(id: &str, parent: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:01.000Z","message":{{"role":"user","content":"{id}"}}}}"#
    )
}

fn codes(loaded: &Loaded) -> Vec<&'static str> {
    loaded.diagnostics.iter().map(|d| d.code.as_str()).collect()
}

fn ids(loaded: &Loaded) -> Vec<&str> {
    loaded.tree.entries().map(|ix| loaded.tree.node(ix).id().map_or("-", EntryId::as_str)).collect()
}

#[test]
fn odd_but_readable_files() {
    let (a, b) = (entry("a", ""), entry("b", "a"));
    for (name, file, expected_ids, expected_codes) in [
        ("plain", format!("{HEADER}\n{a}\n{b}\n"), &["a", "b"][..], &[][..]),
        ("crlf", format!("{HEADER}\r\n{a}\r\n"), &["a"], &[]),
        ("blank lines", format!("\n{HEADER}\n\n{a}\n  \n{b}\n"), &["a", "b"], &[]),
        ("bom", format!("\u{feff}{HEADER}\n{a}\n"), &["a"], &["byte-order-mark"]),
        ("no final newline", format!("{HEADER}\n{a}"), &["a"], &["no-final-newline"]),
        ("garbage first", format!("oops\n{HEADER}\n{a}\n"), &["a"], &["garbage-before-header"]),
        ("null, number, array", format!("{HEADER}\nnull\n7\n[1]\n{a}\n"), &["a"], &["malformed-line"; 3]),
        ("broken middle", format!("{HEADER}\n{a}\n{{\"type\":\n{b}\n"), &["a", "b"], &["malformed-line"]),
        ("torn tail", format!("{HEADER}\n{a}\n{}", &b[..b.len() - 9]), &["a"], &["torn-tail"]),
        ("torn tail, then newline", format!("{HEADER}\n{a}\n{}\n", &b[..b.len() - 1]), &["a"], &["malformed-line"]),
        ("nul run", format!("{HEADER}\n{a}\n\0\0\0\0{b}\n"), &["a", "b"], &["nul-bytes"]),
        ("nuls behind", format!("{HEADER}\n{a}\n{b}\0\0\0"), &["a", "b"], &["nul-bytes", "no-final-newline"]),
        ("nuls behind, then newline", format!("{HEADER}\n{a}\0\0\n{b}\n"), &["a", "b"], &["nul-bytes"]),
        ("nul tail", format!("{HEADER}\n{a}\n\0\0\0\0"), &["a"], &["nul-bytes", "no-final-newline"]),
        ("second header", format!("{HEADER}\n{a}\n{HEADER}\n{b}\n"), &["a", "b"], &["second-header"]),
        ("newer", format!("{}\n{a}\n", HEADER.replace(":3", ":99")), &["a"], &["newer-version"]),
        ("unknown type", format!("{HEADER}\n{}\n", a.replace("message", "surprise")), &["a"], &[]),
        (
            "u+2028 in a string",
            format!("{HEADER}\n{}\n", a.replace("\"content\":\"a", "\"content\":\"\u{2028}")),
            &["a"],
            &[],
        ),
        (
            "lone surrogate",
            format!("{HEADER}\n{}\n", a.replace("\"content\":\"a", "\"content\":\"\\ud83d")),
            &["a"],
            &[],
        ),
        (
            "numbers",
            format!("{HEADER}\n{}\n", a.replace("\"content\":\"a\"", "\"n\":[1e400,-0,1.0,123456789012345680000]")),
            &["a"],
            &[],
        ),
        (
            "200 deep",
            format!(
                "{HEADER}\n{}\n",
                a.replace("\"content\":\"a\"", &format!("\"n\":{}{}", "[".repeat(200), "]".repeat(200)))
            ),
            &["a"],
            &[],
        ),
        ("header of 100 kB", format!("{}\n{a}\n", HEADER.replace("/w", &"/w".repeat(50_000))), &["a"], &[]),
    ] {
        let loaded = open(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(ids(&loaded), expected_ids, "{name}");
        assert_eq!(codes(&loaded), expected_codes, "{name}");
        assert_eq!(loaded.header.as_ref().unwrap().id(), "s");
    }
}

#[test]
fn what_is_not_a_session_is_refused() {
    for (file, line) in [
        ("# notes\n\ntext\n", 1),
        ("\n\n", 2),
        ("{\"type\":\"message\"}\n", 1),
        ("{\"type\":\"session\"}\n", 1),
        ("null\n", 1),
    ] {
        match open(file) {
            Err(Error::NotASession { line: at, .. }) => assert_eq!(at, line, "{file:?}"),
            other => panic!("{file:?}: {other:?}"),
        }
    }
    assert!(open("").unwrap().header.is_none(), "an empty file is a session that has not begun");
}

#[test]
fn invalid_utf8_keeps_its_place() {
    let mut bytes = format!("{HEADER}\n{}\n", entry("a", "")).into_bytes();
    let at = bytes.len() - 5;
    bytes[at] = 0xff;
    let loaded = open(&bytes).unwrap();
    assert_eq!(loaded.tree.len(), 1);
}

#[test]
fn a_title_slot_stands_before_the_header() {
    let slot = TitleSlot::new("Auth", Some("auto"), 0);
    let loaded = open(format!("{}\n{HEADER}\n{}\n", slot.line(), entry("a", ""))).unwrap();
    assert_eq!(loaded.slot, Some(slot));
    assert_eq!(loaded.dialect, Some(Dialect::Omp));
}

const V1: [&str; 5] = [
    r#"{"type":"session","id":"s","timestamp":"t","cwd":"/w","provider":"p"}"#,
    r#"{"type":"message","timestamp":"2025-12-08T10:00:01.000Z","message":{"role":"user","content":"u1"}}"#,
    r#"{"type":"message","timestamp":"2025-12-08T10:00:02.000Z","message":{"role":"assistant","content":[]}}"#,
    r#"{"type":"compaction","timestamp":"2025-12-08T10:00:03.000Z","summary":"S","firstKeptEntryIndex":INDEX,"tokensBefore":9}"#,
    r#"{"type":"message","timestamp":"2025-12-08T10:00:04.000Z","message":{"role":"user","content":"u3"}}"#,
];

#[test]
fn version_1_is_chained_with_ids_that_stay() {
    let file = V1.join("\n").replace("INDEX", "2") + "\n";
    let (first, second) = (open(&file).unwrap(), open(&file).unwrap());
    assert_eq!(ids(&first), ids(&second));
    assert_eq!(first.tree.walk().last().unwrap().0, 3, "one chain");
    assert_eq!(codes(&first), ["old-version"]);
}

#[test]
fn version_1_indexes_become_ids() {
    // Record 0 is the header and keeps everything; an index from the compaction on keeps nothing.
    for (index, kept) in [("0", 0), ("1", 0), ("2", 1), ("3", 2), ("9", 2)] {
        let file = V1.join("\n").replace("INDEX", index) + "\n";
        let medium = MemoryMedium::new(file.into_bytes());
        let loaded = load(&medium).unwrap();
        let compaction = loaded.tree.entries().nth(2).unwrap();
        let line = loaded.upgraded(compaction, line_text(&medium, loaded.tree.node(compaction)).unwrap());
        let json = crate::json::Json::parse(&line).unwrap();
        assert_eq!(json.str("firstKeptEntryId").unwrap(), ids(&loaded)[kept], "index {index}");
        assert!(json.get("firstKeptEntryIndex").is_none());
    }
}

#[test]
fn the_tree_proposals_files_open() {
    let file = concat!(
        r#"{"type":"session","version":2,"uuid":"ses1","parentUuid":null,"id":"abc","cwd":"/project"}"#,
        "\n",
        r#"{"type":"message","uuid":"m1","parentUuid":"ses1","message":{"role":"user","content":"Build a CLI"}}"#,
        "\n",
        r#"{"type":"message","uuid":"m2","parentUuid":"m1","message":{"role":"assistant","content":"I'll create..."}}"#,
        "\n",
    );
    let loaded = open(file).unwrap();
    assert_eq!(ids(&loaded), ["m1", "m2"]);
    assert_eq!(codes(&loaded), ["old-version"]);
    let m2 = loaded.tree.find("m2").unwrap();
    let line = loaded.upgraded(m2, file.lines().nth(2).unwrap().to_owned());
    assert!(line.ends_with(r#""id":"m2","parentId":"m1"}"#), "{line}");
}

#[test]
fn labels_last_word_wins_and_clears() {
    let label = |id: &str, text: &str| {
        format!(r#"{{"type":"label","id":"{id}","parentId":"a","timestamp":"T{id}","targetId":"a"{text}}}"#)
    };
    let file = format!(
        "{HEADER}\n{}\n{}\n{}\n",
        entry("a", ""),
        label("l1", r#","label":"one""#),
        label("l2", r#","label":"two""#)
    );
    let found = open(&file).unwrap();
    let two = found.tree.label(&"a".into()).unwrap();
    assert_eq!((two.text.as_str(), two.timestamp.as_deref()), ("two", Some("Tl2")));
    let cleared = open(format!("{file}{}\n", label("l3", ""))).unwrap();
    assert_eq!(cleared.tree.label(&"a".into()), None);
}

#[test]
fn dialects_show_themselves() {
    let change = |members: &str| {
        format!(
            r#"{HEADER}
{{"type":"model_change","id":"m","parentId":null,"timestamp":"t",{members}}}
"#
        )
    };
    assert_eq!(open(change(r#""provider":"p","modelId":"m""#)).unwrap().dialect, Some(Dialect::Pi));
    assert_eq!(open(change(r#""model":"p/m""#)).unwrap().dialect, Some(Dialect::Omp));
    assert_eq!(open(format!("{HEADER}\n")).unwrap().dialect, None);
}

//! The page's bytes, read as a browser would. `conformance/page.test.mjs` tests it in one.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests prepare their own files")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use libdeflater::Decompressor;
use offshoot_html::{Error, Options, PageColours, PageLimits, PageOmissions, PageThemes, render};
use offshoot_session::entry::Source as _;
use offshoot_session::load::{FileEnd, MadeLines, MadeTree};
use offshoot_session::medium::MemoryMedium;
use offshoot_session::session::{self, Session, SessionPart};
use offshoot_session::tree::{NewNode, NodeIx, Tree};
use sha2::{Digest as _, Sha256};

const SAMPLE: &str = include_str!("../../../../examples/sample-session.jsonl");

fn session(text: &str) -> Session {
    Session::from_text(text, session::Options::default()).unwrap()
}

fn page(session: &Session, part: SessionPart) -> String {
    let mut out = Vec::new();
    render(session, &Options { part, ..Options::default() }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_index_names_files_and_which_changes_failed() {
    let call = |id: &str, name: &str, path: &str| {
        format!(r#"{{"type":"toolCall","id":"{id}","name":"{name}","arguments":{{"path":"{path}"}}}}"#)
    };
    let calls = [call("1", "edit", "/h/a"), call("2", "write", "/h/b"), call("3", "read", "c"), call("4", "bash", "d")];
    let turn = format!(r#"{{"role":"assistant","content":[{}]}}"#, calls.join(","));
    let result = |call: &str, is_error: bool| {
        format!(r#"{{"role":"toolResult","toolCallId":"{call}","isError":{is_error},"content":[]}}"#)
    };
    let messages =
        [turn, result("1", true), result("2", false), result("3", true), result("4", true), result("5", true)];
    let mut text = r#"{"type":"session","version":3,"id":"s","cwd":"/"}"#.to_owned();
    for (at, message) in messages.iter().enumerate() {
        let parent = if at == 0 { "null".to_owned() } else { format!("\"{}\"", at - 1) };
        text += &format!("\n{{\"type\":\"message\",\"id\":\"{at}\",\"parentId\":{parent},\"message\":{message}}}");
    }
    let options = Options { home: Some("/h".to_owned()), ..Options::default() };
    let mut out = Vec::new();
    render(&session(&(text + "\n")), &options, &mut out).unwrap();
    let index = stream(&String::from_utf8(out).unwrap(), "i");
    let rows = index.lines().filter_map(|row| row.split_once("[["));
    let named: Vec<&str> = rows.map(|(_, rest)| rest.split_once("]]").unwrap().0).collect();
    assert_eq!(named, [r#""/h/a",1],["/h/b",1],["c",0"#, r#""/h/a",3"#, r#""c",2"#], "{index}");
}

/// The bytes of one stream of the page.
fn bytes(page: &str, class: &str) -> Vec<u8> {
    let start = format!("<script type=\"application/octet-stream\" class=\"{class}\" data-n=\"");
    let mut out = Vec::new();
    for block in page.split(&start).skip(1) {
        let (head, inner) = block.split("</script>").next().unwrap().split_once('>').unwrap();
        let before = out.len();
        if head.ends_with(" data-p") {
            out.extend_from_slice(inner.as_bytes());
        } else {
            let length: usize = head.split('"').next().unwrap().parse().unwrap();
            out.resize(before + length, 0);
            let packed = STANDARD.decode(inner).unwrap();
            let opened = Decompressor::new().deflate_decompress(&packed, &mut out[before..]).unwrap();
            out.truncate(before + opened);
        }
        assert_eq!(head.split('"').next().unwrap(), (out.len() - before).to_string(), "the length of a block");
    }
    out
}

fn stream(page: &str, class: &str) -> String {
    String::from_utf8(bytes(page, class)).unwrap()
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split_once(start).unwrap().1.split_once(end).unwrap().0
}

#[test]
fn the_page_carries_the_session_as_it_stands() {
    let page = page(&session(SAMPLE), SessionPart::Everything);
    assert_eq!(stream(&page, "s"), SAMPLE);
    assert_eq!(stream(&page, "i").lines().count(), SAMPLE.lines().count() - 1);
}

#[test]
fn old_sessions_are_carried_as_version_3() {
    let old = "{\"type\":\"session\",\"id\":\"old\",\"timestamp\":\"2025-12-01T00:00:00.000Z\",\"cwd\":\"/w\"}\n\
               {\"type\":\"message\",\"timestamp\":\"2025-12-01T00:00:01.000Z\",\"message\":{\"role\":\"user\",\"content\":\"q\"}}\n";
    let lines = stream(&page(&session(old), SessionPart::Everything), "s");
    assert!(lines.contains("\"version\":3") && lines.contains("\"parentId\":null"), "{lines}");
}

/// The lines of a session of another program: its bytes are not lines of a session, and records may stand in any order.
struct MadeOf(Vec<String>);

impl MadeLines for MadeOf {
    fn line(&self, _: &Tree, ix: NodeIx) -> offshoot_session::error::Result<String> {
        Ok(self.0[ix.index()].clone())
    }
}

#[test]
fn a_session_of_another_program_is_carried_as_the_lines_that_are_shown() {
    let plain = session(SAMPLE);
    let (mut made, mut lines) = (MadeTree::new(), Vec::new());
    let count = plain.tree().entries().count() as u64;
    for (at, ix) in (0..).zip(plain.tree().entries()) {
        let node = plain.tree().node(ix);
        lines.push(plain.entry(ix).unwrap().line().to_owned());
        made.push(&NewNode {
            id: node.id().cloned(),
            parent: plain.tree().parent_id(ix).cloned(),
            kind: node.kind(),
            role: node.role(),
            time: node.time(),
            is_leaf_marker: node.is_leaf_marker(),
            is_copy: false,
            offset: count - at,
            length: 7,
            line: count - at,
        });
    }
    let medium = MemoryMedium::new(b"records that are no lines".to_vec());
    let end = FileEnd { length: 25, lines: 1, terminated: false };
    let text = lines.iter().fold(plain.header().line().to_owned() + "\n", |text, line| text + line + "\n");
    let loaded = made.finish(plain.header().clone(), end, Vec::new(), std::sync::Arc::new(MadeOf(lines)));
    let made = Session::of_records(Box::new(medium), loaded, session::Options::default()).unwrap();
    assert_eq!(stream(&page(&made, SessionPart::Everything), "s"), text);
}

#[test]
fn the_policy_names_the_one_script_and_the_one_style() {
    let page = page(&session(SAMPLE), SessionPart::Everything);
    let policy = between(&page, "Content-Security-Policy\" content=\"", "\"");
    for (element, end) in [("<style>", "</style>"), ("<script>", "</script>")] {
        let hash = STANDARD.encode(Sha256::digest(between(&page, element, end)));
        assert!(policy.contains(&format!("sha256-{hash}")), "{element} is not in {policy}");
        assert_eq!(page.matches(element).count(), 1);
    }
    assert!(policy.starts_with("default-src 'none'; "));
}

#[test]
fn nothing_of_a_session_is_written_as_html() {
    let hostile = r#"<img src=x onerror=\"pwn()\">'"#;
    let text = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{hostile}\",\"timestamp\":\"{hostile}\",\"cwd\":\"{hostile}\"}}\n\
         {{\"type\":\"session_info\",\"id\":\"{hostile}\",\"parentId\":null,\"timestamp\":\"{hostile}\",\"name\":\"</title>{hostile}\"}}\n\
         {{\"type\":\"message\",\"id\":\"b\",\"parentId\":\"{hostile}\",\"timestamp\":\"t\",\"message\":{{\"role\":\"assistant\",\"model\":\"{hostile}\",\"provider\":\"{hostile}\",\"content\":[{{\"type\":\"text\",\"text\":\"{hostile}\"}}]}}}}\n\
         {{broken {hostile}\n"
    );
    let page = page(&session(&text), SessionPart::Everything);
    assert!(page.contains("&lt;img src=x"), "the card shows it as text");
    let own = page.find("<script>").unwrap();
    assert!(!page[..own].contains("<img") && !page[..own].contains("onerror=\"pwn"), "{}", &page[..own]);
    let title = between(&page, "<title>", "</title>");
    assert!(title.contains("&lt;/title&gt;"), "{title}");
}

#[test]
fn a_path_and_a_subtree_hold_their_entries_only() {
    let session = session(SAMPLE);
    let ids = |page: &str| -> Vec<String> {
        stream(page, "s").lines().skip(1).map(|line| between(line, "\"id\":\"", "\"").to_owned()).collect()
    };
    let at = |id: &str| session.tree().find_prefix(id).unwrap();
    let path = page(&session, SessionPart::Path(at("1b9d")));
    assert_eq!(ids(&path), ["6c1f0a52", "a83e5d17", "1b9d40c6"]);
    assert!(path.contains("This page holds the path to 1b9d40c6: 3 of 28 entries."));
    let below = page(&session, SessionPart::Subtree(at("dd37")));
    assert_eq!(ids(&below).len(), 13);
    assert!(stream(&below, "i").starts_with("[-1,"), "what the subtree begins with has no parent on the page");
}

#[test]
fn lines_that_are_no_entries_are_said_on_the_page_and_are_in_the_download() {
    let (header, entries) = SAMPLE.split_at(SAMPLE.find('\n').unwrap() + 1);
    let text = format!("{header}null\n\n{entries}no json");
    let page = page(&session(&text), SessionPart::Everything);
    assert_eq!(stream(&page, "s"), format!("{text}\n"));
    assert!(page.contains("malformed-line"));
    let page = self::page(&session(&format!("{SAMPLE}no json\n")), SessionPart::Everything);
    assert!(page.contains("Problems in the file: 1") && page.contains("malformed-line"));
}

#[test]
fn an_empty_session_is_a_page() {
    let header = "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"t\",\"cwd\":\"/w\"}\n";
    let page = page(&session(header), SessionPart::Everything);
    assert_eq!(stream(&page, "s"), header);
    assert!(page.ends_with("</html>\n"));
}

#[test]
fn bytes_that_are_no_utf8_reach_the_download_as_they_are() {
    let line = b"{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"t\",\"message\":{\"role\":\"user\",\"content\":\"\xff\"}}\n";
    let header = b"{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"t\",\"cwd\":\"/w\"}\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.jsonl");
    std::fs::write(&file, [&header[..], &line[..]].concat()).unwrap();
    let page = page(&Session::open(&file, session::Options::default()).unwrap(), SessionPart::Everything);
    assert_eq!(bytes(&page, "s"), [&header[..], &line[..]].concat());
}

const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"t\",\"cwd\":\"/w\"}\n";

fn with_picture(data: &str) -> String {
    let picture = format!(r#"{{"type":"image","mimeType":"image/png","data":"{data}"}}"#);
    format!(
        "{HEADER}{{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"t\",\"message\":{{\"role\":\"user\",\"content\":[{picture}]}}}}\n"
    )
}

#[test]
fn a_picture_is_carried_as_it_is_and_its_bytes_are_in_the_download() {
    let data = "iVBOR+/9".repeat(2000);
    let page = page(&session(&with_picture(&data)), SessionPart::Everything);
    assert!(page.contains(&format!(" data-p>{data}</script>")));
    assert_eq!(stream(&page, "s"), with_picture(&data));
}

#[test]
fn long_texts_are_less_than_half_as_long_on_the_page() {
    let empty = page(&session(HEADER), SessionPart::Everything).len();
    let words = ["tree", "leaf", "branch", "entry", "label", "the", "of", "session", "3f2a", "fn main()", "let x = 5;"];
    let mut seed = 7_u64;
    let line = |at: u64| {
        let text: Vec<&str> = (0..40)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                words[(seed >> 33) as usize % words.len()]
            })
            .collect();
        let parent = if at == 0 { "null".to_owned() } else { format!("\"e{}\"", at - 1) };
        format!(
            "{{\"type\":\"message\",\"id\":\"e{at}\",\"parentId\":{parent},\"timestamp\":\"t\",\"message\":{{\"role\":\"user\",\"content\":\"{}\"}}}}\n",
            text.join(" ")
        )
    };
    let text = format!("{HEADER}{}", (0..3000).map(line).collect::<String>());
    let page = page(&session(&text), SessionPart::Everything);
    assert!((page.len() - empty) * 2 < text.len(), "{} of {}", page.len() - empty, text.len());
}

#[test]
fn limits_leave_out_pictures_and_lines_and_count_them() {
    let data = "iVBOR+/9".repeat(2000);
    let session = session(&with_picture(&data));
    let limited = |limits: PageLimits| {
        let mut out = Vec::new();
        let left_out = render(&session, &Options { limits, ..Options::default() }, &mut out).unwrap();
        (left_out, String::from_utf8(out).unwrap())
    };
    let (left_out, page) = limited(PageLimits { picture: Some(0), ..PageLimits::default() });
    assert_eq!((left_out.pictures, left_out.lines, left_out.bytes, left_out.entries), (1, 0, 16_000, 1));
    assert_eq!(stream(&page, "s"), with_picture(""));
    assert!(page.contains(&format!("The page leaves out 1 picture (16 kB), of the entry {}.", left_out.named[0])));
    let (left_out, page) = limited(PageLimits { line: Some(1000), ..PageLimits::default() });
    assert_eq!((left_out.lines, left_out.pictures), (1, 0));
    assert!(stream(&page, "s").contains("are not shown here") && !page.contains(&data));
    let (picture, line, text) = (Some(16_000), Some(20_000), Some(1000));
    assert_eq!(limited(PageLimits { picture, line, text }).0, PageOmissions::default());
}

#[test]
fn words_are_whole_where_a_branch_ends() {
    let long = "word ".repeat(60);
    let entry = |id: &str, parent: &str, role: &str| {
        format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"t\",\"message\":{{\"role\":\"{role}\",\"stopReason\":\"stop\",\"content\":[{{\"type\":\"text\",\"text\":\"{long}\"}}]}}}}\n"
        )
    };
    let lines = [
        entry("a", "null", "user"),
        entry("b", "\"a\"", "assistant"),
        entry("c", "\"b\"", "user"),
        entry("d", "\"c\"", "assistant"),
        entry("e", "\"d\"", "assistant"),
    ];
    let result =
        r#"{"type":"message","id":"f","parentId":"e","timestamp":"t","message":{"role":"toolResult","content":[]}}"#;
    let page = page(&session(&format!("{HEADER}{}{result}\n", lines.concat())), SessionPart::Everything);
    let index = stream(&page, "i");
    let words: Vec<&str> = index
        .lines()
        .map(|row| {
            if row.contains(",1,0,0,0],") {
                "as the row"
            } else if row.contains(",[\"") {
                "whole"
            } else {
                "none"
            }
        })
        .collect();
    assert_eq!(words, ["whole", "as the row", "whole", "whole", "whole", "none"], "{index}");
}

#[test]
fn a_users_colours_are_rules_of_the_style_that_the_policy_names() {
    let colours = PageColours { page: Some([20, 21, 22]), card: Some([30, 31, 255]), info: None };
    let mut out = Vec::new();
    let themes = PageThemes::one(colours);
    render(&session(SAMPLE), &Options { themes, ..Options::default() }, &mut out).unwrap();
    let page = String::from_utf8(out).unwrap();
    let style = between(&page, "<style>", "</style>");
    assert!(style.contains("--page:#141516;--card:#1e1fff;color-scheme:dark}}"), "{}", &style[style.len() - 200..]);
    assert!(page.contains(&STANDARD.encode(Sha256::digest(style))));
}

#[test]
fn a_page_that_cannot_be_written_is_an_error() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if self.0 == 0 {
                return Err(std::io::Error::from(std::io::ErrorKind::StorageFull));
            }
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            Ok(taken)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let session = session(SAMPLE);
    let whole = page(&session, SessionPart::Everything).len();
    for room in (0..whole).step_by(997) {
        let failed = render(&session, &Options::default(), &mut Full(room)).unwrap_err();
        assert!(matches!(failed, Error::Write(_)), "{room}: {failed}");
    }
}

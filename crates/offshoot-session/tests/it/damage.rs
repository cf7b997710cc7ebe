//! Files truncated anywhere and changed anywhere: readable parts are read, and work continues after them.

use std::fs;

use offshoot_session::entry::Source as _;
use offshoot_session::header::TitleSlot;
use offshoot_session::session::Session;
use offshoot_session::testing::{fixed_options, fuzz};

use super::common::{HEADER, line, open_messages, say, text};

/// Records with characters of two, three and four bytes.
fn letters() -> String {
    ["a - U", "b a A", "c b U"].iter().enumerate().fold(format!("{HEADER}\n"), |text, (at, picture)| {
        text + &line(picture, at).replace("\"text\":\"", "\"text\":\"ö€😀") + "\n"
    })
}

fn version_1() -> String {
    let header = r#"{"type":"session","id":"s","timestamp":"2025-12-08T10:00:00.000Z","cwd":"/w","provider":"p"}"#;
    let record = |role: &str, text: &str| {
        format!(
            r#"{{"type":"message","timestamp":"2025-12-08T10:00:01.000Z","message":{{"role":"{role}","content":"{text}"}}}}"#
        )
    };
    [header.to_owned(), record("user", "a"), record("assistant", "ö€😀b"), record("user", "c")].join("\n") + "\n"
}

fn files() -> [(&'static str, String); 5] {
    let plain = text(&["a - U", "b a A", "c b U", "l c l=a=mark"]);
    let slot = TitleSlot::new("Title ö", Some("user"), 0);
    [
        ("crlf", plain.replace('\n', "\r\n")),
        ("omp", format!("{}\n{plain}", slot.line())),
        ("letters", letters()),
        ("version 1", version_1()),
        ("plain", plain),
    ]
}

/// The texts of the complete records before a cut. The last one is complete without its line feed.
fn whole_records(before: &str, cut: &[u8]) -> Vec<String> {
    let mut end = 0;
    let mut whole = String::new();
    for line in before.split_inclusive('\n') {
        end += line.len();
        if cut.len() >= end - (line.len() - line.trim_end().len()) {
            whole += line;
        }
    }
    open_messages(&Session::from_text(&whole, fixed_options()).unwrap())
}

/// Truncates the file at every byte after the header, in at least three records.
#[test]
fn a_file_cut_anywhere_loses_the_torn_fragment_alone() {
    for (name, whole) in files() {
        let header_end = whole.find("\"cwd\"").and_then(|at| Some(at + whole[at..].find('\n')? + 1)).unwrap();
        for cut in header_end..=whole.len() {
            let cut_bytes = &whole.as_bytes()[..cut];
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("s.jsonl");
            fs::write(&path, cut_bytes).unwrap();
            let mut session = Session::open(&path, fixed_options()).unwrap();
            let mut expected = whole_records(&whole, cut_bytes);
            assert_eq!(open_messages(&session), expected, "{name}, cut at {cut}");
            say(&mut session, "user", "on");
            expected.push("on".to_owned());
            let again = Session::open(&path, fixed_options()).unwrap();
            assert_eq!(open_messages(&again), expected, "{name}, cut at {cut}: reopened");
            let now = fs::read(&path).unwrap();
            if name == "version 1" {
                assert_eq!(fs::read(folder.path().join("s.jsonl.v1.bak")).unwrap(), cut_bytes);
                let fragment = cut_bytes.rsplit(|byte| *byte == b'\n').next().unwrap();
                let is_whole = whole.split('\n').any(|line| line.as_bytes() == fragment);
                let stays = now.split(|byte| *byte == b'\n').any(|line| line == fragment);
                assert!(stays || is_whole, "cut at {cut}: the fragment stays, on a line of its own");
            } else {
                assert!(now.starts_with(cut_bytes), "{name}, cut at {cut}: the old bytes stay");
                let behind = &now[cut..];
                assert!(cut_bytes.ends_with(b"\n") || behind.starts_with(b"\n"), "{name}, cut at {cut}: isolated");
            }
        }
    }
}

/// `fuzz::open` requires that the file opens or is refused, is shown in every way, keeps its bytes and takes an append
/// that a second opening finds.
#[test]
fn a_file_with_any_byte_changed_opens_or_is_refused() {
    let slot = TitleSlot::new("T", Some("user"), 0);
    let plain = text(&["a - U", "b a A"]);
    for whole in [plain.clone(), format!("{}\n{plain}", slot.line().replace("    ", "")), version_1()] {
        for at in 0..whole.len() {
            for byte in [b'\n', b'"', b'\0', 0xff, b'}'] {
                let mut bytes = whole.clone().into_bytes();
                bytes[at] = byte;
                fuzz::open(&bytes);
            }
        }
    }
}

#[test]
fn a_changed_byte_harms_its_own_line_alone() {
    let whole = text(&["a - U", "b a A", "c b U", "d a U"]);
    let header_end = HEADER.len() + 1;
    for at in header_end..whole.len() {
        for byte in [b'\n', b'"', b'\0', b'}', b'\\', b'x'] {
            let mut bytes = whole.clone().into_bytes();
            // A missing line feed damages the following line, too.
            let harmed = 1 + usize::from(bytes[at] == b'\n' && byte != b'\n');
            let first = whole[header_end..at].matches('\n').count();
            bytes[at] = byte;
            let session = Session::from_text(std::str::from_utf8(&bytes).unwrap(), fixed_options()).unwrap();
            for (place, id) in ["a", "b", "c", "d"].into_iter().enumerate() {
                let is_harmed = (first..first + harmed).contains(&place);
                let ix = session.find(id).ok();
                assert!(is_harmed || ix.is_some(), "byte {byte} at {at}: {id} is lost");
                if let Some(ix) = ix.filter(|_| !is_harmed) {
                    assert!(session.entry(ix).unwrap().line().contains(&format!("\"text\":\"{id}\"")));
                }
            }
        }
    }
}

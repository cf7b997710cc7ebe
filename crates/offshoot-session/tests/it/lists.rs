//! Lists: reading a file in steps gives the same as reading it at once.

use std::path::Path;

use offshoot_session::list::{Reading, SessionInfo, session_info};
use offshoot_session::medium::MemoryMedium;
use proptest::prelude::*;

use super::common::{HEADER, text};

#[test]
fn a_fork_is_as_new_as_its_header() {
    let modified = |header: &str| {
        let file = text(&["a - U", "b a A"]).replacen(HEADER, header, 1);
        let info = session_info(&MemoryMedium::new(file.into_bytes()), Some(7), false).unwrap();
        (info.modified, info.created)
    };
    let later = HEADER.replace("2026-01-01", "2026-02-01");
    let (said, created) = modified(&later);
    assert!(said < created, "a header from after the messages says nothing in a session without parent");
    let (forked, created) = modified(&later.replace("}", r#","parentSession":"/p.jsonl"}"#));
    assert_eq!(forked, created);
    let (grown, _) = modified(&HEADER.replace("}", r#","parentSession":"/p.jsonl"}"#));
    assert_eq!(grown, said, "what was said later counts more");
}

/// A file of lines that matter to a list, other lines, and broken ones.
fn file(words: &[u8], last_ends: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (at, word) in words.iter().enumerate() {
        bytes.extend_from_slice(&line(*word, at));
        bytes.push(b'\n');
    }
    if !last_ends {
        bytes.pop();
    }
    bytes
}

fn line(word: u8, at: usize) -> Vec<u8> {
    let said = |role: &str, text: &str| {
        format!(
            r#"{{"type":"message","id":"e{at}","parentId":null,"timestamp":"2026-01-01T00:00:{:02}.000Z","message":{{"role":"{role}","content":"{text}"}}}}"#,
            at % 60
        )
    };
    match word % 13 {
        0 | 1 => HEADER.replace("\"s\"", &format!("\"s{at}\"")),
        2 => said("user", "é\u{2028}x"),
        3 => said("assistant", "yes"),
        4 => said("toolResult", "out"),
        5 => format!(r#"{{"type":"session_info","id":"e{at}","parentId":null,"name":" n{at} "}}"#),
        6 => format!(r#"{{"type":"session_info","id":"e{at}","parentId":null,"name":""}}"#),
        7 => format!(r#"{{"type":"compaction","id":"e{at}","parentId":null,"shortSummary":"short{at}"}}"#),
        8 => r#"{"type":"title","v":1,"title":"slot","updatedAt":"t","pad":""}"#.to_owned(),
        9 => "{\"type\":\"mess".to_owned(),
        10 => String::new(),
        11 => "\u{feff}{\"type\":\"custom\"}".to_owned(),
        _ => return b"\0\0\xff{}".to_vec(),
    }
    .into_bytes()
}

fn at_once(bytes: &[u8]) -> Result<SessionInfo, String> {
    session_info(&MemoryMedium::new(bytes.to_vec()), Some(7), false).map_err(|error| error.to_string())
}

/// Reads the file as it was at each cut, and then the rest.
fn in_goes(bytes: &[u8], cuts: &[usize]) -> Result<SessionInfo, String> {
    let medium = MemoryMedium::new(bytes.to_vec());
    let mut reading = Reading::default();
    let mut buffer = Vec::new();
    let mut whole = None;
    for cut in cuts.iter().copied().chain([bytes.len()]) {
        whole = reading.read_further(&medium, cut as u64, &mut buffer).unwrap();
        let so_far = whole.as_ref().unwrap_or(&reading).info(Path::new("memory"), Some(7));
        assert_eq!(
            so_far.map_err(|e| e.to_string()),
            at_once(&bytes[..cut]).map(at("memory")).map_err(|error| at_error(&error))
        );
    }
    let info = whole.as_ref().unwrap_or(&reading).info(Path::new("memory"), Some(7));
    info.map_err(|error| error.to_string())
}

fn at(path: &'static str) -> impl Fn(SessionInfo) -> SessionInfo {
    move |info| SessionInfo { path: path.into(), ..info }
}

fn at_error(error: &str) -> String {
    let (_, rest) = error.split_once(" is not a session").unwrap();
    format!("memory is not a session{rest}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_file_read_in_goes_is_the_file_read_at_once(
        words in prop::collection::vec(any::<u8>(), 0..6),
        last_ends in any::<bool>(),
        many in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let mut bytes = file(&[&[0], words.as_slice()].concat(), last_ends);
        if words.first().is_some_and(|word| word % 4 == 0) {
            bytes = file(&words, last_ends);
        }
        let whole = at_once(&bytes).map(at("memory")).map_err(|error| at_error(&error));
        for cut in 0..=bytes.len() {
            prop_assert_eq!(&in_goes(&bytes, &[cut]), &whole, "cut at {}", cut);
        }
        let mut cuts: Vec<usize> = many.iter().map(|index| index.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        prop_assert_eq!(&in_goes(&bytes, &cuts), &whole, "cuts at {:?}", cuts);
    }
}

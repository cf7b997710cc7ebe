//! A session file for benchmarks, and the time to count its lines as a lower bound.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The number of entries in the files.
pub(crate) const SIZES: [u32; 2] = [1_000, 20_000];

/// A folder with one session of about 1 KB per entry: a chain with some branches, labels and compactions.
pub(crate) fn session(entries: u32) -> (tempfile::TempDir, PathBuf) {
    let mut text =
        "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\"}\n"
            .to_owned();
    let prose = "words \\\"quoted\\\" and lines\\n".repeat(35);
    for at in 0..entries {
        let parent = match at {
            0 => "null".to_owned(),
            _ if at % 100 == 0 => format!("\"{:08x}\"", at - 7),
            _ => format!("\"{:08x}\"", at - 1),
        };
        let body = match at % 500 {
            250 => format!(r#""type":"label","targetId":"{:08x}","label":"mark""#, at - 9),
            499 => format!(
                r#""type":"compaction","summary":"{prose}","firstKeptEntryId":"{:08x}","tokensBefore":1"#,
                at - 20
            ),
            _ => {
                let role = if at % 2 == 0 { "user" } else { "assistant" };
                format!(
                    r#""type":"message","message":{{"role":"{role}","content":[{{"type":"text","text":"{prose}"}}]}}"#
                )
            }
        };
        let (kind, rest) = body.split_once(',').unwrap_or((&body, ""));
        let time = "2026-01-01T00:00:01.000Z";
        text.push_str(&format!(
            "{{{kind},\"id\":\"{at:08x}\",\"parentId\":{parent},\"timestamp\":\"{time}\",{rest}}}\n"
        ));
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("session.jsonl");
    std::fs::write(&path, text).expect("a session file");
    (folder, path)
}

/// The lower bound: reads the file in pieces and counts line feeds.
pub(crate) fn count_lines(path: &Path) -> usize {
    let mut file = File::open(path).expect("the session file");
    let mut block = vec![0; 1 << 20];
    let mut lines = 0;
    loop {
        match file.read(&mut block).expect("the session file") {
            0 => return lines,
            read => lines += memchr::memchr_iter(b'\n', &block[..read]).count(),
        }
    }
}

pub(crate) fn size(path: &Path) -> divan::counter::BytesCount {
    divan::counter::BytesCount::new(std::fs::metadata(path).expect("the session file").len())
}

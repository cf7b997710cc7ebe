//! Small trees in words, and the rows in which pi 0.87.1's tree selector shows them, without colours.

use crate::session::{Options, Session};

/// A session from words `id:parent:role:text`, one second apart. The role `label` puts the label `mark` on the entry
/// that the text names. An empty parent makes a root.
///
/// # Panics
/// If a word does not have these four parts.
pub fn told(words: &[&str]) -> Session {
    let mut text = String::from(
        "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\"}\n",
    );
    for (at, word) in words.iter().enumerate() {
        let parts: Vec<&str> = word.splitn(4, ':').collect();
        let [id, parent, role, said] = parts.as_slice() else { panic!("{word:?} is not id:parent:role:text") };
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        let envelope = format!(r#""id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:{:02}.000Z""#, at + 1);
        let line = match *role {
            "label" => format!(r#"{{"type":"label",{envelope},"targetId":"{said}","label":"mark"}}"#),
            role => format!(
                r#"{{"type":"message",{envelope},"message":{{"role":"{role}","content":[{{"type":"text","text":"{said}"}}]}}}}"#
            ),
        };
        text.push_str(&line);
        text.push('\n');
    }
    Session::from_text(&text, Options::default()).unwrap()
}

/// A tree and its rows, with the status line, when a selector opens: no search, no folds.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Picture {
    pub name: &'static str,
    /// For [`told`].
    pub words: &'static [&'static str],
    /// Each row follows a line feed.
    pub rows: &'static str,
}

/// A conversation.
pub const OLD: [&str; 4] = ["a::user:q1", "b:a:assistant:r1", "c:b:user:q2", "d:c:assistant:r2"];
/// The second branch of [`OLD`].
pub const NEW: [&str; 4] = ["e:b:user:alt", "f:e:assistant:altr", "g:f:user:alt2", "h:g:assistant:altr2"];

/// Layouts that every selector must show.
pub const PICTURES: [Picture; 4] = [
    Picture {
        name: "a linear conversation stays flush left",
        words: &["a::user:q1", "b:a:assistant:r1", "c:b:user:q2", "d:c:assistant:r2"],
        rows: "
  • user: q1
  • assistant: r1
  • user: q2
› • assistant: r2
  (4/4)",
    },
    Picture {
        name: "the open branch comes first",
        words: &[
            "a::user:q1",
            "b:a:assistant:r1",
            "c:b:user:q2",
            "d:c:assistant:r2",
            "e:b:user:alt",
            "f:e:assistant:altr",
            "g:f:user:alt2",
            "h:g:assistant:altr2",
        ],
        rows: "
  • user: q1
  • assistant: r1
  ├⊟ • user: alt
  │     • assistant: altr
  │     • user: alt2
› │     • assistant: altr2
  └⊟ user: q2
        assistant: r2
  (6/8)",
    },
    Picture {
        name: "a hidden leaf selects the nearest shown ancestor",
        words: &[
            "a::user:q1",
            "b:a:assistant:r1",
            "c:b:user:q2",
            "d:c:assistant:r2",
            "e:b:user:alt",
            "f:e:assistant:altr",
            "g:f:user:alt2",
            "h:g:assistant:altr2",
            "i:f:user:deep",
            "l:i:label:c",
        ],
        rows: "
  • user: q1
  • assistant: r1
  ├⊟ • user: alt
  │     • assistant: altr
› │     ├─ • user: deep
  │     └⊟ user: alt2
  │           assistant: altr2
  └⊟ [mark] user: q2
        assistant: r2
  (5/9)",
    },
    Picture {
        name: "several roots have no connectors",
        words: &[
            "a::user:q1",
            "b:a:assistant:r1",
            "c:b:user:q2",
            "d:c:assistant:r2",
            "e:b:user:alt",
            "f:e:assistant:altr",
            "g:f:user:alt2",
            "h:g:assistant:altr2",
            "i:f:user:deep",
            "l:i:label:c",
            "m::user:new root",
            "n:m:assistant:nr",
        ],
        rows: "
  • user: new root
›    • assistant: nr
  user: q1
     assistant: r1
     ├⊟ [mark] user: q2
     │     assistant: r2
     └⊟ user: alt
           assistant: altr
           ├⊟ user: alt2
           │     assistant: altr2
           └─ user: deep
  (2/11)",
    },
];

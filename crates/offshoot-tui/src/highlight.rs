//! Syntax highlighting of code, as theme tokens. Knows no widget.
//!
//! Grammars are loaded for the first block of code. Very long lines, and lines after many others, stay plain, because
//! colouring them would take longer than a frame.

use std::sync::OnceLock;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

use crate::theme::Token;

/// Further lines of a block are plain.
const MAX_LINES: usize = 2_000;
/// Bytes of a block; the rest is plain.
const MAX_BYTES: usize = 128 * 1024;
/// Longer lines are plain, and so is the code after them.
const MAX_LINE: usize = 1_000;

/// A piece of a line and its token; `None` is plain code.
pub type Piece = (Option<Token>, String);

/// Highlights a block of code line by line.
///
/// The colours of a line depend only on the lines before it: a growing block keeps its colours.
#[derive(Debug, Clone)]
pub struct Highlighter {
    /// `None` after the limits, or if the language is unknown.
    state: Option<(ParseState, ScopeStack)>,
    lines: usize,
    bytes: usize,
}

impl Highlighter {
    /// For a language, named by the word after the fence or a file extension: `rust`, `rs`, `py`, `c++`. An unknown one
    /// gives plain text.
    #[must_use]
    pub fn of(language: &str) -> Self {
        let state = syntax(language).map(|syntax| (ParseState::new(syntax), ScopeStack::new()));
        Self { state, lines: 0, bytes: 0 }
    }

    #[must_use]
    pub fn of_path(path: &str) -> Self {
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        Self::of(name.rsplit('.').next().unwrap_or_default())
    }

    /// The pieces of the next line, given without its line feed.
    pub fn line(&mut self, line: &str) -> Vec<Piece> {
        self.lines += 1;
        self.bytes += line.len();
        if self.lines > MAX_LINES || self.bytes > MAX_BYTES || line.len() > MAX_LINE {
            // After a skipped line the colours would be wrong.
            self.state = None;
        }
        let pieces = self.state.as_mut().and_then(|state| coloured(state, line));
        pieces.unwrap_or_else(|| {
            self.state = None;
            vec![(None, line.to_owned())]
        })
    }
}

fn coloured((parser, stack): &mut (ParseState, ScopeStack), line: &str) -> Option<Vec<Piece>> {
    let whole = format!("{line}\n");
    let changes = parser.parse_line(&whole, grammars()).ok()?;
    let (mut pieces, mut from) = (Vec::<Piece>::new(), 0);
    for (at, change) in changes {
        push(&mut pieces, line.get(from..at.min(line.len())).unwrap_or_default(), stack);
        from = at.min(line.len());
        stack.apply(&change).ok()?;
    }
    push(&mut pieces, line.get(from..).unwrap_or_default(), stack);
    Some(pieces)
}

fn push(pieces: &mut Vec<Piece>, text: &str, stack: &ScopeStack) {
    if text.is_empty() {
        return;
    }
    let token = stack.scopes.iter().rev().find_map(|scope| token(*scope)).flatten();
    match pieces.last_mut() {
        Some((last, known)) if *last == token => known.push_str(text),
        _ => pieces.push((token, text.to_owned())),
    }
}

fn grammars() -> &'static SyntaxSet {
    static GRAMMARS: OnceLock<SyntaxSet> = OnceLock::new();
    GRAMMARS.get_or_init(two_face::syntax::extra_newlines)
}

fn syntax(language: &str) -> Option<&'static syntect::parsing::SyntaxReference> {
    // Plain text needs no grammars.
    if language.is_empty() || language.len() > 40 || matches!(language, "text" | "txt" | "plain" | "output") {
        return None;
    }
    let known = match language {
        "shell" | "console" | "sh-session" | "zsh" => "bash",
        "rust,no_run" | "rust,ignore" => "rust",
        "c++" => "cpp",
        "golang" => "go",
        "jsonl" | "jsonc" | "json5" => "json",
        "mjs" | "cjs" => "js",
        other => other,
    };
    grammars().find_syntax_by_token(known).filter(|syntax| syntax.name != "Plain Text")
}

/// The token of a scope; `Some(None)` is plain.
fn token(scope: Scope) -> Option<Option<Token>> {
    /// From special to general.
    const TABLE: &[(&str, Option<Token>)] = &[
        ("comment", Some(Token::SyntaxComment)),
        ("constant.numeric", Some(Token::SyntaxNumber)),
        ("constant.character.escape", Some(Token::SyntaxOperator)),
        ("constant", Some(Token::SyntaxNumber)),
        ("string", Some(Token::SyntaxString)),
        ("keyword.operator", Some(Token::SyntaxOperator)),
        ("keyword", Some(Token::SyntaxKeyword)),
        ("storage.type.function", Some(Token::SyntaxKeyword)),
        ("storage", Some(Token::SyntaxKeyword)),
        ("entity.name.function", Some(Token::SyntaxFunction)),
        ("entity.name.tag", Some(Token::SyntaxKeyword)),
        ("entity.name", Some(Token::SyntaxType)),
        ("entity.other.inherited-class", Some(Token::SyntaxType)),
        ("entity.other.attribute-name", Some(Token::SyntaxVariable)),
        ("support.function", Some(Token::SyntaxFunction)),
        ("support.macro", Some(Token::SyntaxFunction)),
        ("support.type", Some(Token::SyntaxType)),
        ("support.class", Some(Token::SyntaxType)),
        ("variable.function", Some(Token::SyntaxFunction)),
        ("variable.language", Some(Token::SyntaxKeyword)),
        ("variable", Some(Token::SyntaxVariable)),
        ("punctuation.definition.string", Some(Token::SyntaxString)),
        ("punctuation.definition.comment", Some(Token::SyntaxComment)),
        ("punctuation", Some(Token::SyntaxPunctuation)),
        ("markup.inserted", Some(Token::ToolDiffAdded)),
        ("markup.deleted", Some(Token::ToolDiffRemoved)),
        ("meta.interpolation", None),
        ("meta.diff", Some(Token::ToolDiffContext)),
    ];
    static SCOPES: OnceLock<Vec<(Scope, Option<Token>)>> = OnceLock::new();
    let scopes = SCOPES.get_or_init(|| {
        let scope = |(name, token): &(&str, Option<Token>)| Scope::new(name).ok().map(|scope| (scope, *token));
        TABLE.iter().filter_map(scope).collect()
    });
    scopes.iter().find(|(known, _)| known.is_prefix_of(scope)).map(|(_, token)| *token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(language: &str, code: &str) -> String {
        let mut highlighter = Highlighter::of(language);
        let line = |line: &str| {
            let pieces = highlighter.line(line).into_iter();
            let named = pieces.map(|(token, text)| match token {
                Some(token) => format!("{}({text})", format!("{token:?}").replace("Syntax", "").to_lowercase()),
                None => text,
            });
            named.collect::<Vec<_>>().join("")
        };
        code.lines().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn code_is_coloured_by_tokens() {
        insta::assert_snapshot!(shown("rust", "// why\nfn main() -> Result<u8> {\n    let x = \"a\\n\"; 42\n}"), @r#"
        comment(// why)
        keyword(fn) function(main)punctuation(()) punctuation(->) type(Result)punctuation(<)keyword(u8)punctuation(>) punctuation({)
            keyword(let) x operator(=) string("a)operator(\n)string(")punctuation(;) number(42)
        punctuation(})
        "#);
        insta::assert_snapshot!(shown("python", "def f(x):\n    return None  # no"), @"
        keyword(def) function(f)punctuation(()variable(x)punctuation():)
            keyword(return) number(None)  comment(# no)
        ");
        insta::assert_snapshot!(shown("diff", "+a\n-b\n c"), @"
        punctuation(+)tooldiffadded(a)
        punctuation(-)tooldiffremoved(b)
         c
        ");
    }

    #[test]
    fn unknown_languages_and_plain_text_stay_plain() {
        for language in ["", "text", "no-such-language", "\u{1b}[31m", &"x".repeat(100)] {
            assert_eq!(Highlighter::of(language).line("if x = 1"), [(None, "if x = 1".to_owned())], "{language:?}");
        }
    }

    #[test]
    fn a_comment_over_lines_stays_one() {
        let mut highlighter = Highlighter::of("c");
        for line in ["/* a", "b", "c */"] {
            assert_eq!(highlighter.line(line), [(Some(Token::SyntaxComment), line.to_owned())]);
        }
    }

    #[test]
    fn what_is_too_much_is_plain() {
        let mut highlighter = Highlighter::of("rust");
        assert!(highlighter.line("let a = 1;").len() > 1);
        let long = "x ".repeat(1_000);
        assert_eq!(highlighter.line(&long), [(None, long.clone())]);
        assert_eq!(highlighter.line("let a = 1;").len(), 1, "what follows has no colours either");

        let mut highlighter = Highlighter::of("rust");
        let coloured = (0..3_000).filter(|_| highlighter.line("let a = 1;").len() > 1).count();
        assert_eq!(coloured, MAX_LINES);
    }

    #[test]
    fn files_are_known_by_their_names() {
        for (path, is_known) in [("src/main.rs", true), ("a/Makefile", true), ("x.unknown", false), ("", false)] {
            assert_eq!(Highlighter::of_path(path).state.is_some(), is_known, "{path}");
        }
    }
}

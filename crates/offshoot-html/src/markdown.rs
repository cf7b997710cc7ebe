//! Markdown as a list of operations that build a page: open an element, write text, close.
//!
//! The script knows a closed list of elements; everything else is text. Raw HTML becomes text, an image a link to its
//! address, and only web and mail addresses become links. Nesting ends at [`DEEPEST`].

use std::borrow::Cow;

use offshoot_session::json::{push_quoted, quote};
use pulldown_cmark::{Alignment, CodeBlockKind, CowStr, Event, Options, Parser, Tag};

/// Longer texts are shown as plain text.
const LONGEST: usize = 1 << 20;

const DEEPEST: usize = 24;

const PARAGRAPH: &str = "\"p\"";

/// The operations as a JSON array: `["name", attribute]` opens an element, a string is text, 0 closes. Void elements
/// and code spans close themselves. `None` if the text needs no elements.
pub(crate) fn operations(text: &str) -> Option<String> {
    if text.len() > LONGEST || !text.bytes().any(|byte| byte.is_ascii_punctuation() || byte == b'\n') {
        return None;
    }
    let mut built = Built::default();
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for event in Parser::new_ext(text, options) {
        built.event(event);
    }
    built.flush();
    built.out.push(']');
    built.is_rich.then_some(built.out)
}

#[derive(Default)]
struct Built {
    /// The array, without its end.
    out: String,
    text: String,
    /// How to close each open element.
    open: Vec<Close>,
    shown: usize,
    is_rich: bool,
    table: Table,
}

/// Where in a table the next cell is. A table holds no other.
#[derive(Default)]
struct Table {
    alignments: Vec<Alignment>,
    is_head: bool,
    column: usize,
}

impl Table {
    /// The operation of the next cell.
    fn cell(&mut self) -> String {
        let name = if self.is_head { "th" } else { "td" };
        let alignment = self.alignments.get(self.column);
        self.column += 1;
        match alignment {
            Some(Alignment::Center) => format!("\"{name}\",\"center\""),
            Some(Alignment::Right) => format!("\"{name}\",\"right\""),
            Some(Alignment::Left | Alignment::None) | None => format!("\"{name}\""),
        }
    }
}

enum Close {
    /// The element was not opened.
    Nothing,
    Element,
    /// Text that follows a link which is not an element: its address.
    Words(String),
}

impl Built {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(_) => self.end(),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text.push_str(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.single(&format!("\"code\",{}", quote(&text)));
            }
            Event::FootnoteReference(name) => {
                self.text.push_str("[^");
                self.text.push_str(&name);
                self.text.push(']');
            }
            Event::SoftBreak => self.text.push('\n'),
            Event::HardBreak => self.text.push('\n'),
            Event::Rule => self.single("\"hr\""),
            Event::TaskListMarker(is_done) => self.text.push_str(if is_done { "☑ " } else { "☐ " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let plain = |name: &'static str| Some(Cow::Borrowed(name));
        let opening = match tag {
            Tag::Paragraph => plain(PARAGRAPH),
            Tag::Heading { level, .. } => Some(Cow::Owned(format!("\"{level}\""))),
            Tag::BlockQuote(_) => plain("\"blockquote\""),
            Tag::CodeBlock(CodeBlockKind::Fenced(language)) if !language.is_empty() => {
                Some(Cow::Owned(format!("\"pre\",{}", quote(&language))))
            }
            Tag::CodeBlock(_) | Tag::HtmlBlock | Tag::MetadataBlock(_) => plain("\"pre\""),
            Tag::List(None) => plain("\"ul\""),
            Tag::List(Some(start)) => Some(Cow::Owned(format!("\"ol\",{}", start.min(1_000_000_000)))),
            Tag::Item => plain("\"li\""),
            Tag::Table(alignments) => {
                self.table = Table { alignments, ..Table::default() };
                plain("\"table\"")
            }
            Tag::TableHead => {
                self.table.is_head = true;
                plain("\"thead\"")
            }
            Tag::TableRow => {
                self.table = Table { alignments: std::mem::take(&mut self.table.alignments), ..Table::default() };
                plain("\"tr\"")
            }
            Tag::TableCell => Some(Cow::Owned(self.table.cell())),
            Tag::Emphasis => plain("\"em\""),
            Tag::Strong => plain("\"strong\""),
            Tag::Strikethrough => plain("\"s\""),
            Tag::Link { dest_url, .. } => return self.link(&dest_url, "a"),
            Tag::Image { dest_url, .. } => return self.link(&dest_url, "image"),
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript => None,
        };
        self.open(opening);
    }

    /// Opens a link, or writes its words and its address. Images are never fetched: they become links.
    fn link(&mut self, address: &CowStr<'_>, what: &str) {
        if what == "image" {
            self.text.push_str("🖼 ");
        }
        match safe(address) {
            Some(address) => self.open(Some(Cow::Owned(format!("\"a\",{}", quote(&address))))),
            None => {
                let words = if address.is_empty() { String::new() } else { format!(" ({address})") };
                self.open.push(Close::Words(words));
            }
        }
    }

    fn open(&mut self, opening: Option<Cow<'static, str>>) {
        let Some(opening) = opening.filter(|_| self.shown < DEEPEST) else { return self.open.push(Close::Nothing) };
        self.flush();
        self.is_rich |= opening != PARAGRAPH || !self.out.is_empty();
        self.element(&opening);
        self.open.push(Close::Element);
        self.shown += 1;
    }

    fn end(&mut self) {
        match self.open.pop() {
            Some(Close::Element) => {
                self.flush();
                self.next();
                self.out.push('0');
                self.shown -= 1;
            }
            Some(Close::Words(words)) => self.text.push_str(&words),
            Some(Close::Nothing) | None => {}
        }
    }

    fn single(&mut self, element: &str) {
        self.flush();
        self.is_rich = true;
        self.element(element);
    }

    fn element(&mut self, element: &str) {
        self.next();
        self.out.extend(["[", element, "]"]);
    }

    /// Begins the next operation.
    fn next(&mut self) {
        self.out.push(if self.out.is_empty() { '[' } else { ',' });
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.next();
            push_quoted(&mut self.out, &self.text);
            self.text.clear();
        }
    }
}

/// The address without white space and control characters, which browsers skip, if it is a web or mail address.
fn safe(address: &str) -> Option<String> {
    let address: String = address.chars().filter(|c| !c.is_control() && !c.is_whitespace()).collect();
    let (scheme, _) = address.split_once(':')?;
    ["http", "https", "mailto"].iter().any(|known| scheme.eq_ignore_ascii_case(known)).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_needs_nothing() {
        assert_eq!(operations("just words"), None);
        assert_eq!(operations("A sentence, with signs: all of them plain!\nAnd a second line."), None);
    }

    #[test]
    fn prose_becomes_operations() {
        for (text, wanted) in [
            ("a\n\nb", r#"[["p"],"a",0,["p"],"b",0]"#),
            ("# x", r#"[["h1"],"x",0]"#),
            ("*a* **b** ~~c~~ `d`", r#"[["p"],["em"],"a",0," ",["strong"],"b",0," ",["s"],"c",0," ",["code","d"],0]"#),
            ("3. a\n4. b", r#"[["ol",3],["li"],"a",0,["li"],"b",0,0]"#),
            ("- [x] a", r#"[["ul"],["li"],"☑ a",0,0]"#),
            ("```rust\nlet a;\n```", r#"[["pre","rust"],"let a;\n",0]"#),
            ("|a|\n|-|\n|b|", r#"[["table"],["thead"],["th"],"a",0,0,["tr"],["td"],"b",0,0,0]"#),
            (
                "|a|b|\n|-:|:-:|\n|c|d|",
                r#"[["table"],["thead"],["th","right"],"a",0,["th","center"],"b",0,0,["tr"],["td","right"],"c",0,["td","center"],"d",0,0,0]"#,
            ),
            ("a\n\n---", r#"[["p"],"a",0,["hr"]]"#),
        ] {
            assert_eq!(operations(text).as_deref(), Some(wanted), "{text}");
        }
    }

    #[test]
    fn html_is_text() {
        assert_eq!(operations("a <b onclick=x>c</b>"), None);
        assert_eq!(
            operations("<div>\n<script>x</script>"),
            Some(r#"[["pre"],"<div>\n<script>x</script>",0]"#.to_owned())
        );
    }

    #[test]
    fn links_lead_to_the_web_or_nowhere() {
        for (address, wanted) in [
            ("https://x.y/z", Some("https://x.y/z")),
            ("HTTP://x", Some("HTTP://x")),
            ("mailto:a@b", Some("mailto:a@b")),
            ("java\tscript:alert(1)", None),
            ("\u{1}javascript:alert(1)", None),
            ("data:text/html,x", None),
            ("vbscript:x", None),
            ("file:///etc/passwd", None),
            ("//host/x", None),
            ("src/main.rs", None),
        ] {
            assert_eq!(safe(address).as_deref(), wanted, "{address}");
        }
        assert_eq!(operations("[x](javascript:y)"), None, "words and address are plain text");
        assert!(operations("**[x](javascript:y)**").unwrap().contains(r#""x (javascript:y)""#));
        assert_eq!(operations("![p](https://x/p.png)").unwrap(), r#"[["p"],"🖼 ",["a","https://x/p.png"],"p",0,0]"#);
    }

    #[test]
    fn depth_ends() {
        let deep = operations(&format!("{} x", ">".repeat(5000))).unwrap();
        assert_eq!(deep.matches("blockquote").count(), DEEPEST);
        assert_eq!(deep.matches(",0").count(), DEEPEST);
    }
}

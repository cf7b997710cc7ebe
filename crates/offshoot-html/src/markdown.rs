//! Markdown as a list of operations that build a page: open an element, write text, close.
//!
//! The script knows a closed list of elements; everything else is text. Raw HTML becomes text, an image a link to its
//! address, and only web and mail addresses become links. Nesting ends at [`DEEPEST`]. The page has the text already:
//! operations name stretches of it by their lengths.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use memchr::memchr;
use offshoot_session::json::{push_quoted, quote};
use pulldown_cmark::{Alignment, CodeBlockKind, CowStr, Event, Options, Parser, Tag};

/// Longer texts are shown as plain text.
const LONGEST: usize = 1 << 20;

const DEEPEST: usize = 24;

const PARAGRAPH: &str = "\"p\"";

/// Appends the operations as a JSON array; appends nothing and returns false if the text needs no elements.
///
/// `["name", attribute]` opens an element and 0 closes it. A positive number writes so many
/// UTF-16 units of the text, a negative one skips them, and a string is words that the text does not have. Void elements
/// and code spans close themselves.
pub(crate) fn write(text: &str, out: &mut String) -> bool {
    if text.len() > LONGEST || !text.bytes().any(|byte| byte.is_ascii_punctuation() || byte == b'\n') {
        return false;
    }
    let start = out.len();
    let mut built = Built::new(text, out);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for event in Parser::new_ext(text, options) {
        built.event(event);
    }
    built.flush();
    let is_rich = built.is_rich;
    if is_rich {
        out.push(']');
    } else {
        out.truncate(start);
    }
    is_rich
}

struct Built<'a> {
    /// The text, and whether it is ASCII.
    source: &'a str,
    is_ascii: bool,
    /// How much of the source is written or skipped.
    done: usize,
    /// The array, without its end, after `start`.
    out: &'a mut String,
    start: usize,
    /// Words that are not written yet: of the source, or else others.
    span: Range<usize>,
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

impl<'a> Built<'a> {
    fn new(source: &'a str, out: &'a mut String) -> Self {
        Self {
            source,
            is_ascii: source.is_ascii(),
            done: 0,
            start: out.len(),
            out,
            span: 0..0,
            text: String::new(),
            open: Vec::new(),
            shown: 0,
            is_rich: false,
            table: Table::default(),
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(_) => self.end(),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.say(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => self.code(&text),
            Event::FootnoteReference(name) => self.say(&format!("[^{name}]")),
            Event::SoftBreak | Event::HardBreak => self.end_line(),
            Event::Rule => self.single("\"hr\""),
            Event::TaskListMarker(is_done) => self.say(if is_done { "☑ " } else { "☐ " }),
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
            self.say("🖼 ");
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
        self.is_rich |= opening != PARAGRAPH || self.out.len() > self.start;
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
            Some(Close::Words(words)) => self.say(&words),
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
        self.out.push(if self.out.len() == self.start { '[' } else { ',' });
    }

    /// Adds words, which the source has or not.
    fn say(&mut self, words: &str) {
        match self.place(words) {
            _ if words.is_empty() => {}
            Some(place) if self.text.is_empty() && place.start == self.span.end => self.span.end = place.end,
            Some(place) => {
                self.flush();
                self.span = place;
            }
            None => {
                self.flush_span();
                self.text.push_str(words);
            }
        }
    }

    /// Adds a line feed: the next one of the source, which may have other white space before it.
    fn end_line(&mut self) {
        let rest = self.source.get(self.done.max(self.span.end)..).unwrap_or_default();
        let own = memchr(b'\n', rest.as_bytes()).and_then(|at| rest.get(at..=at));
        self.say(own.unwrap_or("\n"));
    }

    fn code(&mut self, words: &str) {
        let place = self.place(words).filter(|_| !words.is_empty());
        self.flush();
        self.is_rich = true;
        match place {
            Some(place) => {
                self.skip_to(place.start);
                self.next();
                let _always_ok = write!(self.out, "[\"code\",{}]", self.units(place.clone()));
                self.done = place.end;
            }
            None => self.element(&format!("\"code\",{}", quote(words))),
        }
    }

    /// Where the source has words that are a part of it and not written yet.
    fn place(&self, words: &str) -> Option<Range<usize>> {
        let start = (words.as_ptr() as usize).checked_sub(self.source.as_ptr() as usize)?;
        let place = start..start.checked_add(words.len())?;
        (place.start >= self.done.max(self.span.end) && place.end <= self.source.len()).then_some(place)
    }

    /// The length of a part of the source as JavaScript counts it.
    fn units(&self, part: Range<usize>) -> usize {
        if self.is_ascii {
            return part.len();
        }
        self.source.get(part).unwrap_or_default().chars().map(char::len_utf16).sum()
    }

    fn skip_to(&mut self, start: usize) {
        if start > self.done {
            let skipped = self.units(self.done..start);
            self.next();
            let _always_ok = write!(self.out, "-{skipped}");
            self.done = start;
        }
    }

    fn flush_span(&mut self) {
        let span = std::mem::take(&mut self.span);
        if !span.is_empty() {
            self.skip_to(span.start);
            self.next();
            let _always_ok = write!(self.out, "{}", self.units(span.clone()));
            self.done = span.end;
        }
    }

    fn flush(&mut self) {
        self.flush_span();
        if !self.text.is_empty() {
            self.next();
            push_quoted(self.out, &self.text);
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
    use offshoot_session::json::{Json, JsonKind};

    use super::*;

    fn operations(text: &str) -> Option<String> {
        let mut out = "before".to_owned();
        let is_rich = write(text, &mut out);
        assert!(is_rich || out == "before");
        is_rich.then(|| out.split_off(6))
    }

    /// The operations with words in the place of lengths, as the script reads them.
    fn said(source: &str) -> Option<String> {
        let operations = operations(source)?;
        let source: Vec<u16> = source.encode_utf16().collect();
        let (mut at, mut words, mut said) = (0, String::new(), Vec::new());
        let mut take = |count: usize| {
            at += count;
            String::from_utf16(&source[at - count..at]).unwrap()
        };
        for operation in Json::parse(&operations).unwrap().items() {
            match (operation.kind(), operation.text().parse::<i64>()) {
                (JsonKind::String, _) => words.push_str(&operation.as_str().unwrap()),
                (_, Ok(count @ 1..)) => words.push_str(&take(count.unsigned_abs() as usize)),
                (_, Ok(count @ ..=-1)) => drop(take(count.unsigned_abs() as usize)),
                _ => {
                    said.extend((!words.is_empty()).then(|| quote(&std::mem::take(&mut words))));
                    let mut parts = operation.items();
                    let code = parts.next().filter(|name| name.text() == "\"code\"").and(parts.next());
                    let length = code.and_then(|code| code.text().parse().ok());
                    said.push(length.map_or_else(
                        || operation.text().to_owned(),
                        |length| format!("[\"code\",{}]", quote(&take(length))),
                    ));
                }
            }
        }
        said.extend((!words.is_empty()).then(|| quote(&words)));
        Some(format!("[{}]", said.join(",")))
    }

    #[test]
    fn text_is_named_by_its_length() {
        for (text, wanted) in [
            ("# 😀 a", r#"[["h1"],-2,4,0]"#),
            ("*a* `b`\nc  \nd", r#"[["p"],["em"],-1,1,0,-1,1,-1,["code",1],-1,2,-2,2,0]"#),
            ("> a\n> b", r#"[["blockquote"],["p"],-2,2,-2,1,0,0]"#),
            ("# a\r\nb  \r\nc", r#"[["h1"],-2,1,0,["p"],-2,1,-3,2,0]"#),
            ("*a &amp; b*", r#"[["p"],["em"],-1,2,"&",-5,2,0,0]"#),
        ] {
            assert_eq!(operations(text).as_deref(), Some(wanted), "{text}");
        }
    }

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
            ("> ä\r\n> *b* &amp; 😀`c`\n", r#"[["blockquote"],["p"],"ä\n",["em"],"b",0," & 😀",["code","c"],0,0]"#),
            ("- a\\\n  b\n\n  ```\n  c\n\td\n  ```", r#"[["ul"],["li"],["p"],"a\nb",0,["pre"],"c\n  d\n",0,0,0]"#),
            ("`` a`b `` \\*c\\*", r#"[["p"],["code","a`b"]," *c*",0]"#),
        ] {
            assert_eq!(said(text).as_deref(), Some(wanted), "{text}");
        }
    }

    #[test]
    fn html_is_text() {
        assert_eq!(operations("a <b onclick=x>c</b>"), None);
        assert_eq!(said("<div>\n<script>x</script>"), Some(r#"[["pre"],"<div>\n<script>x</script>",0]"#.to_owned()));
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
        assert!(said("**[x](javascript:y)**").unwrap().contains(r#""x (javascript:y)""#));
        assert_eq!(said("![p](https://x/p.png)").unwrap(), r#"[["p"],"🖼 ",["a","https://x/p.png"],"p",0,0]"#);
    }

    #[test]
    fn depth_ends() {
        let deep = operations(&format!("{} x", ">".repeat(5000))).unwrap();
        assert_eq!(deep.matches("blockquote").count(), DEEPEST);
        assert_eq!(deep.matches(",0").count(), DEEPEST);
    }
}

//! The page around the session: head, content security policy, fact card, script. The only file that writes HTML.
//!
//! maud escapes every value. The policy allows one script and one style by their hashes and images inside the page; it
//! forbids connections, forms and frames.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use offshoot_session::clock::{parse_iso, to_iso};
use offshoot_session::entry::Source as _;
use offshoot_session::error::{Diagnostic, Result, Severity};
use offshoot_session::session::{Session, SessionPart};
use offshoot_session::text::{counted, grouped, one_line};

use crate::picked::Picked;
use crate::totals::Totals;

const STYLE: &str = include_str!("assets/page.css");
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("assets/data.js"),
    include_str!("assets/tree.js"),
    include_str!("assets/entry.js"),
    include_str!("assets/page.js"),
    "})();\n"
);

/// The most models and diagnostics that the card lists; it counts the rest.
const NAMED: usize = 20;

pub(crate) fn title(session: &Session) -> Result<String> {
    let name = session.name()?.or_else(|| session.title().map(str::to_owned));
    let name = name.map(|name| one_line(&name, 200)).filter(|name| !name.is_empty());
    Ok(name.unwrap_or_else(|| format!("Session {}", one_line(session.id(), 60))))
}

pub(crate) fn file_name(session: &Session) -> String {
    let name = session.file().and_then(|file| file.file_name()).map(|name| name.to_string_lossy().into_owned());
    one_line(&name.unwrap_or_else(|| format!("{}.jsonl", session.id())), 200)
}

/// Everything before the session's blocks.
pub(crate) fn head(title: &str) -> String {
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        hash(SCRIPT),
        hash(STYLE)
    );
    let page = html! {
        (DOCTYPE)
        html lang="en";
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="referrer" content="no-referrer";
            meta name="generator" content="offshoot";
            title { (title) }
            style { (PreEscaped(STYLE)) }
        }
        (frame())
    };
    // `html` is left open: more follows.
    page.into_string() + "\n"
}

fn frame() -> Markup {
    html! {
        header id="bar" {
            button id="menu" type="button" aria-label="Tree" aria-expanded="false" aria-controls="side" { "☰" }
            span id="where" {}
            span class="gap" {}
            button id="thinking" type="button" title="Show or hide what the model thought (t)" aria-pressed="false" { "Thinking" }
            button id="output" type="button" title="Show or hide what tools answered (o)" aria-pressed="false" { "Tool output" }
            button id="download" type="button" title="The session as a file: its lines as they stand" { "Download" span class="wide" { " .jsonl" } }
        }
        nav id="side" aria-label="Tree" {
            input id="search" type="search" placeholder="Search the tree" autocomplete="off" spellcheck="false";
            div id="filters" role="group" aria-label="Filter" {}
            button id="open" type="button" title="Open or fold all branches and runs of tool calls" aria-pressed="false" { "Open all" }
            div id="rows" role="tree" tabindex="0" aria-label="Entries" { div id="tall" {} }
            p id="status" role="status" {}
        }
        div id="veil" {}
        main {
            noscript { p class="note" { "This page carries a session and a script that shows it. Allow scripts for this file: the page connects to nothing." } }
            div id="talk" {}
        }
        div id="zoom" hidden {}
    }
}

pub(crate) struct Card<'a> {
    pub(crate) session: &'a Session,
    pub(crate) title: &'a str,
    pub(crate) totals: &'a Totals,
    pub(crate) part: SessionPart,
    pub(crate) picked: &'a Picked,
}

/// Everything after the session's blocks; `meta` is JSON.
pub(crate) fn tail(card: &Card<'_>, meta: &str) -> String {
    let tail = html! {
        (card.html())
        script type="application/octet-stream" id="meta" { (STANDARD.encode(meta)) }
        script { (PreEscaped(SCRIPT)) }
    };
    tail.into_string() + "\n</html>\n"
}

impl Card<'_> {
    fn html(&self) -> Markup {
        let (session, totals) = (self.session, self.totals);
        html! {
            section id="card" aria-label="Session" {
                h1 { (self.title) }
                dl {
                    (fact("Session", session.id()))
                    @if let Some(started) = session.header().timestamp() { (fact("Started", &moment(started))) }
                    @if let Some(last) = totals.last { (fact("Last entry", &moment(&to_iso(last)))) }
                    @if let Some(cwd) = session.cwd() { (fact("Folder", cwd)) }
                    (fact("Models", &named(&totals.models)))
                    (fact("Messages", &self.messages()))
                    (fact("Tree", &self.shape()))
                    (fact("Tokens", &tokens(totals)))
                    (fact("Cost", &format!("${:.3}", totals.cost)))
                }
                @if let Some(part) = self.part() { p class="note" { (part) } }
                (notes(session.diagnostics()))
            }
        }
    }

    fn messages(&self) -> String {
        let totals = self.totals;
        let mut parts = vec![
            format!("{} user", grouped(totals.user)),
            format!("{} assistant", grouped(totals.assistant)),
            counted(totals.calls, "tool call", "tool calls"),
            counted(totals.results, "tool result", "tool results"),
        ];
        if totals.other > 0 {
            parts.push(counted(totals.other, "other", "others"));
        }
        parts.join(", ")
    }

    fn shape(&self) -> String {
        let tree = self.session.tree();
        let is_shown = |ix: &offshoot_session::tree::NodeIx| self.picked.place(*ix) >= 0;
        let ends = match self.part {
            SessionPart::Path(_) => 1,
            SessionPart::Everything | SessionPart::Subtree(_) => tree.leaves().filter(is_shown).count(),
        };
        let mut parts =
            vec![counted(self.totals.entries, "entry", "entries"), counted(ends as u64, "branch", "branches")];
        parts.extend(
            (self.totals.compactions > 0).then(|| counted(self.totals.compactions, "compaction", "compactions")),
        );
        parts.extend(
            (self.totals.summaries > 0).then(|| counted(self.totals.summaries, "branch summary", "branch summaries")),
        );
        parts.join(", ")
    }

    fn part(&self) -> Option<String> {
        let tree = self.session.tree();
        let id = |ix| tree.node(ix).id().map_or("an entry", |id| id.as_str());
        let here = format!("{} of {}", self.picked.entries.len(), counted(tree.len(), "entry", "entries"));
        match self.part {
            SessionPart::Everything => None,
            SessionPart::Path(end) => Some(format!("This page holds the path to {}: {here}.", id(end))),
            SessionPart::Subtree(top) => Some(format!("This page holds {} and what is below it: {here}.", id(top))),
        }
    }
}

fn fact(name: &str, value: &str) -> Markup {
    html! { div { dt { (name) } dd { (one_line(value, 4000)) } } }
}

/// Diagnostics for the reader: lines that are not entries and so not on this page, damage, newer work elsewhere.
fn notes(diagnostics: &[Diagnostic]) -> Markup {
    let odd: Vec<&Diagnostic> = diagnostics.iter().filter(|found| found.severity() >= Severity::Warning).collect();
    html! {
        @if !odd.is_empty() {
            details class="note" {
                summary { "Problems in the file: " (odd.len()) }
                ul {
                    @for found in odd.iter().take(NAMED) { li { (one_line(&found.to_string(), 400)) } }
                    @if odd.len() > NAMED { li { "and " (odd.len() - NAMED) " more: " code { "offshoot check" } " lists them all" } }
                }
            }
        }
    }
}

fn named(models: &[String]) -> String {
    match models.split_at_checked(NAMED) {
        Some((first, rest)) if !rest.is_empty() => format!("{}, and {} more", first.join(", "), rest.len()),
        _ if models.is_empty() => "none".to_owned(),
        _ => models.join(", "),
    }
}

fn tokens(totals: &Totals) -> String {
    let mut parts = vec![format!("{} in", grouped(totals.input)), format!("{} out", grouped(totals.output))];
    if totals.cache_read > 0 || totals.cache_write > 0 {
        parts.push(format!("{} from cache", grouped(totals.cache_read)));
        parts.push(format!("{} to cache", grouped(totals.cache_write)));
    }
    parts.join(", ")
}

/// A time to the minute, or the text itself if it is not a time.
fn moment(text: &str) -> String {
    let iso = parse_iso(text).map(to_iso);
    iso.as_deref().and_then(|iso| iso.get(..16)).map_or_else(|| text.to_owned(), |iso| iso.replace('T', " ") + " UTC")
}

/// A script's or style's hash as a policy writes it.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_for_people() {
        assert_eq!(moment("2026-01-02T03:04:05.678Z"), "2026-01-02 03:04 UTC");
        assert_eq!(moment("soon"), "soon");
    }

    #[test]
    fn the_assets_cannot_end_their_elements() {
        assert!(!SCRIPT.to_lowercase().contains("</script") && !SCRIPT.contains("<!--"));
        assert!(!STYLE.to_lowercase().contains("</style"));
    }

    #[test]
    fn the_script_makes_no_html_from_text_and_reaches_nowhere() {
        let banned = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "DOMParser",
            "createContextualFragment",
            "eval(",
            "Function(",
            "fetch(",
            "XMLHttpRequest",
            "WebSocket",
            "sendBeacon",
            "import(",
            "setAttribute(\"on",
            "srcdoc",
            "localStorage",
            "cookie",
        ];
        for word in banned {
            assert!(!SCRIPT.contains(word), "{word}");
        }
    }
}

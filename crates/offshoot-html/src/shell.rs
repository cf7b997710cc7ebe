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
use offshoot_session::text::{counted, dollars, grouped, one_line};

use crate::limits::PageOmissions;
use crate::picked::Picked;
use crate::totals::Totals;

const STYLE: &str = include_str!("assets/page.css");
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("assets/data.js"),
    include_str!("assets/tree.js"),
    include_str!("assets/colour.js"),
    include_str!("assets/diff.js"),
    include_str!("assets/entry.js"),
    include_str!("assets/files.js"),
    include_str!("assets/search.js"),
    include_str!("assets/story.js"),
    include_str!("assets/page.js"),
    include_str!("assets/hands.js"),
    "})();\n"
);

/// The most models and diagnostics that the card lists; it counts the rest.
const NAMED: usize = 20;

pub(crate) fn title(session: &Session) -> Result<String> {
    let name = session.name()?.or_else(|| session.title().map(str::to_owned));
    let name = name.map(|name| one_line(&name, 200)).filter(|name| !name.is_empty());
    Ok(name.unwrap_or_else(|| format!("Session {}", short(session.id()))))
}

/// As much of an id as tells sessions apart at a glance; the page has the whole one among its facts.
fn short(id: &str) -> String {
    one_line(id.split('-').next().filter(|part| part.len() >= 8).unwrap_or(id), 60)
}

pub(crate) fn file_name(session: &Session) -> String {
    let name = session.file().and_then(|file| file.file_name()).map(|name| name.to_string_lossy().into_owned());
    one_line(&name.unwrap_or_else(|| format!("{}.jsonl", session.id())), 200)
}

/// Colours of the page that a user's theme sets, as red, green and blue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct PageColours {
    pub page: Option<[u8; 3]>,
    pub card: Option<[u8; 3]>,
    /// Of notes.
    pub info: Option<[u8; 3]>,
}

impl PageColours {
    /// The colours as declarations, with light or dark text as they need it.
    fn declarations(&self) -> Option<String> {
        let colours = [("--page", self.page), ("--card", self.card), ("--lit", self.info)];
        let set: String = colours
            .iter()
            .filter_map(|(name, colour)| colour.map(|[r, g, b]| format!("{name}:#{r:02x}{g:02x}{b:02x};")))
            .collect();
        let [r, g, b] = colours.iter().find_map(|(_, colour)| *colour)?;
        let is_dark = 299 * u32::from(r) + 587 * u32::from(g) + 114 * u32::from(b) < 128_000;
        let scheme = if is_dark { "dark" } else { "light" };
        Some(format!("{{{set}color-scheme:{scheme}}}"))
    }
}

/// A user's colours for readers whose system is light, and for those whose system is dark. Often both are the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct PageThemes {
    pub light: PageColours,
    pub dark: PageColours,
}

impl PageThemes {
    /// The same colours for everybody.
    #[must_use]
    pub fn one(colours: PageColours) -> Self {
        Self { light: colours, dark: colours }
    }

    /// The colours as rules. A reader who chooses light or dark gets that theme of a pair, and the page's own colours instead
    /// of a single theme.
    fn rules(&self) -> String {
        if self.light == self.dark {
            let set = self.light.declarations();
            return set.map_or(String::new(), |set| format!("@media screen{{:root:not([data-theme]){set}}}\n"));
        }
        let pair = [("light", self.light), ("dark", self.dark)];
        let rules = pair.iter().filter_map(|(name, colours)| {
            let set = colours.declarations()?;
            let chosen = format!("@media screen{{:root[data-theme=\"{name}\"]{set}}}\n");
            let preferred =
                format!("@media screen and (prefers-color-scheme:{name}){{:root:not([data-theme]){set}}}\n");
            Some(chosen + &preferred)
        });
        rules.collect()
    }
}

/// Everything before the session's blocks.
pub(crate) fn head(title: &str, themes: &PageThemes) -> String {
    let style = [STYLE, &themes.rules()].concat();
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        hash(SCRIPT),
        hash(&style)
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
            style { (PreEscaped(style)) }
        }
        (frame())
    };
    // `html` is left open: more follows.
    page.into_string() + "\n"
}

fn frame() -> Markup {
    html! {
        header id="bar" {
            button id="menu" type="button" aria-label="Tree" aria-expanded="false" aria-controls="side" title="Show or hide the tree (b)" { "☰" }
            button id="reset" type="button" title="Back to the end of the current branch (Escape)" hidden { "↩ Current branch" }
            span id="where" {}
            span class="gap" {}
            button id="more" type="button" aria-label="More" aria-expanded="false" aria-controls="tools" { "⋯" }
            div id="tools" role="group" aria-label="View" { (tools()) }
        }
        (side())
        div id="veil" {}
        main aria-busy="true" {
            noscript { p class="note" { "This page carries a session and a script that shows it. Allow scripts for this file: the page connects to nothing." } }
            div id="talk" {}
        }
        dialog id="zoom" aria-label="Picture" {}
        dialog id="sheet" aria-labelledby="sheet-title" {}
        p id="said" role="status" {}
    }
}

fn tools() -> Markup {
    html! {
        button id="thinking" type="button" title="Show or hide what the model thought (t)" aria-pressed="false" { "Thinking" }
        button id="output" type="button" title="Show or hide what tools answered (o)" aria-pressed="false" { "Tool output" }
        button id="theme" type="button" title="Light, dark, or as the system is set" { "Theme" }
        button id="print" type="button" title="Print the branch that is shown, with everything open" { "Print" }
        button id="download" type="button" title="Save the session file" { "Download" span class="wide" { " .jsonl" } }
        button id="keys" type="button" title="Keys (?)" aria-label="Keys" { "?" }
    }
}

fn side() -> Markup {
    html! {
        nav id="side" aria-label="Tree" {
            div id="find" {
                input id="search" type="search" placeholder="Search the session" aria-label="Search the session" autocomplete="off" spellcheck="false";
                button id="previous" type="button" aria-label="Previous match" title="Previous match (N)" disabled { "↑" }
                button id="next" type="button" aria-label="Next match" title="Next match (n)" disabled { "↓" }
            }
            p id="hits" role="status" {}
            div id="views" {
                div id="filters" role="group" aria-label="Filter" {}
                button id="open" type="button" title="Open or fold all branches and runs of tool calls" aria-pressed="false" { "Open all" }
            }
            div id="rows" role="tree" tabindex="0" aria-label="Entries" { div id="tall" role="presentation" {} }
            p id="status" role="status" {}
            div id="edge" role="separator" tabindex="0" aria-orientation="vertical" aria-controls="side" aria-label="Width of the tree" aria-valuemin="10" aria-valuemax="80" aria-valuenow="42" {}
        }
    }
}

pub(crate) struct Card<'a> {
    pub(crate) session: &'a Session,
    pub(crate) title: &'a str,
    pub(crate) totals: &'a Totals,
    pub(crate) part: SessionPart,
    pub(crate) picked: &'a Picked,
    pub(crate) left_out: &'a PageOmissions,
}

/// What comes before the blocks of an agent's session. A browser does nothing with what is in a template.
pub(crate) fn agent_start(id: &str) -> String {
    let id = html! { (id) }.into_string();
    format!("<template class=\"agent\" data-agent=\"{id}\">\n")
}

/// What comes after an agent's session.
pub(crate) const AGENT_END: &str = "</template>\n";

/// What comes after a session's blocks: its card, and its facts as JSON.
pub(crate) fn session_end(card: &Card<'_>, meta: &str) -> String {
    let end = html! {
        (card.html())
        script type="application/octet-stream" id="meta" { (STANDARD.encode(meta)) }
    };
    end.into_string()
}

/// The end of the page.
pub(crate) fn tail() -> String {
    html! { script { (PreEscaped(SCRIPT)) } }.into_string() + "\n</html>\n"
}

impl Card<'_> {
    fn html(&self) -> Markup {
        let (session, totals) = (self.session, self.totals);
        html! {
            section id="card" aria-label="Session" {
                h1 { (self.title) }
                p id="when" { (self.setting()) }
                div id="story" {}
                details id="facts" {
                    summary { "Session, models, tokens" }
                    dl {
                        (fact("Session", session.id()))
                        @if let Some(started) = session.header().timestamp() { (fact("Started", &moment(started))) }
                        @if let Some(last) = totals.last { (fact("Last entry", &moment(&to_iso(last)))) }
                        @if let Some(cwd) = session.cwd() { (fact("Folder", cwd)) }
                        (fact("Models", &named(&totals.models)))
                        (fact("Messages", &self.messages()))
                        (fact("Tree", &self.shape()))
                        (fact("Tokens", &tokens(totals)))
                        (fact("Cost", &dollars(totals.cost)))
                    }
                }
                @if let Some(part) = self.part() { p class="note" { (part) } }
                @if let Some(words) = self.left_out.words() { p class="note" { (words) } }
                (notes(session.diagnostics()))
            }
        }
    }

    /// When, where and with which models, in one line.
    fn setting(&self) -> String {
        let (session, totals) = (self.session, self.totals);
        let started = session.header().timestamp().map(moment);
        let last = totals.last.map(|last| moment(&to_iso(last)));
        let time = match (started, last) {
            (Some(from), Some(to)) if from.get(..10) == to.get(..10) && from != to => {
                format!("{} to {}", from.trim_end_matches(" UTC"), to.get(11..).unwrap_or_default())
            }
            (Some(from), Some(to)) if from != to => format!("{} to {to}", from.trim_end_matches(" UTC")),
            (from, to) => from.or(to).unwrap_or_default(),
        };
        let folder = session.cwd().map(|cwd| one_line(cwd, 60)).unwrap_or_default();
        let models = match totals.models.split_at_checked(2) {
            Some((first, rest)) if !rest.is_empty() => format!("{}, and {} more", first.join(", "), rest.len()),
            _ => totals.models.join(", "),
        };
        let parts = [time, folder, one_line(&models, 120)];
        parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" · ")
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
        let here = format!(
            "{} of {}",
            grouped(self.picked.entries.len() as u64),
            counted(tree.len() as u64, "entry", "entries")
        );
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
            "cookie",
        ];
        for word in banned {
            assert!(!SCRIPT.contains(word), "{word}");
        }
    }

    /// The files are one script: of two functions with one name the later would take the place of the other.
    #[test]
    fn no_two_functions_of_the_script_share_a_name() {
        let named = |line: &str| {
            let starts = ["async function* ", "async function ", "function* ", "function ", "const ", "let ", "class "];
            let rest = starts.iter().find_map(|start| line.strip_prefix(start))?;
            rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .next()
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
        };
        let mut names: Vec<_> = SCRIPT.lines().filter_map(named).collect();
        names.sort_unstable();
        assert!(names.len() > 100, "{}", names.len());
        let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| &pair[0]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    #[test]
    fn the_script_keeps_three_choices_of_its_reader_and_nothing_of_the_session() {
        let kept: Vec<&str> = SCRIPT
            .split("choices.keep({ ")
            .skip(1)
            .map(|rest| rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default())
            .collect();
        assert_eq!(kept, ["isAway", "width", "width", "theme"]);
        assert_eq!(SCRIPT.matches("localStorage").count(), 2, "one place reads and one writes");
        for word in ["sessionStorage", "indexedDB", "caches."] {
            assert!(!SCRIPT.contains(word), "{word}");
        }
    }
}

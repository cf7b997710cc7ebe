//! The status line. On the left are the folder with its git branch, the session's branch, the context use and the cost.
//! The model is at the right edge. A second line reports newer work on another branch and the key that goes there.

use offshoot_agent::sandbox::{SandboxCoverage, SandboxReport};
use offshoot_protocol::ApprovalMode;
use ratatui::text::{Line, Span};

use super::extension;
use crate::app::model::Model;
use crate::app::msg::{ModelAccess, Persistence, SessionFacts};
use crate::keymap::Action;
use crate::text::{clean, dollars, fit, in_short, truncate_middle, width};
use crate::theme::Token;

/// The columns between two pieces.
const GAP: usize = 2;
/// The number of cells of the context gauge.
const GAUGE: usize = 8;
/// The maximum columns of a name.
const NAME: usize = 24;

/// A piece of the line, in forms from the longest to the shortest.
struct Piece {
    forms: Vec<Form>,
    token: Token,
}

/// A form of a piece. When space is short, the form with the lowest number is given up first. A piece without forms is
/// omitted.
struct Form {
    given_up: u8,
    text: String,
}

/// The number of a form that is cut instead of given up.
const NEVER: u8 = u8::MAX;

pub(super) fn lines(model: &Model) -> Vec<Line<'static>> {
    let mut lines = extension::footer(model).unwrap_or_else(|| vec![status(model)]);
    if let Some(diverged) = &model.facts.diverged {
        let key = model.preferences.keymap.hint(Action::GoToDiverged);
        let go = key.map_or(format!("/switch {}", diverged.entry), |key| key);
        let room = usize::from(model.size.width).saturating_sub(width(&go) + 3);
        let text = format!("{} ({go})", fit(&clean(&diverged.message), room));
        lines.push(Line::styled(text, model.preferences.theme.style(Token::Warning)));
    }
    // A footer of an extension shows them itself.
    if model.extensions.screen.footer.is_none() {
        lines.extend(extension::statuses(model));
    }
    lines
}

/// The folder, with its checked-out git branch.
pub(super) fn folder(facts: &SessionFacts) -> String {
    format!("{}{}", clean(&facts.cwd), git_branch(facts))
}

fn git_branch(facts: &SessionFacts) -> String {
    facts.git_branch.as_ref().map(|branch| format!(" ({})", fit(branch, NAME))).unwrap_or_default()
}

/// The model and its thinking level.
pub(super) fn answering(facts: &SessionFacts) -> Option<String> {
    let answers = facts.model.as_ref().filter(|_| facts.access == ModelAccess::Ready)?;
    let thinking = facts.thinking.filter(|_| answers.reasoning);
    let thinking = thinking.map(|level| format!(" • thinking {}", level.as_str())).unwrap_or_default();
    Some(format!("{}{thinking}", clean(&answers.id)))
}

fn status(model: &Model) -> Line<'static> {
    let columns = usize::from(model.size.width);
    let mut pieces = pieces(model);
    let mut taken = length(&pieces);
    while taken > columns && shorten(&mut pieces) {
        taken = length(&pieces);
    }
    let spare = columns.saturating_sub(taken);
    let last = pieces.len().saturating_sub(1);
    let mut spans = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        let gap = if at == 0 { 0 } else { GAP };
        let gap = if at == last { gap + spare } else { gap };
        spans.push(Span::raw(" ".repeat(gap)));
        spans.push(Span::styled(fit(piece.text(), columns).into_owned(), model.preferences.theme.style(piece.token)));
    }
    Line::from(spans)
}

impl Piece {
    fn new<T: Into<String>>(token: Token, forms: impl IntoIterator<Item = (u8, T)>) -> Self {
        let form = |(given_up, text): (u8, T)| Form { given_up, text: text.into() };
        Self { forms: forms.into_iter().map(form).collect(), token }
    }

    fn text(&self) -> &str {
        self.forms.first().map_or("", |form| &form.text)
    }
}

fn length(pieces: &[Piece]) -> usize {
    pieces.iter().map(|piece| width(piece.text())).sum::<usize>() + pieces.len().saturating_sub(1) * GAP
}

/// Shortens the line by one step. Returns whether that was possible.
fn shorten(pieces: &mut Vec<Piece>) -> bool {
    let next = |piece: &Piece| piece.forms.first().map_or(NEVER, |form| form.given_up);
    let Some(piece) = pieces.iter_mut().min_by_key(|piece| next(piece)).filter(|piece| next(piece) < NEVER) else {
        return false;
    };
    piece.forms.remove(0);
    pieces.retain(|piece| !piece.forms.is_empty());
    true
}

/// The pieces from left to right. The last one is at the right edge.
fn pieces(model: &Model) -> Vec<Piece> {
    let facts = &model.facts;
    let mut pieces = Vec::new();
    let unusual = match facts.persistence {
        Persistence::Durable => None,
        Persistence::Spilled => Some(("not saved in its file: kept beside it", "not saved in its file", Token::Error)),
        Persistence::Deleted => Some(("its file was deleted", "deleted", Token::Error)),
        Persistence::InMemory => Some(("only in memory", "in memory", Token::Warning)),
    };
    pieces.extend(unusual.map(|(long, short, token)| Piece::new(token, [(4, long), (NEVER, short)])));
    if model.approval != ApprovalMode::Auto {
        let mode = model.approval.as_str();
        pieces.push(Piece::new(Token::Muted, [(4, format!("approval: {mode}")), (NEVER, mode.to_owned())]));
    }
    pieces.extend(facts.sandbox.as_ref().map(sandbox));
    pieces.extend(background(model));
    if !facts.cwd.is_empty() {
        let short = truncate_middle(&clean(&facts.cwd), NAME).into_owned();
        let forms = [(2, folder(facts)), (9, format!("{short}{}", git_branch(facts))), (11, short)];
        pieces.push(Piece::new(Token::Dim, forms));
    }
    pieces.extend(facts.name.as_ref().map(|name| Piece::new(Token::Dim, [(5, fit(name, NAME))])));
    if let Some(branch) = facts.branch.as_ref().filter(|_| facts.branches > 1) {
        let count = format!("{} branches", facts.branches);
        let name = format!("⑂ {}", fit(&clean(branch), NAME));
        pieces.push(Piece::new(Token::Dim, [(3, format!("{name} ({count})")), (6, name), (7, count)]));
    }
    pieces.extend(context(model));
    pieces.extend(money(model));
    pieces.extend(answers(model));
    pieces
}

/// What the session has cost, and what its agents have: `$0.31 (+$1.20 in 3)`.
fn money(model: &Model) -> Option<Piece> {
    let own = model.facts.cost;
    let (children, count) = model.agents.cost();
    if children <= 0.0 {
        return (own > 0.0).then(|| Piece::new(Token::Dim, [(8, dollars(own))]));
    }
    let sum = format!("{} in all", dollars(own + children));
    Some(Piece::new(Token::Dim, [(6, format!("{} (+{} in {count})", dollars(own), dollars(children))), (8, sum)]))
}

/// What runs in the background.
fn background(model: &Model) -> Option<Piece> {
    let commands = model.running().map(|command| command.command.as_str());
    let running: Vec<&str> = commands.chain(model.agents_in_background()).collect();
    let [first, ..] = running.as_slice() else { return None };
    let count = format!("{} in background", running.len());
    let words = clean(first).split_whitespace().collect::<Vec<_>>().join(" ");
    let long = if running.len() == 1 { format!("background: {}", fit(&words, NAME)) } else { count.clone() };
    Some(Piece::new(Token::Muted, [(4, long), (9, count), (NEVER, format!("{} bg", running.len()))]))
}

/// The sandbox of commands, if there is one.
fn sandbox(report: &SandboxReport) -> Piece {
    let mode = report.mode.name();
    match report.coverage {
        SandboxCoverage::Whole => {
            Piece::new(Token::Muted, [(4, format!("sandbox: {mode}")), (9, "sandboxed".to_owned())])
        }
        SandboxCoverage::Partial => {
            let forms = [(4, format!("sandbox in part: {mode}")), (NEVER, "sandbox in part".to_owned())];
            Piece::new(Token::Warning, forms)
        }
        SandboxCoverage::Nothing => Piece::new(Token::Warning, [(4, "sandbox not available"), (NEVER, "no sandbox")]),
        SandboxCoverage::Refusing => {
            Piece::new(Token::Error, [(4, "no sandbox: commands are refused"), (NEVER, "no sandbox")])
        }
    }
}

/// The context use.
fn context(model: &Model) -> Option<Piece> {
    let facts = &model.facts;
    let window = facts.model.as_ref().filter(|_| facts.access == ModelAccess::Ready)?.context_window;
    if window == 0 {
        // A model that an extension may still register.
        return None;
    }
    let share = facts.tokens as f64 * 100.0 / window as f64;
    let token = match share {
        share if share > 90.0 => Token::Error,
        share if share > 70.0 => Token::Warning,
        _ => Token::Dim,
    };
    let full = facts.tokens.saturating_mul(GAUGE as u64).saturating_add(window / 2) / window;
    let full = usize::try_from(full).unwrap_or(GAUGE).min(GAUGE);
    let gauge = format!("{}{}", "█".repeat(full), "░".repeat(GAUGE - full));
    let said = format!("{share:.0}% of {}", in_short(window));
    let forms =
        [(0, format!("context {gauge} {said}")), (4, format!("context {said}")), (12, format!("{share:.0}% full"))];
    Some(Piece::new(token, forms))
}

/// The model, or the reason why no model can be used.
fn answers(model: &Model) -> Option<Piece> {
    let id = clean(&model.facts.model.as_ref()?.id);
    Some(match model.facts.access {
        ModelAccess::Ready => {
            let long = answering(&model.facts).unwrap_or_default();
            let short = long.replace("• thinking ", "• ");
            Piece::new(Token::Muted, [(1, long), (10, short), (NEVER, id.into_owned())])
        }
        ModelAccess::NoKeyForModel => {
            Piece::new(Token::Warning, [(1, format!("no key for {id}: /model")), (NEVER, format!("{id}: no key"))])
        }
        ModelAccess::NoKeys => Piece::new(Token::Warning, [(1, "no model yet: /model"), (NEVER, "no model")]),
    })
}

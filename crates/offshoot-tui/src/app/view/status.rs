//! The status: where, who answers, how full the context is, what it cost, which branch, how safe the words are; and below
//! it, when there is any, newer work elsewhere and the key that goes there.

use ratatui::text::{Line, Span};

use crate::app::model::Model;
use crate::app::msg::Persistence;
use crate::keymap::Action;
use crate::text::{clean, fit, in_short, width};
use crate::theme::Token;

/// A piece, and how soon it is left out when there is little room: the highest goes first.
struct Piece {
    text: String,
    token: Token,
    rank: u8,
}

pub(super) fn lines(model: &Model) -> Vec<Line<'static>> {
    let mut lines = vec![status(model)];
    if let Some(diverged) = &model.looked.diverged {
        let key = model.wishes.keymap.hint(Action::GoToDiverged);
        let go = key.map_or(format!("/switch {}", diverged.entry), |key| key);
        let text = format!("{go} goes there: {}", clean(&diverged.message));
        let text = fit(&text, usize::from(model.size.width)).into_owned();
        lines.push(Line::styled(text, model.wishes.theme.style(Token::Warning)));
    }
    lines
}

fn status(model: &Model) -> Line<'static> {
    const GAP: usize = 2;
    let columns = usize::from(model.size.width);
    let mut pieces = pieces(model);
    let length = |pieces: &[Piece]| pieces.iter().map(|piece| width(&piece.text) + GAP).sum::<usize>();
    while pieces.len() > 1 && length(&pieces) > columns + GAP {
        let least = pieces.iter().enumerate().max_by_key(|(_, piece)| piece.rank).map(|(at, _)| at);
        match least {
            Some(at) => drop(pieces.remove(at)),
            None => break,
        }
    }
    let mut spans = Vec::new();
    for piece in pieces {
        if !spans.is_empty() {
            spans.push(Span::raw(" ".repeat(GAP)));
        }
        let text = fit(&piece.text, columns).into_owned();
        spans.push(Span::styled(text, model.wishes.theme.style(piece.token)));
    }
    Line::from(spans)
}

fn pieces(model: &Model) -> Vec<Piece> {
    let looked = &model.looked;
    let mut pieces = Vec::new();
    let mut add = |text: String, token: Token, rank: u8| {
        if !text.is_empty() {
            pieces.push(Piece { text: clean(&text).into_owned(), token, rank });
        }
    };
    if let Some(answers) = &looked.model {
        let thinking = looked.thinking.filter(|_| answers.reasoning);
        let thinking = thinking.map(|level| format!(" • {}", level.as_str())).unwrap_or_default();
        add(format!("{}{thinking}", answers.id), Token::Muted, 1);
        let share = looked.tokens as f64 * 100.0 / answers.context_window.max(1) as f64;
        let token = match share {
            share if share > 90.0 => Token::Error,
            share if share > 70.0 => Token::Warning,
            _ => Token::Dim,
        };
        add(format!("{share:.1}%/{}", in_short(answers.context_window)), token, 2);
    }
    if looked.cost > 0.0 {
        add(format!("${:.3}", looked.cost), Token::Dim, 4);
    }
    let branch = looked.branch.as_ref().map(|branch| fit(&clean(branch), 24).into_owned()).unwrap_or_default();
    let others = if looked.branches > 1 { format!(" (1 of {})", looked.branches) } else { String::new() };
    add(if branch.is_empty() { branch } else { format!("⑂ {branch}{others}") }, Token::Dim, 5);
    let (kept, token) = match looked.persistence {
        Persistence::Durable => ("durable", Token::Dim),
        Persistence::Spilled => ("spilled", Token::Error),
        Persistence::Deleted => ("deleted", Token::Error),
        Persistence::InMemory => ("in memory", Token::Warning),
    };
    add(kept.to_owned(), token, 0);
    add(looked.name.clone().map(|name| fit(&name, 24).into_owned()).unwrap_or_default(), Token::Dim, 6);
    add(looked.cwd.clone(), Token::Dim, 7);
    pieces
}

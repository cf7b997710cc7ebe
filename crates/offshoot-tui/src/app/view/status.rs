//! The status line: who answers, how full the context is, what it cost, where in the tree, how safe the words are.

use ratatui::text::Line;

use crate::app::model::Model;
use crate::app::msg::Persistence;
use crate::text::clean;
use crate::theme::Token;

pub(super) fn line(model: &Model) -> Line<'static> {
    let looked = &model.looked;
    let mut parts = Vec::new();
    if let Some(answers) = &looked.model {
        let thinking = looked.thinking.map(|level| format!(" • {}", level.as_str())).unwrap_or_default();
        parts.push(format!("{}{thinking}", answers.id));
        let share = looked.tokens as f64 * 100.0 / answers.context_window.max(1) as f64;
        parts.push(format!("{share:.1}%/{}", short(answers.context_window)));
    }
    if looked.cost > 0.0 {
        parts.push(format!("${:.3}", looked.cost));
    }
    parts.extend(looked.branch.clone());
    parts.push(
        match looked.persistence {
            Persistence::Durable => "durable",
            Persistence::Spilled => "spilled",
            Persistence::InMemory => "in memory",
        }
        .to_owned(),
    );
    Line::styled(clean(&parts.join("  ")).into_owned(), model.theme.style(Token::Dim))
}

/// A number of tokens in few characters: 950, 1.2k, 34k, 5.6M.
fn short(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..10_000 => format!("{:.1}k", tokens as f64 / 1e3),
        10_000..1_000_000 => format!("{}k", tokens / 1_000),
        _ => format!("{:.1}M", tokens as f64 / 1e6),
    }
}

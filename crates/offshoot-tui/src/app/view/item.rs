//! One thing of the conversation as lines.

use offshoot_agent::message::Block;
use ratatui::style::Style;
use ratatui::text::Line;

use crate::app::model::Item;
use crate::app::msg::Level;
use crate::text::clean;
use crate::theme::{Theme, Token};

pub(super) fn lines(item: &Item, theme: &Theme, width: u16) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut add = |text: &str, style: Style| wrapped(&mut lines, text, width, style);
    match item {
        Item::User(text) => add(&format!("> {text}"), theme.style(Token::UserMessageBg)),
        Item::Answer { blocks, error } => {
            for block in blocks {
                match block {
                    Block::Text { text, .. } => add(text, theme.style(Token::Text)),
                    Block::Thinking { thinking, .. } => add(thinking, theme.style(Token::ThinkingText)),
                    Block::Image { .. } | Block::ToolCall { .. } => {}
                }
            }
            if let Some(error) = error {
                add(error, theme.style(Token::Error));
            }
        }
        Item::Tool { name, args, output, ended, .. } => {
            let token = if *ended == Some(true) { Token::Error } else { Token::ToolTitle };
            add(&format!("{name} {args}"), theme.style(token));
            add(output, theme.style(Token::ToolOutput));
        }
        Item::Notice(level, text) => add(
            text,
            theme.style(match level {
                Level::Info => Token::Muted,
                Level::Warning => Token::Warning,
                Level::Error => Token::Error,
            }),
        ),
    }
    lines.push(Line::default());
    lines
}

fn wrapped(lines: &mut Vec<Line<'static>>, text: &str, columns: u16, style: Style) {
    for line in text.trim_end().lines() {
        let mut row = String::new();
        for at in clean(line).chars() {
            row.push(at);
            if crate::text::width(&row) > usize::from(columns) {
                row.pop();
                lines.push(Line::styled(std::mem::take(&mut row), style));
                row.push(at);
            }
        }
        lines.push(Line::styled(row, style));
    }
}

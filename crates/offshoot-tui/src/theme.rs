//! The colours of everything on the screen, by token. Knows no widget.

use ratatui::style::{Color, Modifier, Style};

/// What a piece of the screen is: a theme gives each its colour.
///
/// Names are those of pi's themes (spec: ui-and-export §9), so that a theme file of pi's reads here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the field's, and say it")]
pub enum Token {
    Accent,
    Border,
    BorderAccent,
    BorderMuted,
    Success,
    Error,
    Warning,
    Muted,
    Dim,
    Text,
    ThinkingText,
    SelectedBg,
    SearchMatchBg,
    SearchMatchText,
    UserMessageBg,
    UserMessageText,
    CustomMessageBg,
    CustomMessageText,
    CustomMessageLabel,
    ToolPendingBg,
    ToolSuccessBg,
    ToolErrorBg,
    ToolTitle,
    ToolOutput,
    MdHeading,
    MdLink,
    MdLinkUrl,
    MdCode,
    MdCodeBlock,
    MdCodeBlockBorder,
    MdQuote,
    MdQuoteBorder,
    MdHr,
    MdListBullet,
    ToolDiffAdded,
    ToolDiffRemoved,
    ToolDiffContext,
    SyntaxComment,
    SyntaxKeyword,
    SyntaxFunction,
    SyntaxVariable,
    SyntaxString,
    SyntaxNumber,
    SyntaxType,
    SyntaxOperator,
    SyntaxPunctuation,
    ThinkingOff,
    ThinkingMinimal,
    ThinkingLow,
    ThinkingMedium,
    ThinkingHigh,
    ThinkingXhigh,
    ThinkingMax,
    BashMode,
}

/// A set of colours.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Theme {}

impl Theme {
    /// The style of a token: foreground for text, background for those that end in `Bg`.
    #[must_use]
    pub fn style(&self, token: Token) -> Style {
        match token {
            Token::Accent | Token::MdLink => Style::new().fg(Color::Cyan),
            Token::Error | Token::ToolDiffRemoved => Style::new().fg(Color::Red),
            Token::Success | Token::ToolDiffAdded => Style::new().fg(Color::Green),
            Token::Warning | Token::MdHeading => Style::new().fg(Color::Yellow),
            Token::Muted | Token::Dim => Style::new().add_modifier(Modifier::DIM),
            Token::SelectedBg | Token::UserMessageBg => Style::new().bg(Color::Indexed(236)),
            _ => Style::new(),
        }
    }
}

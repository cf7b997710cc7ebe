//! The tokens of a theme, and their styles without colours.

use ratatui::style::Modifier;

macro_rules! tokens {
    ($($token:ident = $name:literal,)*) => {
        /// An element of the screen to which a theme gives a colour. Names are those of pi's themes, so that pi's theme
        /// files work here.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Token {
            $($token,)*
        }

        impl Token {
            /// In the order of a theme file.
            pub const ALL: [Self; Self::COUNT] = [$(Self::$token,)*];
            pub const COUNT: usize = [$($name,)*].len();

            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$token => $name,)*
                }
            }
        }
    };
}

tokens! {
    Accent = "accent",
    Border = "border",
    BorderAccent = "borderAccent",
    BorderMuted = "borderMuted",
    Success = "success",
    Error = "error",
    Warning = "warning",
    Muted = "muted",
    Dim = "dim",
    Text = "text",
    ThinkingText = "thinkingText",
    SelectedBg = "selectedBg",
    ScrollbarTrack = "scrollbarTrack",
    ScrollbarThumb = "scrollbarThumb",
    SearchMatchBg = "searchMatchBg",
    SearchMatchText = "searchMatchText",
    UserMessageBg = "userMessageBg",
    UserMessageText = "userMessageText",
    CustomMessageBg = "customMessageBg",
    CustomMessageText = "customMessageText",
    CustomMessageLabel = "customMessageLabel",
    ToolPendingBg = "toolPendingBg",
    ToolSuccessBg = "toolSuccessBg",
    ToolErrorBg = "toolErrorBg",
    ToolTitle = "toolTitle",
    ToolOutput = "toolOutput",
    MdHeading = "mdHeading",
    MdLink = "mdLink",
    MdLinkUrl = "mdLinkUrl",
    MdCode = "mdCode",
    MdCodeBlock = "mdCodeBlock",
    MdCodeBlockBorder = "mdCodeBlockBorder",
    MdQuote = "mdQuote",
    MdQuoteBorder = "mdQuoteBorder",
    MdHr = "mdHr",
    MdListBullet = "mdListBullet",
    ToolDiffAdded = "toolDiffAdded",
    ToolDiffRemoved = "toolDiffRemoved",
    ToolDiffContext = "toolDiffContext",
    SyntaxComment = "syntaxComment",
    SyntaxKeyword = "syntaxKeyword",
    SyntaxFunction = "syntaxFunction",
    SyntaxVariable = "syntaxVariable",
    SyntaxString = "syntaxString",
    SyntaxNumber = "syntaxNumber",
    SyntaxType = "syntaxType",
    SyntaxOperator = "syntaxOperator",
    SyntaxPunctuation = "syntaxPunctuation",
    ThinkingOff = "thinkingOff",
    ThinkingMinimal = "thinkingMinimal",
    ThinkingLow = "thinkingLow",
    ThinkingMedium = "thinkingMedium",
    ThinkingHigh = "thinkingHigh",
    ThinkingXhigh = "thinkingXhigh",
    ThinkingMax = "thinkingMax",
    BashMode = "bashMode",
}

impl Token {
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|token| token.name() == name)
    }

    #[must_use]
    pub fn is_background(self) -> bool {
        self.name().ends_with("Bg")
    }

    /// The token whose colour is used if a theme lacks this one; `None` if it is required.
    #[must_use]
    pub const fn fallback(self) -> Option<Self> {
        match self {
            Self::ScrollbarTrack => Some(Self::Muted),
            Self::ScrollbarThumb | Self::SearchMatchText => Some(Self::Text),
            Self::SearchMatchBg => Some(Self::SelectedBg),
            Self::ThinkingMax => Some(Self::ThinkingXhigh),
            _ => None,
        }
    }

    /// A background without meaning of its own, too faint for sixteen colours.
    pub(super) fn is_tint(self) -> bool {
        self.is_background() && !matches!(self, Self::SelectedBg | Self::SearchMatchBg)
    }

    pub(super) fn without_colour(self) -> Modifier {
        match self {
            Self::SelectedBg => Modifier::REVERSED,
            Self::SearchMatchBg | Self::MdLink | Self::MdLinkUrl => Modifier::UNDERLINED,
            Self::SearchMatchText
            | Self::Accent
            | Self::Error
            | Self::Warning
            | Self::ToolTitle
            | Self::MdHeading
            | Self::CustomMessageLabel
            | Self::ToolDiffAdded
            | Self::BashMode => Modifier::BOLD,
            Self::ThinkingText | Self::MdQuote => Modifier::ITALIC,
            Self::Muted | Self::Dim | Self::BorderMuted | Self::ScrollbarTrack | Self::SyntaxComment => Modifier::DIM,
            _ => Modifier::empty(),
        }
    }
}

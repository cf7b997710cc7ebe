//! What becomes of files when one goes to another place of the tree. Data only.

/// Whether the files of the place come along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FilesAlong {
    /// They stay as they are.
    #[default]
    Stay,
    /// They come, unless git has another commit checked out than when they were recorded.
    Come,
    /// They come, whatever git has checked out.
    ComeAcrossCommits,
}

impl FilesAlong {
    /// What a switch says.
    #[must_use]
    pub fn of(files: bool) -> Self {
        if files { Self::Come } else { Self::Stay }
    }

    /// The same, if a second switch allows it whatever git has checked out.
    #[must_use]
    pub fn across_commits(self, is_allowed: bool) -> Self {
        match self {
            Self::Come if is_allowed => Self::ComeAcrossCommits,
            along => along,
        }
    }
}

/// What comes back from a place of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ComesBack {
    /// The conversation goes there, and files stay.
    #[default]
    Messages,
    /// Both.
    Both,
    /// Files, and the conversation stays.
    Files,
}

impl ComesBack {
    /// All, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Messages, Self::Both, Self::Files];

    /// The word of the setting `treeFiles`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Both => "both",
            Self::Files => "files",
        }
    }

    /// What a word says.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|comes| comes.word() == word)
    }
}

/// The files that came, as JSON and in words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FilesThatCame {
    /// As `switch --files --json` prints them.
    pub json: String,
    /// Line by line.
    pub words: Vec<String>,
}

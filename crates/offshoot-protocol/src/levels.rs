//! Each model's names of the thinking levels. Knows no wire format.

use crate::thinking::ThinkingLevel;

/// A model's names of the levels (pi's `thinkingLevelMap`); `None` for a level that it lacks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Levels(Vec<(ThinkingLevel, Option<String>)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named<'a> {
    Lacking,
    /// The model does not list the level.
    Unsaid,
    As(&'a str),
}

impl Levels {
    /// Pairs of level and the model's name; unknown levels are dropped.
    pub fn new<'a>(pairs: impl IntoIterator<Item = (&'a str, Option<String>)>) -> Self {
        let known = pairs.into_iter().filter_map(|(name, named)| Some((ThinkingLevel::parse(name)?, named)));
        Self(known.collect())
    }

    pub(crate) fn named(&self, level: ThinkingLevel) -> Named<'_> {
        match self.0.iter().rfind(|(known, _)| *known == level) {
            None => Named::Unsaid,
            Some((_, None)) => Named::Lacking,
            Some((_, Some(name))) => Named::As(name),
        }
    }

    /// Whether the model lists no level.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds names that override these.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

//! Thinking levels, and each model's names for them. Knows no wire format.

/// A thinking level, from least to most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum ThinkingLevel {
    #[default]
    Off,
    Minimal,
    Low,
    Medium,
    High,
    /// Few models have it.
    XHigh,
    /// Few models have it.
    Max,
}

impl ThinkingLevel {
    /// From least to most.
    pub const ALL: [Self; 7] = [Self::Off, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::XHigh, Self::Max];

    /// The level with the name that sessions and command lines use.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }

    /// `off`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }
}

/// A model's names of the levels (pi's `thinkingLevelMap`); `None` for a level that it lacks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Levels(Vec<(ThinkingLevel, Option<String>)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named<'a> {
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

    pub(super) fn named(&self, level: ThinkingLevel) -> Named<'_> {
        match self.0.iter().rfind(|(known, _)| *known == level) {
            None => Named::Unsaid,
            Some((_, None)) => Named::Lacking,
            Some((_, Some(name))) => Named::As(name),
        }
    }

    /// Adds names that override these.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

impl super::Model {
    /// The model's levels, from least to most.
    pub fn levels(&self) -> Vec<ThinkingLevel> {
        let has = |level: &ThinkingLevel| match self.levels.named(*level) {
            Named::Lacking => false,
            Named::As(_) => true,
            Named::Unsaid => *level <= ThinkingLevel::High,
        };
        if self.reasoning { ThinkingLevel::ALL.into_iter().filter(has).collect() } else { vec![ThinkingLevel::Off] }
    }

    /// The nearest level of the model: the same, else the next higher, else the next lower.
    pub fn clamp(&self, level: ThinkingLevel) -> ThinkingLevel {
        let has = self.levels();
        let up = has.iter().find(|known| **known >= level);
        up.or_else(|| has.iter().rfind(|known| **known < level)).copied().unwrap_or_default()
    }

    /// The model's name of a level, else the level's own.
    pub(super) fn effort(&self, level: ThinkingLevel) -> &str {
        match self.levels.named(level) {
            Named::As(name) => name,
            Named::Lacking | Named::Unsaid => level.as_str(),
        }
    }

    /// The model's name of `off`: `None` if thinking cannot be turned off, `Some("")` if the model does not list it.
    pub(super) fn off(&self) -> Option<&str> {
        match self.levels.named(ThinkingLevel::Off) {
            Named::Lacking => None,
            Named::Unsaid => Some(""),
            Named::As(name) => Some(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Model;
    use super::*;

    #[test]
    fn a_level_goes_up_before_it_goes_down() {
        let levels = Levels::new([("off", None), ("minimal", None), ("xhigh", Some("xhigh".to_owned()))]);
        let model = Model { reasoning: true, levels, ..Model::default() };
        assert_eq!(model.clamp(ThinkingLevel::Off), ThinkingLevel::Low);
        assert_eq!(model.clamp(ThinkingLevel::Medium), ThinkingLevel::Medium);
        assert_eq!(model.clamp(ThinkingLevel::Max), ThinkingLevel::XHigh);
        assert_eq!(Model::default().clamp(ThinkingLevel::Max), ThinkingLevel::Off);
    }

    #[test]
    fn names_go_both_ways() {
        for level in ThinkingLevel::ALL {
            assert_eq!(ThinkingLevel::parse(level.as_str()), Some(level));
        }
        assert_eq!(ThinkingLevel::parse("High"), None);
    }
}

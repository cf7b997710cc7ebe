//! Each model's names of the thinking levels. Knows no wire format.

use offshoot_protocol::ThinkingLevel;

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
}

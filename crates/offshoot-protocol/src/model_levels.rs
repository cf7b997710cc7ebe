//! Which thinking levels a model has, and what it calls them. Knows no wire format.

use crate::levels::Named;
use crate::model::Model;
use crate::thinking::ThinkingLevel;

impl Model {
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

    /// The model's name of a level, if it lists the level.
    pub fn named(&self, level: ThinkingLevel) -> Option<&str> {
        match self.levels.named(level) {
            Named::As(name) => Some(name),
            Named::Lacking | Named::Unsaid => None,
        }
    }

    /// The model's name of a level, else the level's own.
    pub fn effort(&self, level: ThinkingLevel) -> &str {
        match self.levels.named(level) {
            Named::As(name) => name,
            Named::Lacking | Named::Unsaid => level.as_str(),
        }
    }

    /// The model's name of `off`: `None` if thinking cannot be turned off, `Some("")` if the model does not list it.
    pub fn off(&self) -> Option<&str> {
        match self.levels.named(ThinkingLevel::Off) {
            Named::Lacking => None,
            Named::Unsaid => Some(""),
            Named::As(name) => Some(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::levels::Levels;

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

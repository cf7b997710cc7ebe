//! When agents delete sessions by themselves. Knows no session's content.

use std::path::Path;

use offshoot_session::clock::Millis;
use offshoot_session::json::Json;
use offshoot_session::medium::read_regular_text;

use crate::agent::Agent;

const DAY: Millis = 24 * 60 * 60 * 1000;
/// What counts where the settings say nothing, or cannot be read.
const USUAL_DAYS: f64 = 30.0;
/// Longer settings are not read.
const LARGEST: u64 = 4 << 20;

impl Agent {
    /// How long a session of this agent stays after its last change; `None` if the agent never deletes one by itself.
    #[must_use]
    pub fn keeps_for(self, root: &Path) -> Option<Millis> {
        let text = read_regular_text(&root.join("settings.json"), LARGEST).unwrap_or_default();
        let settings = Json::parse(&text).unwrap_or(Json::NULL);
        let days = match self {
            Self::Claude => settings.get("cleanupPeriodDays").and_then(Json::as_f64).filter(|days| *days >= 1.0),
            Self::Gemini => {
                let retention = settings.get("general").and_then(|general| general.get("sessionRetention"));
                if retention.and_then(|retention| retention.get("enabled")?.as_bool()) == Some(false) {
                    return None;
                }
                retention.and_then(|retention| days_of(&retention.str("maxAge")?))
            }
            _ => return None,
        };
        Some((days.unwrap_or(USUAL_DAYS).min(100_000.0) * DAY as f64) as Millis)
    }
}

/// An age such as `30d`, `2w` or `12h` in days.
fn days_of(age: &str) -> Option<f64> {
    let unit = age.chars().next_back()?;
    let number: f64 = age.strip_suffix(unit)?.trim().parse().ok()?;
    match unit {
        'h' => Some(number / 24.0),
        'd' => Some(number),
        'w' => Some(number * 7.0),
        'm' => Some(number * 30.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_say_when_sessions_are_deleted() {
        let root = tempfile::tempdir().unwrap();
        let settings = |text: &str| std::fs::write(root.path().join("settings.json"), text).unwrap();
        let days = |agent: Agent| agent.keeps_for(root.path()).map(|time| time / DAY);
        assert_eq!((days(Agent::Claude), days(Agent::Gemini), days(Agent::Codex)), (Some(30), Some(30), None));
        settings(r#"{"cleanupPeriodDays":7,"general":{"sessionRetention":{"maxAge":"2w"}}}"#);
        assert_eq!((days(Agent::Claude), days(Agent::Gemini)), (Some(7), Some(14)));
        settings(r#"{"cleanupPeriodDays":0,"general":{"sessionRetention":{"enabled":false}}}"#);
        assert_eq!((days(Agent::Claude), days(Agent::Gemini)), (Some(30), None));
        settings("{");
        assert_eq!(days(Agent::Claude), Some(30));
    }
}

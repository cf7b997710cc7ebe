//! Where the person seems to be: at the terminal, or elsewhere.

use offshoot_session::clock::Millis;

/// A person who has typed within this time is there, as far as a terminal that does not report its focus can tell.
const AWAY_AFTER: Millis = 10_000;

/// What is known of the person.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Attention {
    /// Whether the terminal has the focus; `None` if it has never said so.
    pub focus: Option<bool>,
    /// The time of the last key.
    pub typed_at: Millis,
    /// When the person is called about the open question.
    pub due: Option<Millis>,
}

impl Attention {
    /// The person has pressed a key.
    pub fn typed(&mut self, now: Millis) {
        (self.typed_at, self.due) = (now, None);
    }

    /// A question is there that the person has not seen if nobody looks.
    pub fn asked(&mut self, now: Millis) {
        self.due = match self.focus {
            Some(true) => None,
            Some(false) => Some(now),
            None => Some(now.max(self.typed_at.saturating_add(AWAY_AFTER))),
        };
    }

    /// Whether the person is elsewhere.
    #[must_use]
    pub fn is_away(&self, now: Millis) -> bool {
        self.focus.map_or_else(|| now.saturating_sub(self.typed_at) >= AWAY_AFTER, |has_focus| !has_focus)
    }
}

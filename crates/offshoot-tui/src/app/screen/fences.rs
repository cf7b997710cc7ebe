//! Questions after pictures. A terminal answers in order, so an answer says that the pictures before the question are on its screen,
//! however long the line stood still. Does not send them.

use offshoot_session::clock::Millis;

/// Asks whether the terminal works, which each answers (DSR).
pub(super) const QUESTION: &str = "\x1b[5n";

#[derive(Debug, Default)]
pub(super) struct Fences {
    asked: u64,
    answered: u64,
    /// Whether the terminal has ever answered.
    is_answering: bool,
    /// When the last answer came.
    since: Millis,
}

impl Fences {
    pub(super) fn ask(&mut self) {
        self.asked += 1;
    }

    pub(super) fn answer(&mut self, now: Millis) {
        self.is_answering = true;
        // Others are the answers to another program.
        self.answered = self.asked.min(self.answered + 1);
        self.since = now;
    }

    /// Another program has had the terminal, and with it the answers.
    pub(super) fn begin_again(&mut self) {
        (self.asked, self.answered) = (0, 0);
    }

    /// How long all pictures with a question have been on the screen, in milliseconds. `None` if the terminal does not answer.
    pub(super) fn shown_for(&self, now: Millis) -> Option<Millis> {
        let age = if self.answered < self.asked { 0 } else { now.saturating_sub(self.since) };
        self.is_answering.then_some(age)
    }
}

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

    /// Whether an answer may still come.
    pub(super) fn is_open(&self) -> bool {
        self.answered < self.asked
    }

    /// How long all pictures with a question have been on the screen, in milliseconds. `None` if the terminal does not answer.
    pub(super) fn shown_for(&self, now: Millis) -> Option<Millis> {
        let age = if self.is_open() { 0 } else { now.saturating_sub(self.since) };
        self.is_answering.then_some(age)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_may_come_until_all_have_come() {
        let mut fences = Fences::default();
        assert!(!fences.is_open() && fences.shown_for(5).is_none());
        fences.ask();
        fences.ask();
        fences.answer(10);
        assert!(fences.is_open() && fences.shown_for(15) == Some(0));
        fences.answer(20);
        // That to somebody else's question.
        fences.answer(20);
        assert!(!fences.is_open() && fences.shown_for(25) == Some(5));
        fences.ask();
        fences.begin_again();
        assert!(!fences.is_open());
    }
}

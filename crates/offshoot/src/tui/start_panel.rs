//! The panel of questions before the front end takes the terminal: draws one question or several, and reads their answers
//! from one line. Knows nothing of what is asked, or of what follows.

use offshoot_app::app::App;
use offshoot_app::error::{CommandError, Result};
use offshoot_session::text::clean_lines;
use offshoot_tui::text::wrap;

/// A question before the conversation. Enter answers none.
#[derive(Debug, Clone)]
pub(super) struct StartQuestion {
    pub(super) title: String,
    /// Introduces the details.
    pub(super) about: &'static str,
    /// What the answer decides about, one item each.
    pub(super) details: Vec<String>,
    /// What should be known before the answer.
    pub(super) notes: Vec<&'static str>,
    pub(super) answers: Vec<StartAnswer>,
    /// What Enter means.
    pub(super) otherwise: &'static str,
}

/// A word that answers a question; its first letter is enough.
#[derive(Debug, Clone)]
pub(super) struct StartAnswer {
    pub(super) word: &'static str,
    pub(super) meaning: String,
}

impl StartAnswer {
    pub(super) fn new(word: &'static str, meaning: impl Into<String>) -> Self {
        Self { word, meaning: meaning.into() }
    }

    fn key(&self) -> &'static str {
        self.word.get(..1).unwrap_or(self.word)
    }
}

impl StartQuestion {
    fn answer(&self, typed: &str) -> Option<&'static str> {
        self.answers.iter().find(|answer| typed == answer.key() || typed == answer.word).map(|answer| answer.word)
    }

    /// The question alone.
    fn whole(&self) -> Vec<String> {
        let mut lines = vec![self.title.clone(), String::new(), self.about.to_owned()];
        lines.extend(self.details.iter().map(|detail| format!("  {detail}")));
        lines.push(String::new());
        lines.extend(self.notes.iter().map(|note| (*note).to_owned()));
        lines.extend((!self.notes.is_empty()).then(String::new));
        lines.extend(self.answers.iter().map(|answer| format!("  {}      {}", answer.key(), answer.meaning)));
        lines.push(format!("  Enter  {}", self.otherwise));
        lines.push(String::new());
        lines
    }

    /// The question as one of several.
    fn short(&self, number: usize) -> Vec<String> {
        let answers = self.answers.iter().map(|answer| format!("{number}{}: {}", answer.key(), answer.meaning));
        let details: Vec<&str> = self.details.iter().map(|detail| detail.trim()).collect();
        let details = format!("{} {}", self.about, details.join("; "));
        let notes = self.notes.join(" ");
        let below = [details, notes, answers.collect::<Vec<_>>().join(", ")];
        let below = below.into_iter().filter(|line| !line.trim().is_empty());
        std::iter::once(format!("{number}  {}", self.title)).chain(below.map(|line| format!("   {line}"))).collect()
    }

    fn keys(&self) -> String {
        let keys: Vec<&str> = self.answers.iter().map(StartAnswer::key).collect();
        format!("{} or Enter: ", keys.join(", "))
    }
}

/// Asks all questions in one panel, and returns the word that answers each; `None` where there is no answer.
pub(super) fn ask(app: &App, questions: &[StartQuestion]) -> Result<Vec<Option<&'static str>>> {
    let (mut lines, prompt) = match questions {
        [] => return Ok(Vec::new()),
        [question] => (question.whole(), question.keys()),
        _ => {
            let all = questions.iter().zip(1..).flat_map(|(question, number)| question.short(number));
            let mut lines = vec!["offshoot asks once, before the first conversation:".to_owned()];
            lines.extend(all);
            lines.push("One line answers: y is yes to all, and Enter answers none of them now.".to_owned());
            (lines, "Answers, such as 1y 2y: ".to_owned())
        }
    };
    let width = app.ui.width.unwrap_or(usize::MAX);
    lines = lines.iter().flat_map(|line| wrapped(&clean_lines(line), width)).collect();
    loop {
        let line = app.ui.ask(&lines, &prompt).map_err(|error| CommandError::io("ask before the start", &error))?;
        if let Some(answers) = parsed(questions, line.as_deref().unwrap_or_default()) {
            return Ok(answers);
        }
        let again = match questions {
            [_] => "That is not one of the answers.",
            _ => "That is not an answer. Write the number of a question and a letter for each, such as 1y 2n.",
        };
        lines = wrapped(again, width);
    }
}

/// The answers in a line: nothing, one answer for all, or pairs of a question's number and its answer.
fn parsed(questions: &[StartQuestion], line: &str) -> Option<Vec<Option<&'static str>>> {
    let line = line.trim().to_lowercase();
    if line.is_empty() {
        return Some(vec![None; questions.len()]);
    }
    if questions.len() == 1 || matches!(line.as_str(), "y" | "yes") {
        return questions.iter().map(|question| question.answer(&line).map(Some)).collect();
    }
    let mut answers = vec![None; questions.len()];
    for pair in pairs(&line) {
        let (number, word) = pair.split_at(pair.find(|letter: char| !letter.is_ascii_digit())?);
        let at = number.parse::<usize>().ok()?.checked_sub(1)?;
        let answer = questions.get(at)?.answer(word.trim())?;
        if answers.get_mut(at)?.replace(answer).is_some() {
            return None;
        }
    }
    Some(answers)
}

/// A pair begins with each number: `1y2n`, `1y, 2n` and `1 y 2 n` are the same.
fn pairs(line: &str) -> Vec<String> {
    let mut pairs: Vec<String> = Vec::new();
    let mut was_digit = false;
    for letter in line.chars().filter(|letter| !letter.is_whitespace() && *letter != ',') {
        match pairs.last_mut() {
            Some(last) if was_digit || !letter.is_ascii_digit() => last.push(letter),
            _ => pairs.push(letter.to_string()),
        }
        was_digit = letter.is_ascii_digit();
    }
    pairs
}

/// A line that wraps at words. Its rows are indented as it is.
fn wrapped(line: &str, columns: usize) -> Vec<String> {
    let words = line.trim_start();
    let indent = " ".repeat(line.len() - words.len());
    let rows = wrap(words, columns.saturating_sub(indent.len()).max(1));
    rows.iter().map(|row| format!("{indent}{row}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(words: &[&'static str]) -> StartQuestion {
        StartQuestion {
            title: "Do it?".to_owned(),
            about: "It has:",
            details: vec!["a".to_owned(), "b".to_owned()],
            notes: Vec::new(),
            answers: words.iter().map(|word| StartAnswer::new(word, "do it")).collect(),
            otherwise: "later",
        }
    }

    #[test]
    fn a_line_answers_every_question_or_is_asked_again() {
        let two = [question(&["yes", "parent", "once", "never"]), question(&["yes", "no"])];
        let both = |first, second| Some(vec![first, second]);
        assert_eq!(parsed(&two, " \n"), both(None, None));
        assert_eq!(parsed(&two, "Y\n"), both(Some("yes"), Some("yes")));
        for line in ["1p 2n", "1p2n", "1parent, 2 no", "2n 1p"] {
            assert_eq!(parsed(&two, line), both(Some("parent"), Some("no")), "{line}");
        }
        assert_eq!(parsed(&two, "2y"), both(None, Some("yes")));
        // A “no” for all could mean “never”, and what is not understood answers nothing.
        for line in ["n", "p", "3y", "0y", "1", "1x", "1y 1n", "1y 2", "y 2n", "what", "99999999999999999999y"] {
            assert_eq!(parsed(&two, line), None, "{line}");
        }
        assert_eq!(parsed(&two[..1], "once\n"), Some(vec![Some("once")]));
        assert_eq!(parsed(&two[..1], "1y"), None);
    }

    #[test]
    fn several_questions_are_short() {
        let lines = question(&["yes", "no"]).short(2);
        assert_eq!(lines, ["2  Do it?", "   It has: a; b", "   2y: do it, 2n: do it"]);
    }
}

//! Counts passed and failed tests in the output of nextest, cargo and node. Pure.

use std::fmt;

/// Prints as `N passed, N failed`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }

    pub(crate) fn read(output: &str) -> Self {
        let mut tally = Self::default();
        for line in output.lines() {
            let line = without_colour(line);
            let line = line.trim_end();
            if let Some(more) = nextest(line).or_else(|| cargo_test(line)).or_else(|| node(line)) {
                tally.add(more);
            }
        }
        tally
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// `Summary [   0.1s] 12 tests run: 11 passed (1 slow), 1 failed, 0 skipped`
fn nextest(line: &str) -> Option<Tally> {
    let counts = line.trim_start().strip_prefix("Summary [")?.split_once("run: ")?.1;
    let timed_out = count_before(counts, "timed out").unwrap_or(0);
    let failed = count_before(counts, "failed").unwrap_or(0) + timed_out;
    Some(Tally { passed: count_before(counts, "passed").unwrap_or(0), failed })
}

/// `test result: ok. 3 passed; 0 failed; 0 ignored; ...`, not indented: nextest repeats the line, indented, for every
/// failed test.
fn cargo_test(line: &str) -> Option<Tally> {
    let counts = line.strip_prefix("test result: ")?;
    Some(Tally { passed: count_before(counts, "passed")?, failed: count_before(counts, "failed")? })
}

/// `ℹ pass 5` or `# pass 5`, and the same with `fail` and `cancelled`.
fn node(line: &str) -> Option<Tally> {
    let rest = line.strip_prefix("ℹ ").or_else(|| line.strip_prefix("# "))?;
    let (word, count) = rest.split_once(' ')?;
    let count = count.parse().ok()?;
    match word {
        "pass" => Some(Tally { passed: count, failed: 0 }),
        "fail" | "cancelled" => Some(Tally { passed: 0, failed: count }),
        _ => None,
    }
}

fn count_before(text: &str, word: &str) -> Option<usize> {
    let before = text[..text.find(word)?].trim_end();
    before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn without_colour(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_of_all_runners_are_summed() {
        let output = "\
     Summary [   0.161s] 42 tests run: 39 passed (2 slow), 2 failed, 1 timed out, 3 skipped
test result: ok. 7 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: FAILED. 1 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out
    test result: FAILED. 0 passed; 1 failed; 0 ignored; a copy that nextest shows
ℹ tests 6
ℹ pass 5
ℹ fail 1
ℹ duration_ms 12.5
";
        assert_eq!(Tally::read(output), Tally { passed: 52, failed: 8 });
        assert_eq!(Tally::read("# pass 2\n# fail 0\n"), Tally { passed: 2, failed: 0 });
    }

    #[test]
    fn colours_do_not_hide_a_line() {
        let line = "\u{1b}[32;1m     Summary\u{1b}[0m [   0.1s] \u{1b}[1m1\u{1b}[0m test run: \u{1b}[1m1\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m, 0 skipped";
        assert_eq!(Tally::read(line), Tally { passed: 1, failed: 0 });
    }

    #[test]
    fn other_words_are_no_closing_line() {
        assert_eq!(Tally::read("5 passed, 0 failed\n# passable 3\nSummary of things"), Tally::default());
        assert_eq!(Tally { passed: 5, failed: 0 }.to_string(), "5 passed, 0 failed");
    }
}

//! What failed and is run a second time: which files of node's, which tests of nextest's. Pure.
//!
//! A test that fails on one run and passes on the next is a fault of the test or of the program. The summary names it; it
//! does not fail the run, so that one such test does not hold up everything else.

/// So many files run again; more of them are no accident.
pub(crate) const MOST_FILES: usize = 3;

/// A test that node named as failed: where it is, as `FILE:LINE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FailedTest {
    pub(crate) file: String,
    pub(crate) line: String,
}

/// The tests that node's `spec` reporter lists as failed, in `files`.
pub(crate) fn failed_in_node(output: &str, files: &[String]) -> Vec<FailedTest> {
    let places = output.lines().filter_map(|line| line.trim().strip_prefix("test at "));
    let tests = places.filter_map(|place| {
        let (place, _column) = place.rsplit_once(':')?;
        let (file, line) = place.rsplit_once(':')?;
        let known = files.iter().find(|known| file == known.as_str())?;
        Some(FailedTest { file: known.clone(), line: line.to_owned() })
    });
    tests.collect()
}

/// The tests that nextest reports as flaky: `FLAKY 2/2 [   0.1s] (5/9) PACKAGE TEST`.
pub(crate) fn flaky_in_nextest(output: &str) -> Vec<String> {
    let lines = output.lines().filter_map(|line| line.trim().strip_prefix("FLAKY "));
    let mut names: Vec<String> = lines.filter_map(|line| Some(line.split_once(") ")?.1.trim().to_owned())).collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_tests_of_known_files_are_found() {
        let output = "✖ failing tests:\n\ntest at conformance/a.test.mjs:21:1\n✖ words (1 ms)\ntest at other.mjs:1:1\n";
        let files = ["conformance/a.test.mjs".to_owned(), "conformance/b.test.mjs".to_owned()];
        let found = failed_in_node(output, &files);
        assert_eq!(found, [FailedTest { file: files[0].clone(), line: "21".to_owned() }]);
        assert_eq!(failed_in_node("ℹ fail 1\n", &files), []);
    }

    #[test]
    fn flaky_tests_are_found_once() {
        let line = "   FLAKY 2/2 [   0.006s] ( 17/1870) offshoot::cli rpc::a_client\n";
        assert_eq!(flaky_in_nextest(&line.repeat(2)), ["offshoot::cli rpc::a_client"]);
        assert_eq!(flaky_in_nextest("PASS [ 0.1s] a b"), Vec::<String>::new());
    }
}

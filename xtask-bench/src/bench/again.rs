//! Replaces the lines of some cases in a page; the other lines stay as printed. Knows table lines, not figures.

/// The page `old` with the lines of these cases from the report `new`, and the commit at which they were measured.
pub(super) fn merged(old: &str, new: &str, cases: &[String], commit: &str) -> String {
    let mut page = String::with_capacity(old.len());
    for line in old.lines() {
        let key = key(line, cases);
        let again = key.and_then(|key| new.lines().find(|line| line.starts_with(key)));
        page.push_str(again.filter(|line| !line.contains("| not measured |")).unwrap_or(line));
        page.push('\n');
        if line.starts_with("| commit |") {
            page.push_str(&format!("| commit of {} | {commit} |\n", cases.join(", ")));
        }
    }
    with_new_lines(&page, new, cases)
}

/// The page with the lines about cases that it does not have yet, each at the end of its table.
fn with_new_lines(page: &str, new: &str, cases: &[String]) -> String {
    let mut lines: Vec<&str> = page.lines().collect();
    let mut head = "";
    for (line, next) in new.lines().zip(new.lines().skip(1).chain([""])) {
        if next.starts_with("|---") {
            head = line;
        }
        let is_known = |key: &str| lines.iter().any(|known| known.starts_with(key));
        if key(line, cases).is_none_or(is_known) || line.contains("| not measured |") {
            continue;
        }
        let Some(table) = lines.iter().position(|known| *known == head) else { continue };
        let end = lines[table..].iter().position(|known| !known.starts_with('|')).map_or(lines.len(), |at| table + at);
        lines.insert(end, line);
    }
    lines.into_iter().flat_map(|line| [line, "\n"]).collect()
}

/// The start that identifies a line about one of the cases: a bar by its words, a result by its case, runs by case and
/// contestant.
fn key<'a>(line: &'a str, cases: &[String]) -> Option<&'a str> {
    let rest = line.strip_prefix("| ")?;
    let case = cases.iter().find(|case| rest.starts_with(case.as_str()))?;
    let behind = &rest[case.len()..];
    let first = line.find(" | ")? + 3;
    if behind.starts_with(", ") {
        return Some(&line[..first]);
    }
    let cells = line[first..].find(" | ")? + first + 3;
    let is_result = line.matches(" | ").count() > 2;
    behind.starts_with(" | ").then(|| if is_result { &line[..first] } else { &line[..cells] })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "\
| bar | measured | holds |
| list/many, offshoot: under 1 s | 2 s | **no** |
| list/many, offshoot: as list/few | 2 x | yes |
| case | answer | floor | offshoot |
| list/many | 7 sessions | 1 | 2 |
| list/many-more | 7 sessions | 1 | 2 |
| commit | aaa |
| case | who | runs |
| list/many | offshoot | 2 / 2 / 2 |
| list/many | pi | 3 / 3 / 3 |
";
    const NEW: &str = "\
| bar | measured | holds |
| list/many, offshoot: under 1 s | 0.5 s | yes |
| list/many, offshoot: as list/few | – | not measured |
| case | answer | floor | offshoot |
| list/many | 7 sessions | 1 | 0.5 |
| commit | bbb |
| case | who | runs |
| list/many | offshoot | 0.5 / 0.5 / 0.5 |
";

    #[test]
    fn only_the_lines_of_what_was_measured_again_are_others() {
        let expected = "\
| bar | measured | holds |
| list/many, offshoot: under 1 s | 0.5 s | yes |
| list/many, offshoot: as list/few | 2 x | yes |
| case | answer | floor | offshoot |
| list/many | 7 sessions | 1 | 0.5 |
| list/many-more | 7 sessions | 1 | 2 |
| commit | aaa |
| commit of list/many | bbb |
| case | who | runs |
| list/many | offshoot | 0.5 / 0.5 / 0.5 |
| list/many | pi | 3 / 3 / 3 |
";
        assert_eq!(merged(OLD, NEW, &["list/many".to_owned()], "bbb"), expected);
    }

    #[test]
    fn a_new_case_comes_at_the_end_of_its_tables() {
        let old = "| case | answer |\n|---|---|\n| a/L | 1 | 2 | 3 |\n\n| case | who | runs |\n|---|---|---|\n| a/L | pi | 2 |\n";
        let new = "| case | answer |\n|---|---|\n| b/L | 1 | 2 | 3 |\n\n| case | who | runs |\n|---|---|---|\n| b/L | pi | 4 |\n| b/L | omp | 5 |\n";
        let expected = "| case | answer |\n|---|---|\n| a/L | 1 | 2 | 3 |\n| b/L | 1 | 2 | 3 |\n\n| case | who | runs |\n|---|---|---|\n| a/L | pi | 2 |\n| b/L | pi | 4 |\n| b/L | omp | 5 |\n";
        assert_eq!(merged(old, new, &["b/L".to_owned()], "bbb"), expected);
    }
}

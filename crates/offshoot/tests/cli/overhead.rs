//! Output without the size of offshoot's own system prompt and tools, which changes with their words and with the folder.

/// The numbers that this size is part of, as `[N]`; a total that a provider reported stays.
pub(crate) fn without_overhead(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| in_json(line).or_else(|| in_words(line)).unwrap_or_else(|| line.to_owned()))
        .collect()
}

fn in_json(line: &str) -> Option<String> {
    let number = |name: &str| member(line, name).and_then(|found| found.parse::<u64>().ok());
    let overhead = number("overheadTokens")?;
    let total = if line.contains("\"contextTokens\":") { "contextTokens" } else { "tokens" };
    let is_estimate = number(total)? == number("messageTokens")? + overhead;
    let named: &[&str] = if is_estimate { &["freshTokens", "costNow", "costLater", total] } else { &[] };
    let hidden = |line: String, name: &str| match member(&line, name) {
        Some(found) => line.replacen(&format!("\"{name}\":{found}"), &format!("\"{name}\":[N]"), 1),
        None => line,
    };
    Some(named.iter().fold(hidden(line.to_owned(), "overheadTokens"), |line, name| hidden(line, name)))
}

/// What a member is, up to the next one.
fn member<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!("\"{name}\":"))?;
    rest.split([',', '}']).next()
}

fn in_words(line: &str) -> Option<String> {
    let (before, after) = line.split_once(" system prompt and tools")?;
    let (before, overhead) = before.rsplit_once(' ')?;
    let (upto, _) = before.split_once(" messages")?;
    let messages = upto.rsplit([' ', '(']).next()?;
    let total = line.trim_start().split(' ').next()?;
    let parts = value(messages)? + value(overhead)?;
    let is_estimate = value(total).is_some_and(|total| (total - parts).abs() < 101.0);
    let hidden = format!("{before} [N] system prompt and tools{after}");
    if !is_estimate {
        return Some(hidden);
    }
    let words = hidden.replacen(total, "[N]", 1);
    let hide = |word: &str| match word.strip_prefix('$') {
        Some(cost) => format!("[COST]{}", cost.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit())),
        None => word.to_owned(),
    };
    Some(words.split(' ').map(hide).collect::<Vec<_>>().join(" "))
}

/// A number with commas, or a short one; `estimates:` and other words have none.
fn value(words: &str) -> Option<f64> {
    let plain = words.replace(',', "");
    match plain.strip_suffix('k') {
        Some(thousands) => thousands.parse::<f64>().ok().map(|number| number * 1000.0),
        None => plain.parse().ok(),
    }
}

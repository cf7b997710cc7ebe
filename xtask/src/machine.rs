//! The machine on which figures were measured.

use std::path::Path;

use crate::run;

/// `(what, value)` rows for the report.
pub fn facts(root: &Path) -> Vec<(&'static str, String)> {
    let cores = std::thread::available_parallelism().map_or_else(|_| "unknown".to_owned(), |n| n.to_string());
    let kernel = run::first_line("uname", &["-srm"]).unwrap_or_else(|| "unknown".to_owned());
    vec![
        ("processor", format!("{}, {cores} cores", field("/proc/cpuinfo", "model name"))),
        ("memory", memory(&field("/proc/meminfo", "MemTotal"))),
        ("kernel", kernel),
        ("compiler", run::first_line("rustc", &["--version"]).unwrap_or_else(|| "unknown".to_owned())),
        ("commit", commit(root)),
    ]
}

/// The value of the first `name : value` line of a file in `/proc`.
fn field(file: &str, name: &str) -> String {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.split_once(':'));
    line.map_or_else(|| "unknown".to_owned(), |(_, value)| value.trim().to_owned())
}

fn memory(total: &str) -> String {
    let kib = total.split(' ').next().and_then(|number| number.parse::<f64>().ok());
    kib.map_or_else(|| total.to_owned(), |kib| format!("{:.0} GiB", kib / 1024.0 / 1024.0))
}

fn commit(root: &Path) -> String {
    let git = |args: &[&str]| run::output_of("git", args, root).map(|text| text.trim().to_owned());
    match (git(&["rev-parse", "--short", "HEAD"]), git(&["status", "--porcelain"])) {
        (Ok(commit), Ok(changes)) if changes.is_empty() => commit,
        (Ok(commit), _) => format!("{commit} with changes"),
        (Err(_), _) => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_rounded_and_odd_values_pass() {
        assert_eq!(memory("24117248 kB"), "23 GiB");
        assert_eq!(memory("unknown"), "unknown");
        assert_eq!(field("/proc/no-such-file", "x"), "unknown");
    }
}

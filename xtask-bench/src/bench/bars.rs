//! The promised limits of speed and size, and whether this run kept them.

use super::report::Report;
use crate::figures::significant;

/// The contestant that must keep a bar: with empty caches, or with a file it has opened before.
const COLD: &str = "offshoot";
const WARM: &str = "offshoot again";
const FLOOR: &str = "floor";
const PEERS: [&str; 2] = ["pi", "omp"];

/// How fast the machine is for which the limits in seconds are set.
const REFERENCE: (&str, &str, f64) = ("context/L", "pi", 2.8);

struct Bar {
    case: &'static str,
    who: &'static str,
    limit: Limit,
}

enum Limit {
    Faster(&'static [&'static str], f64),
    /// At most this many times the floor.
    Floors(f64),
    Seconds(f64),
    Mebibytes(f64),
    /// At most this many times the memory of another case.
    MemoryOf(&'static str, f64),
    /// At most this many times the time of another case.
    TimeOf(&'static str, f64),
    /// At least this many answers a second.
    PerSecond(f64),
}

use Limit::{Faster, Floors, Mebibytes, MemoryOf, PerSecond, Seconds, TimeOf};

const BARS: &[Bar] = &[
    Bar { case: "context/L", who: COLD, limit: Faster(&PEERS, 12.0) },
    Bar { case: "context/L", who: COLD, limit: Floors(3.0) },
    Bar { case: "context/L", who: WARM, limit: Faster(&PEERS, 100.0) },
    Bar { case: "context/L", who: WARM, limit: Seconds(0.030) },
    Bar { case: "context/L", who: COLD, limit: Mebibytes(40.0) },
    Bar { case: "context/L", who: WARM, limit: Mebibytes(40.0) },
    Bar { case: "context/XL", who: COLD, limit: MemoryOf("context/L", 1.5) },
    // 20 times the size of L.
    Bar { case: "context/huge", who: COLD, limit: MemoryOf("context/L", 2.5) },
    Bar { case: "context/huge", who: WARM, limit: Mebibytes(40.0) },
    Bar { case: "context/huge", who: WARM, limit: Seconds(0.030) },
    Bar { case: "context/deep", who: COLD, limit: Seconds(0.6) },
    Bar { case: "context/deep", who: COLD, limit: Floors(8.0) },
    Bar { case: "context/deep", who: COLD, limit: MemoryOf("tree-first/deep", 1.5) },
    Bar { case: "tree-first/deep", who: WARM, limit: Seconds(0.3) },
    Bar { case: "tree-drawn/L", who: COLD, limit: Floors(6.0) },
    Bar { case: "tree-drawn/L", who: WARM, limit: Floors(4.0) },
    Bar { case: "show/L", who: COLD, limit: Floors(14.0) },
    Bar { case: "show-first/L", who: WARM, limit: Seconds(0.050) },
    Bar { case: "page/L", who: COLD, limit: Floors(16.0) },
    Bar { case: "check/L", who: COLD, limit: Floors(6.0) },
    Bar { case: "branches/L", who: COLD, limit: Floors(3.5) },
    Bar { case: "branches/L", who: WARM, limit: Floors(0.7) },
    Bar { case: "compare/L", who: WARM, limit: Floors(3.0) },
    Bar { case: "merge-plan/L", who: WARM, limit: Floors(4.0) },
    Bar { case: "by-id/multitude", who: COLD, limit: Floors(1.5) },
    Bar { case: "by-id/multitude", who: WARM, limit: Seconds(0.020) },
    Bar { case: "open/claude", who: COLD, limit: TimeOf("open/twin", 2.0) },
    Bar { case: "open/claude", who: COLD, limit: Mebibytes(60.0) },
    Bar { case: "fork/L", who: COLD, limit: Faster(&["pi"], 20.0) },
    Bar { case: "branched/L", who: COLD, limit: Faster(&["pi"], 20.0) },
    Bar { case: "migrate/v1", who: COLD, limit: Faster(&["pi"], 8.0) },
    Bar { case: "list-all/corpus", who: COLD, limit: Faster(&["omp"], 1.0) },
    Bar { case: "list-all/corpus", who: COLD, limit: Faster(&["pi"], 12.0) },
    Bar { case: "list-all/corpus", who: COLD, limit: Floors(18.0) },
    Bar { case: "list-all/corpus", who: WARM, limit: Floors(1.5) },
    Bar { case: "list-all/corpus", who: WARM, limit: Seconds(0.060) },
    Bar { case: "latest/many", who: WARM, limit: Seconds(0.010) },
    Bar { case: "pick/deep", who: WARM, limit: Seconds(0.050) },
    Bar { case: "append-data/requests", who: COLD, limit: Floors(1.3) },
    Bar { case: "append-os/lines", who: COLD, limit: PerSecond(200_000.0) },
    Bar { case: "append-os/lines", who: COLD, limit: Floors(1.6) },
];

impl Bar {
    fn promise(&self) -> String {
        let (case, who) = (self.case, self.who);
        match self.limit {
            Faster(peers, times) => {
                format!("{case}, {who}: at least {times} times faster than {}", peers.join(" and "))
            }
            Floors(times) => format!("{case}, {who}: at most {times} times the bare work"),
            Seconds(limit) => format!("{case}, {who}: under {limit} s"),
            Mebibytes(limit) => format!("{case}, {who}: under {limit} MiB"),
            MemoryOf(other, times) => format!("{case}, {who}: at most {times} times the memory of {other}"),
            TimeOf(other, times) => format!("{case}, {who}: at most {times} times the time of {other}"),
            PerSecond(limit) => format!("{case}, {who}: at least {limit} a second"),
        }
    }

    /// The measured figure with its unit, and whether it keeps the bar; `None` if this run did not measure it.
    fn measured(&self, report: &Report) -> Option<(String, bool)> {
        let of = |case, who| report.measured(case, who);
        let (own, count) = of(self.case, self.who)?;
        let (figure, unit, holds) = match self.limit {
            Faster(peers, times) => {
                let walls = peers.iter().filter_map(|peer| of(self.case, peer)).map(|(cost, _)| cost.wall_s);
                let ratio = walls.reduce(f64::min)? / own.wall_s;
                (ratio, "×", ratio >= times)
            }
            Floors(times) => {
                let ratio = own.wall_s / of(self.case, FLOOR)?.0.wall_s;
                (ratio, "×", ratio <= times)
            }
            Seconds(limit) => (own.wall_s, "s", own.wall_s < limit),
            Mebibytes(limit) => (own.peak_mib, "MiB", own.peak_mib < limit),
            MemoryOf(other, times) => {
                let ratio = own.peak_mib / of(other, self.who)?.0.peak_mib;
                (ratio, "×", ratio <= times)
            }
            TimeOf(other, times) => {
                let ratio = own.wall_s / of(other, self.who)?.0.wall_s;
                (ratio, "×", ratio <= times)
            }
            PerSecond(limit) => {
                let rate = count? as f64 / own.wall_s;
                (rate, "a second", rate >= limit)
            }
        };
        Some((format!("{} {unit}", significant(figure)), holds))
    }
}

pub(super) fn table(report: &Report) -> String {
    let mut text = String::from("| bar | measured | holds |\n|---|--:|---|\n");
    for bar in BARS {
        let (measured, holds) = match bar.measured(report) {
            Some((figure, true)) => (figure, "yes"),
            Some((figure, false)) => (figure, "**no**"),
            None => ("–".to_owned(), "not measured"),
        };
        text.push_str(&format!("| {} | {measured} | {holds} |\n", bar.promise()));
    }
    let (case, who, usual) = REFERENCE;
    if let Some((cost, _)) = report.measured(case, who) {
        let here = significant(cost.wall_s);
        text.push_str(&format!(
            "\nThe bars in seconds are set for a machine on which {who} needs {usual} s for {case}. Here it needed {here} s.\n"
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::{CASES, HUGE, name};
    use super::*;

    #[test]
    fn every_bar_names_cases_that_are_run() {
        let cases: Vec<String> = CASES.iter().chain(HUGE).map(|case| name(*case)).collect();
        for bar in BARS {
            let other = if let MemoryOf(other, _) | TimeOf(other, _) = bar.limit { other } else { bar.case };
            assert!([bar.case, other].iter().all(|case| cases.iter().any(|known| known == case)), "{}", bar.promise());
        }
    }

    #[test]
    fn a_bar_is_kept_broken_or_not_measured() {
        let report =
            super::super::report::example("context/L", &[("floor", 0.05), (COLD, 0.10), ("pi", 3.0), ("omp", 2.0)]);
        let table = table(&report);
        assert!(
            table.contains("| context/L, offshoot: at least 12 times faster than pi and omp | 20.0 × | yes |"),
            "{table}"
        );
        assert!(table.contains("| context/L, offshoot: at most 3 times the bare work | 2.00 × | yes |"), "{table}");
        assert!(table.contains("| context/L, offshoot again: under 0.03 s | – | not measured |"), "{table}");
        assert!(table.contains("| context/L, offshoot: under 40 MiB | 100 MiB | **no** |"), "{table}");
        assert!(table.ends_with("on which pi needs 2.8 s for context/L. Here it needed 3.00 s.\n"), "{table}");
    }
}

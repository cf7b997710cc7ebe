//! The promised limits of the screen, and whether this run kept them.

use super::report::{Report, ms};
use super::rounds::SceneRow;
use super::scenes::{FIRST, HITS, SCENES, SOME, TREE, WORDS};
use crate::figures::significant;

/// For a frame that is waited for once.
const START_MS: f64 = 50.0;
/// For the first hits of a search through all sessions.
const SEARCH_MS: f64 = 300.0;
/// For the 95th percentile of keys.
const KEY_MS: f64 = 16.0;
/// 80 MB.
const PEAK_MIB: f64 = 76.0;
/// Frames that are waited for once, with their limits.
const STARTS: &[(&str, &str, f64)] = &[
    ("new", FIRST, START_MS),
    ("open", FIRST, START_MS),
    ("open", WORDS, START_MS),
    ("resume", FIRST, START_MS),
    ("resume", SOME, START_MS),
    ("resume-first", FIRST, START_MS),
    ("pick", FIRST, START_MS),
    ("pick", SOME, START_MS),
    ("pick-first", FIRST, START_MS),
    ("million", TREE, START_MS),
    ("resume-search", HITS, SEARCH_MS),
];

struct Bar {
    promise: String,
    measured: String,
    holds: bool,
}

fn bars(report: &Report) -> Vec<Bar> {
    let mut bars = Vec::new();
    for (scene, what, limit) in STARTS {
        let Some(median) = report.figures.row(scene, what).and_then(SceneRow::median) else { continue };
        bars.push(Bar {
            promise: format!("{scene}, {what}: under {limit} ms"),
            measured: format!("{} ms", ms(median.p50)),
            holds: median.p50 < *limit,
        });
    }
    for row in report.figures.rows.iter().filter(|row| row.is_of_keys()) {
        let Some(median) = row.median() else { continue };
        bars.push(Bar {
            promise: format!("{}, {}: 95 % under {KEY_MS} ms", row.scene, row.what),
            measured: format!("{} ms", ms(median.p95)),
            holds: median.p95 < KEY_MS,
        });
    }
    for scene in SCENES {
        let Some(peak) = report.figures.peak(scene.name) else { continue };
        bars.push(Bar {
            promise: format!("{}: under {PEAK_MIB} MiB", scene.name),
            measured: format!("{} MiB", significant(peak)),
            holds: peak < PEAK_MIB,
        });
    }
    for scrolled in report.scrolled.iter().flatten() {
        bars.push(Bar {
            promise: format!("{}: {} steps and back leave 0 bytes", scrolled.view, scrolled.steps),
            measured: format!("{} bytes", scrolled.growth),
            holds: scrolled.growth == 0,
        });
    }
    bars
}

pub(super) fn table(report: &Report) -> String {
    let mut text = String::from("| bar | measured | holds |\n|---|--:|---|\n");
    for bar in bars(report) {
        let holds = if bar.holds { "yes" } else { "**no**" };
        text.push_str(&format!("| {} | {} | {holds} |\n", bar.promise, bar.measured));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::report::example;
    use super::*;

    #[test]
    fn every_bar_names_a_scene() {
        assert!(STARTS.iter().all(|(name, ..)| SCENES.iter().any(|scene| scene.name == *name)));
    }

    #[test]
    fn bars_are_kept_and_broken() {
        let table = table(&example());
        for line in [
            "| new, first picture: under 50 ms | 12.0 ms | yes |",
            "| new, Down: 95 % under 16 ms | 16.0 ms | **no** |",
            "| new: under 76 MiB | 20.0 MiB | yes |",
            "| a list: 10000 steps and back leave 0 bytes | 8 bytes | **no** |",
        ] {
            assert!(table.contains(line), "{line} in\n{table}");
        }
    }
}

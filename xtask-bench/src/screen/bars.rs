//! The promised limits of the screen, and whether a run kept them.

use super::rounds::{Figures, SceneRow};
use super::scenes::{FIRST, HITS, SCENES, SOME, TREE, WORDS};
use super::scroll::Scrolled;
use crate::figures::significant;

/// For a frame that is waited for once.
const START_MS: f64 = 50.0;
/// For the first hits of a search through all sessions.
const SEARCH_MS: f64 = 300.0;
/// For the 95th percentile of keys.
pub(super) const KEY_MS: f64 = 16.0;
/// 80 MB.
pub(super) const PEAK_MIB: f64 = 76.0;
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

/// The limit of a wait that occurs once, if one is promised.
pub(super) fn limit(scene: &str, what: &str) -> Option<f64> {
    STARTS.iter().find(|(of, until, _)| *of == scene && *until == what).map(|(.., limit)| *limit)
}

/// How many bars hold, and each that does not.
pub(super) fn summary(figures: &Figures, scrolled: &[Scrolled]) -> String {
    let mut bars: Vec<(bool, String)> = Vec::new();
    for (scene, what, limit) in STARTS {
        let Some(median) = figures.row(scene, what).and_then(SceneRow::median) else { continue };
        bars.push((median.p50 < *limit, format!("{scene}, {what}: {} of {limit} ms", ms(median.p50))));
    }
    for row in figures.rows.iter().filter(|row| row.is_of_keys()) {
        let Some(median) = row.median() else { continue };
        bars.push((median.p95 < KEY_MS, format!("{}, {}: {} of {KEY_MS} ms", row.scene, row.what, ms(median.p95))));
    }
    for scene in SCENES {
        let Some(peak) = figures.peak(scene.name) else { continue };
        bars.push((peak < PEAK_MIB, format!("{}: {} of {PEAK_MIB} MiB", scene.name, significant(peak))));
    }
    for Scrolled { view, growth, .. } in scrolled {
        bars.push((*growth == 0, format!("{view}: {growth} bytes left")));
    }
    let missed: Vec<&str> = bars.iter().filter(|(holds, _)| !holds).map(|(_, said)| said.as_str()).collect();
    match missed.as_slice() {
        [] => format!("All {} bars hold.\n", bars.len()),
        missed => {
            let held = bars.len() - missed.len();
            format!("{held} of {} bars hold. Missed (measured, bar):\n\n- {}\n", bars.len(), missed.join("\n- "))
        }
    }
}

pub(super) fn ms(value: f64) -> String {
    if value < 10.0 { format!("{value:.1}") } else { significant(value) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::rounds::RoundFigures;
    use super::*;

    fn summary_of(first: u64, keys: [u64; 2], peak: f64, growth: i64) -> String {
        let mut taken = RoundFigures::default();
        taken.time(FIRST, Duration::from_millis(first));
        keys.into_iter().for_each(|key| taken.time("Down", Duration::from_millis(key)));
        taken.peak(peak);
        let mut figures = Figures::default();
        figures.add("new", taken);
        let view = "a list".to_owned();
        let scrolled = Scrolled { view, steps: 10_000, growth, allocations: (3, 4), most: (100, 200) };
        summary(&figures, &[scrolled])
    }

    #[test]
    fn every_bar_names_a_scene() {
        assert!(STARTS.iter().all(|(name, ..)| SCENES.iter().any(|scene| scene.name == *name)));
        assert_eq!((limit("new", FIRST), limit("new", WORDS)), (Some(START_MS), None));
    }

    #[test]
    fn missed_bars_are_listed() {
        assert_eq!(summary_of(12, [1, 2], 20.0, 0), "All 4 bars hold.\n");
        assert_eq!(
            summary_of(50, [1, 16], 76.0, 8),
            "0 of 4 bars hold. Missed (measured, bar):\n\n- new, first picture: 50.0 of 50 ms\n- new, Down: 16.0 of 16 ms\n\
             - new: 76.0 of 76 MiB\n- a list: 8 bytes left\n"
        );
    }
}

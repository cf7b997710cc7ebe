//! Measurements of every round, and their medians.

use std::time::Duration;

use crate::figures::median;

#[derive(Debug, Default)]
pub(super) struct RoundFigures {
    times: Vec<(&'static str, Vec<f64>)>,
    peak_mib: Option<f64>,
}

impl RoundFigures {
    pub(super) fn time(&mut self, what: &'static str, took: Duration) {
        let ms = took.as_secs_f64() * 1e3;
        match self.times.iter_mut().find(|(known, _)| *known == what) {
            Some((_, times)) => times.push(ms),
            None => self.times.push((what, vec![ms])),
        }
    }

    /// Keeps the highest peak memory of the scene's programs.
    pub(super) fn peak(&mut self, mib: f64) {
        self.peak_mib = Some(self.peak_mib.map_or(mib, |known| known.max(mib)));
    }
}

#[derive(Debug)]
pub(super) struct SceneRow {
    pub(super) scene: &'static str,
    pub(super) what: &'static str,
    pub(super) rounds: Vec<Round>,
}

/// Milliseconds in one round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Round {
    pub(super) count: usize,
    pub(super) p50: f64,
    pub(super) p95: f64,
    pub(super) max: f64,
}

impl Round {
    fn of(mut times: Vec<f64>) -> Option<Self> {
        times.sort_unstable_by(f64::total_cmp);
        // The smallest time that this percentage does not exceed.
        let at = |percent: usize| times.get((times.len() * percent).div_ceil(100).saturating_sub(1)).copied();
        Some(Self { count: times.len(), p50: at(50)?, p95: at(95)?, max: at(100)? })
    }
}

#[derive(Debug, Default)]
pub(super) struct Figures {
    pub(super) rows: Vec<SceneRow>,
    peaks: Vec<(&'static str, Vec<f64>)>,
}

impl Figures {
    pub(super) fn add(&mut self, scene: &'static str, taken: RoundFigures) {
        for (what, times) in taken.times {
            let Some(round) = Round::of(times) else { continue };
            match self.rows.iter_mut().find(|row| row.scene == scene && row.what == what) {
                Some(row) => row.rounds.push(round),
                None => self.rows.push(SceneRow { scene, what, rounds: vec![round] }),
            }
        }
        let Some(peak) = taken.peak_mib else { return };
        match self.peaks.iter_mut().find(|(known, _)| *known == scene) {
            Some((_, peaks)) => peaks.push(peak),
            None => self.peaks.push((scene, vec![peak])),
        }
    }

    pub(super) fn row(&self, scene: &str, what: &str) -> Option<&SceneRow> {
        self.rows.iter().find(|row| row.scene == scene && row.what == what)
    }

    pub(super) fn peak(&self, scene: &str) -> Option<f64> {
        median(self.peaks.iter().find(|(known, _)| *known == scene)?.1.iter().copied())
    }
}

impl SceneRow {
    /// Whether it measures many keys, rather than one event.
    pub(super) fn is_of_keys(&self) -> bool {
        self.rounds.iter().any(|round| round.count > 1)
    }

    pub(super) fn median(&self) -> Option<Round> {
        let of = |figure: fn(&Round) -> f64| median(self.rounds.iter().map(figure));
        let count = self.rounds.iter().map(|round| round.count).min()?;
        Some(Round { count, p50: of(|round| round.p50)?, p95: of(|round| round.p95)?, max: of(|round| round.max)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ninety_five_of_a_hundred_do_not_exceed_p95() {
        let round = Round::of((1..=100).rev().map(f64::from).collect()).unwrap();
        assert_eq!(round, Round { count: 100, p50: 50.0, p95: 95.0, max: 100.0 });
        assert_eq!(Round::of(vec![7.0]).unwrap(), Round { count: 1, p50: 7.0, p95: 7.0, max: 7.0 });
        assert_eq!(Round::of(vec![]), None);
    }

    #[test]
    fn rounds_of_one_thing_come_together_and_have_medians() {
        let scene = "a scene";
        let mut figures = Figures::default();
        for (ms, mib) in [(1, 9.0), (5, 1.0), (2, 3.0)] {
            let mut taken = RoundFigures::default();
            taken.time("a key", Duration::from_millis(ms));
            taken.time("a key", Duration::from_millis(10 * ms));
            taken.peak(0.5);
            taken.peak(mib);
            figures.add(scene, taken);
        }
        let row = figures.row(scene, "a key").unwrap();
        assert!(row.is_of_keys());
        assert_eq!(row.median(), Some(Round { count: 2, p50: 2.0, p95: 20.0, max: 20.0 }));
        assert_eq!((figures.peak(scene), figures.peak("none")), (Some(3.0), None));
    }
}

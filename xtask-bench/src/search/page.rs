//! The page about searches, with its bars. Every figure comes from the run.

use super::{BareTimes, described};
use crate::bench::measure::Cost;
use crate::figures::{median, significant};

/// What was measured.
pub(super) struct Figures {
    pub(super) sessions: u64,
    /// `find -printf %s` of all files.
    pub(super) files: Vec<Cost>,
    pub(super) first: Vec<Cost>,
    pub(super) scan: Vec<Cost>,
    pub(super) whole: Cost,
    /// Bytes of the whole index.
    pub(super) index: u64,
    pub(super) bare: BareTimes,
    /// What was typed, offshoot, SQLite alone.
    pub(super) ranked: Vec<(&'static str, Vec<Cost>, Vec<Cost>)>,
    pub(super) inside: Vec<(&'static str, Vec<Cost>)>,
    /// The search that finds what is new, and the same again.
    pub(super) grown: Vec<(Cost, Cost)>,
    pub(super) others: Vec<(String, Cost)>,
}

/// A limit, what was measured, and the greatest figure that keeps it.
struct Bar {
    promise: String,
    unit: &'static str,
    measured: f64,
    limit: f64,
}

fn wall(costs: &[Cost]) -> f64 {
    median(costs.iter().map(|cost| cost.wall_s)).unwrap_or(f64::NAN)
}

/// The figure below which this part of all figures is.
fn part(mut figures: Vec<f64>, part: f64) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    let at = ((figures.len() as f64 * part).ceil() as usize).saturating_sub(1);
    figures.get(at).copied().unwrap_or(f64::NAN)
}

fn bars(figures: &Figures) -> Vec<Bar> {
    let bar = |promise: &str, unit, measured, limit| Bar { promise: promise.to_owned(), unit, measured, limit };
    let files = wall(&figures.files);
    let all: Vec<f64> = figures.ranked.iter().flat_map(|(_, ours, _)| ours.iter().map(|cost| cost.wall_s)).collect();
    let bare = figures.bare.words + figures.bare.trigrams;
    let over = figures.ranked.iter().map(|(_, ours, raw)| wall(ours) / (files + 3.0 * wall(raw)));
    let inside = figures.inside.iter().map(|(_, costs)| wall(costs) - files);
    let growth = median(figures.grown.iter().map(|(found, _)| found.wall_s)).unwrap_or(f64::NAN) - files;
    let rare = figures.ranked.last().map_or(f64::NAN, |(_, ours, _)| wall(ours)) - files;
    vec![
        bar("the first search of all answers within 25 s", "s", wall(&figures.first), 25.0),
        bar("the whole index within 150 s", "s", figures.whole.wall_s, 150.0),
        bar("the whole index, at most 1.5 times SQLite alone on the same rows", "×", figures.whole.wall_s / bare, 1.5),
        bar("memory while it is made, below 150 MiB", "MiB", figures.whole.peak_mib, 150.0),
        bar("its size, at most 0.45 of the sessions", "×", figures.index as f64 / figures.sessions as f64, 0.45),
        bar(
            "ranked, the median of all, within 20 ms of a list of the files",
            "s",
            part(all.clone(), 0.5) - files,
            0.020,
        ),
        bar("ranked, 95 of 100, within 60 ms of it", "s", part(all, 0.95) - files, 0.060),
        bar("ranked, each at most the list of the files and 3 times SQLite alone", "×", over.fold(0.0, f64::max), 1.0),
        bar("inside of words and patterns, each within 150 ms of the list", "s", inside.fold(0.0, f64::max), 0.150),
        bar("a session that grew by 20 KB, found within 15 ms more than a rare word", "s", growth - rare, 0.015),
    ]
}

pub(super) fn page(figures: &Figures, facts: &[(&'static str, String)]) -> String {
    let mut text = format!(
        "# Benchmarks of the search\n\nWritten by `cargo xtask bench search`; no figure is typed by hand. {}. Whole processes, page cache warm; the clock of a\n\
         search stops at its first line. Compare the ratios: seconds change with the machine.\n\n## Bars\n\n| bar | measured | holds |\n|---|--:|---|\n",
        described(figures.sessions)
    );
    for Bar { promise, unit, measured, limit } in bars(figures) {
        let holds = if measured <= limit { "yes" } else { "**no**" };
        text.push_str(&format!("| {promise} | {} {unit} | {holds} |\n", significant(measured)));
    }
    text.push_str("\n## Results\n\n| what | wall s | CPU s | MiB |\n|---|--:|--:|--:|\n");
    let mut row = |what: &str, costs: &[Cost]| {
        let of = |figure: fn(&Cost) -> f64| significant(median(costs.iter().map(figure)).unwrap_or(f64::NAN));
        let (wall, cpu, peak) = (of(|cost| cost.wall_s), of(|cost| cost.cpu_s), of(|cost| cost.peak_mib));
        text.push_str(&format!("| {what} | {wall} | {cpu} | {peak} |\n"));
    };
    row("a list of the files (`find -printf %s`)", &figures.files);
    row("the first search, no index", &figures.first);
    row("`--scan`", &figures.scan);
    row("`--rebuild`, once", std::slice::from_ref(&figures.whole));
    for (typed, costs) in &figures.inside {
        row(&format!("`{typed}`"), costs);
    }
    let (found, again): (Vec<Cost>, Vec<Cost>) = figures.grown.iter().cloned().unzip();
    row("what is new in a session that grew", &found);
    row("the same again", &again);
    for (who, cost) in &figures.others {
        row(who, std::slice::from_ref(cost));
    }
    let BareTimes { documents, words, blocks, trigrams } = figures.bare;
    text.push_str(&format!(
        "\nSQLite alone needs {words:.1} s for the words of {documents} texts and {trigrams:.1} s for the trigrams of {blocks} blocks, with one\n\
         thread; the index has {} bytes.\n\n| ranked query | offshoot s | SQLite alone s |\n|---|--:|--:|\n",
        crate::figures::grouped(figures.index)
    ));
    for (typed, ours, raw) in &figures.ranked {
        text.push_str(&format!("| `{typed}` | {} | {} |\n", significant(wall(ours)), significant(wall(raw))));
    }
    text.push_str("\n## Machine and versions\n\n| what | value |\n|---|---|\n");
    for (what, value) in facts {
        text.push_str(&format!("| {what} | {value} |\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(wall_s: f64) -> Cost {
        Cost { wall_s, cpu_s: wall_s, peak_mib: 100.0, failure: None }
    }

    fn figures(ranked: f64) -> Figures {
        Figures {
            sessions: 1000,
            files: vec![cost(0.05)],
            first: vec![cost(5.0)],
            scan: vec![cost(3.0)],
            whole: cost(120.0),
            index: 450,
            bare: BareTimes { documents: 7, words: 50.0, blocks: 3, trigrams: 50.0 },
            ranked: vec![("return", vec![cost(ranked)], vec![cost(0.01)])],
            inside: vec![("~a", vec![cost(0.1)])],
            grown: vec![(cost(0.1), cost(0.1))],
            others: vec![("rg".to_owned(), cost(1.0))],
        }
    }

    #[test]
    fn each_bar_is_kept_or_broken() {
        let text = page(&figures(0.065), &[]);
        assert_eq!(text.matches("| yes |").count(), 9, "{text}");
        assert!(text.contains("found within 15 ms more than a rare word | 0.035 s | **no** |"), "{text}");
        let text = page(&figures(0.2), &[]);
        assert!(text.contains("within 20 ms of a list of the files | 0.15 s | **no** |"), "{text}");
        assert!(text.contains("3 times SQLite alone | 2.50 × | **no** |"), "{text}");
    }

    #[test]
    fn a_part_of_all_figures_is_below() {
        let figures: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!((part(figures.clone(), 0.5), part(figures, 0.95), part(vec![3.0], 0.95)), (50.0, 95.0, 3.0));
    }
}

//! The page in Markdown. Every figure comes from the run.

use super::rounds::{Figures, Round, SceneRow};
use super::scenes::SCENES;
use super::scroll::Scrolled;
use super::terminal::{COLUMNS, ROWS};
use crate::figures::{median, significant};

#[derive(Debug)]
pub(super) struct Report {
    pub(super) figures: Figures,
    /// `None` if scrolling was not measured.
    pub(super) scrolled: Option<Vec<Scrolled>>,
    pub(super) inputs: Vec<(&'static str, String, &'static str)>,
    pub(super) facts: Vec<(&'static str, String)>,
}

impl Report {
    pub(super) fn markdown(&self, bars: &str) -> String {
        let mut text = format!(
            "# The screen\n\nWritten by `cargo xtask screen`; no figure is typed by hand.\n\n\
             The release binary runs in a real pseudo-terminal of {COLUMNS} × {ROWS}, in a new process and a new home for each scene, with a warm\n\
             page cache. Time runs from the start of the process, or from just before a key is written, until a complete frame is read (the end\n\
             of its synchronised update, `CSI ? 2026 l`). Each key waits for the frame of the one before. A letter of a search counts when the\n\
             search line shows it. Figures are medians over the rounds.\n"
        );
        text.push_str("\n## Bars\n\n");
        text.push_str(bars);
        text.push_str("\n## From a key to its frame\n\n| scene | key | keys a round | p50 | p95 | longest |\n|---|---|--:|--:|--:|--:|\n");
        for (row, round) in self.rows(SceneRow::is_of_keys) {
            let Round { count, p50, p95, max } = round;
            let figures = [p50, p95, max].map(|figure| format!("{} ms", ms(figure))).join(" | ");
            text.push_str(&format!("| {} | {} | {count} | {figures} |\n", row.scene, row.what));
        }
        text.push_str("\n## Waits that occur once\n\n| scene | until | |\n|---|---|--:|\n");
        for (row, round) in self.rows(|row| !row.is_of_keys()) {
            text.push_str(&format!("| {} | {} | {} ms |\n", row.scene, row.what, ms(round.p50)));
        }
        text.push_str(
            "\n## Memory\n\nThe peak resident memory of the process (`VmHWM`).\n\n| scene | peak |\n|---|--:|\n",
        );
        for (scene, peaks) in &self.figures.peaks {
            let peak = median(peaks.iter().copied()).map(significant).unwrap_or_default();
            text.push_str(&format!("| {scene} | {peak} MiB |\n"));
        }
        text.push_str(&self.scrolling());
        text.push_str("\n## Scenes and inputs\n\n| scene | what |\n|---|---|\n");
        for scene in SCENES {
            text.push_str(&format!("| {} | {} |\n", scene.name, scene.what));
        }
        text.push_str("\n| input | bytes | what |\n|---|--:|---|\n");
        for (name, bytes, what) in &self.inputs {
            text.push_str(&format!("| {name} | {bytes} | {what} |\n"));
        }
        text.push_str("\n## Machine and versions\n\n| what | value |\n|---|---|\n");
        for (what, value) in &self.facts {
            text.push_str(&format!("| {what} | {value} |\n"));
        }
        text
    }

    fn rows(&self, wanted: fn(&SceneRow) -> bool) -> impl Iterator<Item = (&SceneRow, Round)> {
        self.figures.rows.iter().filter(move |row| wanted(row)).filter_map(|row| Some((row, row.median()?)))
    }

    fn scrolling(&self) -> String {
        let Some(scrolled) = &self.scrolled else { return String::new() };
        let mut text = String::from(
            "\n## What scrolling allocates\n\nCounted by an allocator around the system's in the example `scroll` of offshoot-tui. The steps go through the list and back, twice;\n\
             *left* is what the second time added.\n\n\
             | list | steps | left | allocations a step: first 1,000, last 1,000 | most bytes in use: first 1,000, last 1,000 |\n|---|--:|--:|--:|--:|\n",
        );
        for Scrolled { view, steps, growth, allocations, most } in scrolled {
            text.push_str(&format!(
                "| {view} | {steps} | {growth} bytes | {}, {} | {}, {} |\n",
                allocations.0, allocations.1, most.0, most.1
            ));
        }
        text
    }
}

pub(super) fn ms(value: f64) -> String {
    if value < 10.0 { format!("{value:.1}") } else { significant(value) }
}

#[cfg(test)]
pub(super) fn example() -> Report {
    use super::rounds::RoundFigures;
    use std::time::Duration;

    let mut taken = RoundFigures::default();
    taken.time(super::scenes::FIRST, Duration::from_millis(12));
    taken.time("Down", Duration::from_millis(1));
    taken.time("Down", Duration::from_millis(16));
    taken.peak(20.0);
    let mut figures = Figures::default();
    figures.add(SCENES[0].name, taken);
    let scrolled =
        Scrolled { view: "a list".to_owned(), steps: 10_000, growth: 8, allocations: (3, 4), most: (100, 200) };
    Report { figures, scrolled: Some(vec![scrolled]), inputs: vec![], facts: vec![("kernel", "one".to_owned())] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_figure_and_says_where_it_comes_from() {
        let text = example().markdown("");
        for part in [
            "Written by `cargo xtask screen`",
            "| new | Down | 2 | 1.0 ms | 16.0 ms | 16.0 ms |",
            "| new | first picture | 12.0 ms |",
            "| new | 20.0 MiB |",
            "| a list | 10000 | 8 bytes | 3, 4 | 100, 200 |",
            "| kernel | one |",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }
}

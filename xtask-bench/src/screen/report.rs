//! The page in Markdown. Every figure comes from the run.

use super::bars::{self, KEY_MS, PEAK_MIB, ms};
use super::rounds::{Figures, Round, SceneRow};
use super::scenes::SCENES;
use super::scroll::Scrolled;
use super::terminal::{COLUMNS, ROWS};
use crate::figures::significant;

#[derive(Debug)]
pub(super) struct Report {
    pub(super) figures: Figures,
    /// `None` if scrolling was not measured.
    pub(super) scrolled: Option<Vec<Scrolled>>,
    pub(super) inputs: Vec<(&'static str, String, &'static str)>,
    pub(super) facts: Vec<(&'static str, String)>,
}

impl Report {
    pub(super) fn markdown(&self) -> String {
        let scrolled = self.scrolled.as_deref().unwrap_or_default();
        let bars = bars::summary(&self.figures, scrolled);
        let mut text = format!(
            "# The screen\n\nWritten by `cargo xtask screen`; no figure is typed by hand.\n\n\
             The release binary runs in a pseudo-terminal of {COLUMNS} × {ROWS}, in a new process and a new home for each scene, with a warm page cache.\n\
             Time runs from the start of the process, or from just before a key is written, until a complete frame is read (the end of its\n\
             synchronised update, `CSI ? 2026 l`). Each key waits for the frame of the one before. Figures are medians over the rounds. A figure\n\
             that misses its bar is bold.\n\n{bars}"
        );
        text.push_str(&format!(
            "\n## From a key to its frame\n\nBar: 95 % under {KEY_MS} ms.\n\n| scene | key | p50 | p95 | longest |\n|---|---|--:|--:|--:|\n"
        ));
        for (row, round) in self.rows(SceneRow::is_of_keys) {
            let p95 = marked(format!("{} ms", ms(round.p95)), round.p95 < KEY_MS);
            let (scene, what, p50, longest) = (row.scene, row.what, ms(round.p50), ms(round.max));
            text.push_str(&format!("| {scene} | {what} | {p50} ms | {p95} | {longest} ms |\n"));
        }
        text.push_str("\n## Waits that occur once\n\n| scene | until | | bar |\n|---|---|--:|--:|\n");
        for (row, round) in self.rows(|row| !row.is_of_keys()) {
            let limit = bars::limit(row.scene, row.what);
            let took = marked(format!("{} ms", ms(round.p50)), limit.is_none_or(|limit| round.p50 < limit));
            let limit = limit.map(|limit| format!("{limit} ms ")).unwrap_or_default();
            text.push_str(&format!("| {} | {} | {took} | {limit}|\n", row.scene, row.what));
        }
        text.push_str(&format!(
            "\n## Scenes and memory\n\nThe peak resident memory of the process (`VmHWM`). Bar: {PEAK_MIB} MiB.\n\n| scene | what | peak |\n|---|---|--:|\n"
        ));
        for scene in SCENES {
            let Some(peak) = self.figures.peak(scene.name) else { continue };
            let peak = marked(format!("{} MiB", significant(peak)), peak < PEAK_MIB);
            text.push_str(&format!("| {} | {} | {peak} |\n", scene.name, scene.what));
        }
        text.push_str(&self.scrolling());
        text.push_str("\n## Inputs and machine\n\n| input | bytes | what |\n|---|--:|---|\n");
        for (name, bytes, what) in &self.inputs {
            text.push_str(&format!("| {name} | {bytes} | {what} |\n"));
        }
        text.push('\n');
        for (what, value) in &self.facts {
            text.push_str(&format!("- {what}: {value}\n"));
        }
        text
    }

    fn rows(&self, wanted: fn(&SceneRow) -> bool) -> impl Iterator<Item = (&SceneRow, Round)> {
        self.figures.rows.iter().filter(move |row| wanted(row)).filter_map(|row| Some((row, row.median()?)))
    }

    fn scrolling(&self) -> String {
        let Some(scrolled) = &self.scrolled else { return String::new() };
        let mut text = String::from(
            "\n## What scrolling allocates\n\nThe example `scroll` of offshoot-tui counts what is allocated. Its steps go through the list and back, twice;\n\
             *left* is what the second time added. Bar: 0 bytes.\n\n\
             | list | steps | left | allocations a step: first 1,000, last 1,000 | most bytes in use: first 1,000, last 1,000 |\n|---|--:|--:|--:|--:|\n",
        );
        for Scrolled { view, steps, growth, allocations, most } in scrolled {
            let left = marked(format!("{growth} bytes"), *growth == 0);
            text.push_str(&format!(
                "| {view} | {steps} | {left} | {}, {} | {}, {} |\n",
                allocations.0, allocations.1, most.0, most.1
            ));
        }
        text
    }
}

/// A figure, in bold if it misses its bar.
fn marked(figure: String, holds: bool) -> String {
    if holds { figure } else { format!("**{figure}**") }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::rounds::RoundFigures;
    use super::super::scenes::FIRST;
    use super::*;

    fn example() -> Report {
        let mut taken = RoundFigures::default();
        taken.time(FIRST, Duration::from_millis(12));
        taken.time("the status line", Duration::from_millis(70));
        taken.time("Down", Duration::from_millis(1));
        taken.time("Down", Duration::from_millis(16));
        taken.peak(20.0);
        let mut figures = Figures::default();
        figures.add(SCENES[0].name, taken);
        let view = "a list".to_owned();
        let scrolled = Scrolled { view, steps: 10_000, growth: 8, allocations: (3, 4), most: (100, 200) };
        Report { figures, scrolled: Some(vec![scrolled]), inputs: vec![], facts: vec![("kernel", "one".to_owned())] }
    }

    #[test]
    fn the_page_has_every_figure_and_says_where_it_comes_from() {
        let text = example().markdown();
        for part in [
            "Written by `cargo xtask screen`",
            "2 of 4 bars hold.",
            "| new | Down | 1.0 ms | **16.0 ms** | 16.0 ms |",
            "| new | first picture | 12.0 ms | 50 ms |",
            "| new | the status line | 70.0 ms | |",
            "| new | `offshoot` on no session | 20.0 MiB |",
            "| a list | 10000 | **8 bytes** | 3, 4 | 100, 200 |",
            "- kernel: one\n",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }
}

//! The benchmark report in Markdown. Every figure comes from the run.

use super::measure::Cost;
use crate::figures::significant;

#[derive(Debug, Clone)]
pub(super) enum Cell {
    /// The contestant has no such command.
    Absent,
    Failed(String),
    Measured {
        cost: Cost,
        runs: usize,
        count: Option<usize>,
    },
}

/// One case; the cells are in the order of the contestants.
#[derive(Debug, Clone)]
pub(super) struct CaseRow {
    pub(super) case: String,
    pub(super) unit: &'static str,
    pub(super) cells: Vec<Cell>,
    pub(super) runs: Vec<Vec<Cost>>,
}

#[derive(Debug)]
pub(super) struct Report {
    pub(super) contestants: Vec<(&'static str, String)>,
    pub(super) rows: Vec<CaseRow>,
    pub(super) inputs: Vec<(&'static str, String, &'static str)>,
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) notes: Vec<String>,
}

const OURS: &str = "offshoot";
const PEER: &str = "pi";

impl Report {
    pub(super) fn fact(&self, name: &str) -> Option<&str> {
        self.facts.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn markdown(&self, bars: &str) -> String {
        let mut text = String::from(
            "# Benchmarks\n\nWritten by `cargo xtask bench`; no figure is typed by hand. Whole processes, run in turn, page cache warm, the\n\
             programs' own caches empty, but for *offshoot again*, which has opened the file before. Medians of 5 runs; of at\n\
             most 3 where one takes 2 s, and a single one where it takes 15 s (n says so). A cell is wall seconds / user +\n\
             system CPU seconds / peak memory in MiB. Compare the ratios: seconds change with the machine.\n",
        );
        text.push_str("\n## Bars\n\n");
        text.push_str(bars);
        text.push_str("\n## Results\n\n");
        text.push_str(&self.table());
        for note in &self.notes {
            text.push_str(&format!("\n- {note}"));
        }
        if !self.notes.is_empty() {
            text.push('\n');
        }
        text.push_str("\n## Inputs\n\n| name | bytes | what |\n|---|--:|---|\n");
        for (name, bytes, what) in &self.inputs {
            text.push_str(&format!("| {name} | {bytes} | {what} |\n"));
        }
        text.push_str("\n## Machine and versions\n\n| what | value |\n|---|---|\n");
        for (what, value) in self.facts.iter().chain(&self.contestants) {
            text.push_str(&format!("| {what} | {value} |\n"));
        }
        text.push_str("\n## Raw rows\n\nWall seconds / CPU seconds / MiB of every run.\n\n");
        text.push_str(&self.raw());
        text
    }

    fn raw(&self) -> String {
        let mut text = String::from("| case | who | runs |\n|---|---|---|\n");
        for row in &self.rows {
            for ((name, _), runs) in self.contestants.iter().zip(&row.runs).filter(|(_, runs)| !runs.is_empty()) {
                let run = |cost: &Cost| format!("{:.4} / {:.4} / {:.1}", cost.wall_s, cost.cpu_s, cost.peak_mib);
                let runs: Vec<String> = runs.iter().map(run).collect();
                text.push_str(&format!("| {} | {name} | {} |\n", row.case, runs.join("; ")));
            }
        }
        text
    }

    /// The cost and the count of a contestant's runs of a case; `None` if it has none.
    pub(super) fn measured(&self, case: &str, who: &str) -> Option<(&Cost, Option<usize>)> {
        let row = self.rows.iter().find(|row| row.case == case)?;
        match self.cell(row, who)? {
            Cell::Measured { cost, count, .. } => Some((cost, *count)),
            Cell::Absent | Cell::Failed(_) => None,
        }
    }

    pub(super) fn table(&self) -> String {
        let names: Vec<&str> = self.contestants.iter().map(|(name, _)| *name).collect();
        let mut text = format!("| case | answer | {} | {PEER} ÷ {OURS}: wall, CPU, memory |\n", names.join(" | "));
        text.push_str(&format!("|---|--:|{}--:|\n", "--:|".repeat(names.len())));
        for row in &self.rows {
            let cells: Vec<String> = row.cells.iter().map(shown).collect();
            text.push_str(&format!(
                "| {} | {} | {} | {} |\n",
                row.case,
                self.answer(row),
                cells.join(" | "),
                self.ratio(row)
            ));
        }
        text
    }

    fn cell<'a>(&self, row: &'a CaseRow, name: &str) -> Option<&'a Cell> {
        let at = self.contestants.iter().position(|(contestant, _)| *contestant == name)?;
        row.cells.get(at)
    }

    /// The count of our answer, followed by the counts that differ from it.
    fn answer(&self, row: &CaseRow) -> String {
        let count_of = |name: &str| match self.cell(row, name) {
            Some(Cell::Measured { count, .. }) => *count,
            _ => None,
        };
        let Some(ours) = count_of(OURS) else { return "–".to_owned() };
        let mut answer = format!("{ours} {}", row.unit);
        for (name, _) in self.contestants.iter().filter(|(name, _)| *name != OURS) {
            if let Some(theirs) = count_of(name).filter(|theirs| *theirs != ours) {
                answer.push_str(&format!(", **{name}: {theirs}**"));
            }
        }
        answer
    }

    /// The peer's cost divided by ours; `answers differ` instead if they do.
    fn ratio(&self, row: &CaseRow) -> String {
        match (self.cell(row, PEER), self.cell(row, OURS)) {
            (Some(Cell::Measured { count, .. }), Some(Cell::Measured { count: ours, .. })) if count != ours => {
                "answers differ".to_owned()
            }
            (Some(Cell::Measured { cost: theirs, .. }), Some(Cell::Measured { cost: ours, .. })) => {
                let by = |figure: fn(&Cost) -> f64| significant(figure(theirs) / figure(ours).max(1e-6));
                format!("{} ×, {} ×, {} ×", by(|c| c.wall_s), by(|c| c.cpu_s), by(|c| c.peak_mib))
            }
            _ => "–".to_owned(),
        }
    }
}

fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Absent => "–".to_owned(),
        Cell::Failed(why) => format!("fails: {}", why.replace('|', "\\|")),
        Cell::Measured { cost, runs, .. } => {
            let few = if *runs < 5 { format!(" (n={runs})") } else { String::new() };
            format!("{} / {} / {:.0}{few}", significant(cost.wall_s), significant(cost.cpu_s), cost.peak_mib)
        }
    }
}

#[cfg(test)]
pub(super) fn example(case: &str, walls: &[(&'static str, f64)]) -> Report {
    let cost = |wall_s| Cost { wall_s, cpu_s: wall_s, peak_mib: wall_s * 1000.0, failure: None };
    let cells = walls.iter().map(|(_, wall)| Cell::Measured { cost: cost(*wall), runs: 1, count: None }).collect();
    let runs = walls.iter().map(|(_, wall)| vec![cost(*wall)]).collect();
    Report {
        contestants: walls.iter().map(|(who, _)| (*who, String::new())).collect(),
        rows: vec![CaseRow { case: case.to_owned(), unit: "", cells, runs }],
        inputs: vec![],
        facts: vec![],
        notes: vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(wall_s: f64, count: usize) -> Cell {
        Cell::Measured {
            cost: Cost { wall_s, cpu_s: wall_s, peak_mib: wall_s * 100.0, failure: None },
            runs: 5,
            count: Some(count),
        }
    }

    fn report(cells: Vec<Cell>) -> Report {
        let contestants = vec![(OURS, "0.1".to_owned()), (PEER, "0.87".to_owned())];
        Report {
            contestants,
            rows: vec![CaseRow { case: "context/S".to_owned(), unit: "messages", cells, runs: vec![] }],
            inputs: vec![],
            facts: vec![],
            notes: vec!["a note".to_owned()],
        }
    }

    #[test]
    fn a_row_shows_costs_and_ratios() {
        let table = report(vec![measured(0.02, 105), measured(0.2, 105)]).table();
        assert!(
            table.contains(
                "| context/S | 105 messages | 0.020 / 0.020 / 2 | 0.20 / 0.20 / 20 | 10.0 ×, 10.0 ×, 10.0 × |"
            ),
            "{table}"
        );
    }

    #[test]
    fn a_different_answer_and_a_failure_are_loud() {
        let table = report(vec![measured(0.02, 105), measured(0.2, 104)]).table();
        assert!(table.contains("105 messages, **pi: 104**") && table.contains("| answers differ |"), "{table}");
        let table = report(vec![measured(0.02, 105), Cell::Failed("exit status: 1: RangeError".to_owned())]).table();
        assert!(table.contains("fails: exit status: 1: RangeError | – |"), "{table}");
    }

    #[test]
    fn every_run_is_shown() {
        let text = example("context/S", &[(OURS, 0.02), (PEER, 0.2)]).raw();
        assert!(text.ends_with("| context/S | pi | 0.2000 / 0.2000 / 200.0 |\n"), "{text}");
    }

    #[test]
    fn the_document_says_where_it_comes_from() {
        let text = report(vec![Cell::Absent, Cell::Absent]).markdown("");
        assert!(text.starts_with("# Benchmarks") && text.contains("- a note") && text.contains("| pi | 0.87 |"));
    }
}

//! A picture of a terminal: the rows of an emulator as an SVG file that shows the same everywhere.
//!
//! Owns the palette and the measures. Knows no program.

use std::fmt::Write as _;

use avt::{Cell, Color, Line, Pen};

/// The size of a cell, and the margin around all of them.
const WIDTH: f64 = 8.4;
const HEIGHT: usize = 18;
const MARGIN: usize = 14;

const BACKGROUND: &str = "#15181d";
const FOREGROUND: &str = "#d4d7dc";

/// The sixteen colours that a terminal names.
const NAMED: [&str; 16] = [
    "#3b4048", "#e06c75", "#98c379", "#d7ba7d", "#61afef", "#c678dd", "#56b6c2", "#c8ccd4", "#7f8794", "#ef8c94",
    "#b3d99a", "#e5cf9a", "#86c5f7", "#d79bea", "#7fcdd6", "#f2f4f7",
];

/// Draws rows of this many columns. `title` is what a reader hears who does not see the picture.
pub(crate) fn svg<'a>(rows: impl ExactSizeIterator<Item = &'a Line>, columns: usize, title: &str) -> String {
    let width = (columns as f64 * WIDTH) as usize + 2 * MARGIN;
    let height = rows.len() * HEIGHT + 2 * MARGIN;
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>{}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n\
         <g font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace\" font-size=\"14\" xml:space=\"preserve\">\n",
        escape(title)
    );
    for (row, line) in rows.enumerate() {
        draw_row(&mut picture, line, MARGIN + row * HEIGHT + HEIGHT - 5);
    }
    picture + "</g>\n</svg>\n"
}

fn draw_row(picture: &mut String, line: &Line, baseline: usize) {
    let mut column = 0;
    for run in line.chunks(|a, b| a.pen() != b.pen()) {
        let text: String = run.iter().filter(|cell| cell.width() > 0).map(Cell::char).collect();
        let before = text.chars().take_while(|c| *c == ' ').count();
        let words = text.trim();
        if !words.is_empty() {
            let x = MARGIN as f64 + (column + before) as f64 * WIDTH;
            let length = run.len() - (text.chars().count() - words.chars().count());
            let _ = writeln!(
                picture,
                "<text x=\"{x:.1}\" y=\"{baseline}\" textLength=\"{:.1}\"{}>{}</text>",
                length as f64 * WIDTH,
                style(*run[0].pen()),
                escape(words)
            );
        }
        column += run.len();
    }
}

fn style(pen: Pen) -> String {
    let mut style = format!(" fill=\"{}\"", pen.foreground().map_or_else(|| FOREGROUND.to_owned(), colour));
    if pen.is_bold() {
        style += " font-weight=\"bold\"";
    }
    if pen.is_faint() {
        style += " opacity=\"0.6\"";
    }
    if pen.is_italic() {
        style += " font-style=\"italic\"";
    }
    if pen.is_underline() {
        style += " text-decoration=\"underline\"";
    }
    style
}

fn colour(colour: Color) -> String {
    match colour {
        Color::RGB(rgb) => format!("#{:02x}{:02x}{:02x}", rgb.r, rgb.g, rgb.b),
        Color::Indexed(index @ 0..=15) => NAMED[usize::from(index)].to_owned(),
        Color::Indexed(index @ 16..=231) => {
            let part = |value: u8| if value == 0 { 0 } else { 55 + 40 * value };
            let cube = index - 16;
            format!("#{:02x}{:02x}{:02x}", part(cube / 36), part(cube / 6 % 6), part(cube % 6))
        }
        Color::Indexed(index) => format!("#{0:02x}{0:02x}{0:02x}", 8 + 10 * (index - 232)),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

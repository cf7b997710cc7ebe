//! The cells of screens as HTML. Pure.

use std::fmt::Write as _;

use vt100::{Cell, Color, Screen};

const STYLE: &str = "body{background:#000;color:#ccc;font:13px/16px 'DejaVu Sans Mono',monospace;margin:8px}\
h1{font-size:15px}table{border-spacing:12px 0}td{vertical-align:top;background:#16181d;padding:4px}\
th{text-align:left}pre{margin:0;font:inherit;width:84ch}";

const CURSOR: &str = "color:#16181d;background:#ccc;";

/// A page with screens next to each other.
pub(super) fn page(title: &str, screens: &[(&str, Screen)]) -> String {
    let heads: String = screens.iter().map(|(name, _)| format!("<th>{name}</th>")).collect();
    let cells: String = screens.iter().map(|(_, screen)| format!("<td><pre>{}</pre></td>", rows(screen))).collect();
    format!(
        "<!doctype html><meta charset=\"utf-8\"><title>{title}</title><style>{STYLE}</style><h1>{title}</h1>\
         <table><tr>{heads}</tr><tr>{cells}</tr></table>\n"
    )
}

fn rows(screen: &Screen) -> String {
    let (rows, columns) = screen.size();
    let cursor = (!screen.hide_cursor()).then(|| screen.cursor_position());
    let mut html = String::new();
    for row in 0..rows {
        let cells = (0..columns).filter_map(|column| Some((column, screen.cell(row, column)?)));
        let mut style = String::new();
        for (column, cell) in cells.filter(|(_, cell)| !cell.is_wide_continuation()) {
            let own = if cursor == Some((row, column)) { CURSOR.to_owned() } else { css(cell) };
            if own != style {
                html.push_str(if style.is_empty() { "" } else { "</span>" });
                if !own.is_empty() {
                    let _ = write!(html, "<span style=\"{own}\">");
                }
                style = own;
            }
            match cell.contents() {
                "" => html.push(' '),
                text => html.push_str(&text.replace('&', "&amp;").replace('<', "&lt;")),
            }
        }
        html.push_str(if style.is_empty() { "\n" } else { "</span>\n" });
    }
    html
}

fn css(cell: &Cell) -> String {
    let (front, back) = (colour(cell.fgcolor()), colour(cell.bgcolor()));
    let (front, back) = if cell.inverse() {
        (Some(back.unwrap_or_else(|| "#16181d".to_owned())), Some(front.unwrap_or_else(|| "#ccc".to_owned())))
    } else {
        (front, back)
    };
    let mut css = String::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = write!(css, "{name}:{value};");
        }
    };
    add("color", front);
    add("background", back);
    add("font-weight", cell.bold().then(|| "bold".to_owned()));
    add("font-style", cell.italic().then(|| "italic".to_owned()));
    add("text-decoration", cell.underline().then(|| "underline".to_owned()));
    add("opacity", cell.dim().then(|| "0.6".to_owned()));
    css
}

fn colour(colour: Color) -> Option<String> {
    const BASIC: [&str; 16] = [
        "#000000", "#cd3131", "#0dbc79", "#e5e510", "#2472c8", "#bc3fbc", "#11a8cd", "#e5e5e5", "#666666", "#f14c4c",
        "#23d18b", "#f5f543", "#3b8eea", "#d670d6", "#29b8db", "#ffffff",
    ];
    let of_cube = |level: u8| if level == 0 { 0 } else { 55 + 40 * level };
    let grey = |level: u8| 8 + 10 * level;
    match colour {
        Color::Default => None,
        Color::Idx(at @ 0..16) => BASIC.get(usize::from(at)).map(|name| (*name).to_owned()),
        Color::Idx(at @ 16..232) => {
            let [red, green, blue] = [(at - 16) / 36, (at - 16) / 6 % 6, (at - 16) % 6].map(of_cube);
            Some(format!("#{red:02x}{green:02x}{blue:02x}"))
        }
        Color::Idx(at) => Some(format!("#{0:02x}{0:02x}{0:02x}", grey(at - 232))),
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_their_words_and_colours() {
        let mut parser = vt100::Parser::new(2, 10, 0);
        parser.process(b"a<b \x1b[1;38;5;196mred\x1b[0m\r\n\x1b[48;2;1;2;3m!\x1b[0m");
        assert_eq!(
            rows(parser.screen()),
            "a&lt;b <span style=\"color:#ff0000;font-weight:bold;\">red</span>   \n\
             <span style=\"background:#010203;\">!</span><span style=\"color:#16181d;background:#ccc;\"> </span>        \n"
        );
    }
}

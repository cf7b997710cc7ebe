//! Where an overlay of an extension is, by pi's options: sizes in cells or parts of the terminal, an anchor, offsets and margins.

use ratatui::layout::{Rect, Size};

/// The widest overlay that names no width.
const USUAL_WIDTH: i32 = 80;
/// More rows fit no terminal.
const MOST_ROWS: i32 = 100_000;

/// A size or a position: cells, or a part of what there is.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Extent {
    Cells(i32),
    Percent(f64),
}

impl Extent {
    /// A part of a length, without a fraction.
    fn of(self, whole: i32) -> i32 {
        match self {
            Self::Cells(cells) => cells,
            #[expect(clippy::cast_possible_truncation, reason = "the size of a terminal is small")]
            Self::Percent(part) => (f64::from(whole) * part / 100.0).floor() as i32,
        }
    }
}

/// One end of a direction, its middle, or the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Side {
    Start,
    #[default]
    Centre,
    End,
}

/// Where an overlay is in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Placing {
    pub side: Side,
    /// Instead of the side.
    pub at: Option<Extent>,
    pub offset: i32,
    /// Cells that stay free at the start and at the end.
    pub margin: (i32, i32),
}

impl Placing {
    fn room(self, whole: i32) -> i32 {
        (whole - self.margin.0 - self.margin.1).max(1)
    }

    /// The first cell of what is this long.
    fn start(self, length: i32, whole: i32) -> i32 {
        let free = self.room(whole) - length;
        let start = match (self.at, self.side) {
            (Some(Extent::Cells(at)), _) => at,
            (Some(part @ Extent::Percent(_)), _) => self.margin.0 + part.of(free.max(0)),
            (None, Side::Start) => self.margin.0,
            (None, Side::Centre) => self.margin.0 + free.div_euclid(2),
            (None, Side::End) => self.margin.0 + free,
        };
        (start + self.offset).min(whole - self.margin.1 - length).max(self.margin.0)
    }
}

/// Where an overlay is, and how large it may be.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct OverlayPlace {
    pub width: Option<Extent>,
    pub least_width: Option<i32>,
    pub most_rows: Option<Extent>,
    pub across: Placing,
    pub down: Placing,
}

impl OverlayPlace {
    /// The width at which it is drawn.
    #[must_use]
    pub fn columns(&self, screen: Size) -> u16 {
        let (whole, room) = (i32::from(screen.width), self.across.room(screen.width.into()));
        let width =
            self.width.map_or(USUAL_WIDTH.min(room), |width| width.of(whole)).max(self.least_width.unwrap_or(0));
        cells(width.clamp(1, room))
    }

    /// Its cells on the screen, if it has so many rows.
    #[must_use]
    pub fn area(&self, rows: usize, screen: Size) -> Rect {
        let (width, whole) = (self.columns(screen), i32::from(screen.height));
        let rows = i32::try_from(rows).unwrap_or(MOST_ROWS).min(MOST_ROWS);
        let most = self.most_rows.map(|most| most.of(whole).clamp(1, self.down.room(whole)));
        let rows = most.map_or(rows, |most| rows.min(most));
        let (x, y) = (self.across.start(width.into(), screen.width.into()), self.down.start(rows, whole));
        let area = Rect { x: cells(x), y: cells(y), width, height: cells(rows) };
        area.intersection(Rect { x: 0, y: 0, width: screen.width, height: screen.height })
    }
}

fn cells(count: i32) -> u16 {
    u16::try_from(count.max(0)).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: Size = Size { width: 100, height: 40 };

    fn area(place: OverlayPlace, rows: usize) -> (u16, u16, u16, u16) {
        let Rect { x, y, width, height } = place.area(rows, SCREEN);
        (x, y, width, height)
    }

    /// The numbers are those of pi 0.87.1 for the same options.
    #[test]
    fn an_overlay_is_where_pi_has_it() {
        let usual = OverlayPlace::default();
        assert_eq!(area(usual, 10), (10, 15, 80, 10), "in the middle");
        assert_eq!(area(usual, 60), (10, 0, 80, 40), "cut at the end of the screen");
        let half = OverlayPlace { width: Some(Extent::Percent(50.0)), most_rows: Some(Extent::Percent(25.0)), ..usual };
        assert_eq!(area(half, 60), (25, 15, 50, 10));
        let corner = OverlayPlace {
            width: Some(Extent::Cells(30)),
            across: Placing { side: Side::End, margin: (0, 2), ..Placing::default() },
            down: Placing { side: Side::Start, margin: (1, 0), ..Placing::default() },
            ..usual
        };
        assert_eq!(area(corner, 5), (68, 1, 30, 5));
        let at = |at, offset| Placing { at: Some(at), offset, ..Placing::default() };
        let free = OverlayPlace {
            width: Some(Extent::Cells(20)),
            least_width: Some(40),
            across: at(Extent::Percent(100.0), -5),
            down: at(Extent::Cells(38), 0),
            ..usual
        };
        assert_eq!(area(free, 5), (55, 35, 40, 5), "it stays on the screen");
    }

    #[test]
    fn a_small_screen_has_room_for_it() {
        let wide = OverlayPlace { width: Some(Extent::Cells(200)), ..OverlayPlace::default() };
        assert_eq!(wide.area(30, Size { width: 20, height: 5 }), Rect { x: 0, y: 0, width: 20, height: 5 });
        assert_eq!(wide.area(0, Size { width: 0, height: 0 }).area(), 0);
    }
}

//! Pictures as terminal sequences, built once for each size. Decoding and scaling take time, so the newest sequences
//! are cached within a bound.

use std::collections::VecDeque;
use std::sync::Arc;

use offshoot_session::transcript::StoredPicture;
use ratatui::layout::Size;

use crate::image::CellSize;
use crate::message::{Placed, RenderedRows, decoded};
use crate::theme::Theme;
use offshoot_settings::ImageProtocol;

/// The number of bytes of sequences to keep.
const KEPT: usize = 16 << 20;

/// The pictures that were shown last.
#[derive(Debug, Default)]
pub struct Pictures {
    made: VecDeque<Made>,
    bytes: usize,
}

#[derive(Debug)]
struct Made {
    picture: Arc<StoredPicture>,
    how: (ImageProtocol, (u16, u16), CellSize),
    /// `None` if the picture cannot be shown.
    sequence: Option<Arc<str>>,
}

/// A picture on rows that are printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inset {
    /// The last row and the last column of the picture.
    pub at: (usize, u16),
    pub sequence: Arc<str>,
}

impl Pictures {
    /// The sequence that shows a picture in this many columns and rows; `None` if it cannot be shown.
    pub fn sequence(
        &mut self,
        picture: &Arc<StoredPicture>,
        how: (ImageProtocol, (u16, u16), CellSize),
    ) -> Option<Arc<str>> {
        let is_it = |made: &Made| made.how == how && (Arc::ptr_eq(&made.picture, picture) || made.picture == *picture);
        if let Some(made) = self.made.iter().find(|made| is_it(made)) {
            return made.sequence.clone();
        }
        let (protocol, (width, height), cell) = how;
        let made = decoded(picture).escape(protocol, Size { width, height }, cell);
        let sequence: Option<Arc<str>> = made.ok().map(Into::into);
        self.bytes += sequence.as_ref().map_or(0, |sequence| sequence.len());
        self.made.push_back(Made { picture: picture.clone(), how, sequence: sequence.clone() });
        while self.bytes > KEPT && self.made.len() > 1 {
            let oldest = self.made.pop_front().and_then(|made| made.sequence);
            self.bytes -= oldest.map_or(0, |sequence| sequence.len());
        }
        sequence
    }

    /// The pictures of rows that will be printed. A picture that cannot be shown is named instead.
    pub fn insets(
        &mut self,
        laid: &mut RenderedRows,
        theme: &Theme,
        (protocol, cell): (Option<ImageProtocol>, CellSize),
    ) -> Vec<Inset> {
        let mut insets = Vec::new();
        let mut lost = Vec::new();
        for placed in &laid.pictures {
            let sequence = protocol.and_then(|protocol| self.sequence(&placed.picture, (protocol, placed.size, cell)));
            match sequence {
                Some(sequence) => insets.push(Inset { at: last_of(placed), sequence }),
                None => lost.push(placed.row),
            }
        }
        laid.name_pictures(theme, |placed| lost.contains(&placed.row));
        insets
    }
}

/// The lower right cell of a picture.
fn last_of(placed: &Placed) -> (usize, u16) {
    let (width, height) = placed.size;
    (placed.row + usize::from(height).saturating_sub(1), placed.column + width.saturating_sub(1))
}

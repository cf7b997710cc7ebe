//! Images of a session on the screen: as an escape sequence that the terminal understands, else as a line of text.
//!
//! Stored bytes are never sent: an image is decoded within limits, scaled to its cells and encoded again. Knows no
//! layout.

mod protocol;

use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::imageops::{FilterType, replace, resize};
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder as _, ImageReader, Limits, RgbaImage};
use ratatui::buffer::{Buffer, CellDiffOption};
use ratatui::layout::{Rect, Size};

use crate::text;
use offshoot_settings::ImageProtocol;

const MAX_BYTES: usize = 32 << 20;
/// The limit of decoded bytes: sixteen million pixels of four.
const MAX_DECODED: u64 = 64 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    #[error("it is not base64")]
    NotBase64,
    /// Neither PNG, JPEG, GIF nor WebP.
    #[error("its form is not known")]
    UnknownForm,
    /// Its format is known, but its data are invalid.
    #[error("it is damaged")]
    Damaged,
    /// Beyond 32 MB stored or 64 MB decoded.
    #[error("it is too large")]
    TooLarge,
    #[error("there is no room for it")]
    NoRoom,
}

/// In pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CellSize {
    pub width: u16,
    pub height: u16,
}

impl Default for CellSize {
    /// A common size and shape, for terminals that do not report theirs.
    fn default() -> Self {
        Self { width: 10, height: 20 }
    }
}

/// An image's properties, without its pixels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    mime: String,
    bytes: usize,
    /// In pixels, from the header.
    size: Result<(u32, u32), ImageError>,
}

#[derive(Debug, Clone)]
pub struct Picture {
    about: About,
    bytes: Vec<u8>,
}

impl About {
    /// Width and height in pixels, if the image can be shown.
    #[must_use]
    pub fn pixels(&self) -> Option<(u32, u32)> {
        self.size.ok()
    }

    /// The text in place of the image: `[image: image/png 640×480, 12 kB]`.
    #[must_use]
    pub fn placeholder(&self) -> String {
        let bytes = amount(self.bytes);
        match self.size {
            Ok((width, height)) => format!("[image: {} {width}×{height}, {bytes}]", self.mime),
            Err(error) if self.bytes == 0 => format!("[image: {}, not shown: {error}]", self.mime),
            Err(error) => format!("[image: {}, {bytes}, not shown: {error}]", self.mime),
        }
    }

    /// The cells of the image: with its shape, at most `room`, and not enlarged.
    ///
    /// # Errors
    /// The image cannot be shown, or there is no room.
    pub fn cells(&self, room: Size, cell: CellSize) -> Result<Size, ImageError> {
        let (width, height) = self.size?;
        let most = pixels(room, cell);
        if most.0 == 0 || most.1 == 0 {
            return Err(ImageError::NoRoom);
        }
        let (width, height) = within((width, height), most);
        let count = |pixels: u32, of_cell: u16| u16::try_from(pixels.div_ceil(u32::from(of_cell))).unwrap_or(u16::MAX);
        Ok(Size::new(count(width, cell.width).min(room.width), count(height, cell.height).min(room.height)))
    }
}

impl Picture {
    /// From a content block: base64 data and media type. Reads only the header; an image that cannot be shown still has
    /// a placeholder.
    #[must_use]
    pub fn of_block(data: &str, mime: &str) -> Self {
        let mime = text::fit(mime.trim(), 40).into_owned();
        let too_large = data.len() / 4 * 3 > MAX_BYTES;
        let decoded = if too_large { Err(ImageError::TooLarge) } else { decode_base64(data) };
        match decoded {
            Ok(bytes) => Self { about: About { size: size_of(&bytes), mime, bytes: bytes.len() }, bytes },
            Err(error) => Self { about: About { size: Err(error), mime, bytes: 0 }, bytes: Vec::new() },
        }
    }

    #[must_use]
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Width and height in pixels, from the header.
    ///
    /// # Errors
    /// The header is invalid, or the image is too large.
    pub fn size(&self) -> Result<(u32, u32), ImageError> {
        self.about.size
    }

    /// The sequence that draws the image on `cells` with the cursor on the lower right one; afterwards the cursor is
    /// where it would be after one character.
    ///
    /// Sixel does not know cells: `cell` must be the terminal's own size, or the image does not fit its cells. Decoding
    /// and scaling take time: keep the result.
    ///
    /// # Errors
    /// The image is damaged or too large, or there is no room.
    pub fn escape(&self, protocol: ImageProtocol, cells: Size, cell: CellSize) -> Result<String, ImageError> {
        let room = pixels(cells, cell);
        if room.0 == 0 || room.1 == 0 {
            return Err(ImageError::NoRoom);
        }
        if u64::from(room.0) * u64::from(room.1) * 4 > MAX_DECODED {
            return Err(ImageError::TooLarge);
        }
        self.about.size?;
        let picture = self.decode()?;
        let (width, height) = within(picture.dimensions(), room);
        let picture = if (width, height) == picture.dimensions() {
            picture
        } else {
            resize(&picture, width, height, FilterType::Triangle)
        };
        let shown = match protocol {
            ImageProtocol::Kitty => protocol::kitty(&on_canvas(&picture, room), cells)?,
            ImageProtocol::Iterm2 => protocol::iterm2(&picture, cells)?,
            ImageProtocol::Sixel => protocol::sixel(picture)?,
        };
        let up = if cells.height > 1 { format!("\u{1b}[{}A", cells.height - 1) } else { String::new() };
        let back = if cells.width > 1 { format!("\u{1b}[{}D", cells.width - 1) } else { String::new() };
        Ok(format!("\u{1b}7{up}{back}{shown}\u{1b}8\u{1b}[C"))
    }

    fn decode(&self) -> Result<RgbaImage, ImageError> {
        let mut decoder = reader(&self.bytes)?.into_decoder().map_err(|_| ImageError::Damaged)?;
        if decoder.total_bytes() > MAX_DECODED {
            return Err(ImageError::TooLarge);
        }
        let upright = decoder.orientation().map_err(|_| ImageError::Damaged)?;
        let mut picture = DynamicImage::from_decoder(decoder).map_err(|error| match error {
            image::ImageError::Limits(_) => ImageError::TooLarge,
            _ => ImageError::Damaged,
        })?;
        picture.apply_orientation(upright);
        Ok(picture.into_rgba8())
    }
}

/// Puts an image's sequence into the area for which it was made.
///
/// The cells become blanks, and the last one draws. So the image is sent once, when it comes into view, and writing the
/// cells in order does not overwrite it. Call it before anything is drawn over the area. Nothing is drawn if the area
/// is only partly on the buffer.
pub fn draw(escape: &str, area: Rect, buf: &mut Buffer) {
    if area.is_empty() || area.intersection(buf.area) != area {
        return;
    }
    for at in area.positions() {
        if let Some(cell) = buf.cell_mut(at) {
            cell.reset();
        }
    }
    if let Some(last) = buf.cell_mut((area.right() - 1, area.bottom() - 1)) {
        last.set_symbol(escape).set_diff_option(CellDiffOption::ForcedWidth(std::num::NonZeroU16::MIN));
    }
}

/// Removes all images from the screen, where terminals keep them apart from text; elsewhere overwriting them is enough.
#[must_use]
pub fn forget(protocol: ImageProtocol) -> &'static str {
    match protocol {
        ImageProtocol::Kitty => "\u{1b}_Ga=d,d=A,q=2\u{1b}\\",
        ImageProtocol::Iterm2 | ImageProtocol::Sixel => "",
    }
}

fn decode_base64(data: &str) -> Result<Vec<u8>, ImageError> {
    let data = data.trim();
    let lines: String;
    let data = if data.contains(char::is_whitespace) {
        lines = data.split_whitespace().collect();
        &lines
    } else {
        data
    };
    STANDARD.decode(data).map_err(|_| ImageError::NotBase64)
}

fn reader(bytes: &[u8]) -> Result<ImageReader<Cursor<&[u8]>>, ImageError> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|_| ImageError::UnknownForm)?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODED);
    reader.limits(limits);
    if reader.format().is_some_and(|format| format.reading_enabled()) {
        Ok(reader)
    } else {
        Err(ImageError::UnknownForm)
    }
}

/// The size as shown: a photograph may be stored rotated.
fn size_of(bytes: &[u8]) -> Result<(u32, u32), ImageError> {
    let mut decoder = reader(bytes)?.into_decoder().map_err(|_| ImageError::Damaged)?;
    let (width, height) = decoder.dimensions();
    if width == 0 || height == 0 {
        return Err(ImageError::Damaged);
    }
    if decoder.total_bytes() > MAX_DECODED {
        return Err(ImageError::TooLarge);
    }
    let lies = matches!(
        decoder.orientation(),
        Ok(Orientation::Rotate90 | Orientation::Rotate270 | Orientation::Rotate90FlipH | Orientation::Rotate270FlipH)
    );
    Ok(if lies { (height, width) } else { (width, height) })
}

fn pixels(cells: Size, cell: CellSize) -> (u32, u32) {
    (u32::from(cells.width) * u32::from(cell.width), u32::from(cells.height) * u32::from(cell.height))
}

/// Puts the image in the upper left corner of a canvas as large as its cells, so that it is not stretched.
fn on_canvas(picture: &RgbaImage, (width, height): (u32, u32)) -> RgbaImage {
    let mut canvas = RgbaImage::new(width, height);
    replace(&mut canvas, picture, 0, 0);
    canvas
}

/// The largest size of the same shape in a room, not larger than the original.
fn within((width, height): (u32, u32), (most_wide, most_high): (u32, u32)) -> (u32, u32) {
    let scaled = |side: u32, to: u32, from: u32| {
        u32::try_from(u64::from(side) * u64::from(to) / u64::from(from.max(1))).unwrap_or(u32::MAX).max(1)
    };
    if width <= most_wide && height <= most_high {
        (width, height)
    } else if u64::from(width) * u64::from(most_high) >= u64::from(height) * u64::from(most_wide) {
        (most_wide, scaled(height, most_wide, width).min(most_high))
    } else {
        (scaled(width, most_high, height).min(most_wide), most_high)
    }
}

fn amount(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", (bytes + 500) / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) mod testing;

//! Encodes pixels for the three protocols. Applies no limits: the pixels already have the right size.

use std::fmt::Write as _;
use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use icy_sixel::{BackgroundMode, SixelImage};
use image::{ImageFormat, RgbaImage};
use ratatui::layout::Size;

use super::ImageError;

/// The most base64 in one sequence of kitty's protocol.
const CHUNK: usize = 4096;

fn png(picture: &RgbaImage) -> Result<Vec<u8>, ImageError> {
    let mut bytes = Vec::new();
    picture.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).map_err(|_| ImageError::Damaged)?;
    Ok(bytes)
}

/// Transmits and shows (`a=T`) a PNG (`f=100`) in these columns and rows, leaves the cursor (`C=1`) and wants no answer
/// (`q=2`). Without an id: another image with the same id would remove one that has scrolled away.
pub(super) fn kitty(canvas: &RgbaImage, cells: Size) -> Result<String, ImageError> {
    let data = STANDARD.encode(png(canvas)?);
    let mut out = String::with_capacity(data.len() + data.len() / CHUNK * 16 + 64);
    let mut rest = data.as_str();
    let mut first = true;
    let Size { width, height } = cells;
    while first || !rest.is_empty() {
        let (chunk, behind) = rest.split_at(rest.len().min(CHUNK));
        let more = u8::from(!behind.is_empty());
        let _ = if first {
            write!(out, "\u{1b}_Ga=T,f=100,c={width},r={height},C=1,q=2,m={more};{chunk}\u{1b}\\")
        } else {
            write!(out, "\u{1b}_Gm={more},q=2;{chunk}\u{1b}\\")
        };
        (rest, first) = (behind, false);
    }
    Ok(out)
}

/// As wide and high as the cells, with its shape kept inside them.
pub(super) fn iterm2(picture: &RgbaImage, cells: Size) -> Result<String, ImageError> {
    let png = png(picture)?;
    Ok(format!(
        "\u{1b}]1337;File=inline=1;size={};width={};height={};preserveAspectRatio=1;doNotMoveCursor=1:{}\u{7}",
        png.len(),
        cells.width,
        cells.height,
        STANDARD.encode(&png)
    ))
}

/// With 256 colours, dithered; transparent pixels are not drawn.
pub(super) fn sixel(picture: RgbaImage) -> Result<String, ImageError> {
    let side = |pixels: u32| usize::try_from(pixels).map_err(|_| ImageError::TooLarge);
    let (width, height) = (side(picture.width())?, side(picture.height())?);
    SixelImage::try_from_rgba(picture.into_raw(), width, height)
        .and_then(|image| image.with_background_mode(BackgroundMode::Transparent).encode())
        .map_err(|_| ImageError::Damaged)
}

//! Images for tests.

use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::{ImageFormat, Rgba, RgbaImage};

pub(crate) fn block(width: u32, height: u32) -> String {
    let mut bytes = Vec::new();
    let picture = RgbaImage::from_pixel(width, height, Rgba([200, 40, 40, 255]));
    picture.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).unwrap();
    STANDARD.encode(bytes)
}

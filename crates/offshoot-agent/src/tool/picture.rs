//! Images for a model: recognised by their first bytes, checked, rotated and scaled to the limits of every provider.
//!
//! An image that a provider refuses would break every later request of its session. So an unreadable one is omitted,
//! and the text says so.

use std::fs::File;
use std::io::{self, Read as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{ToolContext, ToolOutcome, truncate};
use crate::message::Block;

/// The limit of the base64 text: below the 5 MB of the strictest provider.
pub(crate) const MAX_BASE64: usize = 4_718_592;
/// Larger files are not opened.
const MAX_FILE: u64 = 256 << 20;

/// The formats that every provider accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Png,
    Jpeg,
    Gif,
    WebP,
    AnimatedPng,
}

impl Kind {
    fn mime(self) -> &'static str {
        match self {
            Self::Png | Self::AnimatedPng => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::WebP => "image/webp",
        }
    }
}

/// The format of an image, from its first bytes.
pub(crate) fn kind(start: &[u8]) -> Option<Kind> {
    if start.starts_with(b"\xff\xd8\xff") && start.get(3) != Some(&0xf7) {
        return Some(Kind::Jpeg);
    }
    if start.starts_with(b"\x89PNG\r\n\x1a\n") && start.get(8..16) == Some(b"\0\0\0\x0dIHDR") {
        return Some(if is_animated(start) { Kind::AnimatedPng } else { Kind::Png });
    }
    if start.starts_with(b"GIF87a") || start.starts_with(b"GIF89a") {
        return Some(Kind::Gif);
    }
    (start.starts_with(b"RIFF") && start.get(8..12) == Some(b"WEBP")).then_some(Kind::WebP)
}

/// Whether an animation is announced before the first image data.
fn is_animated(start: &[u8]) -> bool {
    let mut rest = start.get(8..).unwrap_or_default();
    while let Some(([a, b, c, d, kind @ ..], after)) = rest.split_at_checked(8) {
        match kind {
            b"acTL" => return true,
            b"IDAT" => return false,
            _ => {}
        }
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        rest = after.get(length.saturating_add(4)..).unwrap_or_default();
    }
    false
}

pub(crate) fn read(
    kind: Kind,
    start: Vec<u8>,
    mut rest: File,
    size: u64,
    place: &ToolContext,
) -> io::Result<ToolOutcome> {
    let mime = kind.mime();
    if !place.images {
        return Ok(ToolOutcome::text(format!(
            "[{mime}, {}: left out, for this model takes no pictures]",
            truncate::size(size)
        )));
    }
    if size > MAX_FILE {
        return Ok(ToolOutcome::text(format!("[{mime}, {}: left out, too large to be scaled]", truncate::size(size))));
    }
    if kind == Kind::AnimatedPng {
        return Ok(ToolOutcome::text("[image/png: left out, for providers refuse animated PNGs]"));
    }
    let mut bytes = start;
    rest.read_to_end(&mut bytes)?;
    Ok(match fit(kind, &bytes) {
        Ok(Fitted { data, mime_type, note }) => {
            let text = [format!("[{mime_type}]"), note].join("\n");
            let mut outcome = ToolOutcome::text(text.trim_end());
            outcome.content.push(Block::Image { data, mime_type });
            outcome
        }
        Err(why) => ToolOutcome::text(format!("[{mime}: left out, {why}]")),
    })
}

struct Fitted {
    data: String,
    mime_type: String,
    note: String,
}

impl Fitted {
    fn new(bytes: &[u8], mime: &str) -> Self {
        Self { data: STANDARD.encode(bytes), mime_type: mime.to_owned(), note: String::new() }
    }
}

fn base64_length(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

#[cfg(not(feature = "images"))]
fn fit(kind: Kind, bytes: &[u8]) -> Result<Fitted, String> {
    if base64_length(bytes.len()) < MAX_BASE64 {
        return Ok(Fitted::new(bytes, kind.mime()));
    }
    Err("it is too large, and this build cannot scale pictures".to_owned())
}

#[cfg(feature = "images")]
use scaled::fit;

#[cfg(feature = "images")]
mod scaled {
    use std::io::Cursor;

    use image::codecs::jpeg::JpegEncoder;
    use image::imageops::FilterType;
    use image::{DynamicImage, ImageDecoder as _, ImageError, ImageFormat, ImageReader, Limits};

    use super::{Fitted, Kind, MAX_BASE64, base64_length};

    /// In pixels.
    const MAX_SIDE: u32 = 2000;
    /// Memory of a decoder.
    const MAX_MEMORY: u64 = 512 << 20;
    /// Qualities of JPEGs, tried in this order.
    const QUALITIES: [u8; 5] = [80, 85, 70, 55, 40];

    pub(super) fn fit(kind: Kind, bytes: &[u8]) -> Result<Fitted, String> {
        let picture = decode(kind, bytes).map_err(|error| format!("it cannot be read: {error}"))?;
        let (width, height) = (picture.width(), picture.height());
        if width <= MAX_SIDE && height <= MAX_SIDE && base64_length(bytes.len()) < MAX_BASE64 {
            return Ok(Fitted::new(bytes, kind.mime()));
        }
        let (mut w, mut h) = target(width, height);
        loop {
            let smaller = picture.resize_exact(w, h, FilterType::Lanczos3);
            if let Some(fitted) = encode(&smaller).map_err(|error| format!("it cannot be scaled: {error}"))? {
                let scale = f64::from(width) / f64::from(w);
                let note = format!(
                    "[scaled from {width}x{height} to {w}x{h}: multiply coordinates by {scale:.2} for those of the file]"
                );
                return Ok(Fitted { note, ..fitted });
            }
            if (w, h) == (1, 1) {
                return Err("it cannot be made small enough".to_owned());
            }
            (w, h) = ((w * 3 / 4).max(1), (h * 3 / 4).max(1));
        }
    }

    fn decode(kind: Kind, bytes: &[u8]) -> Result<DynamicImage, ImageError> {
        let format = match kind {
            Kind::Png | Kind::AnimatedPng => ImageFormat::Png,
            Kind::Jpeg => ImageFormat::Jpeg,
            Kind::Gif => ImageFormat::Gif,
            Kind::WebP => ImageFormat::WebP,
        };
        let mut limits = Limits::default();
        limits.max_alloc = Some(MAX_MEMORY);
        let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
        reader.limits(limits);
        let mut decoder = reader.into_decoder()?;
        let upright = decoder.orientation()?;
        let mut picture = DynamicImage::from_decoder(decoder)?;
        picture.apply_orientation(upright);
        Ok(picture)
    }

    fn target(width: u32, height: u32) -> (u32, u32) {
        let fitted = |side: u32, from: u32, to: u32| {
            u32::try_from((u64::from(side) * u64::from(to) + u64::from(from) / 2) / u64::from(from))
                .unwrap_or(to)
                .max(1)
        };
        let (mut w, mut h) = (width, height);
        if w > MAX_SIDE {
            (w, h) = (MAX_SIDE, fitted(h, w, MAX_SIDE));
        }
        if h > MAX_SIDE {
            (w, h) = (fitted(w, h, MAX_SIDE), MAX_SIDE);
        }
        (w, h)
    }

    /// A PNG if it is small enough, else the best JPEG that is.
    fn encode(picture: &DynamicImage) -> Result<Option<Fitted>, ImageError> {
        let mut bytes = Vec::new();
        picture.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)?;
        if base64_length(bytes.len()) < MAX_BASE64 {
            return Ok(Some(Fitted::new(&bytes, "image/png")));
        }
        let opaque = picture.to_rgb8();
        for quality in QUALITIES {
            bytes.clear();
            JpegEncoder::new_with_quality(&mut bytes, quality).encode_image(&opaque)?;
            if base64_length(bytes.len()) < MAX_BASE64 {
                return Ok(Some(Fitted::new(&bytes, "image/jpeg")));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
#[cfg(feature = "images")]
mod tests {
    use super::*;
    use crate::tool::testing::{call, place, text_of};
    use image::{DynamicImage, ImageFormat};
    use serde_json::json;
    use std::path::Path;

    fn shown(dir: &Path, bytes: &[u8], images: bool) -> ToolOutcome {
        std::fs::write(dir.join("p.dat"), bytes).unwrap();
        call(&crate::tool::Read, json!({"path": "p.dat"}), ToolContext { images, ..place(dir) })
    }

    fn encoded(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let mut bytes = io::Cursor::new(Vec::new());
        DynamicImage::new_rgb8(width, height).write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn small_pictures_are_sent_byte_for_byte_whatever_their_name() {
        let dir = tempfile::tempdir().unwrap();
        for (format, mime) in [
            (ImageFormat::Png, "image/png"),
            (ImageFormat::Jpeg, "image/jpeg"),
            (ImageFormat::Gif, "image/gif"),
            (ImageFormat::WebP, "image/webp"),
        ] {
            let bytes = encoded(3, 2, format);
            let outcome = shown(dir.path(), &bytes, true);
            let image = Block::Image { data: STANDARD.encode(&bytes), mime_type: mime.to_owned() };
            assert_eq!(outcome.content, [ToolOutcome::text(format!("[{mime}]")).content, vec![image]].concat());
        }
    }

    #[test]
    fn large_pictures_are_scaled_and_the_text_says_how() {
        let dir = tempfile::tempdir().unwrap();
        let outcome = shown(dir.path(), &encoded(4000, 10, ImageFormat::Png), true);
        assert!(text_of(&outcome).contains("from 4000x10 to 2000x5: multiply coordinates by 2.00"), "{outcome:?}");
        let Some(Block::Image { data, .. }) = outcome.content.get(1) else { panic!("no picture") };
        let picture = image::load_from_memory(&STANDARD.decode(data).unwrap()).unwrap();
        assert_eq!((picture.width(), picture.height()), (2000, 5));
    }

    #[test]
    fn what_a_provider_would_refuse_is_left_out_and_told() {
        let dir = tempfile::tempdir().unwrap();
        let png = encoded(3, 2, ImageFormat::Png);
        let animated = [&png[..33], b"\0\0\0\x08acTL\0\0\0\x01\0\0\0\0\0\0\0\0", &png[33..]].concat();
        for (bytes, images, words) in [
            (&png[..40], true, "cannot be read"),
            (&png[..], false, "takes no pictures"),
            (&animated[..], true, "animated"),
        ] {
            let outcome = shown(dir.path(), bytes, images);
            assert!(outcome.content.len() == 1 && text_of(&outcome).contains(words), "{outcome:?}");
        }
    }
}

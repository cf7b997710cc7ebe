//! A picture for a model: recognised by its first bytes, decoded within bounds, rotated and scaled.
//!
//! A picture that a provider refuses would break every later request of its session. Knows no message, file or wire
//! format: callers name the bounds.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The formats that models accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PictureKind {
    Png,
    Jpeg,
    Gif,
    WebP,
    AnimatedPng,
}

/// What a picture may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PictureBounds {
    /// In pixels.
    pub(crate) side: u32,
    /// The length of its base64.
    pub(crate) base64: usize,
    pub(crate) kinds: &'static [PictureKind],
}

impl PictureBounds {
    /// What every provider accepts, for pictures that are stored: below the 5 MB of the strictest one.
    pub(crate) const STORED: Self = Self {
        side: 2000,
        base64: 4_718_592,
        kinds: &[PictureKind::Png, PictureKind::Jpeg, PictureKind::Gif, PictureKind::WebP],
    };

    #[cfg(feature = "images")]
    fn allow(&self, kind: PictureKind, size: (u32, u32), bytes: usize) -> bool {
        self.kinds.contains(&kind) && size.0 <= self.side && size.1 <= self.side && base64_length(bytes) <= self.base64
    }
}

impl PictureKind {
    /// The format of a picture, from its first bytes.
    pub(crate) fn of(start: &[u8]) -> Option<Self> {
        if start.starts_with(b"\xff\xd8\xff") && start.get(3) != Some(&0xf7) {
            return Some(Self::Jpeg);
        }
        if start.starts_with(b"\x89PNG\r\n\x1a\n") && start.get(8..16) == Some(b"\0\0\0\x0dIHDR") {
            return Some(if is_animated(start) { Self::AnimatedPng } else { Self::Png });
        }
        if start.starts_with(b"GIF87a") || start.starts_with(b"GIF89a") {
            return Some(Self::Gif);
        }
        (start.starts_with(b"RIFF") && start.get(8..12) == Some(b"WEBP")).then_some(Self::WebP)
    }

    pub(crate) fn mime(self) -> &'static str {
        match self {
            Self::Png | Self::AnimatedPng => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::WebP => "image/webp",
        }
    }
}

/// Whether a file that starts so is a picture that models accept.
#[must_use]
pub fn is_picture(start: &[u8]) -> bool {
    PictureKind::of(start).is_some()
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

/// A picture within bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FittedPicture {
    /// Base64.
    pub(crate) data: String,
    pub(crate) mime: &'static str,
    /// Its size before and now, if it was scaled.
    pub(crate) scaled: Option<((u32, u32), (u32, u32))>,
}

impl FittedPicture {
    fn new(bytes: &[u8], kind: PictureKind) -> Self {
        Self { data: STANDARD.encode(bytes), mime: kind.mime(), scaled: None }
    }
}

fn base64_length(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

/// Fits a picture into bounds, or says as a clause why it cannot be sent.
#[cfg(not(feature = "images"))]
pub(crate) fn fit(kind: PictureKind, bytes: &[u8], bounds: PictureBounds) -> Result<FittedPicture, String> {
    if bounds.kinds.contains(&kind) && base64_length(bytes.len()) <= bounds.base64 {
        return Ok(FittedPicture::new(bytes, kind));
    }
    Err("it is too large or of another format, and this build cannot convert pictures".to_owned())
}

#[cfg(feature = "images")]
pub(crate) use scaled::fit;

#[cfg(feature = "images")]
mod scaled {
    use std::io::Cursor;

    use image::codecs::jpeg::JpegEncoder;
    use image::imageops::FilterType;
    use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};

    use super::{FittedPicture, PictureBounds, PictureKind, base64_length};

    /// Of a decoded picture: 67 million pixels of four bytes. A picture of few bytes may have any number of pixels.
    const MAX_DECODED: u64 = 256 << 20;
    /// Qualities of JPEGs, tried in this order.
    const QUALITIES: [u8; 5] = [80, 85, 70, 55, 40];

    /// Fits a picture into bounds, or says as a clause why it cannot be sent.
    pub(crate) fn fit(kind: PictureKind, bytes: &[u8], bounds: PictureBounds) -> Result<FittedPicture, String> {
        let unreadable = |error: ImageError| format!("it cannot be read: {error}");
        let decoder = reader(kind, bytes).into_decoder().map_err(unreadable)?;
        let (width, height) = decoder.dimensions();
        if decoder.total_bytes() > MAX_DECODED || u64::from(width) * u64::from(height) * 4 > MAX_DECODED {
            let most = MAX_DECODED / 4 / 1_000_000;
            return Err(format!("it has {width}x{height} pixels, more than the {most} million that are decoded"));
        }
        let picture = decode(decoder).map_err(unreadable)?;
        let size = (picture.width(), picture.height());
        if bounds.allow(kind, size, bytes.len()) {
            return Ok(FittedPicture::new(bytes, kind));
        }
        let mut to = target(size, bounds.side);
        // A large picture is halved first: scaling well takes much memory.
        let coarse = (to.0.saturating_mul(2), to.1.saturating_mul(2));
        let picture = match size.0 > coarse.0 && size.1 > coarse.1 {
            true => picture.thumbnail_exact(coarse.0, coarse.1),
            false => picture,
        };
        loop {
            let smaller = match to == (picture.width(), picture.height()) {
                true => picture.clone(),
                false => picture.resize_exact(to.0, to.1, FilterType::Lanczos3),
            };
            if let Some(fitted) = encode(&smaller, bounds).map_err(|error| format!("it cannot be scaled: {error}"))? {
                return Ok(FittedPicture { scaled: (size != to).then_some((size, to)), ..fitted });
            }
            if to == (1, 1) {
                return Err("it cannot be made small enough".to_owned());
            }
            to = ((to.0 * 3 / 4).max(1), (to.1 * 3 / 4).max(1));
        }
    }

    fn reader(kind: PictureKind, bytes: &[u8]) -> ImageReader<Cursor<&[u8]>> {
        let format = match kind {
            PictureKind::Png | PictureKind::AnimatedPng => ImageFormat::Png,
            PictureKind::Jpeg => ImageFormat::Jpeg,
            PictureKind::Gif => ImageFormat::Gif,
            PictureKind::WebP => ImageFormat::WebP,
        };
        let mut limits = Limits::default();
        limits.max_alloc = Some(MAX_DECODED * 2);
        let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
        reader.limits(limits);
        reader
    }

    /// The picture upright: a photograph may be stored rotated.
    fn decode(mut decoder: impl ImageDecoder) -> Result<DynamicImage, ImageError> {
        let upright = decoder.orientation()?;
        let mut picture = DynamicImage::from_decoder(decoder)?;
        picture.apply_orientation(upright);
        Ok(picture)
    }

    fn target((width, height): (u32, u32), side: u32) -> (u32, u32) {
        let fitted = |side: u32, from: u32, to: u32| {
            u32::try_from((u64::from(side) * u64::from(to) + u64::from(from) / 2) / u64::from(from))
                .unwrap_or(to)
                .max(1)
        };
        let (mut w, mut h) = (width, height);
        if w > side {
            (w, h) = (side, fitted(h, w, side));
        }
        if h > side {
            (w, h) = (fitted(w, h, side), side);
        }
        (w, h)
    }

    /// A PNG if it is small enough, else the best JPEG that is.
    fn encode(picture: &DynamicImage, bounds: PictureBounds) -> Result<Option<FittedPicture>, ImageError> {
        let mut bytes = Vec::new();
        picture.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)?;
        if base64_length(bytes.len()) <= bounds.base64 {
            return Ok(Some(FittedPicture::new(&bytes, PictureKind::Png)));
        }
        let opaque = picture.to_rgb8();
        for quality in QUALITIES {
            bytes.clear();
            JpegEncoder::new_with_quality(&mut bytes, quality).encode_image(&opaque)?;
            if base64_length(bytes.len()) <= bounds.base64 {
                return Ok(Some(FittedPicture::new(&bytes, PictureKind::Jpeg)));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
#[cfg(feature = "images")]
mod tests {
    use super::*;

    /// A PNG of any size in few bytes: one line of black pixels after the other, of which only a few are there.
    fn header(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = std::io::Cursor::new(Vec::new());
        image::DynamicImage::new_luma8(1, 1).write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        let mut bytes = bytes.into_inner();
        bytes[16..20].copy_from_slice(&width.to_be_bytes());
        bytes[20..24].copy_from_slice(&height.to_be_bytes());
        let sum = crc(&bytes[12..29]);
        bytes[29..33].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    fn crc(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(u32::MAX, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 })
        })
    }

    /// A PNG of 2.7 MB with 30,000 × 30,000 pixels took 3.6 GB of memory.
    #[test]
    fn the_pixels_of_a_picture_are_counted_before_it_is_decoded() {
        let why = fit(PictureKind::Png, &header(30_000, 30_000), PictureBounds::STORED).unwrap_err();
        assert!(why.contains("it has 30000x30000 pixels, more than the 67 million"), "{why}");
        let gif = [&b"GIF89a\xff\xff\xff\xff\0\0\0,\0\0\0\0\xff\xff\xff\xff\0"[..], b"\x02\x02\x44\x01\0;"].concat();
        let why = fit(PictureKind::Gif, &gif, PictureBounds::STORED).unwrap_err();
        assert!(why.contains("65535x65535"), "{why}");
        let why = fit(PictureKind::Png, &header(9_000, 1), PictureBounds::STORED).unwrap_err();
        assert!(why.contains("cannot be read"), "few pixels are decoded: {why}");
    }

    #[test]
    fn a_format_that_a_service_does_not_take_is_converted() {
        let mut bytes = std::io::Cursor::new(Vec::new());
        image::DynamicImage::new_rgba8(3, 2).write_to(&mut bytes, image::ImageFormat::Gif).unwrap();
        let bounds = PictureBounds { kinds: &[PictureKind::Png], ..PictureBounds::STORED };
        let fitted = fit(PictureKind::Gif, &bytes.into_inner(), bounds).unwrap();
        assert_eq!((fitted.mime, fitted.scaled), ("image/png", None));
        assert_eq!(PictureKind::of(&STANDARD.decode(fitted.data).unwrap()), Some(PictureKind::Png));
    }
}

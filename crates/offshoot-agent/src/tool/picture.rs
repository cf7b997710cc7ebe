//! Pictures of files: what the tool `read` returns for one.
//!
//! They are stored also while the model takes text only: a later model may see them. An unreadable one is left out, and
//! the text says so.

use std::fs::File;
use std::io::{self, Read as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use offshoot_protocol::message::Block;

use super::{ToolOutcome, truncate};
use crate::picture::{FittedPicture, PictureBounds, PictureKind, fit};

/// Larger files are not opened.
const MAX_FILE: u64 = 256 << 20;

pub(crate) fn read(kind: PictureKind, start: Vec<u8>, mut rest: File, size: u64) -> io::Result<ToolOutcome> {
    let mime = kind.mime();
    if size > MAX_FILE {
        return Ok(ToolOutcome::text(format!("[{mime}, {}: left out, too large to be scaled]", truncate::size(size))));
    }
    if kind == PictureKind::AnimatedPng {
        return Ok(ToolOutcome::text("[image/png: left out, for providers refuse animated PNGs]"));
    }
    let mut bytes = start;
    rest.by_ref().take(MAX_FILE).read_to_end(&mut bytes)?;
    Ok(match fit(kind, &bytes, PictureBounds::STORED) {
        Ok(FittedPicture { data, mime, scaled }) => {
            let note = scaled.map(|((width, height), (w, h))| {
                let scale = f64::from(width) / f64::from(w);
                format!("\n[scaled from {width}x{height} to {w}x{h}: multiply coordinates by {scale:.2} for those of the file]")
            });
            let mut outcome = ToolOutcome::text(format!("[{mime}]{}", note.unwrap_or_default()));
            outcome.content.push(Block::Image { data, mime_type: mime.to_owned() });
            outcome
        }
        Err(why) => ToolOutcome::text(format!("[{mime}: left out, {why}]")),
    })
}

/// A picture as sessions store it, from base64 that another program sends.
///
/// # Errors
/// Why no provider would take it, as a clause.
pub fn stored_picture(base64: &str) -> Result<Block, String> {
    if base64.len() as u64 / 4 * 3 > MAX_FILE {
        return Err("it is too large to be scaled".to_owned());
    }
    let bytes = STANDARD.decode(base64).map_err(|_| "it is not base64".to_owned())?;
    let kind = PictureKind::of(&bytes).filter(|kind| *kind != PictureKind::AnimatedPng);
    let kind = kind.ok_or("it is not a picture that models take")?;
    let FittedPicture { data, mime, .. } = fit(kind, &bytes, PictureBounds::STORED)?;
    Ok(Block::Image { data, mime_type: mime.to_owned() })
}

#[cfg(test)]
#[cfg(feature = "images")]
mod tests {
    use super::*;
    use crate::tool::testing::{call, place, text_of};
    use image::{DynamicImage, ImageFormat};
    use serde_json::json;
    use std::path::Path;

    fn shown(dir: &Path, bytes: &[u8]) -> ToolOutcome {
        std::fs::write(dir.join("p.dat"), bytes).unwrap();
        call(&crate::tool::Read, json!({"path": "p.dat"}), place(dir))
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
            let outcome = shown(dir.path(), &bytes);
            let image = Block::Image { data: STANDARD.encode(&bytes), mime_type: mime.to_owned() };
            assert_eq!(outcome.content, [ToolOutcome::text(format!("[{mime}]")).content, vec![image]].concat());
        }
    }

    #[test]
    fn large_pictures_are_scaled_and_the_text_says_how() {
        let dir = tempfile::tempdir().unwrap();
        let outcome = shown(dir.path(), &encoded(4000, 10, ImageFormat::Png));
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
        for (bytes, words) in [(&png[..40], "cannot be read"), (&animated[..], "animated")] {
            let outcome = shown(dir.path(), bytes);
            assert!(outcome.content.len() == 1 && text_of(&outcome).contains(words), "{outcome:?}");
        }
    }
}

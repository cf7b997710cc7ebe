//! Images made here, encoded for each protocol, and decoded again.

use image::{ImageFormat, Rgba};
use proptest::prelude::*;

use super::*;

const CELL: CellSize = CellSize { width: 10, height: 20 };

fn gradient(width: u32, height: u32) -> RgbaImage {
    let part = |at: u32, of: u32| u8::try_from(at * 255 / of).unwrap();
    RgbaImage::from_fn(width, height, |x, y| Rgba([part(x, width), part(y, height), 96, 255]))
}

fn file(picture: &RgbaImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    let picture = DynamicImage::ImageRgba8(picture.clone());
    let picture = if format == ImageFormat::Jpeg { picture.into_rgb8().into() } else { picture };
    picture.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    bytes
}

fn of(bytes: &[u8]) -> Picture {
    Picture::of_block(&STANDARD.encode(bytes), "image/png")
}

fn inside(escape: &str) -> &str {
    let inside = escape.strip_prefix("\u{1b}7").and_then(|rest| rest.strip_suffix("\u{1b}8\u{1b}[C")).unwrap();
    &inside[inside.find(['_', ']', 'P']).unwrap() - 1..]
}

/// The image that kitty would assemble, and the keys of the first piece.
fn kitty_reads(escape: &str) -> (String, DynamicImage) {
    let pieces: Vec<_> =
        inside(escape).split_terminator("\u{1b}\\").map(|piece| piece.strip_prefix("\u{1b}_G").unwrap()).collect();
    let mut data = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        let (keys, chunk) = piece.split_once(';').unwrap();
        let last = at + 1 == pieces.len();
        assert!(keys.contains(if last { "m=0" } else { "m=1" }), "{keys}");
        assert!(chunk.len() <= 4096 && (last || chunk.len() % 4 == 0));
        data.push_str(chunk);
    }
    let keys = pieces[0].split_once(';').unwrap().0.to_owned();
    (keys, image::load_from_memory(&STANDARD.decode(data).unwrap()).unwrap())
}

#[test]
fn kitty_gets_the_very_pixels() {
    let picture = gradient(80, 60);
    let escape = of(&file(&picture, ImageFormat::Png)).escape(ImageProtocol::Kitty, Size::new(8, 3), CELL).unwrap();
    let (keys, shown) = kitty_reads(&escape);
    assert_eq!(keys, "a=T,f=100,c=8,r=3,C=1,q=2,m=0");
    assert_eq!(shown.into_rgba8(), picture);
}

#[test]
fn a_large_picture_goes_in_pieces_and_on_as_many_pixels_as_its_cells_have() {
    let noise = RgbaImage::from_fn(900, 500, |x, y| {
        let mixed = (x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(40_503)).to_le_bytes();
        Rgba([mixed[1], mixed[2], mixed[3], 255])
    });
    let picture = of(&file(&noise, ImageFormat::Png));
    let cells = picture.about().cells(Size::new(60, 12), CELL).unwrap();
    assert_eq!(cells, Size::new(44, 12), "432 by 240 pixels");
    let (keys, shown) = kitty_reads(&picture.escape(ImageProtocol::Kitty, cells, CELL).unwrap());
    assert!(keys.ends_with("m=1"), "{keys}");
    assert_eq!((shown.width(), shown.height()), (440, 240));
    let shown = shown.into_rgba8();
    assert_eq!((shown.get_pixel(431, 239)[3], shown.get_pixel(432, 0)[3]), (255, 0), "what is left over is clear");
}

#[test]
fn iterm2_gets_a_png() {
    let picture = gradient(50, 30);
    let escape = of(&file(&picture, ImageFormat::Png)).escape(ImageProtocol::Iterm2, Size::new(5, 2), CELL).unwrap();
    let inside = inside(&escape).strip_prefix("\u{1b}]1337;File=").unwrap().strip_suffix('\u{7}').unwrap();
    let (keys, data) = inside.split_once(':').unwrap();
    let png = STANDARD.decode(data).unwrap();
    assert_eq!(keys, format!("inline=1;size={};width=5;height=2;preserveAspectRatio=1;doNotMoveCursor=1", png.len()));
    assert_eq!(image::load_from_memory(&png).unwrap().into_rgba8(), picture);
}

#[test]
fn sixels_look_like_the_picture() {
    let picture = gradient(120, 60);
    let escape = of(&file(&picture, ImageFormat::Png)).escape(ImageProtocol::Sixel, Size::new(12, 3), CELL).unwrap();
    let shown = icy_sixel::SixelImage::decode(inside(&escape).as_bytes()).unwrap();
    assert_eq!((shown.width, shown.height), (120, 60));
    let off = |(one, other): (&u8, &u8)| u64::from(one.abs_diff(*other));
    let sum: u64 = picture.as_raw().iter().zip(&shown.pixels).map(off).sum();
    assert!(sum / u64::try_from(shown.pixels.len()).unwrap() < 6, "{sum}");
}

#[test]
fn every_form_that_models_take_is_shown() {
    let picture = gradient(40, 20);
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP] {
        let shown = of(&file(&picture, format)).escape(ImageProtocol::Kitty, Size::new(4, 1), CELL).unwrap();
        assert_eq!(kitty_reads(&shown).1.into_rgba8().dimensions(), (40, 20), "{format:?}");
    }
}

#[test]
fn a_picture_keeps_its_shape_and_does_not_grow() {
    for (width, height, room, cells) in [
        (10, 20, Size::new(80, 24), Size::new(1, 1)),
        (11, 21, Size::new(80, 24), Size::new(2, 2)),
        (800, 400, Size::new(40, 24), Size::new(40, 10)),
        (400, 800, Size::new(80, 10), Size::new(10, 10)),
        (4000, 1, Size::new(20, 5), Size::new(20, 1)),
        (1, 4000, Size::new(20, 5), Size::new(1, 5)),
    ] {
        let picture = of(&file(&RgbaImage::new(width, height), ImageFormat::Png));
        assert_eq!(picture.size(), Ok((width, height)));
        assert_eq!(picture.about().cells(room, CELL), Ok(cells), "{width}×{height}");
    }
}

#[test]
fn what_cannot_be_shown_says_why() {
    let png = file(&gradient(640, 480), ImageFormat::Png);
    let placeholder = |data: &str, mime: &str| Picture::of_block(data, mime).about().placeholder();
    let encoded = STANDARD.encode(&png);
    assert_eq!(
        placeholder(&encoded, "image/png"),
        format!("[image: image/png 640×480, {} kB]", (png.len() + 500) / 1000)
    );
    insta::assert_snapshot!(placeholder("***", "image/png"), @"[image: image/png, not shown: it is not base64]");
    insta::assert_snapshot!(placeholder("", "image/png"), @"[image: image/png, not shown: its form is not known]");
    insta::assert_snapshot!(placeholder(&STANDARD.encode("<svg/>"), "image/svg+xml"), @"[image: image/svg+xml, 6 B, not shown: its form is not known]");
    insta::assert_snapshot!(placeholder(&STANDARD.encode(&png[..20]), "image/png"), @"[image: image/png, 20 B, not shown: it is damaged]");
    insta::assert_snapshot!(placeholder(&STANDARD.encode(&png[..20]), "\u{1b}]0;title\u{7}image/\u{202e}png\n"), @r"[image: ␛]0;title␇image/\u{202e}png, 20 B, not shown: it is damaged]");
    insta::assert_snapshot!(placeholder(&STANDARD.encode(huge()), "image/png"), @"[image: image/png, 73 B, not shown: it is too large]");
    insta::assert_snapshot!(placeholder(&"A".repeat(50 << 20), "image/png"), @"[image: image/png, not shown: it is too large]");
}

fn huge() -> Vec<u8> {
    let mut png = file(&RgbaImage::new(1, 1), ImageFormat::Png);
    let header: Vec<u8> =
        [b"IHDR".as_slice(), &60_000_u32.to_be_bytes(), &60_000_u32.to_be_bytes(), &[8, 6, 0, 0, 0]].concat();
    let mut sum = !0_u32;
    for byte in &header {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
        }
    }
    png.splice(12..33, header.into_iter().chain((!sum).to_be_bytes()));
    png
}

#[test]
fn a_picture_that_breaks_off_is_found_out_when_it_is_drawn() {
    let png = file(&gradient(64, 64), ImageFormat::Png);
    let picture = of(&png[..png.len() / 2]);
    assert_eq!(picture.size(), Ok((64, 64)));
    for protocol in [ImageProtocol::Kitty, ImageProtocol::Iterm2, ImageProtocol::Sixel] {
        assert_eq!(picture.escape(protocol, Size::new(6, 3), CELL), Err(ImageError::Damaged));
        assert_eq!(of(&png).escape(protocol, Size::new(0, 3), CELL), Err(ImageError::NoRoom));
    }
}

/// The terminal's cursor moves as after a blank, wherever the image is.
#[test]
fn a_picture_moves_nothing_and_touches_only_its_cells() {
    let picture = of(&file(&gradient(60, 60), ImageFormat::Png));
    let cells = picture.about().cells(Size::new(20, 8), CELL).unwrap();
    for protocol in [ImageProtocol::Kitty, ImageProtocol::Iterm2, ImageProtocol::Sixel] {
        let escape = picture.escape(protocol, cells, CELL).unwrap();
        let mut buf = Buffer::with_lines(["##########"; 6]);
        let area = Rect::new(2, 1, cells.width, cells.height);
        draw(&escape, area, &mut buf);
        for at in buf.area.positions() {
            let last = at == (area.right() - 1, area.bottom() - 1).into();
            let expected = if last {
                escape.as_str()
            } else if area.contains(at) {
                " "
            } else {
                "#"
            };
            assert_eq!(buf[at].symbol(), expected, "{at:?}");
        }
        let mut screen = vt100::Parser::new(8, 20, 0);
        screen.process(format!("\u{1b}[5;6H{escape}x").as_bytes());
        assert_eq!(screen.screen().contents().trim(), "x");
        assert_eq!(screen.screen().cursor_position(), (4, 7));
    }
    let mut small = Buffer::with_lines(["##"; 2]);
    draw("x", Rect::new(1, 0, 2, 2), &mut small);
    assert_eq!(small, Buffer::with_lines(["##"; 2]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any session data, damaged anywhere, gives a sequence or an error.
    #[test]
    fn no_picture_does_harm(at in 0_usize..600, put in prop::collection::vec(any::<u8>(), 0..8), kind in 0_usize..4) {
        let format = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP][kind];
        let mut bytes = file(&gradient(24, 18), format);
        let start = at.min(bytes.len());
        let end = (start + put.len()).min(bytes.len());
        bytes.splice(start..end, put);
        let picture = of(&bytes);
        prop_assert!(!picture.about().placeholder().contains(char::is_control));
        if let Ok(cells) = picture.about().cells(Size::new(9, 3), CELL) {
            prop_assert!(cells.width <= 9 && cells.height <= 3);
            for protocol in [ImageProtocol::Kitty, ImageProtocol::Sixel] {
                if let Ok(escape) = picture.escape(protocol, cells, CELL) {
                    prop_assert!(!inside(&escape).is_empty());
                }
            }
        }
    }
}

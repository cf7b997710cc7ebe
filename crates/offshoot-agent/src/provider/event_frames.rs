//! Frames of `application/vnd.amazon.eventstream`: splits bytes, however they arrive, into events. Knows no provider.
//!
//! <https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html>: a frame is its length and the length of its headers (each
//! four bytes, the high one first), a checksum of these eight bytes, headers, payload, and a checksum of all that.

/// The service's limit of a frame is 16 MiB of payload and 128 KiB of headers.
const MAX_FRAME_BYTES: usize = 24 << 20;
const MAX_HEADER_BYTES: usize = 128 << 10;
/// Two lengths and their checksum.
const PRELUDE: usize = 12;
const CHECKSUM: usize = 4;

#[derive(Debug, Default)]
pub(super) struct EventFrames {
    bytes: Vec<u8>,
}

/// Why no frame after this one can be found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadFrame(pub(super) &'static str);

impl EventFrames {
    /// Calls `event` with each completed frame as JSON: an object with one member, whose name is that of the event.
    pub(super) fn push(&mut self, bytes: &[u8], event: &mut dyn FnMut(&str)) -> Result<(), BadFrame> {
        self.bytes.extend_from_slice(bytes);
        let mut taken = 0;
        while let Some(frame) = frame(self.bytes.get(taken..).unwrap_or_default())? {
            event(&json(frame)?);
            taken += frame.len();
        }
        self.bytes.drain(..taken);
        Ok(())
    }
}

impl EventFrames {
    /// Whether a frame has begun and not ended.
    pub(super) fn is_within(&self) -> bool {
        !self.bytes.is_empty()
    }
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let four: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    usize::try_from(u32::from_be_bytes(four)).ok()
}

fn is_sound(bytes: &[u8], length: usize) -> bool {
    let sum = bytes.get(..length).map(crc32fast::hash).and_then(|sum| usize::try_from(sum).ok());
    sum.is_some() && sum == number(bytes, length)
}

/// The first frame, if all of it is there. A length is believed after its checksum alone.
fn frame(bytes: &[u8]) -> Result<Option<&[u8]>, BadFrame> {
    let (Some(length), Some(headers), Some(_)) = (number(bytes, 0), number(bytes, 4), number(bytes, 8)) else {
        return Ok(None);
    };
    if !is_sound(bytes, PRELUDE - CHECKSUM) {
        return Err(BadFrame("a damaged frame: the checksum of its beginning is wrong"));
    }
    if headers > MAX_HEADER_BYTES || length > MAX_FRAME_BYTES {
        return Err(BadFrame("a frame of more than 24 MiB"));
    }
    if length < PRELUDE + headers + CHECKSUM {
        return Err(BadFrame("a damaged frame: its headers are longer than itself"));
    }
    let Some(frame) = bytes.get(..length) else { return Ok(None) };
    if !is_sound(frame, length - CHECKSUM) {
        return Err(BadFrame("a damaged frame: its checksum is wrong"));
    }
    Ok(Some(frame))
}

/// The event of a frame whose lengths are right.
fn json(frame: &[u8]) -> Result<String, BadFrame> {
    let end = PRELUDE + number(frame, 4).unwrap_or_default();
    let headers = frame.get(PRELUDE..end).unwrap_or_default();
    let payload = frame.get(end..frame.len() - CHECKSUM).unwrap_or_default();
    let headers = FrameHeaders::read(headers).ok_or(BadFrame("a damaged frame: its headers cannot be read"))?;
    let name = headers.exception.or(headers.event).unwrap_or_default();
    let payload = String::from_utf8_lossy(payload);
    let (name, payload) = match headers.error {
        // An error without a model of its own has its words in the headers.
        Some((code, message)) => (code, serde_json::json!({"message": message}).to_string()),
        None if payload.trim().is_empty() => (name, "{}".to_owned()),
        None => (name, payload.into_owned()),
    };
    Ok(format!("{{{}:{payload}}}", serde_json::Value::from(name)))
}

/// The headers that say what a frame is.
#[derive(Debug, Default)]
struct FrameHeaders {
    event: Option<String>,
    exception: Option<String>,
    error: Option<(String, String)>,
}

impl FrameHeaders {
    fn read(mut bytes: &[u8]) -> Option<Self> {
        let mut found = Self::default();
        let (mut code, mut message) = (None, None);
        while !bytes.is_empty() {
            let name = take(&mut bytes, 1).and_then(|length| take(&mut bytes, usize::from(*length.first()?)))?;
            let kind = *take(&mut bytes, 1)?.first()?;
            let value = match kind {
                0 | 1 => &[][..],
                2 => take(&mut bytes, 1)?,
                3 => take(&mut bytes, 2)?,
                4 => take(&mut bytes, 4)?,
                5 | 8 => take(&mut bytes, 8)?,
                6 | 7 => {
                    let length: [u8; 2] = take(&mut bytes, 2)?.try_into().ok()?;
                    take(&mut bytes, usize::from(u16::from_be_bytes(length)))?
                }
                9 => take(&mut bytes, 16)?,
                _ => return None,
            };
            let text = || (kind == 7).then(|| String::from_utf8_lossy(value).into_owned());
            match name {
                b":event-type" => found.event = text(),
                b":exception-type" => found.exception = text(),
                b":error-code" => code = text(),
                b":error-message" => message = text(),
                _ => {}
            }
        }
        found.error = code.map(|code| (code, message.unwrap_or_default()));
        Some(found)
    }
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (head, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame_of(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
        let mut head = Vec::new();
        for (name, value) in headers {
            head.push(u8::try_from(name.len()).unwrap());
            head.extend_from_slice(name.as_bytes());
            head.push(7);
            head.extend_from_slice(&u16::try_from(value.len()).unwrap().to_be_bytes());
            head.extend_from_slice(value.as_bytes());
        }
        raw(&head, payload)
    }

    fn raw(head: &[u8], payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let length = u32::try_from(PRELUDE + head.len() + payload.len() + CHECKSUM).unwrap();
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&u32::try_from(head.len()).unwrap().to_be_bytes());
        out.extend_from_slice(&crc32fast::hash(&out).to_be_bytes());
        out.extend_from_slice(head);
        out.extend_from_slice(payload);
        out.extend_from_slice(&crc32fast::hash(&out).to_be_bytes());
        out
    }

    fn read(chunks: &[&[u8]]) -> (Vec<String>, Result<(), BadFrame>) {
        let (mut found, mut frames) = (Vec::new(), EventFrames::default());
        for chunk in chunks {
            if let Err(bad) = frames.push(chunk, &mut |event| found.push(event.to_owned())) {
                return (found, Err(bad));
            }
        }
        (found, Ok(()))
    }

    /// AWS's vector `empty_message`.
    #[test]
    fn the_checksums_are_those_of_the_service() {
        assert_eq!(raw(b"", b""), b"\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xeb\x7d\x98\xc8\xff");
    }

    #[test]
    fn every_boundary_gives_the_same_events() {
        let mut body =
            frame_of(&[(":message-type", "event"), (":event-type", "metadata")], "{\"a\":\"日本\"}".as_bytes());
        body.extend(frame_of(&[(":message-type", "exception"), (":exception-type", "throttlingException")], b""));
        body.extend(frame_of(&[(":error-code", "Bad"), (":error-message", "\"no\"")], b"ignored"));
        let expected = [
            "{\"metadata\":{\"a\":\"日本\"}}",
            "{\"throttlingException\":{}}",
            "{\"Bad\":{\"message\":\"\\\"no\\\"\"}}",
        ];
        for at in 0..=body.len() {
            let (found, end) = read(&[&body[..at], &body[at..]]);
            assert_eq!((&found[..], end), (&expected.map(str::to_owned)[..], Ok(())), "cut at {at}");
        }
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        assert_eq!(read(&bytes).0, expected);
    }

    #[test]
    fn no_changed_byte_is_believed() {
        let body = frame_of(&[(":event-type", "metadata")], b"{\"usage\":1}");
        for at in 0..body.len() {
            for bit in 0..8 {
                let mut changed = body.clone();
                changed[at] ^= 1 << bit;
                let (found, end) = read(&[&changed]);
                assert!(found.is_empty() && end.is_err(), "byte {at}, bit {bit}: {found:?}");
            }
        }
    }

    #[test]
    fn a_frame_that_is_sound_and_hostile_is_refused() {
        let with = |length: u32, headers: u32| {
            let mut out = [length.to_be_bytes(), headers.to_be_bytes()].concat();
            out.extend_from_slice(&crc32fast::hash(&out).to_be_bytes());
            read(&[&out]).1
        };
        assert_eq!(with(u32::MAX, 0), Err(BadFrame("a frame of more than 24 MiB")));
        assert_eq!(with(1 << 20, u32::MAX), Err(BadFrame("a frame of more than 24 MiB")));
        assert!(with(15, 0).is_err() && with(100, 90).is_err());
        for head in [&b"\x05ab"[..], b"\x01a\x07\xff\xffx", b"\x01a\x63", b"\x01a"] {
            assert_eq!(
                read(&[&raw(head, b"{}")]).1,
                Err(BadFrame("a damaged frame: its headers cannot be read")),
                "{head:?}"
            );
        }
    }
}

//! Restores images that omp stores outside the session, where a line has `blob:sha256:<64 hexadecimal digits>` instead.
//! A reference whose file is missing stays. Knows where messages have images, not where the store is. See *Messages* in
//! `docs/format.md`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::json::{Json, JsonKind, quote};

const PREFIX: &str = "blob:sha256:";

/// Reads a blob's bytes by its hash, 64 lower-case hexadecimal digits.
pub type ReadBlob<'a> = &'a dyn Fn(&str) -> Option<Vec<u8>>;

/// The hash that a text refers to. Only 64 lower-case hexadecimal digits are a reference, because the hash becomes a
/// file name.
pub fn reference(text: &str) -> Option<&str> {
    let hash = text.strip_prefix(PREFIX)?;
    let is_hash = hash.len() == 64 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    is_hash.then_some(hash)
}

/// The message with its images restored; `None` if that changes nothing.
pub(crate) fn resolve(message: &str, read: ReadBlob<'_>) -> Option<String> {
    if !message.contains(PREFIX) {
        return None;
    }
    let json = Json::trusted(message);
    let mut places = Vec::new();
    for list in ["content", "images"] {
        let blocks = json.get(list).filter(|blocks| blocks.kind() == JsonKind::Array);
        places.extend(blocks.map(Json::items).into_iter().flatten().filter_map(|block| {
            let is_image = block.str("type").is_some_and(|kind| kind == "image");
            block.get("data").filter(|_| is_image)
        }));
    }
    // From the end, so that earlier positions stay valid.
    places.sort_by_key(|place| std::cmp::Reverse(place.span_in(message).start));
    let mut resolved: Option<String> = None;
    for place in places {
        let Some(bytes) = place.as_str().as_deref().and_then(reference).and_then(read) else { continue };
        resolved
            .get_or_insert_with(|| message.to_owned())
            .replace_range(place.span_in(message), &quote(&STANDARD.encode(bytes)));
    }
    resolved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_come_back_and_other_texts_stay() {
        let (known, unknown) = ("a".repeat(64), "b".repeat(64));
        let image = |hash: &str| format!(r#"{{"type":"image","data":"blob:sha256:{hash}","mimeType":"image/png"}}"#);
        let text = r#"{"type":"text","text":"blob:sha256:x"}"#;
        let message = format!(r#"{{"content":[{},{text},{},{}]}}"#, image(&known), image(&unknown), image(&known));
        let read = |hash: &str| (hash == known).then(|| b"hi!".to_vec());
        let expected = message.replace(&format!("blob:sha256:{known}"), "aGkh");
        assert_eq!(resolve(&message, &read), Some(expected));
        assert_eq!(resolve(r#"{"content":"plain"}"#, &read), None);
    }

    #[test]
    fn only_a_hash_is_a_reference() {
        assert!(reference(&format!("blob:sha256:{}", "0".repeat(64))).is_some());
        for bad in ["../".repeat(22), "A".repeat(64), "a".repeat(63)] {
            assert_eq!(reference(&format!("blob:sha256:{bad}")), None, "{bad}");
        }
    }
}

//! How many pictures, and how large ones, each wire format takes in a request.
//!
//! Services that speak another's format may take less. What they refuse is reported with what helps.

use super::Api;
use crate::picture::{PictureBounds, PictureKind};

/// What one request may have of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PictureLimits {
    pub(crate) count: usize,
    /// Of their base64, together. The rest of a request's size is for its text.
    pub(crate) base64: usize,
    /// Of each.
    pub(crate) each: PictureBounds,
}

/// <https://platform.claude.com/docs/en/build-with-claude/vision>: PNG, JPEG, GIF, WebP; 100 pictures (600 for models with a
/// window above 200,000 tokens); 8,000 pixels a side, 2,000 if there are more than 20 pictures; 32 MB a request. The smaller
/// side counts from the first picture on, so that the twenty-first changes nothing before it. Each picture has at most 5 MB:
/// <https://github.com/anthropics/claude-code/issues/14887> has the service's words.
const ANTHROPIC: PictureLimits = PictureLimits { count: 100, base64: 24_000_000, each: PictureBounds::STORED };

/// <https://platform.openai.com/docs/guides/images-vision> (the copy that was read:
/// <https://openai-hd4n6.mintlify.app/docs/guides/images>): PNG, JPEG, WebP, GIF without animation; 20 MB a picture, 500
/// pictures and 50 MB of them a request. No side is named; 8,000 pixels are what the strictest other service takes. A GIF is sent
/// as a PNG, because it may be animated.
const OPENAI: PictureLimits = PictureLimits {
    count: 500,
    base64: 40_000_000,
    each: PictureBounds {
        side: 8000,
        base64: 20_000_000,
        kinds: &[PictureKind::Png, PictureKind::Jpeg, PictureKind::WebP],
    },
};

/// <https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/image-understanding>: PNG, JPEG, WebP (and HEIC, which
/// is not read here); 7 MB an inline picture; 900 pictures a request with Gemini 3 Pro, more with others.
/// <https://discuss.ai.google.dev/t/is-there-any-preprocessing-of-images-in-api/43061>: 20 MB a request.
const GOOGLE: PictureLimits = PictureLimits {
    count: 900,
    base64: 15_000_000,
    each: PictureBounds {
        side: 8000,
        base64: 7_000_000,
        kinds: &[PictureKind::Png, PictureKind::Jpeg, PictureKind::WebP],
    },
};

/// <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html>: 20 pictures a message, each of at most 3.75 MB
/// and 8,000 pixels a side. The formats are PNG, JPEG, GIF, WebP.
const BEDROCK: PictureLimits = PictureLimits {
    count: 20,
    base64: 20_000_000,
    each: PictureBounds {
        side: 8000,
        base64: 5_000_000,
        kinds: &[PictureKind::Png, PictureKind::Jpeg, PictureKind::WebP],
    },
};

impl PictureLimits {
    pub(crate) fn of(api: Api) -> Self {
        match api {
            Api::Anthropic => ANTHROPIC,
            // <https://docs.mistral.ai/capabilities/vision> has the same form, and names no limits in the copy that was read.
            Api::Responses | Api::Completions | Api::Mistral => OPENAI,
            Api::Google => GOOGLE,
            Api::Bedrock => BEDROCK,
        }
    }
}

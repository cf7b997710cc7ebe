//! The lines of a manifest: one for each segment of a copy.

use std::io;
use std::path::{Path, PathBuf};

use offshoot_session::clock::Millis;
use offshoot_session::json::{Json, Object};
use offshoot_session::medium::read_regular_text;

/// A longer manifest is not read.
const LARGEST: u64 = 64 << 20;

/// A stretch of a source, as it was copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    /// A source that was rewritten begins a new one.
    pub(crate) generation: u32,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) sha256: String,
    /// The hash of its last bytes.
    pub(crate) tail: String,
    pub(crate) source: PathBuf,
    /// The stamp of the source.
    pub(crate) modified: i64,
    pub(crate) stamp_length: u64,
    pub(crate) at: Millis,
}

impl Segment {
    pub(crate) fn line(&self) -> String {
        Object::new()
            .raw("v", 1)
            .raw("generation", self.generation)
            .raw("offset", self.offset)
            .raw("length", self.length)
            .str("sha256", &self.sha256)
            .str("tail", &self.tail)
            .str("source", &self.source.to_string_lossy())
            .str("modified", &self.modified.to_string())
            .raw("stampLength", self.stamp_length)
            .raw("at", self.at)
            .finish()
    }

    fn of(json: Json<'_>) -> Option<Self> {
        let count = |name: &str| json.get(name)?.as_f64().map(|number| number.max(0.0) as u64);
        Some(Self {
            generation: u32::try_from(count("generation")?).ok()?,
            offset: count("offset")?,
            length: count("length")?,
            sha256: json.str("sha256")?.into_owned(),
            tail: json.str("tail")?.into_owned(),
            source: PathBuf::from(json.str("source")?.as_ref()),
            modified: json.str("modified")?.parse().ok()?,
            stamp_length: count("stampLength")?,
            at: json.get("at")?.as_f64()? as Millis,
        })
    }
}

/// The segments of a copy, oldest first. A last line that a kill cut off says nothing.
pub(crate) fn read_manifest(file: &Path) -> io::Result<Vec<Segment>> {
    let text = match read_regular_text(file, LARGEST) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    Ok(text.lines().filter_map(|line| Segment::of(Json::parse(line).ok()?)).collect())
}

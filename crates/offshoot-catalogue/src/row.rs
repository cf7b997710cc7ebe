//! A session file's stored reading, as a struct and as the bytes of a row: lists read very many, and one value costs less than thirty
//! columns. Each row has its own checksum, because a damaged database may still answer.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use offshoot_session::error::Result;
use offshoot_session::list::{Beginning, ChildMarks, Reading, SessionInfo};
use offshoot_session::medium::Stamp;
use offshoot_session::packed::{PackedReader, PackedWriter, hash};
use offshoot_session::store::FoundFile;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoredReading {
    pub(crate) stamp: Stamp,
    /// Whether the file had settled, so that every later change shows in its stamp.
    pub(crate) is_settled: bool,
    /// Hashes of the first and the last bytes of the part that was read.
    pub(crate) samples: (u64, u64),
    pub(crate) reading: Reading,
}

impl StoredReading {
    /// Whether the whole file was read, including its last line.
    pub(crate) fn is_whole(&self) -> bool {
        self.reading.offset == self.stamp.length || self.reading.refused.is_some()
    }

    pub(crate) fn into_info(self, found: &FoundFile) -> Result<SessionInfo> {
        self.reading.into_info(&found.path, self.stamp.modified_at())
    }

    /// The reading of a file of this folder as bytes, with a checksum of all three.
    pub(crate) fn pack(&self, folder: i64, file: &OsStr) -> Vec<u8> {
        let (reading, stamp) = (&self.reading, &self.stamp);
        let mut to = PackedWriter::with_capacity(USUAL);
        for number in
            [stamp.device, stamp.inode, stamp.length, stamp.modified.cast_unsigned(), stamp.changed.cast_unsigned()]
        {
            to.number(number);
        }
        to.byte(u8::from(self.is_settled));
        for number in [self.samples.0, self.samples.1, reading.offset, reading.lines] {
            to.number(number);
        }
        optional(&mut to, reading.refused.map(|(line, _)| line));
        optional(&mut to, reading.refused.map(|(_, byte)| byte));
        to.byte(u8::from(reading.beginning.is_some()));
        if let Some(begun) = &reading.beginning {
            to.text(&begun.id);
            to.text(&begun.cwd);
            to.optional(begun.parent_session.as_deref());
            optional(&mut to, begun.created.map(i64::cast_unsigned));
            to.optional(begun.title.as_deref());
        }
        for text in [&reading.slot_title, &reading.name, &reading.short_summary, &reading.first_message] {
            to.optional(text.as_deref());
        }
        optional(&mut to, reading.activity.map(f64::to_bits));
        for number in [reading.message_count, reading.tokens, reading.cost.to_bits()] {
            to.number(number);
        }
        to.optional(reading.child.as_ref().map(|child| child.to_json()).as_deref());
        let mut packed = to.finish();
        packed.extend(sum(folder, file, &packed).to_le_bytes());
        packed
    }

    /// Reads what [`StoredReading::pack`] wrote; `None` for anything else, or for another file.
    pub(crate) fn unpack(folder: i64, file: &OsStr, packed: &[u8]) -> Option<Self> {
        let (packed, said) = packed.split_last_chunk::<8>()?;
        if sum(folder, file, packed) != u64::from_le_bytes(*said) {
            return None;
        }
        let from = &mut PackedReader::new(packed);
        let stamp = Stamp {
            device: from.number()?,
            inode: from.number()?,
            length: from.number()?,
            modified: from.number()?.cast_signed(),
            changed: from.number()?.cast_signed(),
        };
        let (is_settled, samples) = (from.byte()? == 1, (from.number()?, from.number()?));
        let (offset, lines) = (from.number()?, from.number()?);
        let refused = optional_number(from)?.zip(optional_number(from)?);
        let beginning = match from.byte()? {
            0 => None,
            _ => Some(Beginning {
                id: from.text()?.to_owned(),
                cwd: from.text()?.to_owned(),
                parent_session: owned(from)?,
                created: optional_number(from)?.map(u64::cast_signed),
                title: owned(from)?,
            }),
        };
        let reading = Reading {
            offset,
            lines,
            refused,
            beginning,
            slot_title: owned(from)?,
            name: owned(from)?,
            short_summary: owned(from)?,
            first_message: owned(from)?,
            activity: optional_number(from)?.map(f64::from_bits),
            message_count: from.number()?,
            tokens: from.number()?,
            cost: f64::from_bits(from.number()?),
            child: match from.optional()? {
                Some(child) => Some(Box::new(ChildMarks::of_json(child)?)),
                None => None,
            },
        };
        Some(Self { stamp, is_settled, samples, reading })
    }
}

/// Most readings are not longer.
const USUAL: usize = 512;

/// A checksum against damage, not malice. It has the file's name, so that no row passes for another's.
fn sum(folder: i64, file: &OsStr, packed: &[u8]) -> u64 {
    hash(packed) ^ hash(file.as_bytes()).rotate_left(17) ^ folder.cast_unsigned()
}

fn optional(to: &mut PackedWriter, number: Option<u64>) {
    to.byte(u8::from(number.is_some()));
    if let Some(number) = number {
        to.number(number);
    }
}

fn optional_number(from: &mut PackedReader<'_>) -> Option<Option<u64>> {
    match from.byte()? {
        0 => Some(None),
        _ => from.number().map(Some),
    }
}

fn owned(from: &mut PackedReader<'_>) -> Option<Option<String>> {
    Some(from.optional()?.map(str::to_owned))
}

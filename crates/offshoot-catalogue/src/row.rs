//! A session file's stored reading, as a struct and as table columns. Each row has its own checksum, because a damaged
//! database may still answer.

use std::ffi::{OsStr, OsString};
use std::hash::{DefaultHasher, Hasher as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use offshoot_session::error::Result;
use offshoot_session::list::{Beginning, ChildMarks, Reading, SessionInfo};
use offshoot_session::medium::Stamp;
use offshoot_session::store::FoundFile;
use rusqlite::types::{Value, ValueRef};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoredReading {
    pub(crate) stamp: Stamp,
    /// Whether the file had settled, so that every later change shows in its stamp.
    pub(crate) is_settled: bool,
    /// Hashes of the first and the last bytes of the part that was read.
    pub(crate) samples: (u64, u64),
    pub(crate) reading: Reading,
}

const COUNT: usize = 29;

/// The columns with their types; `sum` is a checksum of all others.
pub(crate) const COLUMNS: [(&str, &str); COUNT] = [
    ("folder", "INTEGER NOT NULL"),
    ("file", "BLOB NOT NULL"),
    ("device", "INTEGER"),
    ("inode", "INTEGER"),
    ("length", "INTEGER"),
    ("modified", "INTEGER"),
    ("changed", "INTEGER"),
    ("settled", "INTEGER"),
    ("head", "INTEGER"),
    ("tail", "INTEGER"),
    ("read", "INTEGER"),
    ("lines", "INTEGER"),
    ("refused_line", "INTEGER"),
    ("refused_byte", "INTEGER"),
    ("id", "TEXT"),
    ("cwd", "TEXT"),
    ("parent_session", "TEXT"),
    ("created", "INTEGER"),
    ("title", "TEXT"),
    ("slot_title", "TEXT"),
    ("name", "TEXT"),
    ("short_summary", "TEXT"),
    ("activity", "INTEGER"),
    ("messages", "INTEGER"),
    ("first_message", "TEXT"),
    ("tokens", "INTEGER"),
    ("cost", "INTEGER"),
    ("child", "TEXT"),
    ("sum", "INTEGER"),
];

impl StoredReading {
    /// Whether the whole file was read, including its last line.
    pub(crate) fn is_whole(&self) -> bool {
        self.reading.offset == self.stamp.length || self.reading.refused.is_some()
    }

    pub(crate) fn into_info(self, found: &FoundFile) -> Result<SessionInfo> {
        self.reading.into_info(&found.path, self.stamp.modified_at())
    }

    pub(crate) fn values(&self, folder: i64, file: &OsStr) -> [Value; COUNT] {
        let (reading, stamp) = (&self.reading, &self.stamp);
        let number = |number: u64| Value::Integer(number.cast_signed());
        let text = |text: &Option<String>| text.clone().map_or(Value::Null, Value::Text);
        let begun = reading.beginning.clone();
        let part = |part: Option<String>| part.map_or(Value::Null, Value::Text);
        let mut values = [
            Value::Integer(folder),
            Value::Blob(file.as_bytes().to_vec()),
            number(stamp.device),
            number(stamp.inode),
            number(stamp.length),
            Value::Integer(stamp.modified),
            Value::Integer(stamp.changed),
            number(u64::from(self.is_settled)),
            number(self.samples.0),
            number(self.samples.1),
            number(reading.offset),
            number(reading.lines),
            reading.refused.map_or(Value::Null, |(line, _)| number(line)),
            reading.refused.map_or(Value::Null, |(_, byte)| number(byte)),
            part(begun.as_ref().map(|begun| begun.id.clone())),
            part(begun.as_ref().map(|begun| begun.cwd.clone())),
            part(begun.as_ref().and_then(|begun| begun.parent_session.clone())),
            begun.as_ref().and_then(|begun| begun.created).map_or(Value::Null, Value::Integer),
            part(begun.and_then(|begun| begun.title)),
            text(&reading.slot_title),
            text(&reading.name),
            text(&reading.short_summary),
            reading.activity.map_or(Value::Null, |time| number(time.to_bits())),
            number(reading.message_count),
            text(&reading.first_message),
            number(reading.tokens),
            number(reading.cost.to_bits()),
            part(reading.child.as_ref().map(|child| child.to_json())),
            Value::Null,
        ];
        let mut sum = Sum::default();
        values.iter().for_each(|value| sum.take(value.into()));
        values[COUNT - 1] = number(sum.0.finish());
        values
    }

    /// The file's name and its row; `None` if the checksum does not match.
    pub(crate) fn from_columns(columns: &rusqlite::Row<'_>) -> Option<(OsString, Self)> {
        let mut values = [ValueRef::Null; COUNT];
        for (at, value) in values.iter_mut().enumerate() {
            *value = columns.get_ref(at).ok()?;
        }
        let mut sum = Sum::default();
        values[..COUNT - 1].iter().for_each(|value| sum.take(*value));
        sum.take(ValueRef::Null);
        let number = |at: usize| values[at].as_i64().ok().map(i64::cast_unsigned);
        let text = |at: usize| values[at].as_str().ok().map(str::to_owned);
        if number(COUNT - 1)? != sum.0.finish() {
            return None;
        }
        let beginning = text(14).map(|id| Beginning {
            id,
            cwd: text(15).unwrap_or_default(),
            parent_session: text(16),
            created: number(17).map(u64::cast_signed),
            title: text(18),
        });
        let reading = Reading {
            offset: number(10)?,
            lines: number(11)?,
            refused: number(12).zip(number(13)),
            beginning,
            slot_title: text(19),
            name: text(20),
            short_summary: text(21),
            activity: number(22).map(f64::from_bits),
            message_count: number(23)?,
            first_message: text(24),
            tokens: number(25)?,
            cost: f64::from_bits(number(26)?),
            child: match text(27) {
                Some(child) => Some(Box::new(ChildMarks::of_json(&child)?)),
                None => None,
            },
        };
        let stamp = Stamp {
            device: number(2)?,
            inode: number(3)?,
            length: number(4)?,
            modified: number(5)?.cast_signed(),
            changed: number(6)?.cast_signed(),
        };
        let row = Self { stamp, is_settled: number(7)? == 1, samples: (number(8)?, number(9)?), reading };
        Some((OsString::from_vec(values[1].as_blob().ok()?.to_vec()), row))
    }
}

/// A checksum of columns against damage, not malice. If its algorithm changes with the compiler, the rows are only read
/// again.
#[derive(Default)]
struct Sum(DefaultHasher);

impl Sum {
    fn take(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => self.0.write_u8(0),
            ValueRef::Integer(number) => self.0.write_i64(number),
            ValueRef::Real(number) => self.0.write_u64(number.to_bits()),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                self.0.write_usize(bytes.len());
                self.0.write(bytes);
            }
        }
    }
}

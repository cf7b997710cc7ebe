//! The head of an index: the file's identity, and everything of [`Loaded`] but nodes and the header, which is read from
//! the file.

use std::sync::Arc;

use super::Of;
use super::ids::Run;
use super::pages::PageSpan;
use crate::error::{Code, Diagnostic};
use crate::header::{Dialect, Header, TitleSlot};
use crate::id::EntryId;
use crate::load::{FileEnd, Loaded};
use crate::medium::{Medium, read_exact_at};
use crate::packed::{PackedReader, PackedWriter};
use crate::tree::nodes::{BranchEnd, Pages};
use crate::tree::stored::StoredShape;
use crate::tree::{Label, NodeIx, Tree};

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone)]
pub(super) struct Head {
    pub(super) of: Of,
    header_span: (u64, u64),
    dialect: Option<Dialect>,
    last_session_info: u32,
    end: FileEnd,
    diagnostics: Vec<Diagnostic>,
    labels: Vec<(EntryId, Label)>,
    shape: StoredShape,
    pub(super) count: u32,
    pub(super) ends: Vec<BranchEnd>,
    pub(super) places: Vec<PageSpan>,
    pub(super) runs: Vec<Run>,
}

impl Head {
    pub(super) fn new(of: Of, loaded: &Loaded, places: Vec<PageSpan>, runs: Vec<Run>) -> Self {
        let labels = loaded.tree.labels().into_iter();
        Self {
            of,
            header_span: loaded.header_span,
            dialect: loaded.dialect,
            last_session_info: loaded.last_session_info.map_or(NONE, |ix| ix.index() as u32),
            end: loaded.end,
            diagnostics: loaded.diagnostics.clone(),
            labels: labels.map(|(target, label)| (target.clone(), label.clone())).collect(),
            shape: loaded.tree.stored_shape(),
            count: loaded.tree.stored_len() as u32,
            ends: loaded.tree.ends().collect(),
            places,
            runs,
        }
    }

    pub(super) fn write(&self) -> Vec<u8> {
        let mut writer = PackedWriter::new();
        self.of.write(&mut writer);
        writer.number(self.header_span.0);
        writer.number(self.header_span.1);
        writer.byte(match self.dialect {
            None => 0,
            Some(Dialect::Pi) => 1,
            Some(Dialect::Omp) => 2,
        });
        writer.short(self.last_session_info);
        writer.number(self.end.length);
        writer.number(self.end.lines);
        list(&mut writer, &self.diagnostics, diagnostic);
        list(&mut writer, &self.labels, |writer, (target, label)| {
            writer.text(target.as_str());
            writer.text(&label.text);
            writer.optional(label.timestamp.as_deref());
        });
        writer.short(self.shape.first_root);
        writer.short(self.shape.last_root);
        writer.short(self.shape.dead);
        writer.number(self.shape.sum);
        list(&mut writer, &self.shape.orphans, |writer, (at, parent)| {
            writer.short(*at);
            writer.text(parent.as_str());
        });
        writer.short(self.count);
        list(&mut writer, &self.ends, |writer, end| {
            writer.short(end.at);
            writer.short(end.work);
            writer.number(end.time.cast_unsigned());
        });
        list(&mut writer, &self.places, |writer, place| {
            writer.number(place.offset);
            writer.short(place.length);
            writer.number(place.sum);
        });
        list(&mut writer, &self.runs, |writer, run| run.write(writer));
        writer.finish()
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let reader = &mut PackedReader::new(bytes);
        Some(Self {
            of: Of::read(reader)?,
            header_span: (reader.number()?, reader.number()?),
            dialect: match reader.byte()? {
                0 => None,
                1 => Some(Dialect::Pi),
                _ => Some(Dialect::Omp),
            },
            last_session_info: reader.short()?,
            end: FileEnd { length: reader.number()?, lines: reader.number()?, terminated: true },
            diagnostics: read_list(reader, read_diagnostic)?,
            labels: read_list(reader, |reader| {
                let target = EntryId::new(reader.text()?);
                let text = reader.text()?.to_owned();
                Some((target, Label { text, timestamp: reader.optional()?.map(str::to_owned) }))
            })?,
            shape: StoredShape {
                first_root: reader.short()?,
                last_root: reader.short()?,
                dead: reader.short()?,
                sum: reader.number()?,
                orphans: read_list(reader, |reader| Some((reader.short()?, EntryId::new(reader.text()?))))?,
            },
            count: reader.short()?,
            ends: read_list(reader, |reader| {
                Some(BranchEnd { at: reader.short()?, work: reader.short()?, time: reader.number()?.cast_signed() })
            })?,
            places: read_list(reader, |reader| {
                Some(PageSpan { offset: reader.number()?, length: reader.short()?, sum: reader.number()? })
            })?,
            runs: read_list(reader, Run::read)?,
        })
    }

    /// The result of opening, over the index's pages.
    pub(super) fn into_loaded(self, pages: Arc<dyn Pages>, medium: &dyn Medium) -> Option<Loaded> {
        let line = |offset, length| {
            let bytes = read_exact_at(medium, offset, usize::try_from(length).ok()?).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        let slot_length = TitleSlot::LENGTH as u64;
        let slot = if self.header_span.0 >= slot_length { TitleSlot::parse(&line(0, slot_length - 1)?) } else { None };
        let mut tree = Tree::over(pages, self.shape);
        self.labels.into_iter().for_each(|(target, label)| tree.set_label(target, Some(label)));
        Some(Loaded {
            header: Some(Header::parse(&line(self.header_span.0, self.header_span.1)?)?),
            header_span: self.header_span,
            slot,
            last_session_info: NodeIx::stored(self.last_session_info).filter(|ix| ix.index() < self.count as usize),
            tree,
            diagnostics: self.diagnostics,
            dialect: self.dialect,
            end: self.end,
            ..Loaded::default()
        })
    }
}

fn list<T>(writer: &mut PackedWriter, items: &[T], mut write: impl FnMut(&mut PackedWriter, &T)) {
    writer.short(items.len() as u32);
    items.iter().for_each(|item| write(writer, item));
}

fn read_list<'a, T>(
    reader: &mut PackedReader<'a>,
    mut read: impl FnMut(&mut PackedReader<'a>) -> Option<T>,
) -> Option<Vec<T>> {
    (0..reader.short()?).map(|_| read(reader)).collect()
}

fn diagnostic(writer: &mut PackedWriter, diagnostic: &Diagnostic) {
    writer.text(diagnostic.code.as_str());
    writer.number(diagnostic.line.unwrap_or(0));
    writer.number(diagnostic.offset);
    writer.optional(diagnostic.entry.as_ref().map(EntryId::as_str));
    writer.text(&diagnostic.message);
}

fn read_diagnostic(reader: &mut PackedReader<'_>) -> Option<Diagnostic> {
    let name = reader.text()?;
    Some(Diagnostic {
        code: *Code::ALL.iter().find(|code| code.as_str() == name)?,
        line: Some(reader.number()?).filter(|line| *line > 0),
        offset: reader.number()?,
        entry: reader.optional()?.map(EntryId::new),
        message: reader.text()?.to_owned(),
    })
}

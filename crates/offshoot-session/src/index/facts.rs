//! The facts of a session's entries, stored beside its side index under the same rules.

use std::io::Write as _;
use std::path::Path;

use super::{Of, SMALLEST, index_path};
use crate::clock::Millis;
use crate::entry::Source;
use crate::error::Result;
use crate::facts::chains::{Chain, Chains, Latest};
use crate::facts::{Facts, MergedBranch, Reported, Totals};
use crate::gather;
use crate::medium::make_private_folder;
use crate::medium::{FileMedium, read_regular};
use crate::packed::{PackedReader, PackedWriter, hash};
use crate::tree::NodeIx;

const MAGIC: &[u8; 8] = b"offfact5";
/// The facts are written again when this many more entries are known.
const STALE: usize = 512;

/// The facts of a session of which `length` bytes are known, with the help of the index folder. Fails if the session
/// file cannot be read; trouble with the index is not an error.
pub(crate) fn facts(source: &dyn Source, file: &Path, length: u64, folder: Option<&Path>) -> Result<Facts> {
    let medium = FileMedium::open(file).ok().filter(|_| length >= SMALLEST);
    let (Some(folder), Some(medium)) = (folder, medium) else { return gather::read(source, Facts::default()) };
    let place = index_path(folder, file).with_extension("facts");
    let known = read(&medium, &place, length).filter(|known| known.count <= source.tree().stored_len());
    let known = known.unwrap_or_default();
    let before = known.count;
    let facts = gather::read(source, known)?;
    if facts.count - before >= STALE {
        drop(write(&medium, &place, length, &facts));
    }
    Ok(facts)
}

fn read(medium: &FileMedium, place: &Path, length: u64) -> Option<Facts> {
    let bytes = read_regular(place, u64::MAX).ok()?;
    let (body, sum) = bytes.split_last_chunk::<8>()?;
    let body = body.strip_prefix(MAGIC).filter(|body| hash(body) == u64::from_le_bytes(*sum))?;
    let reader = &mut PackedReader::new(body);
    let of = Of::read(reader)?;
    if !of.fits(medium, length) {
        return None;
    }
    let count = reader.short()? as usize;
    let reported = (0..reader.short()?)
        .map(|_| {
            let (entry, tokens) = (reader.short()?, reader.number()?);
            Some(Reported { entry, tokens, cost: f64::from_bits(reader.number()?) })
        })
        .collect::<Option<_>>()?;
    let silent = (0..reader.short()?).map(|_| reader.short()).collect::<Option<_>>()?;
    let failed = (0..reader.short()?).map(|_| reader.short()).collect::<Option<_>>()?;
    let merged = (0..reader.short()?)
        .map(|_| Some(MergedBranch { summary: reader.short()?, tip: reader.short()? }))
        .collect::<Option<_>>()?;
    let totals = read_totals(reader)?;
    let (covered, shape) = (reader.short()? as usize, reader.number()?);
    let all = (0..reader.short()?).map(|_| read_chain(reader)).collect::<Option<_>>()?;
    Some(Facts { count, reported, silent, failed, merged, totals, chains: Chains { all, count: covered, shape } })
}

fn read_totals(reader: &mut PackedReader<'_>) -> Option<Totals> {
    let (entries, messages, tokens) = (reader.number()?, reader.number()?, reader.number()?);
    Some(Totals { entries, messages, tokens, cost: f64::from_bits(reader.number()?) })
}

fn read_chain(reader: &mut PackedReader<'_>) -> Option<Chain> {
    let mut entry = || reader.short().map(NodeIx::stored);
    let (first, last, parent, latest) = (entry()??, entry()??, entry()?, entry()??);
    let time = Some(reader.number()?.cast_signed()).filter(|time| *time != Millis::MIN);
    Some(Chain { first, last, parent, totals: read_totals(reader)?, latest: Latest { time, entry: latest } })
}

fn write(medium: &FileMedium, place: &Path, length: u64, facts: &Facts) -> std::io::Result<()> {
    let Some(folder) = place.parent() else { return Ok(()) };
    let Some((head, tail)) = Of::sample(medium, length) else { return Ok(()) };
    let mut writer = PackedWriter::new();
    Of { identity: medium.identity()?, length, head, tail }.write(&mut writer);
    writer.short(facts.count as u32);
    writer.short(facts.reported.len() as u32);
    for reported in &facts.reported {
        writer.short(reported.entry);
        writer.number(reported.tokens);
        writer.number(reported.cost.to_bits());
    }
    for places in [&facts.silent, &facts.failed] {
        writer.short(places.len() as u32);
        places.iter().for_each(|place| writer.short(*place));
    }
    writer.short(facts.merged.len() as u32);
    for merged in &facts.merged {
        writer.short(merged.summary);
        writer.short(merged.tip);
    }
    write_totals(&mut writer, &facts.totals);
    writer.short(facts.chains.count as u32);
    writer.number(facts.chains.shape);
    writer.short(facts.chains.all.len() as u32);
    facts.chains.all.iter().for_each(|chain| write_chain(&mut writer, chain));
    let body = writer.finish();
    make_private_folder(folder)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    for part in [MAGIC.as_slice(), &body, &hash(&body).to_le_bytes()] {
        temporary.write_all(part)?;
    }
    temporary.persist(place).map_err(|error| error.error)?;
    Ok(())
}

fn write_totals(writer: &mut PackedWriter, totals: &Totals) {
    for number in [totals.entries, totals.messages, totals.tokens, totals.cost.to_bits()] {
        writer.number(number);
    }
}

fn write_chain(writer: &mut PackedWriter, chain: &Chain) {
    let raw = |ix: NodeIx| ix.index() as u32;
    for entry in [raw(chain.first), raw(chain.last), chain.parent.map_or(u32::MAX, raw), raw(chain.latest.entry)] {
        writer.short(entry);
    }
    writer.number(chain.latest.time.unwrap_or(Millis::MIN).cast_unsigned());
    write_totals(writer, &chain.totals);
}

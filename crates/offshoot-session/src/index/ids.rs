//! Finds entries by id: a table of hashes in the side index, read one bucket at a time.
//!
//! An index has one run for each segment of entries that was added to it, and a lookup searches every run. It returns
//! candidates; the nodes themselves have the ids.

use crate::packed::{PackedReader, PackedWriter, hash};

/// The average number of entries in a bucket.
const BUCKET: usize = 64;
/// Bytes of an entry in a bucket: part of the hash, and the node's index.
const SLOT: usize = 8;

/// A segment of entries whose ids are in one table.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// The start of its buckets in the index.
    pub(super) offset: u64,
    pub(super) length: u64,
    /// The start of each bucket, counted in entries, and its checksum.
    pub(super) buckets: Vec<(u32, u64)>,
    pub(super) count: u32,
}

pub(super) fn hashed(id: &str) -> u64 {
    hash(id.as_bytes())
}

/// The table of hashed ids as bytes, and its run, with an offset of 0.
pub(super) fn table(hashed: &[(u64, u32)]) -> (Vec<u8>, Run) {
    let count = (hashed.len() / BUCKET).max(1).next_power_of_two();
    let mut sizes = vec![0u32; count];
    for (hash, _) in hashed {
        sizes[bucket_of(*hash, count)] += 1;
    }
    let mut total = 0;
    let mut starts = Vec::with_capacity(count);
    for size in &sizes {
        starts.push(total);
        total += size;
    }
    let mut next = starts.clone();
    let mut bytes = vec![0; hashed.len() * SLOT];
    for (hash, at) in hashed {
        let place = &mut next[bucket_of(*hash, count)];
        let slot = &mut bytes[*place as usize * SLOT..][..SLOT];
        slot[..4].copy_from_slice(&(*hash as u32).to_le_bytes());
        slot[4..].copy_from_slice(&at.to_le_bytes());
        *place += 1;
    }
    let sums = starts.iter().zip(&next).map(|(start, end)| hash(&bytes[*start as usize * SLOT..*end as usize * SLOT]));
    let buckets = starts.iter().copied().zip(sums).collect();
    let run = Run { offset: 0, length: bytes.len() as u64, buckets, count: total };
    (bytes, run)
}

fn bucket_of(hash: u64, buckets: usize) -> usize {
    (hash >> 32) as usize & (buckets - 1)
}

impl Run {
    /// Adds nodes that may have the id; `read` returns bytes of the index. `None` if these are damaged.
    pub(super) fn candidates(
        &self,
        id: &str,
        read: impl FnOnce(u64, usize) -> Option<Vec<u8>>,
        found: &mut Vec<u32>,
    ) -> Option<()> {
        let wanted = hashed(id);
        let bucket = bucket_of(wanted, self.buckets.len());
        let (start, sum) = *self.buckets.get(bucket)?;
        let end = self.buckets.get(bucket + 1).map_or(self.count, |(start, _)| *start);
        let length = end.checked_sub(start)? as usize * SLOT;
        let bytes = read(self.offset + u64::from(start) * SLOT as u64, length)?;
        if hash(&bytes) != sum {
            return None;
        }
        for slot in bytes.chunks_exact(SLOT) {
            let (tag, at) = slot.split_first_chunk::<4>()?;
            if u32::from_le_bytes(*tag) == wanted as u32 {
                found.push(u32::from_le_bytes(*at.first_chunk::<4>()?));
            }
        }
        Some(())
    }

    pub(super) fn write(&self, writer: &mut PackedWriter) {
        writer.number(self.offset);
        writer.number(self.length);
        writer.short(self.count);
        writer.short(self.buckets.len() as u32);
        for (start, sum) in &self.buckets {
            writer.short(*start);
            writer.number(*sum);
        }
    }

    pub(super) fn read(reader: &mut PackedReader<'_>) -> Option<Self> {
        let (offset, length, count) = (reader.number()?, reader.number()?, reader.short()?);
        let buckets: Vec<_> =
            (0..reader.short()?).map(|_| Some((reader.short()?, reader.number()?))).collect::<Option<_>>()?;
        buckets.len().is_power_of_two().then_some(Self { offset, length, buckets, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_among_its_candidates() {
        let ids: Vec<String> = (0..5000u32).map(|at| format!("{:08x}", at.wrapping_mul(2_654_435_761))).collect();
        let hashes: Vec<_> = ids.iter().enumerate().map(|(at, id)| (hashed(id), at as u32 + 7)).collect();
        let (bytes, run) = table(&hashes);
        let run = Run { offset: 1000, ..run };
        let read = |offset: u64, length: usize| bytes.get(offset as usize - 1000..)?.get(..length).map(<[u8]>::to_vec);
        for (at, id) in ids.iter().enumerate() {
            let mut found = Vec::new();
            run.candidates(id, read, &mut found).unwrap();
            assert!(found.contains(&(at as u32 + 7)) && found.len() < 4, "{id}: {found:?}");
        }
        let mut found = Vec::new();
        run.candidates("no such id", read, &mut found).unwrap();
        assert!(found.is_empty());
        let torn = |offset: u64, length: usize| read(offset, length).map(|bytes| bytes.iter().map(|b| b ^ 1).collect());
        assert!(run.candidates(&ids[0], torn, &mut found).is_none());
    }
}

//! Records for a client that is far behind: in a file without a name, first in, first out. Knows no records.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the file holds at most. Who is farther behind does not read.
const LARGEST: u64 = 1 << 30;

/// The next things to write: a part of the file, or what is made only when it is written.
pub(crate) enum OverflowPart<T> {
    Lines(FilePart),
    Later(T),
}

pub(crate) struct FilePart {
    file: Arc<File>,
    start: u64,
    end: u64,
}

pub(crate) struct Overflow<T> {
    folder: PathBuf,
    file: Option<Arc<File>>,
    end: u64,
    parts: VecDeque<OverflowPart<T>>,
}

impl<T> Overflow<T> {
    /// The file will be in this folder, which is made if it is needed.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, file: None, end: 0, parts: VecDeque::new() }
    }

    /// # Errors
    /// The file cannot be written, or holds 1 GiB already.
    pub(crate) fn push(&mut self, lines: &[u8]) -> io::Result<()> {
        let length = lines.len() as u64;
        if self.end + length > LARGEST {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is {} MiB behind", self.end >> 20)));
        }
        let file = match &self.file {
            Some(file) => file.clone(),
            None => self.file.insert(Arc::new(unnamed(&self.folder)?)).clone(),
        };
        file.write_all_at(lines, self.end)?;
        let start = self.end;
        self.end += length;
        match self.parts.back_mut() {
            Some(OverflowPart::Lines(part)) => part.end = self.end,
            _ => self.parts.push_back(OverflowPart::Lines(FilePart { file, start, end: self.end })),
        }
        Ok(())
    }

    pub(crate) fn push_later(&mut self, later: T) {
        self.parts.push_back(OverflowPart::Later(later));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The oldest part. What was popped before has been written.
    ///
    /// # Errors
    /// The file cannot be emptied.
    pub(crate) fn pop(&mut self) -> io::Result<Option<OverflowPart<T>>> {
        let part = self.parts.pop_front();
        if part.is_none() && self.end > 0 {
            self.end = 0;
            self.file.as_ref().map_or(Ok(()), |file| file.set_len(0))?;
        }
        Ok(part)
    }
}

fn unnamed(folder: &Path) -> io::Result<File> {
    std::fs::create_dir_all(folder)?;
    tempfile::tempfile_in(folder)
}

impl FilePart {
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut buffer = vec![0; 64 << 10];
        let mut at = self.start;
        while at < self.end {
            let length = usize::try_from(self.end - at).unwrap_or(usize::MAX).min(buffer.len());
            self.file.read_exact_at(&mut buffer[..length], at)?;
            out.write_all(&buffer[..length])?;
            at += length as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(overflow: &mut Overflow<&'static str>) -> Vec<String> {
        let mut read = Vec::new();
        while let Some(part) = overflow.pop().unwrap() {
            match part {
                OverflowPart::Lines(part) => {
                    let mut lines = Vec::new();
                    part.write(&mut lines).unwrap();
                    read.push(String::from_utf8(lines).unwrap());
                }
                OverflowPart::Later(later) => read.push(later.to_owned()),
            }
        }
        read
    }

    #[test]
    fn what_goes_in_first_comes_out_first_and_the_file_is_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut overflow = Overflow::new(folder.path().join("new"));
        let long = "x".repeat(100_000);
        for _ in 0..2 {
            overflow.push(b"a\n").unwrap();
            overflow.push(long.as_bytes()).unwrap();
            overflow.push_later("later");
            overflow.push(b"b\n").unwrap();
            assert_eq!(read(&mut overflow), [format!("a\n{long}"), "later".to_owned(), "b\n".to_owned()]);
            assert!(overflow.is_empty());
            assert_eq!(overflow.file.as_ref().unwrap().metadata().unwrap().len(), 0);
        }
        assert_eq!(std::fs::read_dir(folder.path().join("new")).unwrap().count(), 0);
    }

    #[test]
    fn it_has_a_bound() {
        let folder = tempfile::tempdir().unwrap();
        let mut overflow = Overflow::<()>::new(folder.path().to_owned());
        overflow.end = LARGEST - 1;
        assert!(overflow.push(b"ab").is_err());
        overflow.push(b"a").unwrap();
    }
}

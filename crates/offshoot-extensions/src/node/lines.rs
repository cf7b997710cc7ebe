//! Lines of the host's pipes, bounded.

use std::io::{self, BufRead, Read as _};

/// A longer line ends the host.
pub(super) const LONGEST: u64 = 64 << 20;

/// The next line without its end; `None` at the end of the pipe.
pub(super) fn next(from: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let read = from.by_ref().take(LONGEST + 1).read_until(b'\n', &mut line)?;
    if read == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(Some(line));
    }
    if read as u64 > LONGEST {
        return Err(io::Error::other(format!("a line is longer than {} MiB", LONGEST >> 20)));
    }
    // The host ended within a line.
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_never_ends_is_not_held() {
        let endless = io::repeat(b'x');
        let why = next(&mut io::BufReader::new(endless)).unwrap_err();
        assert_eq!(why.to_string(), "a line is longer than 64 MiB");
        let mut two = io::Cursor::new(b"a\n\nb");
        assert_eq!(next(&mut two).unwrap(), Some(b"a".to_vec()));
        assert_eq!(next(&mut two).unwrap(), Some(Vec::new()));
        assert_eq!(next(&mut two).unwrap(), None);
    }
}

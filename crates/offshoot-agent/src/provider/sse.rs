//! Server-sent events: splits bytes, however they arrive, into events. Knows no JSON and no provider.

const MAX_EVENT_BYTES: usize = 64 << 20;

/// Events of a stream, as its bytes arrive.
#[derive(Debug, Default)]
pub struct Sse {
    line: Vec<u8>,
    /// Whether the last byte was a CR, whose LF may follow.
    after_cr: bool,
    /// Whether a line was read: a byte order mark may precede the first.
    begun: bool,
    name: String,
    data: String,
    has_data: bool,
    last_id: Option<String>,
    retry_ms: Option<u64>,
}

/// An event has more than 64 MiB.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong;

impl Sse {
    /// Calls `event` with the name and data of each completed event.
    ///
    /// # Errors
    /// An event is too long.
    pub fn push(&mut self, mut bytes: &[u8], event: &mut dyn FnMut(&str, &str)) -> Result<(), TooLong> {
        if std::mem::take(&mut self.after_cr) && bytes.first() == Some(&b'\n') {
            bytes = bytes.get(1..).unwrap_or_default();
        }
        while let Some(at) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (head, tail) = bytes.split_at(at);
            let is_cr = tail.first() == Some(&b'\r');
            self.after_cr = is_cr && tail.len() == 1;
            bytes = tail.get(if is_cr && tail.get(1) == Some(&b'\n') { 2 } else { 1 }..).unwrap_or_default();
            if self.line.is_empty() {
                self.take(head, event);
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(head);
                self.take(&line, event);
                line.clear();
                self.line = line;
            }
        }
        self.line.extend_from_slice(bytes);
        if self.line.len() > MAX_EVENT_BYTES || self.data.len() > MAX_EVENT_BYTES { Err(TooLong) } else { Ok(()) }
    }

    /// The body has ended: an event without its closing empty line still counts.
    pub fn end(&mut self, event: &mut dyn FnMut(&str, &str)) {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take(&line, event);
        }
        self.flush(event);
    }

    /// The id of the last event that had one: from there a stream can be continued.
    #[must_use]
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// How long the server wants to be left alone before the stream is continued.
    #[must_use]
    pub fn retry_ms(&self) -> Option<u64> {
        self.retry_ms
    }

    fn take(&mut self, line: &[u8], event: &mut dyn FnMut(&str, &str)) {
        let first = !std::mem::replace(&mut self.begun, true);
        let line = if first { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) } else { line };
        if line.is_empty() {
            return self.flush(event);
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(at) => (line.get(..at).unwrap_or_default(), line.get(at + 1..).unwrap_or_default()),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push('\n');
                }
                self.data.push_str(&String::from_utf8_lossy(value));
            }
            b"id" if !value.contains(&0) => self.last_id = Some(String::from_utf8_lossy(value).into_owned()),
            b"retry" => self.retry_ms = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()),
            // Comments and future fields.
            _ => {}
        }
    }

    fn flush(&mut self, event: &mut dyn FnMut(&str, &str)) {
        if std::mem::take(&mut self.has_data) {
            event(&self.name, &self.data);
        }
        self.name.clear();
        self.data.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(chunks: &[&[u8]]) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut sse = Sse::default();
        for chunk in chunks {
            sse.push(chunk, &mut |name, data| found.push((name.to_owned(), data.to_owned()))).unwrap();
        }
        sse.end(&mut |name, data| found.push((name.to_owned(), data.to_owned())));
        found
    }

    #[test]
    fn every_boundary_gives_the_same_events() {
        let body = "\u{feff}event: a\r\ndata: ö1\r\ndata:2\r\n\r\n: ping\r\rid: 7\ndata\n\nevent:b\rdata: {\"x\": \"日本\"}\r\rdata: last"
            .as_bytes();
        let whole = events(&[body]);
        let expected = [("a", "ö1\n2"), ("", ""), ("b", "{\"x\": \"日本\"}"), ("", "last")];
        assert_eq!(whole.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect::<Vec<_>>(), expected);
        for at in 0..=body.len() {
            assert_eq!(events(&[&body[..at], &body[at..]]), whole, "cut at {at}");
        }
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        assert_eq!(events(&bytes), whole);
    }

    #[test]
    fn the_last_id_and_the_time_of_a_new_try_are_known() {
        let mut sse = Sse::default();
        sse.push(b"retry: 40\nid: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3", &mut |_, _| {}).unwrap();
        assert_eq!((sse.last_id(), sse.retry_ms()), (Some("2"), Some(40)));
    }

    #[test]
    fn broken_utf8_and_a_name_without_data_do_no_harm() {
        assert_eq!(events(&[b"event: x\n\ndata: \xff\xfe\n\n"]), [(String::new(), "\u{fffd}\u{fffd}".to_owned())]);
    }
}

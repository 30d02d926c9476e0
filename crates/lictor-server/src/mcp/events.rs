//! A streaming parser of server-sent events.

/// Reads events out of pieces of a stream.
#[derive(Debug, Default)]
pub(super) struct Events {
    buffer: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The last id that the server gave.
    pub(super) last_id: Option<String>,
    /// The server's requested reconnection delay in milliseconds.
    pub(super) retry: Option<u64>,
}

/// An event, or a line of one, is longer than anything that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong;

impl Events {
    /// The data of the events that end in this piece.
    pub(super) fn read(&mut self, piece: &[u8], most: usize) -> Result<Vec<Vec<u8>>, TooLong> {
        self.buffer.extend_from_slice(piece);
        let mut events = Vec::new();
        while let Some(end) = self.buffer.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            // A carriage return at the end may be half of a line end.
            let after = self.buffer.get(end + 1);
            if self.buffer.get(end) == Some(&b'\r') && after.is_none() {
                break;
            }
            let whole = end + 1 + usize::from(self.buffer.get(end) == Some(&b'\r') && after == Some(&b'\n'));
            let line: Vec<u8> = self.buffer.drain(..whole).take(end).collect();
            self.line(&line, &mut events);
            if self.data.len() > most {
                return Err(TooLong);
            }
        }
        if self.buffer.len() > most { Err(TooLong) } else { Ok(events) }
    }

    fn line(&mut self, line: &[u8], events: &mut Vec<Vec<u8>>) {
        if line.is_empty() {
            if std::mem::take(&mut self.has_data) && !self.data.is_empty() {
                events.push(std::mem::take(&mut self.data));
            }
            self.data.clear();
            return;
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(at) => (line.get(..at).unwrap_or_default(), line.get(at + 1..).unwrap_or_default()),
            None => (line, [].as_slice()),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || std::str::from_utf8(value).ok();
        match field {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"id" => self.last_id = text().filter(|id| !id.contains('\0')).map(str::to_owned),
            b"retry" => self.retry = text().and_then(|retry| retry.parse().ok()).or(self.retry),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &[u8] =
        b": hello\r\nid: 7\nretry: 20\nevent: message\ndata: {\"a\":\ndata: 1}\r\n\r\nid: 8\ndata:\n\ndata:x\r\r";

    #[test]
    fn pieces_of_any_length_are_the_same_events() {
        for length in 1..STREAM.len() {
            let mut events = Events::default();
            let mut read = Vec::new();
            for piece in STREAM.chunks(length) {
                read.extend(events.read(piece, 100).expect("short"));
            }
            read.extend(events.read(b"\n", 100).expect("short"));
            assert_eq!(read, [b"{\"a\":\n1}".to_vec(), b"x".to_vec()], "{length}");
            assert_eq!((events.last_id.as_deref(), events.retry), (Some("8"), Some(20)));
        }
    }

    #[test]
    fn what_never_ends_is_not_kept() {
        assert_eq!(Events::default().read(&[b'x'; 101], 100), Err(TooLong));
        let mut events = Events::default();
        let all: Result<Vec<_>, _> = (0..20).map(|_| events.read(b"data: 123456789\n", 100)).collect();
        assert_eq!(all, Err(TooLong));
    }
}

//! What goes through a guardian's socket: frames, each a length of four bytes, the most significant first, and so many
//! bytes. A call is a frame of JSON and one of standard input; an answer is a frame of JSON, one of standard output and
//! one of standard error.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use serde::{Deserialize, Serialize};

use crate::RunError;

/// More bytes than any frame has: events carry whole files.
pub const MOST: usize = 20 * 1024 * 1024;

/// What a process inside asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// What `lictor` was called with.
    pub args: Vec<String>,
    /// Where.
    pub cwd: String,
    /// The variables that count.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// How a process inside has to end, and what it prints.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// The exit code.
    pub exit: u8,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct End {
    exit: u8,
}

/// Writes one frame.
///
/// # Errors
/// When the other side is gone, or the frame is too long.
pub fn write_frame(to: &mut impl Write, bytes: &[u8]) -> Result<(), RunError> {
    let length = u32::try_from(bytes.len()).ok().filter(|_| bytes.len() <= MOST);
    let length = length.ok_or_else(|| RunError::Protocol("a frame is too long".to_owned()))?;
    to.write_all(&length.to_be_bytes())
        .and_then(|()| to.write_all(bytes))
        .map_err(RunError::io("cannot write to the guardian's socket"))
}

/// Reads one frame.
///
/// # Errors
/// When the other side is gone, or says that it sends more than a frame has.
pub fn read_frame(from: &mut impl Read) -> Result<Vec<u8>, RunError> {
    let failed = || RunError::io("cannot read from the guardian's socket");
    let mut length = [0; 4];
    from.read_exact(&mut length).map_err(failed())?;
    let length = u32::from_be_bytes(length) as usize;
    if length > MOST {
        return Err(RunError::Protocol(format!("a frame of {length} bytes is too long")));
    }
    // Memory is taken as bytes arrive: a length alone costs nothing.
    let mut bytes = Vec::new();
    from.take(length as u64).read_to_end(&mut bytes).map_err(failed())?;
    if bytes.len() != length {
        return Err(RunError::Protocol("a frame ended early".to_owned()));
    }
    Ok(bytes)
}

fn json<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<T, RunError> {
    serde_json::from_slice(bytes).map_err(|error| RunError::Protocol(error.to_string()))
}

fn bytes(value: &impl Serialize) -> Result<Vec<u8>, RunError> {
    serde_json::to_vec(value).map_err(|error| RunError::Protocol(error.to_string()))
}

impl Call {
    /// Sends it with what stands on standard input.
    ///
    /// # Errors
    /// As [`write_frame`].
    pub fn send(&self, to: &mut impl Write, stdin: &[u8]) -> Result<(), RunError> {
        write_frame(to, &bytes(self)?)?;
        write_frame(to, stdin)
    }

    /// Receives one, with its standard input.
    ///
    /// # Errors
    /// As [`read_frame`], and when it is no call.
    pub fn receive(from: &mut impl Read) -> Result<(Self, Vec<u8>), RunError> {
        Ok((json(&read_frame(from)?)?, read_frame(from)?))
    }
}

impl Answer {
    /// A block that names what is wrong, for when nobody could be asked.
    #[must_use]
    pub fn refusal(why: &str) -> Self {
        let stderr = format!("blocked by Lictor: {why}\n").into_bytes();
        Self { exit: 2, stdout: Vec::new(), stderr }
    }

    /// Sends it.
    ///
    /// # Errors
    /// As [`write_frame`].
    pub fn send(&self, to: &mut impl Write) -> Result<(), RunError> {
        write_frame(to, &bytes(&End { exit: self.exit })?)?;
        write_frame(to, &self.stdout)?;
        write_frame(to, &self.stderr)
    }

    /// Receives one.
    ///
    /// # Errors
    /// As [`read_frame`], and when it is no answer.
    pub fn receive(from: &mut impl Read) -> Result<Self, RunError> {
        let End { exit } = json(&read_frame(from)?)?;
        Ok(Self { exit, stdout: read_frame(from)?, stderr: read_frame(from)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_answers_come_back() {
        let call = Call { args: vec!["hook".into(), "agent".into()], cwd: "/p".into(), env: BTreeMap::new() };
        let mut pipe = Vec::new();
        call.send(&mut pipe, b"{}").unwrap();
        assert_eq!(Call::receive(&mut pipe.as_slice()).unwrap(), (call, b"{}".to_vec()));
        let answer = Answer { exit: 2, stdout: b"out".to_vec(), stderr: b"\xff".to_vec() };
        let mut pipe = Vec::new();
        answer.send(&mut pipe).unwrap();
        assert_eq!(Answer::receive(&mut pipe.as_slice()).unwrap(), answer);
        for cut in 0..pipe.len() {
            assert!(Answer::receive(&mut &pipe[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn a_length_that_nothing_has_is_refused_before_memory_is_taken() {
        assert!(read_frame(&mut [0xff; 8].as_slice()).unwrap_err().to_string().contains("too long"));
        assert!(read_frame(&mut [0, 0x10, 0, 0, 1].as_slice()).is_err());
        assert!(write_frame(&mut Vec::new(), &vec![0; MOST + 1]).is_err());
    }
}

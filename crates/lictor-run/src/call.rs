//! The request of a process inside to its guardian, and the response: one method of the protocol in
//! `lictor-socket`.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The one method.
pub const METHOD: &str = "call";

/// The variables with which git describes a commit to its hooks.
pub const PASSED: [&str; 4] = ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_PREFIX"];

/// The request of a process inside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The arguments of `lictor`.
    pub args: Vec<String>,
    /// Where.
    pub cwd: String,
    /// The variables that count.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Standard input.
    #[serde(default)]
    pub stdin: Bytes,
}

/// The exit code and output of a process inside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The exit code.
    pub exit: u8,
    /// Standard output.
    #[serde(default)]
    pub stdout: Bytes,
    /// Standard error.
    #[serde(default)]
    pub stderr: Bytes,
}

impl Answer {
    /// A block that names the problem, if the guardian could not be asked.
    #[must_use]
    pub fn refusal(why: &str) -> Self {
        let stderr = format!("blocked by Lictor: {why}\n").into_bytes().into();
        Self { exit: 2, stdout: Bytes::default(), stderr }
    }
}

/// Bytes in JSON: text where they are text, a list of numbers where they are not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => self.0.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Text(String),
            Numbers(Vec<u8>),
        }
        Ok(match Either::deserialize(deserializer)? {
            Either::Text(text) => Self(text.into_bytes()),
            Either::Numbers(bytes) => Self(bytes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_whether_they_are_text_or_not() {
        for bytes in [b"".to_vec(), b"{\"a\": \"\\u0000\n\"}".to_vec(), vec![0xff, 0, 0x80]] {
            let answer = Answer { exit: 2, stdout: bytes.clone().into(), stderr: Bytes::default() };
            let text = serde_json::to_string(&answer).unwrap();
            assert_eq!(serde_json::from_str::<Answer>(&text).unwrap(), answer);
        }
        assert!(serde_json::from_str::<Answer>(r#"{"exit": 300}"#).is_err());
    }
}

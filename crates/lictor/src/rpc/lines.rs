//! JSON-RPC 2.0, one message per line: `lictor rpc`.

use std::io::{self, BufRead, Read as _, Write};

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{Access, RpcError, answer_for};
use crate::forms;
use crate::runtime::Runtime;

/// The longest line that is read. The rest of a longer one is skipped.
const MAX_LINE: u64 = 16 * 1024 * 1024;

/// Answers calls from `input` on `output` until the input ends: in order, one line each. An invalid line gets an
/// error and does not affect others.
///
/// # Errors
/// When a line cannot be read or an answer cannot be written.
pub fn serve_lines(
    runtime: &Runtime,
    access: &Access,
    input: impl BufRead,
    output: impl Write,
) -> io::Result<()> {
    serve(input, output, &mut |method, params| answer_for(runtime, access, method, params))
}

/// The same with another handler: another process, a server.
///
/// # Errors
/// As [`serve_lines`].
pub fn serve_calls(
    input: impl BufRead,
    output: impl Write,
    mut answer: impl FnMut(&str, Value) -> Result<Value, RpcError>,
) -> io::Result<()> {
    serve(input, output, &mut |method, params| super::text_of(&answer(method, params)?))
}

fn serve(mut input: impl BufRead, mut output: impl Write, answer: Answering<'_>) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        let said = if read as u64 == MAX_LINE && line.last() != Some(&b'\n') {
            skip_line(&mut input)?;
            let why = RpcError::Request(format!("a line has more than {MAX_LINE} bytes"));
            Some(Said::One(Reply::failed(Value::Null, &why)))
        } else if line.trim_ascii().is_empty() {
            None
        } else {
            answer_line(answer, &line)
        };
        if let Some(said) = said {
            serde_json::to_writer(&mut output, &said)?;
            output.write_all(b"\n")?;
            output.flush()?;
        }
    }
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let (length, ended) = match input.fill_buf()? {
            [] => return Ok(()),
            bytes => match bytes.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (bytes.len(), false),
            },
        };
        input.consume(length);
        if ended {
            return Ok(());
        }
    }
}

type Answering<'a> = &'a mut dyn FnMut(&str, Value) -> Result<Box<RawValue>, RpcError>;

/// The response to one line.
#[derive(Serialize)]
#[serde(untagged)]
enum Said {
    One(Reply),
    Several(Vec<Reply>),
}

/// The answer to one call.
#[derive(Serialize)]
struct Reply {
    jsonrpc: &'static str,
    id: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
}

impl Reply {
    fn failed(id: Value, error: &RpcError) -> Self {
        Self { jsonrpc: "2.0", id, result: None, error: Some(error.to_json()) }
    }
}

/// The response to one line; `None` for a notification.
fn answer_line(answer: Answering<'_>, line: &[u8]) -> Option<Said> {
    let refused = |why: RpcError| Some(Said::One(Reply::failed(Value::Null, &why)));
    match lictor_core::strict::from_slice(line) {
        Err(error) => refused(RpcError::Parse(forms::not_json(&error))),
        Ok(Value::Array(calls)) if calls.is_empty() => {
            refused(RpcError::Request("there is no call in it".to_owned()))
        }
        Ok(Value::Array(calls)) => {
            let answers: Vec<Reply> =
                calls.into_iter().filter_map(|call| answer_call(answer, call)).collect();
            (!answers.is_empty()).then_some(Said::Several(answers))
        }
        Ok(call) => answer_call(answer, call).map(Said::One),
    }
}

fn answer_call(answer: Answering<'_>, call: Value) -> Option<Reply> {
    let Value::Object(mut fields) = call else {
        return Some(Reply::failed(Value::Null, &RpcError::Request("it is not an object".to_owned())));
    };
    let id = fields.remove("id");
    let (method, params) = match asked(&mut fields, id.as_ref()) {
        Ok(asked) => asked,
        Err(why) => {
            // An invalid id is not returned.
            let id = id.filter(|id| id.is_string() || id.is_number()).unwrap_or_default();
            return Some(Reply::failed(id, &RpcError::Request(why.to_owned())));
        }
    };
    let result = answer(&method, params);
    // Without an id it is a notification.
    let id = id?;
    Some(match result {
        Ok(result) => Reply { jsonrpc: "2.0", id, result: Some(result), error: None },
        Err(error) => Reply::failed(id, &error),
    })
}

/// The method and the parameters of a call.
fn asked(fields: &mut Map<String, Value>, id: Option<&Value>) -> Result<(String, Value), &'static str> {
    if fields.get("jsonrpc") != Some(&Value::from("2.0")) {
        return Err("`jsonrpc` is not \"2.0\"");
    }
    if id.is_some_and(|id| !(id.is_string() || id.is_number() || id.is_null())) {
        return Err("`id` is neither a string nor a number");
    }
    let Some(Value::String(method)) = fields.remove("method") else { return Err("`method` is not a string") };
    match fields.remove("params").unwrap_or_default() {
        params @ (Value::Object(_) | Value::Null) => Ok((method, params)),
        _ => Err("`params` is not an object"),
    }
}

//! Functions that the code itself defines and calls: the values of their parameters and results.
//!
//! The code is walked in several passes. Each pass records the calls of its own functions with the values of
//! their arguments; the next pass binds the parameters to these, so that values also reach a function through
//! another one. Recursive calls count in the last pass only: by then the parameters are known. The analysis ends
//! at a fixed point, and all passes together take no more steps than judging.

use std::collections::{BTreeMap, BTreeSet};

use super::value::Value;
use crate::operand::Taint;

/// The number of passes before the code is judged.
const PASSES: usize = 3;
/// How many different calls of one function are kept.
const CALLS: usize = 64;

/// Positional and keyword arguments of one call.
pub(super) type Arguments = (Vec<Value>, Vec<(String, Value)>);

/// Recorded data of functions.
#[derive(Debug, Default, PartialEq)]
struct Noted {
    /// Their call arguments.
    calls: BTreeMap<String, Vec<Arguments>>,
    /// What they return.
    returned: BTreeMap<String, Vec<Value>>,
    /// Functions passed as values, which may be called with anything.
    handed: BTreeSet<String>,
}

/// The functions of some code, by name; methods with a dot in front.
#[derive(Debug, Default)]
pub(super) struct Functions {
    defined: BTreeSet<String>,
    known: Noted,
    noted: Noted,
    /// Those whose bodies are being read, with where these end.
    open: Vec<(String, usize)>,
    passes: usize,
    /// A function calls itself.
    recursive: bool,
}

impl Functions {
    /// Whether the code has to be gone through (again) before it is judged.
    pub(super) fn next_pass(&mut self) -> bool {
        let settled = self.defined.is_empty() || self.noted == self.known && !self.recursive;
        let done = self.passes == PASSES || self.passes > 0 && settled;
        if self.passes > 0 {
            self.known = std::mem::take(&mut self.noted);
        }
        self.open.clear();
        self.passes += 1;
        !done
    }

    /// The body of a function begins.
    pub(super) fn enter(&mut self, name: &str, end: usize) {
        self.defined.insert(name.to_owned());
        self.open.push((name.to_owned(), end));
    }

    /// Bodies that end before a place are over.
    pub(super) fn leave(&mut self, at: usize) {
        while self.open.last().is_some_and(|(_, end)| *end <= at) {
            self.open.pop();
        }
    }

    pub(super) fn is_defined(&self, name: &str) -> bool {
        self.defined.contains(name)
    }

    /// A function is called.
    pub(super) fn call(&mut self, name: &str, arguments: Arguments) {
        let within = self.open.iter().any(|(open, _)| open == name);
        if within && self.passes < PASSES {
            self.recursive = true;
            return;
        }
        let calls = self.noted.calls.entry(name.to_owned()).or_default();
        if calls.len() < CALLS && !calls.contains(&arguments) {
            calls.push(arguments);
        }
    }

    /// Records that a function is passed as a value.
    pub(super) fn hand_on(&mut self, name: &str) {
        self.noted.handed.insert(name.to_owned());
    }

    /// The function that is being read returns a value.
    pub(super) fn gives(&mut self, value: Value) {
        let Some((name, _)) = self.open.last() else { return };
        let values = self.noted.returned.entry(name.clone()).or_default();
        if values.len() < CALLS && !values.contains(&value) {
            values.push(value);
        }
    }

    /// The value of a parameter. `None` if the function is not called here.
    pub(super) fn parameter(
        &self,
        function: &str,
        at: usize,
        name: &str,
        default: Option<Value>,
    ) -> Option<Value> {
        let calls = self.known.calls.get(function)?;
        let mut values: Vec<Value> = Vec::new();
        for (positional, named) in calls {
            let by_name = named.iter().find(|(given, _)| given == name).map(|(_, value)| value);
            let value = positional.get(at).or(by_name).or(default.as_ref());
            values.push(value.cloned().unwrap_or_else(Value::unknown));
        }
        if self.known.handed.contains(function) {
            values.push(Value::unknown());
        }
        Some(Value::one_of(values))
    }

    /// The value of a rest parameter.
    pub(super) fn rest(&self, function: &str, at: usize) -> Option<Value> {
        let calls = self.known.calls.get(function)?;
        let mut values: Vec<Value> = calls
            .iter()
            .map(|(positional, _)| Value::List(positional.get(at..).unwrap_or_default().to_vec()))
            .collect();
        if self.known.handed.contains(function) {
            values.push(Value::unknown());
        }
        Some(Value::one_of(values))
    }

    /// The result of a call; an unknown result carries the taint of its arguments.
    pub(super) fn result(&self, function: &str, given: Taint) -> Option<Value> {
        let values = self.known.returned.get(function)?;
        let given = Taint { network: false, decoded: false, ..given };
        Some(Value::one_of(values.clone()).with_taint(given))
    }
}

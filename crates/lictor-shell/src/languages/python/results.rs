//! Results of functions and methods, as far as they can be determined.

use tree_sitter::Node;

use super::Python;
use crate::call::Call;
use crate::languages::act::{FILE, content_of};
use crate::languages::api::{self, Api};
use crate::languages::value::{KEPT, Value, join_path};
use crate::operand::{Arg, Known, Taint};
use crate::programs::text::{from_base64, from_hex};

/// Where packages are installed.
const INSTALLED: &str = "/usr/lib/python3/site-packages";

impl Python<'_, '_> {
    /// What a call returns.
    pub(super) fn result(&mut self, node: Node<'_>, depth: usize) -> Value {
        let Some(function) = node.child_by_field_name("function") else { return Value::unknown() };
        let (positional, named) = self.arguments(node, depth + 1);
        let first = positional.first().cloned().unwrap_or_else(Value::unknown);
        if let Some(value) = self.result_of_own(function, &positional, &named) {
            return value;
        }
        if function.kind() == "attribute"
            && let (Some(object), Some(method)) =
                (function.child_by_field_name("object"), function.child_by_field_name("attribute"))
        {
            let receiver = self.value(object, depth + 1);
            let method = self.text(method).to_owned();
            if !matches!(receiver, Value::Name(_)) {
                return method_result(self.call, &receiver, &method, &positional);
            }
        }
        let callee = self.value(function, depth + 1);
        let Value::Name(name) = callee else { return Value::Unknown(callee.taint()) };
        if let Some(value) = self.decoded(&name, &first, &positional) {
            return value;
        }
        if let Some(value) = self.place(&name, &first, &positional) {
            return value;
        }
        let given = positional.iter().chain(named.iter().map(|(_, value)| value));
        let given = given.fold(Taint::default(), |taint, value| taint.and(value.taint()));
        match name.as_str() {
            "str" | "bytes" | "os.path.expanduser" | "os.path.abspath" | "os.path.realpath"
            | "os.path.normpath" | "os.fspath" | "os.path.expandvars" | "shlex.quote" | "list" | "tuple"
            | "sorted" | "set" | "reversed" | "bytearray" | "Path.expanduser" => match first {
                Value::Text(arg) => Value::Text(expand_home(self.call, &arg)),
                other => other,
            },
            "os.getenv" | "os.environ.get" => from_environment(self.call, &first, positional.get(1)),
            "shlex.split" => match &first {
                Value::Any(lines) => Value::Any(lines.iter().map(words_of).collect()),
                line => words_of(line),
            },
            "ast.parse" | "ast.fix_missing_locations" | "shutil.which" => first,
            "getattr" => match (&first, positional.get(1).and_then(Value::known)) {
                (Value::Name(module), Some(attribute)) => Value::Name(format!("{module}.{attribute}")),
                _ => Value::unknown(),
            },
            "__import__" | "importlib.import_module" => {
                first.known().map_or_else(Value::unknown, |module| Value::Name(module.to_owned()))
            }
            "open" | "io.open" | "codecs.open" => match first.known() {
                Some(path) if self.is_archive(path) && self.packed != Taint::default() => {
                    Value::Unknown(self.packed)
                }
                _ => content_of(self.call, positional.first()),
            },
            "enumerate" => pairs_of(vec![Value::unknown(); listed(&first).len()], listed(&first)),
            "zip" => pairs_of(listed(&first), positional.get(1).map(listed).unwrap_or_default()),
            _ if api::takes_private(&name) => Value::Unknown(Taint { private: true, ..Taint::default() }),

            // `sqlalchemy.text("…")`.
            "text" | "sqlalchemy.text" | "sqlalchemy.sql.text" => first,
            "re.search" | "re.match" | "re.findall" => match positional.get(1) {
                Some(Value::Name(text)) if text.starts_with(FILE) => Value::Name(text.clone()),
                _ => Value::Unknown(given),
            },
            "compile" => match first {
                Value::Name(name) if name.starts_with(FILE) => Value::Name(name),
                _ => Value::Name("<code>".to_owned()),
            },
            _ if name.starts_with(FILE) => match name.rsplit_once('.') {
                // A part of the file's own text.
                Some((
                    file,
                    "read" | "readlines" | "decode" | "encode" | "strip" | "lstrip" | "rstrip" | "split"
                    | "rsplit" | "splitlines" | "partition" | "rpartition" | "removeprefix" | "removesuffix"
                    | "group",
                )) => Value::Name(file.to_owned()),
                Some((file, "replace")) if positional.get(1).and_then(Value::known).is_some_and(is_bare) => {
                    Value::Name(file.to_owned())
                }
                _ => Value::unknown(),
            },
            _ if matches!(api::python(&name), Some(Api::Fetch | Api::Send)) => {
                Value::Unknown(Taint { network: true, ..Taint::default() })
            }
            _ if api::talks(&name) => Value::Unknown(Taint { network: true, ..Taint::default() }),
            "len" | "bool" | "type" | "isinstance" | "hash" | "any" | "all" | "id" | "range" => {
                Value::unknown()
            }
            "dict"
            | "json.dumps"
            | "json.loads"
            | "urllib.parse.urlencode"
            | "urllib.parse.quote"
            | "base64.b64encode"
            | "repr" => Value::Unknown(given),
            // Data derived from a secret is tainted, whatever derives it.
            _ => Value::Unknown(Taint { network: false, decoded: false, ..given }),
        }
    }
}

impl Python<'_, '_> {
    /// Results of decoding functions.
    fn decoded(&self, name: &str, first: &Value, positional: &[Value]) -> Option<Value> {
        let decoded = |bytes: Option<Vec<u8>>| match bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
            Some(text) => Value::decoded(text),
            None => Value::Unknown(Taint { decoded: true, ..Taint::default() }),
        };
        Some(match name {
            "base64.b64decode"
            | "base64.urlsafe_b64decode"
            | "base64.standard_b64decode"
            | "base64.decodebytes"
            | "base64.decodestring" => match first {
                Value::Text(arg) => decoded(arg.known().and_then(from_base64)),
                other => Value::Unknown(Taint { decoded: true, ..other.taint() }),
            },
            "bytes.fromhex" | "binascii.unhexlify" | "bytearray.fromhex" | "binascii.a2b_hex" => {
                match first {
                    Value::Text(arg) => decoded(arg.known().map(from_hex)),
                    other => Value::Unknown(Taint { decoded: true, ..other.taint() }),
                }
            }
            "zlib.decompress" | "gzip.decompress" | "bz2.decompress" | "lzma.decompress"
            | "marshal.loads" | "pickle.loads" | "codecs.decode" | "base64.b32decode"
            | "base64.b85decode" | "base64.a85decode" => {
                Value::Unknown(Taint { decoded: true, ..first.taint() })
            }
            "chr" if matches!(first, Value::Any(_)) => {
                let Value::Any(numbers) = first else { return None };
                Value::Any(numbers.iter().map(letter).collect())
            }
            "chr" => {
                match first.name().and_then(|number| number.parse::<u32>().ok()).and_then(char::from_u32) {
                    Some(letter) => Value::text(letter.to_string()),
                    None => Value::Unknown(Taint { decoded: true, ..Taint::default() }),
                }
            }
            "map" if positional.first().and_then(Value::name) == Some("chr") => match positional.get(1) {
                Some(Value::List(numbers)) => Value::List(
                    numbers
                        .iter()
                        .map(|number| {
                            number.name().and_then(|n| n.parse::<u32>().ok()).and_then(char::from_u32)
                        })
                        .map(|letter| {
                            letter.map_or_else(Value::unknown, |letter| Value::text(letter.to_string()))
                        })
                        .collect(),
                ),
                _ => Value::Unknown(Taint { decoded: true, ..Taint::default() }),
            },
            _ => return None,
        })
    }

    /// Results of functions that return paths.
    fn place(&self, name: &str, first: &Value, positional: &[Value]) -> Option<Value> {
        Some(match name {
            "pathlib.Path" | "Path" | "pathlib.PurePath" | "pathlib.PosixPath" => match positional.len() {
                0 => Value::text("."),
                _ => join_path(positional.to_vec()),
            },
            "pathlib.Path.home" | "Path.home" => home(self.call),
            "pathlib.Path.cwd" | "Path.cwd" | "os.getcwd" => Value::text("."),
            // The interpreter's package directories.
            "site.getsitepackages" => Value::List(vec![Value::text(INSTALLED)]),
            "site.getusersitepackages" | "sysconfig.get_path" | "sysconfig.get_python_lib" => {
                Value::text(INSTALLED)
            }
            "os.path.join" | "os.path.sep.join" => join_path(positional.to_vec()),
            "os.path.dirname" => match first.known() {
                Some(path) => Value::text(path.rsplit_once('/').map_or("", |(folder, _)| folder)),
                None => first.clone(),
            },
            // A descriptor, and the name of the file.
            "tempfile.mkstemp" => {
                Value::List(vec![Value::unknown(), Value::starts("/tmp/tmp", Taint::default())])
            }
            "tempfile.mkdtemp"
            | "tempfile.gettempdir"
            | "tempfile.TemporaryDirectory"
            | "tempfile.NamedTemporaryFile"
            | "tempfile.mktemp" => {
                if name.ends_with("gettempdir") {
                    Value::text("/tmp")
                } else {
                    Value::starts("/tmp/tmp", Taint::default())
                }
            }
            "glob.glob" | "glob.iglob" => match first {
                Value::Text(arg) => Value::Text(Arg { glob: true, ..arg.clone() }),
                other => other.clone(),
            },
            // Names come without the folder they are in.
            "os.listdir" => Value::Text(crate::programs::report::glob("*")),
            "os.scandir" => match first {
                Value::Text(arg) => Value::Text(crate::programs::report::below(arg, "*")),
                _ => Value::Text(crate::programs::report::glob("*")),
            },
            _ => return None,
        })
    }
}

impl Python<'_, '_> {
    /// The result of a function that the code defines.
    fn result_of_own(
        &self,
        function: Node<'_>,
        positional: &[Value],
        named: &[(String, Value)],
    ) -> Option<Value> {
        let name = match function.kind() {
            "identifier" => self.text(function).to_owned(),
            "attribute" => format!(".{}", self.text(function.child_by_field_name("attribute")?)),
            _ => return None,
        };
        let given = positional.iter().chain(named.iter().map(|(_, value)| value));
        let taint = given.fold(Taint::default(), |taint, value| taint.and(value.taint()));
        self.functions.result(&name, taint)
    }
}

/// Whether a text that replaces another in code can do nothing: a name, or the start of a call of one.
fn is_bare(text: &str) -> bool {
    let name = text.strip_suffix('(').unwrap_or(text);
    name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_ #".contains(letter))
        && !matches!(name, "eval" | "exec" | "compile" | "system" | "popen")
}

/// The words of a line, as a shell takes them apart.
fn words_of(line: &Value) -> Value {
    let Some(text) = line.known() else { return Value::Unknown(line.taint()) };
    Value::List(text.split_whitespace().map(|word| Value::text(word.trim_matches(['"', '\'']))).collect())
}

/// The values that a loop over something goes through.
fn listed(value: &Value) -> Vec<Value> {
    match value {
        Value::List(values) | Value::Any(values) => values.clone(),
        other => vec![other.clone()],
    }
}

/// Pairs of elements at the same index.
fn pairs_of(left: Vec<Value>, right: Vec<Value>) -> Value {
    Value::List(left.into_iter().zip(right).take(KEPT).map(|(a, b)| Value::List(vec![a, b])).collect())
}

/// The value of a variable of the environment, or the code's default.
fn from_environment(call: &Call<'_>, name: &Value, default: Option<&Value>) -> Value {
    let value = environment(call, name.known());
    match default.filter(|default| default.known().is_some() && value.known().is_none()) {
        Some(default) => Value::Any(vec![value, default.clone()]),
        None => value,
    }
}

/// Results of methods of lists and dictionaries.
fn result_of_collection(call: &Call<'_>, receiver: &Value, method: &str, positional: &[Value]) -> Value {
    let first = positional.first();
    match (receiver, method) {
        (Value::Any(values), _) => Value::Any(
            values.iter().map(|value| method_result(call, value, method, positional)).take(KEPT).collect(),
        ),
        (Value::List(_), "copy") => receiver.clone(),
        (Value::Map(pairs), "items") => pairs_of(
            pairs.iter().map(|(key, _)| Value::text(key)).collect(),
            pairs.iter().map(|(_, value)| value.clone()).collect(),
        ),
        (Value::Map(pairs), "values") => Value::List(pairs.iter().map(|(_, value)| value.clone()).collect()),
        (Value::Map(pairs), "keys") => Value::List(pairs.iter().map(|(key, _)| Value::text(key)).collect()),
        (Value::Map(_), "get") => first
            .and_then(Value::known)
            .and_then(|key| receiver.field(key))
            .cloned()
            .unwrap_or_else(Value::unknown),
        // Neither a signature nor a digest reveals its key.
        (_, "sign" | "digest" | "hexdigest") => Value::unknown(),
        _ => Value::Unknown(receiver.taint()),
    }
}

/// Values of methods of strings, paths and what came from elsewhere.
fn method_result(call: &Call<'_>, receiver: &Value, method: &str, positional: &[Value]) -> Value {
    let first = positional.first();
    let Value::Text(arg) = receiver else {
        return result_of_collection(call, receiver, method, positional);
    };
    match (method, arg.known()) {
        ("join", Some("/")) => match first {
            Some(Value::List(values)) => join_path(values.clone()),
            _ => Value::unknown(),
        },
        // Lines of a file, put together again.
        ("join", Some("" | "\n"))
            if first.and_then(Value::name).is_some_and(|name| name.starts_with(FILE)) =>
        {
            first.cloned().unwrap_or_else(Value::unknown)
        }
        ("join", Some(separator)) => match first {
            Some(Value::List(values)) => {
                let mut whole = Value::text("");
                for (at, value) in values.iter().enumerate() {
                    if at > 0 {
                        whole = whole.concat(Value::text(separator));
                    }
                    whole = whole.concat(value.clone());
                }
                whole
            }
            _ => Value::unknown(),
        },
        ("replace", Some(text)) => {
            match (first.and_then(Value::known), positional.get(1).and_then(Value::known)) {
                (Some(from), Some(to)) if !from.is_empty() => Value::text(text.replace(from, to)),
                _ => Value::unknown(),
            }
        }
        ("split", Some(text)) => Value::List(match first.and_then(Value::known) {
            Some(separator) if !separator.is_empty() => {
                text.split(separator).take(KEPT).map(Value::text).collect()
            }
            _ => text.split_whitespace().take(KEPT).map(Value::text).collect(),
        }),
        ("lower", Some(text)) => Value::text(text.to_lowercase()),
        ("upper", Some(text)) => Value::text(text.to_uppercase()),
        ("strip" | "rstrip" | "lstrip", Some(text)) if positional.is_empty() => Value::text(text.trim()),
        ("format", Some(text)) => format_braces(text, positional),
        ("glob" | "rglob", _) => match first.and_then(Value::known) {
            Some(pattern) => {
                let pattern = if method == "rglob" { format!("**/{pattern}") } else { pattern.to_owned() };
                Value::Text(Arg { glob: true, ..crate::programs::report::below(arg, &pattern) })
            }
            None => Value::Text(crate::programs::report::below(arg, "**")),
        },
        ("iterdir", _) => Value::Text(crate::programs::report::below(arg, "*")),
        ("joinpath", _) => {
            let mut parts = vec![receiver.clone()];
            parts.extend(positional.iter().cloned());
            join_path(parts)
        }
        ("read_text" | "read_bytes" | "open", _) => content_of(call, Some(receiver)),
        (
            "decode" | "encode" | "expanduser" | "resolve" | "absolute" | "as_posix" | "__str__" | "copy"
            | "with_suffix" | "with_name" | "rstrip" | "strip",
            _,
        ) => receiver.clone(),
        _ => Value::Unknown(arg.taint),
    }
}

pub(super) fn format_percent(format: &Arg, values: Value) -> Value {
    let mut values = match values {
        Value::List(values) => values,
        value => vec![value],
    }
    .into_iter();
    let Some(text) = format.known() else { return Value::Unknown(format.taint) };
    let mut pieces = text.split("%s");
    let mut whole = Value::text(pieces.next().unwrap_or_default());
    for piece in pieces.take(KEPT) {
        whole = whole.concat(values.next().unwrap_or_else(Value::unknown)).concat(Value::text(piece));
    }
    whole
}

fn format_braces(text: &str, values: &[Value]) -> Value {
    let mut whole = Value::text("");
    let mut rest = text;
    let mut at = 0;
    while let Some((before, tail)) = rest.split_once('{') {
        let (field, after) = tail.split_once('}').unwrap_or((tail, ""));
        let value = match field.parse::<usize>() {
            Ok(index) => values.get(index).cloned(),
            Err(_) if field.is_empty() => {
                at += 1;
                values.get(at - 1).cloned()
            }
            Err(_) => None,
        };
        whole = whole.concat(Value::text(before)).concat(value.unwrap_or_else(Value::unknown));
        rest = after;
    }
    whole.concat(Value::text(rest))
}

/// The home directory.
pub(in crate::languages) fn home(call: &Call<'_>) -> Value {
    Value::text(call.env.variable("HOME").unwrap_or_else(|| "~".to_owned()))
}

/// The value of an environment variable.
pub(in crate::languages) fn environment(call: &Call<'_>, name: Option<&str>) -> Value {
    match name {
        Some("HOME" | "USERPROFILE") => home(call),
        Some(name) if call.env.is_given_secret(name) => {
            Value::Unknown(Taint { secret: true, ..Taint::default() })
        }
        Some(name) => call.env.variable(name).map_or_else(Value::unknown, Value::text),
        None => Value::unknown(),
    }
}

/// `~` at the start of a path that is expanded by the program itself.
fn expand_home(call: &Call<'_>, arg: &Arg) -> Arg {
    let Some(rest) = arg.known().and_then(|text| text.strip_prefix('~')) else { return arg.clone() };
    match (rest.is_empty() || rest.starts_with('/'), call.env.variable("HOME")) {
        (true, Some(home)) => Arg { value: Known::Text(format!("{home}{rest}").into()), ..arg.clone() },
        _ => arg.clone(),
    }
}
/// The character with this code.
fn letter(number: &Value) -> Value {
    let letter = number.name().and_then(|number| number.parse::<u32>().ok()).and_then(char::from_u32);
    letter.map_or_else(Value::unknown, |letter| Value::text(letter.to_string()))
}

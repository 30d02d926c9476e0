//! What an expression may read: the declared roots and their types.

use core::fmt;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Type {
    /// The value `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A 64-bit signed integer.
    Int,
    /// A 64-bit floating point number.
    Double,
    /// Unicode text.
    String,
    /// A list of values of one type.
    List(Box<Type>),
    /// A map from text to values of one type.
    Map(Box<Type>),
    /// A map with known fields.
    Record(Record),
    /// A field that may be absent. Reading it gives the inner type or an error.
    Optional(Box<Type>),
    /// Known only at evaluation; every use is checked then.
    Dyn,
}

impl Type {
    /// A list of `item`.
    #[must_use]
    pub fn list(item: Self) -> Self {
        Self::List(Box::new(item))
    }

    /// A map from text to `value`.
    #[must_use]
    pub fn map(value: Self) -> Self {
        Self::Map(Box::new(value))
    }

    /// A field that may be absent.
    #[must_use]
    pub fn optional(inner: Self) -> Self {
        Self::Optional(Box::new(inner))
    }

    /// A record with these fields.
    #[must_use]
    pub fn record<N: Into<String>>(fields: impl IntoIterator<Item = (N, Self)>) -> Self {
        Self::Record(Record { fields: fields.into_iter().map(|(name, t)| (name.into(), t)).collect() })
    }

    pub(crate) fn is_numeric(&self) -> bool {
        matches!(self, Self::Int | Self::Double)
    }

    /// The type of a value that is read from this declared type.
    pub(crate) fn read(&self) -> &Self {
        match self {
            Self::Optional(inner) => inner.read(),
            other => other,
        }
    }

    /// Whether a value of this type can be used where `wanted` is needed, as far as is known at load.
    pub(crate) fn fits(&self, wanted: &Self) -> bool {
        match (self.read(), wanted.read()) {
            (Self::Dyn, _) | (_, Self::Dyn) => true,
            (Self::List(a), Self::List(b)) | (Self::Map(a), Self::Map(b)) => a.fits(b),
            (Self::Record(a), Self::Map(b)) => a.fields.values().all(|field| field.fits(b)),
            (a, b) => a == b,
        }
    }

    /// Whether `==` between the two can be true.
    pub(crate) fn comparable(&self, other: &Self) -> bool {
        match (self.read(), other.read()) {
            (a, b) if a.is_numeric() && b.is_numeric() => true,
            (Self::List(a), Self::List(b)) | (Self::Map(a), Self::Map(b)) => a.comparable(b),
            (Self::Record(_), Self::Map(_)) | (Self::Map(_), Self::Record(_)) => true,
            (a, b) => a.fits(b) || b.fits(a),
        }
    }

    /// The type of a list that holds both.
    pub(crate) fn join(self, other: &Self) -> Self {
        if self == *other { self } else { Self::Dyn }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool => f.write_str("bool"),
            Self::Int => f.write_str("int"),
            Self::Double => f.write_str("double"),
            Self::String => f.write_str("string"),
            Self::List(item) => write!(f, "list({item})"),
            Self::Map(value) => write!(f, "map({value})"),
            Self::Record(_) => f.write_str("record"),
            Self::Optional(inner) => inner.fmt(f),
            Self::Dyn => f.write_str("dyn"),
        }
    }
}

/// The fields of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    fields: BTreeMap<String, Type>,
}

impl Record {
    pub(crate) fn field(&self, name: &str) -> Option<&Type> {
        self.fields.get(name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(String::as_str)
    }
}

/// The roots that an expression may read.
///
/// ```
/// use lictor_expr::{Schema, Type};
///
/// let schema = Schema::builder()
///     .record("action", [("kind", Type::String), ("task_type", Type::optional(Type::String))])
///     .root("payload", Type::map(Type::Dyn))
///     .root("risk", Type::Double)
///     .build();
/// assert_eq!(schema.roots().collect::<Vec<_>>(), ["action", "payload", "risk"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    roots: BTreeMap<String, Type>,
}

impl Schema {
    /// Starts an empty schema.
    #[must_use]
    pub fn builder() -> SchemaBuilder {
        SchemaBuilder { schema: Self::default() }
    }

    /// The names of the roots, in alphabetical order.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        self.roots.keys().map(String::as_str)
    }

    /// The type of a root.
    #[must_use]
    pub fn root(&self, name: &str) -> Option<&Type> {
        self.roots.get(name)
    }
}

/// Builds a [`Schema`].
#[derive(Clone, Debug)]
pub struct SchemaBuilder {
    schema: Schema,
}

impl SchemaBuilder {
    /// Declares a root. A later declaration of the same name replaces the earlier one.
    #[must_use]
    pub fn root(mut self, name: impl Into<String>, of: Type) -> Self {
        self.schema.roots.insert(name.into(), of);
        self
    }

    /// Declares a root that is a record.
    #[must_use]
    pub fn record<N: Into<String>>(
        self,
        name: impl Into<String>,
        fields: impl IntoIterator<Item = (N, Type)>,
    ) -> Self {
        self.root(name, Type::record(fields))
    }

    /// The finished schema.
    #[must_use]
    pub fn build(self) -> Schema {
        self.schema
    }
}

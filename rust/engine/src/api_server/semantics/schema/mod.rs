//! The types of the kinds that are served, read once from `fields.txt`: what patches merge by, what writes
//! are checked against, and what `OpenAPI` and `kubectl explain` show.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::kinds::Kind;

/// One type, such as `PodSpec`.
#[derive(Debug)]
pub struct Type {
    /// Full id, for instance `io.k8s.api.core.v1.PodSpec`.
    pub id: &'static str,
    /// Whether server-side apply takes it as one value.
    pub atomic: bool,
    /// What it is; may be empty.
    pub description: &'static str,
    /// Its fields, by name. Types without fields are values of their own: Time, Quantity and the like.
    pub fields: Vec<Field>,
}

/// One field of a type.
#[derive(Debug)]
pub struct Field {
    /// Its name in JSON.
    pub name: &'static str,
    /// What it is; may be empty.
    pub description: &'static str,
    /// Whether it must be there.
    pub required: bool,
    /// What it holds.
    pub shape: Shape,
    /// How server-side apply takes a list or map.
    pub list: ListType,
    /// Whether a strategic merge patch merges it, where it is a list.
    pub merge: bool,
    /// Whether a strategic merge patch says which keys to keep.
    pub retain_keys: bool,
    /// The key by which a strategic merge patch merges a list of objects.
    pub merge_key: Option<&'static str>,
}

/// What a field holds.
#[derive(Debug)]
pub enum Shape {
    /// Text.
    String,
    /// Bytes in base64.
    Bytes,
    /// A truth value.
    Bool,
    /// An integer of 32 bits.
    Int32,
    /// An integer of 64 bits.
    Int64,
    /// A number.
    Double,
    /// Anything.
    Any,
    /// Another type, by its last name.
    Type(&'static str),
    /// A list.
    List(Box<Shape>),
    /// A map with text keys.
    Map(Box<Shape>),
}

/// How server-side apply takes a list, a map or a type.
#[derive(Debug, PartialEq, Eq)]
pub enum ListType {
    /// Nothing said: lists are atomic, maps are not.
    Unset,
    /// One value as a whole.
    Atomic,
    /// Values, each once.
    Set,
    /// Objects with those keys, each once.
    Map(Vec<&'static str>),
}

static TYPES: LazyLock<HashMap<&'static str, Type>> = LazyLock::new(|| read(include_str!("fields.txt")));

/// All types, in no order.
pub fn types() -> impl Iterator<Item = &'static Type> {
    TYPES.values()
}

/// The type of that last name.
pub fn find(name: &str) -> Option<&'static Type> {
    TYPES.get(name)
}

/// The type of a kind's objects. `None` for kinds that no one writes, such as `PodMetrics`.
pub fn of_kind(kind: &Kind) -> Option<&'static Type> {
    find(kind.kind)
}

impl Type {
    /// The last part of its id.
    pub fn name(&self) -> &'static str {
        self.id.rsplit('.').next().unwrap_or(self.id)
    }

    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.binary_search_by(|f| f.name.cmp(name)).ok().map(|i| &self.fields[i])
    }
}

impl Shape {
    /// The type of the value, of a list's items or of a map's values; `None` where that is no type with
    /// fields.
    pub fn inner_type(&self) -> Option<&'static Type> {
        match self {
            Self::Type(name) => find(name).filter(|t| !t.fields.is_empty()),
            Self::List(inner) | Self::Map(inner) => inner.inner_type(),
            _ => None,
        }
    }

    /// Reads a shape as fields.txt writes it.
    pub fn read(text: &'static str) -> Self {
        let inside = |open, close| text.strip_prefix(open).and_then(|t| t.strip_suffix(close));
        if let Some(inner) = inside('[', ']') {
            return Self::List(Box::new(Self::read(inner)));
        }
        if let Some(inner) = inside('{', '}') {
            return Self::Map(Box::new(Self::read(inner)));
        }
        match text {
            "string" => Self::String,
            "bytes" => Self::Bytes,
            "bool" => Self::Bool,
            "int32" => Self::Int32,
            "int64" => Self::Int64,
            "double" => Self::Double,
            "any" => Self::Any,
            name => Self::Type(name),
        }
    }
}

fn read(text: &'static str) -> HashMap<&'static str, Type> {
    let mut types = HashMap::new();
    let mut current: Option<Type> = None;
    for line in text.lines().filter(|l| !l.starts_with('#') && !l.is_empty()) {
        let (words, description) = line.split_once(": ").unwrap_or((line, ""));
        let mut words = words.split_whitespace();
        let first = words.next().unwrap_or("");
        if line.starts_with(' ') {
            let field = read_field(first, words, description);
            current.as_mut().expect("a field follows its type").fields.push(field);
        } else {
            let atomic = words.next() == Some("atomic");
            let next = Type { id: first, atomic, description, fields: Vec::new() };
            types.extend(current.replace(next).map(|t| (t.name(), t)));
        }
    }
    types.extend(current.map(|t| (t.name(), t)));
    for found in types.values_mut() {
        found.fields.sort_by_key(|f| f.name);
    }
    types
}

fn read_field(name: &'static str, words: impl Iterator<Item = &'static str>, description: &'static str) -> Field {
    let mut field = Field {
        name: name.trim_end_matches('!'),
        description,
        required: name.ends_with('!'),
        shape: Shape::Any,
        list: ListType::Unset,
        merge: false,
        retain_keys: false,
        merge_key: None,
    };
    for (i, word) in words.enumerate() {
        match word.split_once('=') {
            Some(("map", keys)) => field.list = ListType::Map(keys.split(',').collect()),
            Some(("patch", strategies)) => {
                field.merge = strategies.split(',').any(|s| s == "merge");
                field.retain_keys = strategies.split(',').any(|s| s == "retainKeys");
            }
            Some(("key", key)) => field.merge_key = Some(key),
            _ if i == 0 => field.shape = Shape::read(word),
            _ if word == "set" => field.list = ListType::Set,
            _ if word == "atomic" => field.list = ListType::Atomic,
            _ => unreachable!("fields.txt: {name} {word}"),
        }
    }
    field
}

#[cfg(test)]
mod tests {
    use super::super::kinds;
    use super::*;

    fn check(shape: &Shape) {
        match shape {
            Shape::Type(name) => assert!(find(name).is_some(), "no type {name}"),
            Shape::List(inner) | Shape::Map(inner) => check(inner),
            _ => {}
        }
    }

    #[test]
    fn every_kind_that_can_be_written_has_a_type_and_every_shape_leads_to_one() {
        for kind in kinds::all().iter().filter(|k| k.serves("create")) {
            let id = of_kind(kind).unwrap_or_else(|| panic!("{} has no type", kind.kind)).id;
            assert!(id.ends_with(&format!(".{}.{}", kind.version, kind.kind)), "{id}");
        }
        types().flat_map(|t| &t.fields).for_each(|f| check(&f.shape));
    }

    #[test]
    fn fields_say_how_patches_merge_them() {
        let container = find("Container").unwrap();
        let ports = container.field("ports").unwrap();
        assert_eq!((ports.merge, ports.merge_key), (true, Some("containerPort")));
        assert_eq!(ports.list, ListType::Map(vec!["containerPort", "protocol"]));
        let volumes = find("PodSpec").unwrap().field("volumes").unwrap();
        assert!(volumes.merge && volumes.retain_keys);
        let tolerations = find("PodSpec").unwrap().field("tolerations").unwrap();
        assert!(!tolerations.merge && tolerations.list == ListType::Atomic);
        assert_eq!(tolerations.shape.inner_type().unwrap().name(), "Toleration");
        assert!(container.field("name").unwrap().required && container.field("nothing").is_none());
    }
}

//! Bodies in Kubernetes' protobuf, as JSON.
//!
//! Typed clients in Go, kubectl's among them, write built-in kinds this way by default and do not try
//! again with JSON. Answers are always JSON. The envelope is `k8s\0` and a `runtime.Unknown`
//! (k8s.io/apimachinery, runtime/generated.proto).

mod numbers;
mod wire;

use self::numbers::Meaning;
use self::wire::{Field, Malformed, Reader};
use super::semantics::base64;
use super::semantics::instant::Instant;
use super::semantics::schema::{self, Shape};
use super::semantics::status::Status;
use serde_json::{Map, Value, json};

/// The media type of such bodies.
pub(crate) const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";
const MAGIC: &[u8] = b"k8s\0";
/// Messages within messages; real types need a dozen.
const MAX_DEPTH: usize = 64;

/// Whether a `Content-Type` says that the body is one.
pub(crate) fn is_protobuf(content_type: Option<&str>) -> bool {
    content_type.is_some_and(|text| text.split(';').next().is_some_and(|media| media.trim() == MEDIA_TYPE))
}

/// The object of a body, as JSON; 400 for what is none, 415 for a type that is not known.
pub(crate) fn to_json(body: &[u8]) -> Result<Vec<u8>, Status> {
    let malformed = |why: Malformed| Status::bad_request(format!("the body is no Kubernetes protobuf: {}", why.0));
    let envelope = body.strip_prefix(MAGIC).ok_or(Malformed("it does not begin with k8s\\0")).map_err(malformed)?;
    let (api_version, kind, raw) = open(envelope).map_err(malformed)?;
    if numbers::of(&kind).is_none() {
        return Err(Status::unsupported_media_type("application/json"));
    }
    let mut object = Map::new();
    object.insert("apiVersion".into(), api_version.into());
    object.insert("kind".into(), kind.as_str().into());
    message(&kind, &kind, raw, &mut object, 0).map_err(malformed)?;
    Ok(Value::Object(object).to_string().into_bytes())
}

/// apiVersion, kind and bytes of a `runtime.Unknown`.
fn open(envelope: &[u8]) -> Result<(String, String, &[u8]), Malformed> {
    let (mut api_version, mut kind, mut raw) = (String::new(), String::new(), &[][..]);
    let mut reader = Reader::new(envelope);
    while let Some((number, field)) = reader.next()? {
        match (number, field) {
            (1, Field::Bytes(meta)) => {
                let mut reader = Reader::new(meta);
                while let Some((number, field)) = reader.next()? {
                    match (number, field) {
                        (1, Field::Bytes(bytes)) => api_version = text(bytes)?,
                        (2, Field::Bytes(bytes)) => kind = text(bytes)?,
                        _ => {}
                    }
                }
            }
            (2, Field::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    Ok((api_version, kind, raw))
}

fn text(bytes: &[u8]) -> Result<String, Malformed> {
    String::from_utf8(bytes.to_vec()).map_err(|_| Malformed("a text is not UTF-8"))
}

/// Adds the fields of a message to an object: numbers by one type, shapes by the type of the object.
fn message(
    of: &str,
    object_type: &str,
    bytes: &[u8],
    object: &mut Map<String, Value>,
    depth: usize,
) -> Result<(), Malformed> {
    if depth > MAX_DEPTH {
        return Err(Malformed("its messages are nested too deep"));
    }
    let Some(numbers) = numbers::of(of) else { return Ok(()) };
    let known = schema::find(object_type);
    let mut reader = Reader::new(bytes);
    while let Some((number, field)) = reader.next()? {
        match numbers.get(&number) {
            Some(Meaning::Inline(inner)) => {
                if let Field::Bytes(bytes) = field {
                    message(inner, object_type, bytes, object, depth + 1)?;
                }
            }
            Some(Meaning::Field { name, pointer, shape }) => {
                let shape = shape.as_ref().or_else(|| Some(&known?.field(name)?.shape));
                if let Some(shape) = shape {
                    add(object, name, shape, field, *pointer, depth)?;
                }
            }
            // Of a newer version.
            None => {}
        }
    }
    Ok(())
}

fn add(
    object: &mut Map<String, Value>,
    name: &str,
    shape: &Shape,
    field: Field<'_>,
    pointer: bool,
    depth: usize,
) -> Result<(), Malformed> {
    match (shape, field) {
        (Shape::List(inner), Field::Bytes(bytes)) if matches!(**inner, Shape::Int32 | Shape::Int64) => {
            let list = list_of(object, name);
            let mut packed = Reader::new(bytes);
            while !packed.is_empty() {
                list.push(value(inner, Field::Varint(packed.varint()?), depth)?);
            }
        }
        (Shape::List(inner), field) => {
            let item = value(inner, field, depth)?;
            list_of(object, name).push(item);
        }
        (Shape::Map(inner), Field::Bytes(bytes)) => {
            let (mut key, mut held) = (String::new(), empty(inner));
            let mut entry = Reader::new(bytes);
            while let Some((number, field)) = entry.next()? {
                match (number, field) {
                    (1, Field::Bytes(bytes)) => key = text(bytes)?,
                    (2, field) => held = value(inner, field, depth)?,
                    _ => {}
                }
            }
            let map = object.entry(name).or_insert_with(|| json!({}));
            if let Some(map) = map.as_object_mut() {
                map.insert(key, held);
            }
        }
        _ => {
            let value = value(shape, field, depth)?;
            // Go writes what is not a pointer even where it holds nothing.
            if pointer || !is_nothing(&value) {
                object.insert(name.into(), value);
            }
        }
    }
    Ok(())
}

fn list_of<'a>(object: &'a mut Map<String, Value>, name: &str) -> &'a mut Vec<Value> {
    let list = object.entry(name).or_insert_with(|| json!([]));
    if !list.is_array() {
        *list = json!([]);
    }
    list.as_array_mut().expect("it has just been made one")
}

fn empty(shape: &Shape) -> Value {
    match shape {
        Shape::String | Shape::Bytes => "".into(),
        _ => Value::Null,
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(truth) => !truth,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
    }
}

fn value(shape: &Shape, field: Field<'_>, depth: usize) -> Result<Value, Malformed> {
    Ok(match (shape, field) {
        (Shape::String, Field::Bytes(bytes)) => text(bytes)?.into(),
        (Shape::Bytes, Field::Bytes(bytes)) => base64::encode(bytes).into(),
        (Shape::Bool, Field::Varint(number)) => (number != 0).into(),
        (Shape::Int32 | Shape::Int64, Field::Varint(number)) => number.cast_signed().into(),
        (Shape::Double, Field::Fixed64(bits)) => json!(f64::from_bits(bits)),
        (Shape::Type(name), Field::Bytes(bytes)) => typed(name, bytes, depth)?,
        _ => return Err(Malformed("a field is not of its type")),
    })
}

/// A message of a type; some types are not an object in JSON.
fn typed(name: &str, bytes: &[u8], depth: usize) -> Result<Value, Malformed> {
    match name {
        "Time" | "MicroTime" => time(bytes, name == "MicroTime"),
        "Quantity" => first_text(bytes),
        "FieldsV1" => {
            let mut reader = Reader::new(bytes);
            while let Some((number, field)) = reader.next()? {
                if let (1, Field::Bytes(raw)) = (number, field) {
                    return serde_json::from_slice(raw).map_err(|_| Malformed("a field set is no JSON"));
                }
            }
            Ok(json!({}))
        }
        "IntOrString" => {
            let (mut is_text, mut number, mut word) = (false, 0, String::new());
            let mut reader = Reader::new(bytes);
            while let Some((place, field)) = reader.next()? {
                match (place, field) {
                    (1, Field::Varint(kind)) => is_text = kind == 1,
                    (2, Field::Varint(value)) => number = value.cast_signed(),
                    (3, Field::Bytes(bytes)) => word = text(bytes)?,
                    _ => {}
                }
            }
            Ok(if is_text { word.into() } else { number.into() })
        }
        _ => {
            let mut object = Map::new();
            message(name, name, bytes, &mut object, depth + 1)?;
            Ok(Value::Object(object))
        }
    }
}

fn first_text(bytes: &[u8]) -> Result<Value, Malformed> {
    let mut reader = Reader::new(bytes);
    while let Some((number, field)) = reader.next()? {
        if let (1, Field::Bytes(bytes)) = (number, field) {
            return Ok(text(bytes)?.into());
        }
    }
    Ok("".into())
}

/// Seconds and nanoseconds since 1970; nothing where they were never set.
fn time(bytes: &[u8], micros: bool) -> Result<Value, Malformed> {
    let (mut seconds, mut nanos) = (None, 0);
    let mut reader = Reader::new(bytes);
    while let Some((number, field)) = reader.next()? {
        match (number, field) {
            (1, Field::Varint(value)) => seconds = Some(value.cast_signed()),
            (2, Field::Varint(value)) => nanos = value,
            _ => {}
        }
    }
    // The years that RFC 3339 has.
    let Some(seconds) = seconds.filter(|seconds| (-62_135_596_800..=253_402_300_799).contains(seconds)) else {
        return Ok(Value::Null);
    };
    let whole = Instant(seconds).to_rfc3339();
    Ok(if micros { format!("{}.{:06}Z", whole.trim_end_matches('Z'), nanos / 1_000 % 1_000_000) } else { whole }.into())
}

#[cfg(test)]
mod tests;

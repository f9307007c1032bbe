//! Strategic merge patch (apimachinery `strategicpatch`): a merge patch that knows how the lists of a type
//! are merged, with the directives `$patch`, `$retainKeys`, `$setElementOrder/…` and
//! `$deleteFromPrimitiveList/…`.

use serde_json::{Map, Value};

use super::directives::{
    DELETE_FROM, DIRECTIVE, RETAIN_KEYS, SET_ORDER, remove_directives, strip_directives, without_nulls,
};
use super::order::{arrange, identity, positions};
use super::{PatchError, object, read};
use crate::api_server::semantics::schema::{Field, Shape, Type};

type Fields = Map<String, Value>;
type Result<T> = std::result::Result<T, PatchError>;

/// Applies a patch's bytes to an object of that type.
pub fn apply(target: &Value, patch: &[u8], of: &'static Type) -> Result<Value> {
    let Value::Object(patch) = read(patch)? else {
        return Err(PatchError::Malformed("invalid JSON document".into()));
    };
    let fields = target.as_object().cloned().unwrap_or_default();
    let mut merged = Value::Object(merge_map(fields, patch, Schema::Type(of))?);
    strip_directives(&mut merged);
    object(merged)
}

/// What is known of a map's fields.
#[derive(Clone, Copy)]
enum Schema {
    Type(&'static Type),
    /// Every value is of that shape.
    MapOf(&'static Shape),
    /// Nothing: lists are replaced.
    Unknown,
}

/// How a list is merged.
struct ListRule {
    merge: bool,
    key: Option<&'static str>,
    items: Schema,
}

impl Schema {
    fn of_shape(shape: &'static Shape) -> Self {
        match shape {
            Shape::Map(inner) => Self::MapOf(inner),
            other => other.inner_type().map_or(Self::Unknown, Self::Type),
        }
    }

    fn field(self, name: &str) -> Option<&'static Field> {
        match self {
            Self::Type(of) => of.field(name),
            _ => None,
        }
    }

    fn of_field(self, name: &str) -> Self {
        match self {
            Self::MapOf(inner) => Self::of_shape(inner),
            _ => self.field(name).map_or(Self::Unknown, |f| Self::of_shape(&f.shape)),
        }
    }

    fn of_list(self, name: &str) -> ListRule {
        match self.field(name) {
            Some(field) => ListRule { merge: field.merge, key: field.merge_key, items: Self::of_shape(&field.shape) },
            None => ListRule { merge: false, key: None, items: Self::Unknown },
        }
    }
}

fn unknown_directive(directive: &Value) -> PatchError {
    PatchError::Internal(format!("unknown patch type: {directive}"))
}

fn no_merge_key(key: &str) -> PatchError {
    PatchError::Internal(format!("map does not contain declared merge key: {key}"))
}

fn bad_retain_keys() -> PatchError {
    PatchError::Malformed("invalid patch format of retainKeys".into())
}

fn bad_order() -> PatchError {
    PatchError::Malformed("invalid patch format of setElementOrder list".into())
}

fn merge_map(mut original: Fields, mut patch: Fields, schema: Schema) -> Result<Fields> {
    if let Some(directive) = patch.get(DIRECTIVE) {
        return match directive.as_str() {
            Some("replace") => {
                patch.remove(DIRECTIVE);
                Ok(patch)
            }
            Some("delete") => Ok(Fields::new()),
            _ => Err(unknown_directive(directive)),
        };
    }
    retain_keys(&mut original, &mut patch)?;
    merge_ordered_lists(&mut original, &mut patch, schema)?;
    for (key, change) in patch {
        let (key, is_deletion) = match key.strip_prefix(DELETE_FROM) {
            Some(list) => (list.to_owned(), true),
            None => (key, false),
        };
        if change.is_null() {
            original.remove(&key);
            continue;
        }
        let merged = match (original.remove(&key), change) {
            (Some(Value::Object(fields)), Value::Object(change)) => {
                Some(Value::Object(merge_map(fields, change, schema.of_field(&key))?))
            }
            (Some(Value::Array(items)), Value::Array(change)) => {
                let rule = schema.of_list(&key);
                Some(Value::Array(if is_deletion {
                    delete_from(items, &change)
                } else if rule.merge {
                    merge_list(items, change, &rule)?
                } else {
                    change
                }))
            }
            (current, _) if is_deletion => current,
            (Some(_), change) => remove_directives(change),
            (None, change) => remove_directives(without_nulls(change)),
        };
        if let Some(merged) = merged {
            original.insert(key, merged);
        }
    }
    Ok(original)
}

/// Takes away from the original what `$retainKeys` does not name.
fn retain_keys(original: &mut Fields, patch: &mut Fields) -> Result<()> {
    let Some(keys) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let keys: Vec<&str> = keys.as_array().ok_or_else(bad_retain_keys)?.iter().filter_map(Value::as_str).collect();
    let is_plain = |key: &str| !key.starts_with(DELETE_FROM) && !key.starts_with(SET_ORDER);
    if patch.iter().any(|(key, v)| !v.is_null() && is_plain(key) && !keys.contains(&key.as_str())) {
        return Err(bad_retain_keys());
    }
    original.retain(|key, _| keys.contains(&key.as_str()));
    Ok(())
}

/// Merges the lists whose order the patch sets, and takes them out of the patch.
fn merge_ordered_lists(original: &mut Fields, patch: &mut Fields, schema: Schema) -> Result<()> {
    let directives: Vec<String> = patch.keys().filter(|k| k.starts_with(SET_ORDER)).cloned().collect();
    for directive in directives {
        let Some(Value::Array(wanted)) = patch.remove(&directive) else { return Err(bad_order()) };
        let list = &directive[SET_ORDER.len()..];
        let rule = schema.of_list(list);
        let as_list = |value: Option<Value>| match value {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(_) => Err(PatchError::Internal("expected a list, but received something else".into())),
        };
        let current = as_list(original.remove(list))?;
        let change = as_list(patch.remove(list))?;
        check_order(change.as_deref().unwrap_or_default(), &wanted, rule.key)?;
        let (old, new) = (current.as_deref().unwrap_or_default(), change.as_deref().unwrap_or_default());
        let server_order = positions(old, rule.key);
        // The real library asks the items for their type, which it cannot where there are none.
        let first = old.first().or(new.first());
        if (current.is_some() || change.is_some()) && first.is_none_or(|item| item.is_object() && rule.key.is_none()) {
            return Err(PatchError::Internal("no elements in any of the given slices".into()));
        }
        check_items(&[old, new], None)?;
        let merged = match (current, change) {
            (None, None) => continue,
            (Some(current), None) => current,
            (None, Some(change)) => change.into_iter().filter_map(remove_directives).collect(),
            (Some(current), Some(change)) if rule.merge => merge_list(current, change, &rule)?,
            (Some(_), Some(change)) => change,
        };
        check_items(&[&merged, &wanted], rule.key)?;
        let arranged = arrange(merged, &positions(&wanted, rule.key), &server_order, rule.key);
        original.insert(list.to_owned(), Value::Array(arranged));
    }
    Ok(())
}

/// The items of the patch must stand in the wanted order, and all of them be in it; deletions aside. As in
/// the original, an item with another directive is passed over only while the wanted order goes on.
fn check_order(change: &[Value], wanted: &[Value], key: Option<&str>) -> Result<()> {
    if wanted.is_empty() {
        return Ok(());
    }
    let is_deletion = |item: &Value| item.get(DIRECTIVE).is_some_and(|d| d == "delete");
    let mut items = change.iter().filter(|item| !is_deletion(item)).peekable();
    for place in wanted {
        while items.next_if(|item| item.get(DIRECTIVE).is_some()).is_some() {}
        let Some(item) = items.peek() else { break };
        let id = identity(item, key).ok_or_else(|| no_merge_key(key.unwrap_or("")))?;
        if identity(place, key).is_some_and(|wanted| wanted == id) {
            items.next();
        }
    }
    if items.peek().is_none() {
        return Ok(());
    }
    Err(PatchError::Internal("The order in patch list doesn't match $setElementOrder list".into()))
}

/// All items of lists that are merged must be of one kind, and objects must have the merge key.
fn check_items(lists: &[&[Value]], key: Option<&str>) -> Result<()> {
    let mut items = lists.iter().copied().flatten();
    let Some(first) = items.next() else { return Ok(()) };
    if first.is_array() {
        return Err(PatchError::Unprocessable("lists of lists are not supported".into()));
    }
    let same = |v: &Value| std::mem::discriminant(v) == std::mem::discriminant(first);
    if first.is_null() || !items.all(same) {
        return Err(PatchError::Internal("list element types are not identical".into()));
    }
    if let (true, Some(key)) = (first.is_object(), key)
        && lists.iter().copied().flatten().any(|item| item.get(key).is_none())
    {
        return Err(no_merge_key(key));
    }
    Ok(())
}

fn merge_list(original: Vec<Value>, change: Vec<Value>, rule: &ListRule) -> Result<Vec<Value>> {
    if original.is_empty() && change.is_empty() {
        return Ok(original);
    }
    check_items(&[&original, &change], None)?;
    if !original.first().or(change.first()).is_some_and(Value::is_object) {
        let (patch_order, server_order) = (positions(&change, None), positions(&original, None));
        let mut seen = std::collections::HashSet::new();
        let all = original.into_iter().chain(change).filter(|v| seen.insert(v.to_string())).collect();
        return Ok(arrange(all, &patch_order, &server_order, None));
    }
    let Some(key) = rule.key else {
        return Err(PatchError::Internal("cannot merge lists without merge key".into()));
    };
    let (original, change) = apply_item_directives(original, change, key)?;
    check_items(&[&original, &change], Some(key))?;
    let (patch_order, server_order) = (positions(&change, Some(key)), positions(&original, Some(key)));
    let mut places = server_order.clone();
    let mut merged = original;
    for item in change {
        let id = identity(&item, Some(key)).ok_or_else(|| no_merge_key(key))?;
        match (places.get(&id).map(|at| merged[*at].take()), item) {
            (Some(Value::Object(fields)), Value::Object(change)) => {
                merged[places[&id]] = Value::Object(merge_map(fields, change, rule.items)?);
            }
            (_, item) => {
                places.insert(id, merged.len());
                merged.push(item);
            }
        }
    }
    Ok(arrange(merged, &patch_order, &server_order, Some(key)))
}

/// Does what items with `$patch` say, and returns the original and the rest of the patch.
fn apply_item_directives(mut original: Vec<Value>, change: Vec<Value>, key: &str) -> Result<(Vec<Value>, Vec<Value>)> {
    let (mut rest, mut replace) = (Vec::with_capacity(change.len()), false);
    for item in change {
        match item.get(DIRECTIVE).map(|d| (d, d.as_str())) {
            None => rest.push(item),
            Some((_, Some("delete"))) => {
                let gone = item.get(key).ok_or_else(|| no_merge_key(key))?;
                original.retain(|o| o.get(key) != Some(gone));
            }
            Some((_, Some("replace"))) => replace = true,
            Some((_, Some("merge"))) => {
                return Err(PatchError::Internal("merging lists cannot yet be specified in the patch".into()));
            }
            Some((directive, _)) => return Err(unknown_directive(directive)),
        }
    }
    Ok(if replace { (rest, Vec::new()) } else { (original, rest) })
}

fn delete_from(mut items: Vec<Value>, gone: &[Value]) -> Vec<Value> {
    let gone = positions(gone, None);
    items.retain(|item| !gone.contains_key(&item.to_string()));
    items
}

#[cfg(test)]
#[path = "strategic_tests.rs"]
mod tests;

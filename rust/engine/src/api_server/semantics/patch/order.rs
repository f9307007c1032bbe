//! The order of a merged list (apimachinery `strategicpatch`, `normalizeElementOrder`): what the patch names
//! comes in the patch's order, what only the server has in the server's; between the two, the server's order
//! decides where it knows both, and else what the patch names comes first.

use std::collections::HashMap;

use serde_json::Value;

/// What tells the items of a list apart: the value at the merge key, or for lists of scalars the item.
pub(super) fn identity(item: &Value, key: Option<&str>) -> Option<String> {
    match key {
        Some(key) => item.get(key).map(Value::to_string),
        None => Some(item.to_string()),
    }
}

/// Position of each item, by identity; of several the first.
pub(super) fn positions(items: &[Value], key: Option<&str>) -> HashMap<String, usize> {
    let mut positions = HashMap::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        if let Some(id) = identity(item, key) {
            positions.entry(id).or_insert(i);
        }
    }
    positions
}

/// Orders a merged list. `server_order` are positions in the list as it was before.
pub(super) fn arrange(
    merged: Vec<Value>,
    patch_order: &HashMap<String, usize>,
    server_order: &HashMap<String, usize>,
    key: Option<&str>,
) -> Vec<Value> {
    let (mut patched, mut server) = (Vec::new(), Vec::new());
    for item in merged {
        let id = identity(&item, key).unwrap_or_default();
        let at = server_order.get(&id).copied();
        match patch_order.get(&id) {
            Some(place) => patched.push((*place, at, item)),
            None => server.push((at.unwrap_or(usize::MAX), at, item)),
        }
    }
    patched.sort_by_key(|(place, ..)| *place);
    server.sort_by_key(|(place, ..)| *place);
    let mut arranged = Vec::with_capacity(patched.len() + server.len());
    let (mut patched, mut server) = (patched.into_iter().peekable(), server.into_iter().peekable());
    loop {
        let server_first = match (server.peek(), patched.peek()) {
            (Some((_, Some(left), _)), Some((_, Some(right), _))) => left < right,
            (Some(_), None) => true,
            (None, None) => return arranged,
            _ => false,
        };
        let next = if server_first { server.next() } else { patched.next() };
        arranged.extend(next.map(|(.., item)| item));
    }
}

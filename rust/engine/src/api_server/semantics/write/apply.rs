//! Server-side apply: create or merge, with conflicts and with the removal of what its manager no longer
//! names (sigs.k8s.io/structured-merge-diff, `merge`).

use std::collections::BTreeMap;

use serde_json::Value;

use super::field_set::{self, FieldSet, Place, item_step};
use super::managers::{self, Manager, Writer};
use crate::api_server::semantics::status::{Cause, Status};

/// Merges what is applied into an object (an empty one where there is none yet).
pub(super) fn apply(
    current: &Value,
    applied: &Value,
    place: Place,
    writer: &Writer<'_>,
    force: bool,
) -> Result<Value, Status> {
    let mut all = managers::read(current);
    let mine = managers::owned_paths(applied, place, writer);
    let mut merged = merge(current, applied, place);
    take_over(&mut all, current, &merged, &mine, (place, writer, force))?;
    let before = all.iter().find(|m| m.is(writer)).map(|m| m.fields.clone()).unwrap_or_default();
    let others: Vec<&FieldSet> = all.iter().filter(|m| !m.is(writer)).map(|m| &m.fields).collect();
    for path in before.difference(&mine) {
        // What others own, or have something of their own below, stays.
        if !others.iter().any(|set| set.range(path.clone()..).next().is_some_and(|p| p.starts_with(path))) {
            field_set::remove(&mut merged, place, path);
        }
    }
    managers::set_fields(&mut all, writer, mine);
    managers::write(&mut merged, &all);
    Ok(merged)
}

/// Conflicts are what others own and this apply would change: an error, or taken from them by force.
fn take_over(
    all: &mut [Manager],
    current: &Value,
    merged: &Value,
    mine: &FieldSet,
    (place, writer, force): (Place, &Writer<'_>, bool),
) -> Result<(), Status> {
    let mut conflicts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for manager in all.iter_mut().filter(|m| !m.is(writer)) {
        let changes = |path: &&field_set::Path| {
            let old = field_set::get(current, place, path);
            old.is_some() && old != field_set::get(merged, place, path)
        };
        let lost: Vec<_> = manager.fields.intersection(mine).filter(changes).cloned().collect();
        // An item of a list is shared by those who name it; only its fields are in conflict.
        let lost: Vec<_> = lost.into_iter().filter(|p| !matches!(p.last(), Some(field_set::Step::Item(_)))).collect();
        if force {
            manager.fields.retain(|path| !lost.contains(path));
        } else if !lost.is_empty() {
            let names = lost.iter().map(|path| field_set::display(path));
            conflicts.entry(manager.describe()).or_default().extend(names);
        }
    }
    if conflicts.is_empty() { Ok(()) } else { Err(conflict(&conflicts)) }
}

fn conflict(conflicts: &BTreeMap<String, Vec<String>>) -> Status {
    let causes: Vec<Cause> = conflicts
        .iter()
        .flat_map(|(manager, paths)| paths.iter().map(move |path| (manager, path)))
        .map(|(manager, path)| Cause {
            reason: "FieldManagerConflict".into(),
            message: format!("conflict with {manager}"),
            field: path.clone(),
        })
        .collect();
    let message = match (&conflicts.iter().collect::<Vec<_>>()[..], causes.len()) {
        ([(manager, paths)], 1) => format!("Apply failed with 1 conflict: conflict with {manager}: {}", paths[0]),
        (all, n) => {
            let lists: Vec<String> = all
                .iter()
                .map(|(manager, paths)| {
                    let lines: Vec<String> = paths.iter().map(|p| format!("- {p}")).collect();
                    format!("conflicts with {manager}:\n{}", lines.join("\n"))
                })
                .collect();
            format!("Apply failed with {n} conflicts: {}", lists.join("\n"))
        }
    };
    Status::apply_conflict(message, causes)
}

fn merge(current: &Value, applied: &Value, place: Place) -> Value {
    match (place, current, applied) {
        (Place::Type(_) | Place::Map(_), Value::Object(old), Value::Object(new)) => {
            let mut merged = old.clone();
            for (name, value) in new {
                let value = match old.get(name) {
                    Some(before) => merge(before, value, place.child(name)),
                    None => value.clone(),
                };
                merged.insert(name.clone(), value);
            }
            Value::Object(merged)
        }
        (Place::Items(keys, inner), Value::Array(old), Value::Array(new)) => {
            let mut merged = old.clone();
            for item in new {
                let step = item_step(item, keys);
                match merged.iter_mut().find(|before| item_step(before, keys) == step) {
                    Some(before) => *before = merge(before, item, Place::of_item(inner)),
                    None => merged.push(item.clone()),
                }
            }
            Value::Array(merged)
        }
        (Place::Set, Value::Array(old), Value::Array(new)) => {
            let added = new.iter().filter(|item| !old.contains(item));
            old.iter().chain(added).cloned().collect()
        }
        _ => applied.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api_server::semantics::instant::Instant;
    use crate::api_server::semantics::schema;

    fn run(current: &Value, applied: &Value, manager: &str, force: bool) -> Result<Value, Status> {
        let place = Place::Type(schema::find("Deployment").unwrap());
        let writer =
            Writer { manager, operation: "Apply", subresource: "", api_version: "apps/v1", now: Instant(0), kept: &[] };
        apply(current, applied, place, &writer, force)
    }

    fn deployment(replicas: Option<i64>, containers: &Value) -> Value {
        let mut spec = json!({"template": {"spec": {"containers": containers}}});
        if let Some(replicas) = replicas {
            spec["replicas"] = replicas.into();
        }
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec})
    }

    fn empty() -> Value {
        json!({"metadata": {"name": "d"}})
    }

    #[test]
    fn what_a_manager_no_longer_names_goes_unless_another_has_it() {
        let both = json!([{"name": "a", "image": "1"}, {"name": "b", "image": "2"}]);
        let first = run(&empty(), &deployment(Some(2), &both), "one", false).unwrap();
        let shared = run(&first, &deployment(None, &json!([{"name": "b", "image": "2"}])), "two", false).unwrap();
        let last = run(&shared, &deployment(None, &json!([])), "one", false).unwrap();
        assert_eq!(last["spec"].get("replicas"), None);
        assert_eq!(last["spec"]["template"]["spec"]["containers"], json!([{"name": "b", "image": "2"}]));
    }

    #[test]
    fn a_field_of_another_manager_is_a_conflict_unless_forced_or_the_same() {
        let containers = json!([{"name": "a", "image": "1"}]);
        let first = run(&empty(), &deployment(Some(2), &containers), "one", false).unwrap();
        assert!(run(&first, &deployment(Some(2), &json!([])), "two", false).is_ok());
        let refused = run(&first, &deployment(Some(3), &json!([])), "two", false).unwrap_err();
        assert_eq!(
            (refused.code, refused.message.as_str()),
            (409, "Apply failed with 1 conflict: conflict with \"one\": .spec.replicas")
        );
        assert_eq!(refused.details.unwrap().causes[0].reason, "FieldManagerConflict");
        let forced = run(&first, &deployment(Some(3), &json!([])), "two", true).unwrap();
        assert_eq!(forced["spec"]["replicas"], 3);
        assert!(run(&forced, &deployment(Some(2), &containers), "one", false).is_err());
        let two = run(&first, &deployment(Some(3), &json!([{"name": "a", "image": "2"}])), "two", false).unwrap_err();
        assert!(two.message.starts_with("Apply failed with 2 conflicts: conflicts with \"one\":\n- "));
    }

    #[test]
    fn applying_the_same_again_changes_nothing() {
        let applied = deployment(Some(1), &json!([{"name": "a", "image": "1", "ports": [{"containerPort": 80}]}]));
        let once = run(&empty(), &applied, "one", false).unwrap();
        assert_eq!(run(&once, &applied, "one", false).unwrap(), once);
        assert_eq!(once["metadata"]["managedFields"][0]["operation"], "Apply");
    }
}

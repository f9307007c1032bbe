//! Which objects a LIST or WATCH is about: a namespace, a label selector, a field selector.

use super::collection::{Collection, Position, Row, item_bytes};
use super::encode::{OWN_FIELDS, field_text};
use super::object::Object;
use super::request::Query;
use super::semantics::field_selector::FieldSelector;
use super::semantics::kinds::{Field, Kind};
use super::semantics::label_selector::LabelSelector;
use super::semantics::status::Status;
use serde_json::Value;
use std::borrow::Cow;

/// A parsed selection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    /// Only this namespace; `None` for all, and for kinds without namespaces.
    pub(crate) namespace: Option<Box<str>>,
    labels: LabelSelector,
    fields: FieldSelector,
    /// The field selector looks at what is each object's own, which numbers say nothing about.
    looks_at_own: bool,
}

/// Neighbouring rows of one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) chunk: usize,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// The rows of one page.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// Where they stand.
    pub(crate) runs: Vec<Run>,
    /// How many.
    pub(crate) count: usize,
    /// Bytes of their texts, the commas between them included.
    pub(crate) bytes: usize,
    /// Whether more rows follow this page.
    pub(crate) more: bool,
    /// How many follow; only known without selectors.
    pub(crate) remaining: Option<usize>,
}

impl Selection {
    /// Key of the last row.
    pub(crate) fn last_key<'a>(&self, objects: &'a Collection) -> Option<&'a str> {
        let run = self.runs.last()?;
        Some(&objects.chunks()[run.chunk].rows[run.to - 1].object.key)
    }

    fn push(&mut self, at: Position, rows: usize, bytes: usize) {
        match self.runs.last_mut() {
            Some(last) if last.chunk == at.0 && last.to == at.1 => last.to += rows,
            _ => self.runs.push(Run { chunk: at.0, from: at.1, to: at.1 + rows }),
        }
        // A comma before each row but the page's first.
        self.bytes += bytes + rows - usize::from(self.count == 0);
        self.count += rows;
    }
}

/// Answers of the selectors for sets that have a number: 0 not asked yet, 1 no, 2 yes.
#[derive(Default)]
struct Memo(Vec<u8>);

impl Memo {
    fn get(&mut self, number: u32, ask: impl FnOnce() -> bool) -> bool {
        let index = number as usize;
        if index >= self.0.len() {
            self.0.resize(index + 64, 0);
        }
        if self.0[index] == 0 {
            self.0[index] = 1 + u8::from(ask());
        }
        self.0[index] == 2
    }
}

impl Filter {
    /// Reads the selectors of a request.
    pub(crate) fn parse(kind: &Kind, namespace: &str, query: &Query) -> Result<Self, Status> {
        let labels = query.get("labelSelector").map_or_else(|| Ok(LabelSelector::default()), LabelSelector::parse)?;
        let fields = query
            .get("fieldSelector")
            .map_or_else(|| Ok(FieldSelector::default()), |text| FieldSelector::parse(text, kind))?;
        let mut namespace: Option<Box<str>> = (!namespace.is_empty()).then(|| namespace.into());
        if namespace.is_none() && kind.namespaced {
            namespace = fields.exact("metadata.namespace").map(Into::into);
        }
        let looks_at_own = fields.labels().any(|label| OWN_FIELDS.contains(&label));
        Ok(Self { namespace, labels, fields, looks_at_own })
    }

    /// Whether a selector narrows it.
    pub(crate) fn has_selector(&self) -> bool {
        !self.labels.is_empty() || !self.fields.is_empty()
    }

    /// Whether the object is meant.
    pub(crate) fn matches(&self, object: &Object) -> bool {
        self.namespace.as_deref().is_none_or(|namespace| namespace == object.namespace())
            && (self.labels.is_empty() || self.labels_match(object))
            && (self.fields.is_empty() || self.fields_match(object))
    }

    fn labels_match(&self, object: &Object) -> bool {
        let set = &object.labels.set;
        self.labels.matches(|key| {
            let found = set.binary_search_by(|(k, _)| (**k).cmp(key)).ok()?;
            Some(&*set[found].1)
        })
    }

    fn fields_match(&self, object: &Object) -> bool {
        self.fields.matches(|field| {
            Some(Cow::Borrowed(match field.label {
                "metadata.name" => object.name(),
                "metadata.namespace" => object.namespace(),
                label => match object.fields.set.iter().find(|(known, _)| *known == label) {
                    Some((_, text)) => text,
                    None => return Some(Cow::Owned(text_field(object, field))),
                },
            }))
        })
    }

    /// The rows after the key `after`, at most `limit` of them.
    pub(crate) fn select(&self, objects: &Collection, after: Option<&str>, limit: usize) -> Selection {
        let (mut start, end) = self.range(objects);
        if let Some(after) = after {
            // The least key behind `after`.
            start = start.max(objects.lower_bound(&format!("{after}\0")));
        }
        let mut selection = Selection::default();
        let (mut labels, mut fields) = (Memo::default(), Memo::default());
        for (index, chunk) in objects.chunks().iter().enumerate().skip(start.0) {
            if index > end.0 {
                break;
            }
            let from = if index == start.0 { start.1.min(chunk.rows.len()) } else { 0 };
            let to = if index == end.0 { end.1.min(chunk.rows.len()) } else { chunk.rows.len() };
            if from >= to {
                continue;
            }
            if self.has_selector() {
                for (offset, row) in chunk.rows[from..to].iter().enumerate() {
                    if !self.row_matches(row, &mut labels, &mut fields) {
                        continue;
                    }
                    if selection.count >= limit {
                        selection.more = true;
                        return selection;
                    }
                    selection.push((index, from + offset), 1, item_bytes(row));
                }
            } else {
                let taken = (to - from).min(limit - selection.count);
                if taken > 0 {
                    let whole = taken == chunk.rows.len();
                    let texts = if whole {
                        chunk.bytes
                    } else {
                        chunk.rows[from..from + taken].iter().map(|row| row.size as usize).sum()
                    };
                    selection.push((index, from), taken, texts - taken);
                }
                let left = to - from - taken;
                if left > 0 || selection.remaining.is_some() {
                    selection.more = true;
                    *selection.remaining.get_or_insert(0) += left;
                }
            }
        }
        selection
    }

    fn row_matches(&self, row: &Row, labels: &mut Memo, fields: &mut Memo) -> bool {
        if !row.is_numbered() {
            return self.matches(&row.object);
        }
        (self.labels.is_empty() || labels.get(row.labels, || self.labels_match(&row.object)))
            && (self.fields.is_empty()
                || if self.looks_at_own {
                    self.fields_match(&row.object)
                } else {
                    fields.get(row.fields, || self.fields_match(&row.object))
                })
    }

    /// The positions between which the rows of the namespace stand, or the one row that is named.
    fn range(&self, objects: &Collection) -> (Position, Position) {
        let Some(namespace) = &self.namespace else {
            return ((0, 0), (objects.chunks().len(), 0));
        };
        if let Some(name) = self.fields.exact("metadata.name") {
            let key = format!("{namespace}/{name}");
            return (objects.lower_bound(&key), objects.lower_bound(&format!("{key}\0")));
        }
        // '0' follows '/'.
        (objects.lower_bound(&format!("{namespace}/")), objects.lower_bound(&format!("{namespace}0")))
    }
}

/// A field that only the text has.
fn text_field(object: &Object, field: &Field) -> String {
    let value: Value = serde_json::from_slice(&object.text[1..]).unwrap_or_default();
    field_text(&value, field.pointer, field.default).into()
}

#[cfg(test)]
mod tests {
    use super::super::encode::object_of;
    use super::super::interned::Interned;
    use super::super::store::KindId;
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;
    use std::sync::Arc;

    fn pods(count: usize, namespaces: usize) -> Collection {
        let mut interned = Interned::default();
        let mut collection = Collection::default();
        for i in 0..count {
            let value = json!({"metadata": {"name": format!("p{i:04}"), "namespace": format!("n{}", i % namespaces),
                "labels": {"shard": format!("{}", i % 3)}}, "spec": {"nodeName": format!("node-{}", i % 5)}, "status": {"podIP": format!("10.0.0.{}", i % 9)}});
            collection.put(Arc::new(object_of(KindId::core("pods").kind(), value, 1, &mut interned)));
        }
        collection
    }

    fn filter(namespace: &str, query: &str) -> Filter {
        Filter::parse(KindId::core("pods").kind(), namespace, &Query::parse(query)).unwrap()
    }

    #[test]
    fn a_name_in_a_namespace_is_found_without_a_scan_and_a_stranger_is_not() {
        let objects = pods(3000, 7);
        let named = filter("n0", "fieldSelector=metadata.name=p0007");
        assert_eq!(named.select(&objects, None, usize::MAX).count, 1);
        assert_eq!(filter("n1", "fieldSelector=metadata.name=p0007").select(&objects, None, usize::MAX).count, 0);
        assert_eq!(filter("", "fieldSelector=metadata.name=p0007").select(&objects, None, usize::MAX).count, 1);
        assert_eq!(filter("", "fieldSelector=metadata.namespace=n1").namespace.as_deref(), Some("n1"));
    }

    #[test]
    fn a_selector_that_cannot_be_read_is_a_400() {
        let query = Query::parse("labelSelector=a=(");
        let error = Filter::parse(KindId::core("pods").kind(), "", &query).unwrap_err();
        assert_eq!(error.code, 400);
    }

    proptest! {
        #[test]
        fn pages_together_are_what_a_plain_scan_finds(
            limit in 1usize..400, namespace in prop::option::of(0usize..4),
            query in prop::sample::select(vec![
                "", "labelSelector=shard=1", "fieldSelector=spec.nodeName!=node-2",
                "fieldSelector=metadata.name!=p0003", "fieldSelector=status.podIP=10.0.0.3", "labelSelector=shard+in+(0,2)&fieldSelector=spec.nodeName=node-1",
            ])
        ) {
            let objects = pods(1500, 4);
            let filter = filter(&namespace.map_or(String::new(), |n| format!("n{n}")), query);
            let expected: Vec<_> = objects.rows().filter(|r| filter.matches(&r.object)).map(|r| r.object.key.clone()).collect();
            let (mut seen, mut after) = (Vec::new(), None::<String>);
            loop {
                let page = filter.select(&objects, after.as_deref(), limit);
                let rows: Vec<_> = page.runs.iter().flat_map(|run| &objects.chunks()[run.chunk].rows[run.from..run.to]).collect();
                prop_assert_eq!(rows.len(), page.count);
                let items: usize = rows.iter().map(|row| item_bytes(row)).sum();
                prop_assert_eq!(page.bytes, items + rows.len().saturating_sub(1));
                seen.extend(rows.iter().map(|row| row.object.key.clone()));
                if let Some(remaining) = page.remaining {
                    prop_assert_eq!(remaining, expected.len() - seen.len());
                }
                prop_assert_eq!(page.more, seen.len() < expected.len());
                after = page.last_key(&objects).map(str::to_owned);
                if !page.more { break; }
            }
            prop_assert_eq!(seen, expected);
        }
    }
}

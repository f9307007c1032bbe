//! What a kind is. The kinds that are served stand in [`super::kind_table`]: adding a kind is adding a row.

use serde_json::Value;

use super::instant::Instant;
use super::kind_table::KINDS;

/// Everything the server knows about one resource.
#[derive(Debug)]
pub struct Kind {
    /// API group; "" is the core group.
    pub group: &'static str,
    /// The one version that is served.
    pub version: &'static str,
    /// Plural resource name, as in paths.
    pub plural: &'static str,
    /// Singular resource name.
    pub singular: &'static str,
    /// Kind of one object.
    pub kind: &'static str,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// Names that kubectl takes for it.
    pub short_names: &'static [&'static str],
    /// Groups of kinds it belongs to, such as `all`.
    pub categories: &'static [&'static str],
    /// Verbs that are served.
    pub verbs: &'static [&'static str],
    /// What is served below one object.
    pub subresources: &'static [Subresource],
    /// Columns of its table.
    pub columns: &'static [Column],
    /// Writes the cells of a row straight from an object's JSON text, where the cells of `columns` would
    /// cost too much or depend on one another.
    pub row: Option<RowWriter>,
    /// Fields that a field selector may name.
    pub fields: &'static [Field],
    /// What its objects may be called.
    pub names: NameRule,
    /// Whether `metadata.generation` counts the changes of its spec.
    pub generation: bool,
    /// Where its objects come from.
    pub source: Source,
}

/// Appends the cells of one row, a JSON array, from an object's JSON text.
pub type RowWriter = fn(&[u8], Instant, &mut Vec<u8>) -> Result<(), serde_json::Error>;

/// Where the objects of a kind come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The store.
    Stored,
    /// Answered at once from what was posted, never kept.
    Review,
    /// Made on demand by the metrics API, which can be switched off.
    Metrics,
}

/// A path below one object.
#[derive(Debug)]
pub struct Subresource {
    /// Last segment of its path.
    pub name: &'static str,
    /// Kind of what it answers with.
    pub kind: &'static str,
    /// Verbs that are served.
    pub verbs: &'static [&'static str],
}

/// A column of a table.
#[derive(Debug)]
pub struct Column {
    /// Header, in the case the real server sends it.
    pub name: &'static str,
    /// `OpenAPI` type: string, integer or boolean.
    pub kind: &'static str,
    /// 0 always shown, 1 in wide output.
    pub priority: u8,
    /// What it holds.
    pub description: &'static str,
    /// Where its value comes from.
    pub cell: Cell,
}

/// Where the value of a cell comes from.
#[derive(Clone, Copy, Debug)]
pub enum Cell {
    /// `metadata.name`.
    Name,
    /// Time since `metadata.creationTimestamp`.
    Age,
    /// A text at a JSON pointer, or the default.
    Text(&'static str, &'static str),
    /// An integer at a JSON pointer, or 0.
    Count(&'static str),
    /// Anything else.
    Of(fn(&Value, Instant) -> Value),
    /// The kind's [`Kind::row`] writes it.
    InRow,
}

/// A field that a selector may name.
#[derive(Debug)]
pub struct Field {
    /// As in the selector, for instance `spec.nodeName`.
    pub label: &'static str,
    /// JSON pointer.
    pub pointer: &'static str,
    /// Its value where the object has none.
    pub default: &'static str,
}

/// What objects may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// RFC 1123 subdomain, at most 253 characters.
    Subdomain,
    /// RFC 1123 label, at most 63 characters.
    Label,
    /// RFC 1035 label, at most 63 characters: starts with a letter.
    Label1035,
}

impl Kind {
    /// `pods` or `deployments.apps`, as messages name a resource.
    pub fn group_resource(&self) -> String {
        if self.group.is_empty() { self.plural.into() } else { format!("{}.{}", self.plural, self.group) }
    }

    /// `v1` or `apps/v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.into() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Kind of a list of it.
    pub fn list_kind(&self) -> String {
        format!("{}List", self.kind)
    }

    /// Whether `status` is written apart from the rest.
    pub fn has_status(&self) -> bool {
        self.subresource("status").is_some()
    }

    /// The subresource of that name.
    pub fn subresource(&self, name: &str) -> Option<&'static Subresource> {
        self.subresources.iter().find(|s| s.name == name)
    }

    /// Whether the real server has a subresource of that name and this one does not.
    pub fn is_left_out(&self, subresource: &str) -> bool {
        let left_out: &[&str] = match self.plural {
            "pods" => {
                &["attach", "binding", "ephemeralcontainers", "eviction", "exec", "portforward", "proxy", "resize"]
            }
            "namespaces" => &["finalize"],
            "nodes" | "services" => &["proxy"],
            "serviceaccounts" => &["token"],
            "deployments" | "replicasets" | "statefulsets" => &["scale"],
            _ => &[],
        };
        left_out.contains(&subresource)
    }

    /// Whether the verb is served.
    pub fn serves(&self, verb: &str) -> bool {
        self.verbs.contains(&verb)
    }
}

/// All kinds, in the order of discovery.
pub fn all() -> &'static [Kind] {
    KINDS
}

/// The kind at `/api/VERSION/PLURAL` (group "") or `/apis/GROUP/VERSION/PLURAL`.
pub fn find(group: &str, version: &str, plural: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|k| k.plural == plural && k.group == group && k.version == version)
}

/// The kind that `apiVersion` and `kind` of an object name.
pub fn of_object(api_version: &str, kind: &str) -> Option<&'static Kind> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    KINDS.iter().find(|k| k.kind == kind && k.group == group && k.version == version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_rows_share_a_path_or_a_kind() {
        for (i, a) in all().iter().enumerate() {
            for b in &all()[i + 1..] {
                assert!((a.group, a.plural) != (b.group, b.plural), "{}", a.group_resource());
                assert!((a.group, a.kind) != (b.group, b.kind), "{}", a.kind);
            }
        }
    }

    #[test]
    fn every_stored_kind_has_a_name_column_and_can_be_found_by_path_and_by_object() {
        for kind in all().iter().filter(|k| k.source == Source::Stored) {
            assert!(kind.columns.iter().any(|c| c.name == "Name"), "{}", kind.plural);
            assert!(kind.fields.iter().any(|f| f.label == "metadata.name"), "{}", kind.plural);
            assert_eq!(find(kind.group, kind.version, kind.plural).unwrap().kind, kind.kind);
            assert_eq!(of_object(&kind.api_version(), kind.kind).unwrap().plural, kind.plural);
        }
        assert!(find("", "v1", "deployments").is_none() && of_object("apps/v1", "Pod").is_none());
    }

    #[test]
    fn a_kind_whose_row_is_written_at_once_leaves_no_cell_to_its_columns() {
        for kind in all() {
            let in_row = kind.columns.iter().filter(|c| matches!(c.cell, Cell::InRow)).count();
            assert_eq!(in_row, if kind.row.is_some() { kind.columns.len() } else { 0 }, "{}", kind.plural);
        }
    }
}

//! Objects as `Table` and `PartialObjectMetadata` (meta.k8s.io/v1).

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::cells;
use super::instant::Instant;
use super::kinds::{Column, Kind};

/// How much of an object goes with its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeObject {
    /// Nothing.
    None,
    /// Its metadata, as a `PartialObjectMetadata`.
    #[default]
    Metadata,
    /// All of it.
    Object,
}

impl IncludeObject {
    /// The value of the query parameter `includeObject`; `None` for a word that is none of the three.
    pub fn from_query(word: &str) -> Option<Self> {
        match word {
            "" | "Metadata" => Some(Self::Metadata),
            "None" => Some(Self::None),
            "Object" => Some(Self::Object),
            _ => None,
        }
    }
}

/// Version of meta.k8s.io in which a client wants its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetaVersion {
    /// `v1`.
    #[default]
    V1,
    /// `v1beta1`.
    V1beta1,
}

impl MetaVersion {
    /// `meta.k8s.io/v1`.
    pub fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

/// What a client wants of a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableOptions {
    /// Its version.
    pub version: MetaVersion,
    /// What goes with each row.
    pub include: IncludeObject,
}

/// `metadata` of a list.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListMeta<'a> {
    /// Version of the snapshot; "" leaves it out.
    pub resource_version: &'a str,
    /// Token of the next page.
    pub continue_token: Option<&'a str>,
    /// Objects after this page.
    pub remaining: Option<u64>,
}

impl ListMeta<'_> {
    /// Appends it as a JSON object.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut meta = serde_json::Map::new();
        if !self.resource_version.is_empty() {
            meta.insert("resourceVersion".into(), self.resource_version.into());
        }
        if let Some(token) = self.continue_token {
            meta.insert("continue".into(), token.into());
        }
        if let Some(remaining) = self.remaining {
            meta.insert("remainingItemCount".into(), remaining.into());
        }
        out.extend_from_slice(Value::Object(meta).to_string().as_bytes());
    }
}

/// Appends a table up to its first row. `columns` false leaves the definitions out, as the second and
/// later events of a watch do.
pub fn start_table(out: &mut Vec<u8>, kind: &Kind, meta: ListMeta<'_>, options: TableOptions, columns: bool) {
    out.extend_from_slice(br#"{"kind":"Table","apiVersion":""#);
    out.extend_from_slice(options.version.api_version().as_bytes());
    out.extend_from_slice(br#"","metadata":"#);
    meta.write(out);
    out.extend_from_slice(br#","columnDefinitions":"#);
    if columns {
        let all: Vec<Value> = kind.columns.iter().map(definition).collect();
        out.extend_from_slice(Value::Array(all).to_string().as_bytes());
    } else {
        out.extend_from_slice(b"null");
    }
    out.extend_from_slice(br#","rows":["#);
}

/// Appends what follows the last row.
pub fn end_table(out: &mut Vec<u8>) {
    out.extend_from_slice(b"]}");
}

fn definition(column: &Column) -> Value {
    let format = if column.name == "Name" { "name" } else { "" };
    json!({"name": column.name, "type": column.kind, "format": format,
           "description": column.description, "priority": column.priority})
}

/// Appends one row. The caller writes the commas between rows.
pub fn write_row(
    out: &mut Vec<u8>,
    kind: &Kind,
    object: &[u8],
    options: TableOptions,
    now: Instant,
) -> Result<(), serde_json::Error> {
    out.extend_from_slice(br#"{"cells":"#);
    if let Some(write_cells) = kind.row {
        write_cells(object, now, out)?;
    } else {
        let object: Value = serde_json::from_slice(object)?;
        let row: Vec<Value> = kind.columns.iter().map(|c| cells::value(c, &object, now)).collect();
        serde_json::to_writer(&mut *out, &row)?;
    }
    match options.include {
        // The real server sends null here, not an absent field.
        IncludeObject::None => out.extend_from_slice(br#","object":null"#),
        IncludeObject::Metadata => {
            out.extend_from_slice(br#","object":"#);
            write_partial(out, object, options.version)?;
        }
        IncludeObject::Object => {
            out.extend_from_slice(br#","object":"#);
            out.extend_from_slice(object);
        }
    }
    out.push(b'}');
    Ok(())
}

/// Appends one object (or one watch event's object) as a table of one row.
pub fn write_object_table(
    out: &mut Vec<u8>,
    kind: &Kind,
    object: &[u8],
    options: TableOptions,
    columns: bool,
) -> Result<(), serde_json::Error> {
    let version = read_metadata(object)?.resource_version.unwrap_or_default();
    let meta = ListMeta { resource_version: &version, ..ListMeta::default() };
    start_table(out, kind, meta, options, columns);
    write_row(out, kind, object, options, Instant::now())?;
    end_table(out);
    Ok(())
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    metadata: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    resource_version: Option<String>,
}

fn read_metadata(object: &[u8]) -> Result<Version, serde_json::Error> {
    let envelope: Envelope<'_> = serde_json::from_slice(object)?;
    serde_json::from_str(envelope.metadata.get())
}

/// Appends an object as `PartialObjectMetadata`: its metadata alone.
pub fn write_partial(out: &mut Vec<u8>, object: &[u8], version: MetaVersion) -> Result<(), serde_json::Error> {
    let envelope: Envelope<'_> = serde_json::from_slice(object)?;
    out.extend_from_slice(br#"{"kind":"PartialObjectMetadata","apiVersion":""#);
    out.extend_from_slice(version.api_version().as_bytes());
    out.extend_from_slice(br#"","metadata":"#);
    out.extend_from_slice(envelope.metadata.get().as_bytes());
    out.push(b'}');
    Ok(())
}

/// Appends the start of a `PartialObjectMetadataList`; its items are [`write_partial`], its end is `]}`.
pub fn start_partial_list(out: &mut Vec<u8>, meta: ListMeta<'_>, version: MetaVersion) {
    out.extend_from_slice(br#"{"kind":"PartialObjectMetadataList","apiVersion":""#);
    out.extend_from_slice(version.api_version().as_bytes());
    out.extend_from_slice(br#"","metadata":"#);
    meta.write(out);
    out.extend_from_slice(br#","items":["#);
}

#[cfg(test)]
mod tests {
    use super::super::kinds;
    use super::*;

    fn table(plural: &str, group: &str, object: &Value, include: IncludeObject) -> Value {
        let kind = kinds::find(group, "v1", plural).unwrap();
        let options = TableOptions { include, ..TableOptions::default() };
        let mut out = Vec::new();
        write_object_table(&mut out, kind, object.to_string().as_bytes(), options, true).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    fn cells_of(plural: &str, group: &str, object: &Value) -> Vec<Value> {
        table(plural, group, object, IncludeObject::None)["rows"][0]["cells"].as_array().unwrap().clone()
    }

    #[test]
    fn a_row_has_as_many_cells_as_its_kind_has_columns() {
        for kind in kinds::all().iter().filter(|k| k.source == kinds::Source::Stored) {
            let row = cells_of(kind.plural, kind.group, &json!({"metadata": {"name": "x"}}));
            assert_eq!(row.len(), kind.columns.len(), "{}", kind.plural);
            assert!(row.iter().all(|cell| !cell.is_null()), "{}: {row:?}", kind.plural);
        }
    }

    #[test]
    fn the_object_goes_with_its_row_as_asked() {
        let pod = json!({"kind": "Pod", "metadata": {"name": "p", "resourceVersion": "5"}, "spec": {}});
        let of = |include| table("pods", "", &pod, include)["rows"][0]["object"].clone();
        let row = table("pods", "", &pod, IncludeObject::None)["rows"][0].clone();
        assert_eq!(row.get("object"), Some(&Value::Null));
        assert_eq!(of(IncludeObject::Object), pod);
        assert_eq!(
            of(IncludeObject::Metadata),
            json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": pod["metadata"]})
        );
        assert_eq!(table("pods", "", &pod, IncludeObject::None)["metadata"]["resourceVersion"], "5");
    }

    #[test]
    fn a_deployment_a_service_and_a_node_read_as_kubectl_prints_them() {
        let deployment = json!({"metadata": {"name": "web"}, "spec": {"replicas": 3,
            "selector": {"matchLabels": {"b": "2", "a": "1"}, "matchExpressions": [{"key": "c", "operator": "Exists"}]},
            "template": {"spec": {"containers": [{"name": "x", "image": "i:1"}, {"name": "y", "image": "i:2"}]}}},
            "status": {"readyReplicas": 2, "updatedReplicas": 3}});
        assert_eq!(
            cells_of("deployments", "apps", &deployment),
            [
                json!("web"),
                json!("2/3"),
                json!(3),
                json!(0),
                json!("<unknown>"),
                json!("x,y"),
                json!("i:1,i:2"),
                json!("a=1,b=2,c")
            ]
        );
        let service = json!({"metadata": {"name": "s"}, "spec": {"type": "NodePort", "clusterIPs": ["10.0.0.1"],
            "ports": [{"port": 80, "nodePort": 30000}, {"port": 53, "protocol": "UDP"}], "selector": {"app": "x"}}});
        assert_eq!(
            cells_of("services", "", &service)[1..],
            [
                json!("NodePort"),
                json!("10.0.0.1"),
                json!("<none>"),
                json!("80:30000/TCP,53/UDP"),
                json!("<unknown>"),
                json!("app=x")
            ]
        );
        let node = json!({"metadata": {"name": "n", "labels": {"node-role.kubernetes.io/worker": ""}},
            "spec": {"unschedulable": true},
            "status": {"conditions": [{"type": "Ready", "status": "False"}],
                "nodeInfo": {"kubeletVersion": "v1", "kernelVersion": "6", "architecture": "amd64"}}});
        let row = cells_of("nodes", "", &node);
        assert_eq!((&row[1], &row[2]), (&json!("NotReady,SchedulingDisabled"), &json!("worker")));
        assert_eq!(row[8], "6 (amd64)");
    }

    #[test]
    fn events_and_endpoints_take_their_older_and_newer_forms() {
        let event = json!({"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "p"}, "message": " m\n",
            "eventTime": "2026-01-01T00:00:00Z", "reportingComponent": "kubelet", "reportingInstance": "n"});
        let row = cells_of("events", "", &event);
        assert_eq!(
            (&row[3], &row[5], &row[6], &row[8]),
            (&json!("pod/p"), &json!("kubelet, n"), &json!("m"), &json!(1))
        );
        let endpoints = json!({"metadata": {"name": "e"}, "subsets": [{"ports": [{"port": 80}],
            "addresses": [{"ip": "10.0.0.1"}, {"ip": "fd::1"}, {"ip": "10.0.0.3"}, {"ip": "10.0.0.4"}]}]});
        assert_eq!(cells_of("endpoints", "", &endpoints)[1], "10.0.0.1:80,[fd::1]:80,10.0.0.3:80 + 1 more...");
    }
}

//! The shape that a client wants its objects in, and whether compressed.

use super::semantics::negotiate::{Offer, Representation, negotiate};
use super::semantics::status::Status;
use super::semantics::table::{IncludeObject, MetaVersion, TableOptions};
use super::store::KindId;

/// The shape of an answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Shape {
    /// The objects themselves.
    #[default]
    Object,
    /// `as=Table`.
    Table(TableOptions),
    /// `as=PartialObjectMetadata` or `as=PartialObjectMetadataList`.
    Partial(MetaVersion),
    /// The usage of a node or Pod instead of itself; the kind is that of metrics.k8s.io.
    Usage(KindId),
}

impl Shape {
    /// The shape that an `Accept` header and `includeObject` ask for.
    pub(crate) fn of(accept: Option<&str>, include_object: Option<&str>) -> Result<Self, Status> {
        Ok(match negotiate(accept, Offer::Objects)? {
            Representation::Table(version) => {
                let word = include_object.unwrap_or_default();
                let include = IncludeObject::from_query(word)
                    .ok_or_else(|| Status::bad_request(format!("unrecognized includeObject value: {word:?}")))?;
                Self::Table(TableOptions { version, include })
            }
            Representation::Partial(version) => Self::Partial(version),
            Representation::Plain | Representation::Discovery(_) => Self::Object,
        })
    }
}

/// Whether the client takes gzip.
pub(crate) fn takes_gzip(accept_encoding: Option<&str>) -> bool {
    accept_encoding.is_some_and(|text| {
        text.split(',').any(|entry| {
            let mut parts = entry.split(';').map(str::trim);
            let refused = |p: &str| p.strip_prefix("q=").and_then(|q| q.parse::<f32>().ok()) == Some(0.0);
            parts.next() == Some("gzip") && !parts.any(refused)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubectl_gets_a_table_and_an_unknown_include_is_a_400() {
        let table = Some("application/json;as=Table;v=v1;g=meta.k8s.io,application/json");
        assert!(matches!(
            Shape::of(table, Some("None")),
            Ok(Shape::Table(TableOptions { include: IncludeObject::None, .. }))
        ));
        assert_eq!(Shape::of(table, Some("Everything")).unwrap_err().code, 400);
    }

    #[test]
    fn gzip_is_taken_unless_its_quality_is_nought() {
        assert!(takes_gzip(Some("deflate, gzip;q=0.5")));
        assert!(!takes_gzip(Some("gzip;q=0")));
        assert!(!takes_gzip(None));
    }
}

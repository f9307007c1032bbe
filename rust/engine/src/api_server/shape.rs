//! The shape that a client wants its objects in, and whether compressed.

use super::semantics::kinds::Kind;
use super::semantics::negotiate::{Offer, Representation, negotiate};
use super::semantics::status::{FieldError, Status};
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

/// What a request is answered with, whatever its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// One object.
    One,
    /// A list.
    List,
    /// Events, each with one object.
    Events,
}

impl Shape {
    /// The shape that an `Accept` header and `includeObject` ask for.
    pub(crate) fn of(
        accept: Option<&str>,
        include_object: Option<&str>,
        kind: &Kind,
        content: Content,
    ) -> Result<Self, Status> {
        Ok(match negotiate(accept, Offer::Objects)? {
            Representation::Table(version) => {
                let word = include_object.unwrap_or_default();
                let include = IncludeObject::from_query(word).ok_or_else(|| {
                    let rule = "must be 'Metadata', 'Object', 'None', or empty";
                    let error = FieldError::invalid("includeObject", &word.into(), rule);
                    Status::bad_request(format!("Unable to convert to Table as requested: {error}"))
                })?;
                Self::Table(TableOptions { version, include })
            }
            Representation::Partial(_) if content == Content::List => {
                let what = format!("a list (*{}.{})", go_package(kind), kind.list_kind());
                return Err(Status::wrong_shape("PartialObjectMetadata", &what));
            }
            Representation::PartialList(_) if content == Content::One => {
                let what = format!("not a list (*{}.{})", go_package(kind), kind.kind);
                return Err(Status::wrong_shape("PartialObjectMetadataList", &what));
            }
            Representation::Partial(version) | Representation::PartialList(version) => Self::Partial(version),
            Representation::Plain | Representation::Discovery(_) => Self::Object,
        })
    }
}

/// The package of the kind's type in the real server's source, which its messages name.
fn go_package(kind: &Kind) -> &'static str {
    if kind.group.is_empty() { "core" } else { kind.group.split('.').next().unwrap_or_default() }
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

    fn of(accept: &str, include: Option<&str>, content: Content) -> Result<Shape, Status> {
        Shape::of(Some(accept), include, KindId::find("apps", "v1", "deployments").unwrap().kind(), content)
    }

    #[test]
    fn kubectl_gets_a_table_and_an_unknown_include_is_a_400() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        let none = of(table, Some("None"), Content::List);
        assert!(matches!(none, Ok(Shape::Table(TableOptions { include: IncludeObject::None, .. }))));
        assert_eq!(of(table, Some("Everything"), Content::List).unwrap_err().code, 400);
    }

    #[test]
    fn metadata_of_one_object_and_of_a_list_are_told_apart_as_by_the_real_server() {
        let accept = |kind| format!("application/json;as={kind};v=v1;g=meta.k8s.io");
        let (one, list) = (accept("PartialObjectMetadata"), accept("PartialObjectMetadataList"));
        for (accept, content) in [(&one, Content::One), (&one, Content::Events), (&list, Content::List)] {
            assert!(matches!(of(accept, None, content), Ok(Shape::Partial(_))), "{accept} {content:?}");
        }
        let refused = of(&one, None, Content::List).unwrap_err();
        assert_eq!(refused.code, 406);
        assert!(refused.message.ends_with("but the requested object is a list (*apps.DeploymentList)"));
        assert!(of(&list, None, Content::One).unwrap_err().message.ends_with("is not a list (*apps.Deployment)"));
    }

    #[test]
    fn gzip_is_taken_unless_its_quality_is_nought() {
        assert!(takes_gzip(Some("deflate, gzip;q=0.5")));
        assert!(!takes_gzip(Some("gzip;q=0")));
        assert!(!takes_gzip(None));
    }
}

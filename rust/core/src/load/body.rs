//! What a body says about its object, read without keeping the rest.

use serde::Deserialize;

#[derive(Deserialize)]
struct Object {
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize, Default)]
struct Metadata {
    #[serde(default)]
    name: Option<String>,
}

/// `metadata.name` of an object in JSON; `None` where the body is none or the server is to make the name.
pub fn body_name(body: &[u8]) -> Option<String> {
    serde_json::from_slice::<Object>(body).ok()?.metadata.name.filter(|name| !name.is_empty())
}

/// `spec.serviceAccountName` of a Pod in JSON, where it has one.
pub(super) fn service_account(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Pod {
        spec: Spec,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Spec {
        service_account_name: Option<String>,
    }
    serde_json::from_slice::<Pod>(body).ok()?.spec.service_account_name
}

/// Whether a body is that of a deletion: an object without a kind, or of the kind `DeleteOptions`.
pub(super) fn is_delete_options(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Options {
        #[serde(default)]
        kind: Option<String>,
    }
    serde_json::from_slice::<Options>(body).is_ok_and(|options| options.kind.is_none_or(|kind| kind == "DeleteOptions"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_from_an_object_and_from_nothing_else() {
        assert_eq!(
            body_name(br#"{"kind":"Pod","metadata":{"labels":{},"name":"a"},"spec":[1]}"#).as_deref(),
            Some("a")
        );
        for other in
            [&br#"{"metadata":{"generateName":"a-"}}"#[..], b"[]", b"", b"\xff", br#"{"metadata":{"name":""}}"#]
        {
            assert_eq!(body_name(other), None);
        }
    }
}

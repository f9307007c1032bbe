//! `Status` bodies, word for word as client-go and kubectl parse them (k8s.io/apimachinery `api/errors`).

mod field_error;

use serde::Serialize;

pub use self::field_error::{Fault, FieldError};
use super::kinds::Kind;

/// An answer that is not the object asked for: an error, or what a delete returns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    kind: &'static str,
    api_version: &'static str,
    metadata: NoMetadata,
    #[serde(rename = "status")]
    outcome: &'static str,
    /// What happened, for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// What happened, for programs; "" on success.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub reason: &'static str,
    /// What it happened to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Details>>,
    /// The HTTP status code. Not sent on success, as the real server leaves it out there.
    #[serde(skip_serializing_if = "is_success")]
    pub code: u16,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
struct NoMetadata {}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_success(code: &u16) -> bool {
    *code < 300
}

/// `details` of a [`Status`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// Name of the object.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// API group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The plural resource, or for Invalid the kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Uid of the object.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// One entry for each thing that is wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// Seconds after which to try again; also sent as `Retry-After`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u32>,
}

/// One cause in [`Details`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// For instance `FieldValueInvalid`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What is wrong.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Where, as a path such as `metadata.name`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
}

impl Status {
    fn failure(code: u16, reason: &'static str, message: String) -> Self {
        Self {
            kind: "Status",
            api_version: "v1",
            metadata: NoMetadata {},
            outcome: "Failure",
            message,
            reason,
            details: None,
            code,
        }
    }

    fn about(mut self, kind: &Kind, name: &str) -> Self {
        self.details = Some(Box::new(Details {
            name: name.into(),
            group: kind.group.into(),
            kind: kind.plural.into(),
            ..Details::default()
        }));
        self
    }

    /// What a delete answers with.
    pub fn deleted(kind: &Kind, name: &str, uid: &str) -> Self {
        let mut status = Self::failure(200, "", String::new()).about(kind, name);
        status.outcome = "Success";
        if let Some(details) = &mut status.details {
            details.uid = uid.into();
        }
        status
    }

    /// No object of that name: 404.
    pub fn not_found(kind: &Kind, name: &str) -> Self {
        Self::failure(404, "NotFound", format!("{} {name:?} not found", kind.group_resource())).about(kind, name)
    }

    /// Nothing is served at this path: 404. client-go tells it from a missing object by its message.
    pub fn no_such_path() -> Self {
        let mut status = Self::failure(404, "NotFound", "the server could not find the requested resource".into());
        status.details = Some(Box::default());
        status
    }

    /// The name is taken: 409.
    pub fn already_exists(kind: &Kind, name: &str) -> Self {
        Self::failure(409, "AlreadyExists", format!("{} {name:?} already exists", kind.group_resource()))
            .about(kind, name)
    }

    /// The object is not as the request says: 409.
    pub fn conflict(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} {name:?}: {why}", kind.group_resource());
        Self::failure(409, "Conflict", message).about(kind, name)
    }

    /// A precondition of a deletion does not hold: 409, about the kind and not the resource.
    pub fn precondition_failed(kind: &Kind, name: &str, why: &str) -> Self {
        let dot = if kind.group.is_empty() { "" } else { "." };
        let message = format!("Operation cannot be fulfilled on {}{dot}{} {name:?}: {why}", kind.kind, kind.group);
        let mut status = Self::failure(409, "Conflict", message).about(kind, name);
        if let Some(details) = &mut status.details {
            details.kind = kind.kind.into();
        }
        status
    }

    /// The resourceVersion of an update is not the object's: 409.
    pub fn modified(kind: &Kind, name: &str) -> Self {
        Self::conflict(
            kind,
            name,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }

    /// Other managers own fields of an apply: 409, one cause for each field.
    pub fn apply_conflict(message: String, causes: Vec<Cause>) -> Self {
        let mut status = Self::failure(409, "Conflict", message);
        status.details = Some(Box::new(Details { causes, ..Details::default() }));
        status
    }

    /// Not allowed: 403. `name` may be empty.
    pub fn forbidden(kind: &Kind, name: &str, why: &str) -> Self {
        let resource = kind.group_resource();
        let message = if name.is_empty() {
            format!("{resource} is forbidden: {why}")
        } else {
            format!("{resource} {name:?} is forbidden: {why}")
        };
        Self::failure(403, "Forbidden", message).about(kind, name)
    }

    /// No token, or a wrong one: 401.
    pub fn unauthorized() -> Self {
        Self::failure(401, "Unauthorized", "Unauthorized".into())
    }

    /// The object breaks rules: 422, one cause for each.
    pub fn invalid(kind: &Kind, name: &str, errors: &[FieldError]) -> Self {
        Self::invalid_named(kind.group, kind.kind, name, errors)
    }

    /// Options of the request break rules: 422, one cause for each. `of` is for instance `PatchOptions`.
    pub fn invalid_options(of: &str, errors: &[FieldError]) -> Self {
        Self::invalid_named("meta.k8s.io", of, "", errors)
    }

    /// What is said by 422 about a kind of a group, which need not be one that is served.
    pub fn invalid_named(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Self {
        let list: Vec<String> = errors.iter().map(FieldError::to_string).collect();
        let all = if let [one] = &list[..] { one.clone() } else { format!("[{}]", list.join(", ")) };
        let dot = if group.is_empty() { "" } else { "." };
        let mut status = Self::failure(422, "Invalid", format!("{kind}{dot}{group} {name:?} is invalid: {all}"));
        status.details = Some(Box::new(Details {
            name: name.into(),
            group: group.into(),
            kind: kind.into(),
            causes: errors.iter().map(FieldError::cause).collect(),
            ..Details::default()
        }));
        status
    }

    /// The request cannot be understood: 400.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::failure(400, "BadRequest", message.into())
    }

    /// A patch that cannot be applied: 422 without an object.
    pub fn unprocessable(message: impl Into<String>) -> Self {
        let mut status = Self::failure(422, "Invalid", message.into());
        status.details = Some(Box::default());
        status
    }

    /// The method is not served at this path: 405.
    pub fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        let mut status = Self::failure(405, "MethodNotAllowed", message.into());
        status.details = Some(Box::default());
        status
    }

    /// A real server does it and this one does not: 501, with what and why.
    pub fn not_implemented(what: &str) -> Self {
        Self::failure(501, "NotImplemented", format!("perfq's embedded server does not implement {what}"))
    }

    /// One object was asked for in the shape of a list, or the other way round: 406.
    pub fn wrong_shape(asked: &str, what: &str) -> Self {
        Self::failure(406, "NotAcceptable", format!("you requested {asked}, but the requested object is {what}"))
    }

    /// No representation that the client accepts: 406.
    pub fn not_acceptable() -> Self {
        let message = format!(
            "only the following media types are accepted: {}",
            "application/json, application/json;as=Table, application/json;as=PartialObjectMetadata, \
             application/json;as=PartialObjectMetadataList"
        );
        Self::failure(406, "NotAcceptable", message)
    }

    /// The body is of a type that is not read here: 415.
    pub fn unsupported_media_type(accepted: &str) -> Self {
        let message =
            format!("the body of the request was in an unknown format - accepted media types include: {accepted}");
        Self::failure(415, "UnsupportedMediaType", message)
    }

    /// A patch is of a type that is none: 415, without a word of which there are, as by the real server.
    pub fn unknown_patch_type() -> Self {
        let mut status = Self::failure(415, "UnsupportedMediaType", "415: Unsupported Media Type".into());
        status.details = Some(Box::default());
        status
    }

    /// The body is larger than the server takes: 413.
    pub fn too_large(limit: usize) -> Self {
        let message = format!("Request entity too large: limit is {limit}");
        Self::failure(413, "RequestEntityTooLarge", message)
    }

    /// A JSON Patch has more operations than the server takes: 413.
    pub fn too_large_patch(limit: usize, operations: usize) -> Self {
        let message = format!(
            "Request entity too large: The allowed maximum operations in a JSON patch is {limit}, got {operations}"
        );
        Self::failure(413, "RequestEntityTooLarge", message)
    }

    /// An error for which the real server has no reason: 500.
    pub fn unknown_error(message: &str) -> Self {
        Self::failure(500, "", message.into())
    }

    /// The wanted version is older than what is kept: 410.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::failure(410, "Expired", message.into())
    }

    /// A watch from a version that is older than what is kept: 410.
    pub fn too_old(wanted: u64, oldest: u64) -> Self {
        Self::expired(format!("too old resource version: {wanted} ({oldest})"))
    }

    /// A continue token that has expired: 410.
    pub fn continue_expired() -> Self {
        Self::expired(
            "The provided continue parameter is too old to display a consistent list result. You can start a \
             new list without the continue parameter, or use the continue token in this response to retrieve \
             the remainder of the results. Continuing with the provided token results in an inconsistent list \
             - objects that were created, modified, or deleted between the time the first chunk was returned \
             and now may show up in the list.",
        )
    }

    /// The wanted version lies ahead of the server's: 504, to be tried again.
    pub fn version_too_large(wanted: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {wanted}, current: {current}");
        let mut status = Self::failure(504, "Timeout", message);
        status.details = Some(Box::new(Details {
            causes: vec![Cause {
                reason: "ResourceVersionTooLarge".into(),
                message: "Too large resource version".into(),
                field: String::new(),
            }],
            retry_after_seconds: Some(1),
            ..Details::default()
        }));
        status
    }

    /// Come again later: 429.
    pub fn too_many_requests(message: &str, retry_after: u32) -> Self {
        let mut status = Self::failure(429, "TooManyRequests", message.into());
        status.details = Some(Box::new(Details { retry_after_seconds: Some(retry_after), ..Details::default() }));
        status
    }

    /// Not now: 503.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::failure(503, "ServiceUnavailable", message.into())
    }

    /// A bug of ours: 500.
    pub fn internal(message: &str) -> Self {
        let mut status = Self::failure(500, "InternalError", format!("Internal error occurred: {message}"));
        status.details = Some(Box::new(Details {
            causes: vec![Cause { message: message.into(), ..Cause::default() }],
            ..Details::default()
        }));
        status
    }

    /// Seconds for the `Retry-After` header.
    pub fn retry_after(&self) -> Option<u32> {
        self.details.as_ref()?.retry_after_seconds
    }

    /// The body.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a Status has only strings and numbers")
    }
}

#[cfg(test)]
mod tests;

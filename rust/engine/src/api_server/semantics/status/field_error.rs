//! What a write got wrong, field by field (k8s.io/apimachinery `util/validation/field`).

use super::Cause;

/// One field that a write got wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// Where, as a path such as `metadata.name`.
    pub field: String,
    /// What kind of error it is, and what it says.
    pub fault: Fault,
}

/// What is wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Value (as JSON) and detail.
    Invalid(String, String),
    /// Detail.
    Required(String),
    /// Detail.
    Forbidden(String),
}

impl FieldError {
    /// A value that breaks a rule.
    pub fn invalid(field: &str, value: &serde_json::Value, detail: &str) -> Self {
        Self { field: field.into(), fault: Fault::Invalid(value.to_string(), detail.into()) }
    }

    /// A value that must be there.
    pub fn required(field: &str, detail: &str) -> Self {
        Self { field: field.into(), fault: Fault::Required(detail.into()) }
    }

    /// A value that must not be there, or must not change.
    pub fn forbidden(field: &str, detail: &str) -> Self {
        Self { field: field.into(), fault: Fault::Forbidden(detail.into()) }
    }

    pub(super) fn body(&self) -> String {
        match &self.fault {
            Fault::Invalid(value, detail) => format!("Invalid value: {value}: {detail}"),
            Fault::Required(detail) if detail.is_empty() => "Required value".into(),
            Fault::Required(detail) => format!("Required value: {detail}"),
            Fault::Forbidden(detail) => format!("Forbidden: {detail}"),
        }
    }

    pub(super) fn cause(&self) -> Cause {
        let reason = match self.fault {
            Fault::Invalid(..) => "FieldValueInvalid",
            Fault::Required(_) => "FieldValueRequired",
            Fault::Forbidden(_) => "FieldValueForbidden",
        };
        Cause { reason: reason.into(), message: self.body(), field: self.field.clone() }
    }
}

impl std::fmt::Display for FieldError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

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
    /// Value (as JSON), and the values that would do.
    NotSupported(String, Vec<String>),
    /// Value (as JSON).
    Duplicate(String),
    /// Most bytes that would do.
    TooLong(usize),
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

    /// A value that is none of those that are known.
    pub fn not_supported(field: &str, value: &serde_json::Value, known: &[&str]) -> Self {
        let known = known.iter().map(|known| (*known).to_owned()).collect();
        Self { field: field.into(), fault: Fault::NotSupported(value.to_string(), known) }
    }

    /// A value that another item has too.
    pub fn duplicate(field: &str, value: &serde_json::Value) -> Self {
        Self { field: field.into(), fault: Fault::Duplicate(value.to_string()) }
    }

    /// A text with too many bytes.
    pub fn too_long(field: &str, most: usize) -> Self {
        Self { field: field.into(), fault: Fault::TooLong(most) }
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
            Fault::NotSupported(value, known) => {
                let known: Vec<String> = known.iter().map(|known| format!("{known:?}")).collect();
                format!("Unsupported value: {value}: supported values: {}", known.join(", "))
            }
            Fault::Duplicate(value) => format!("Duplicate value: {value}"),
            Fault::TooLong(most) => format!("Too long: may not be more than {most} bytes"),
            Fault::Required(detail) if detail.is_empty() => "Required value".into(),
            Fault::Required(detail) => format!("Required value: {detail}"),
            Fault::Forbidden(detail) => format!("Forbidden: {detail}"),
        }
    }

    pub(super) fn cause(&self) -> Cause {
        let reason = match self.fault {
            Fault::Invalid(..) => "FieldValueInvalid",
            Fault::NotSupported(..) => "FieldValueNotSupported",
            Fault::Duplicate(_) => "FieldValueDuplicate",
            Fault::TooLong(_) => "FieldValueTooLong",
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

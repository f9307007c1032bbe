//! The four kinds of patches. Each takes the object as it is and returns what it becomes, and behaves as
//! the libraries of the real server do, also where these differ from the RFCs.

mod directives;
pub mod json_patch;
pub mod merge_patch;
mod order;
pub mod strategic;

use serde_json::Value;

use super::status::{Cause, Status};

/// Most operations of one JSON Patch.
pub const MAX_OPERATIONS: usize = 10_000;

/// Why a patch was not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchError {
    /// It is no patch: 400.
    Malformed(String),
    /// It does not fit the object: 422. The real server does not tell its clients why.
    Unprocessable(String),
    /// It has too many operations: 413.
    TooManyOperations(usize),
    /// The object it leads to is none: 422.
    BadResult(String),
    /// The real server has no code for it and answers 500.
    Internal(String),
}

impl PatchError {
    /// The body that the real server answers with.
    pub fn to_status(&self) -> Status {
        match self {
            Self::Malformed(message) => Status::bad_request(message.clone()),
            Self::Unprocessable(_) => {
                Status::unprocessable("the server rejected our request due to an error in our request")
            }
            Self::TooManyOperations(n) => Status::too_large_patch(MAX_OPERATIONS, *n),
            Self::BadResult(message) => {
                let cause =
                    Cause { reason: "FieldValueInvalid".into(), message: message.clone(), field: "patch".into() };
                let mut status = Status::unprocessable(format!(" \"\" is invalid: patch: {message}"));
                if let Some(details) = &mut status.details {
                    details.causes.push(cause);
                }
                status
            }
            Self::Internal(message) => Status::unknown_error(message),
        }
    }
}

impl std::fmt::Display for PatchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Malformed(why) | Self::Unprocessable(why) | Self::BadResult(why) | Self::Internal(why) => {
                f.write_str(why)
            }
            Self::TooManyOperations(n) => write!(f, "{n} operations, at most {MAX_OPERATIONS} are taken"),
        }
    }
}

/// Reads a patch's JSON.
fn read(bytes: &[u8]) -> Result<Value, PatchError> {
    serde_json::from_slice(bytes).map_err(|e| PatchError::Malformed(format!("error decoding patch: {e}")))
}

/// The object that a patch led to, if it is one.
fn object(value: Value) -> Result<Value, PatchError> {
    if value.is_object() {
        return Ok(value);
    }
    Err(PatchError::BadResult(format!("Invalid value: {value}: an object was expected")))
}

#[cfg(test)]
#[path = "vectors_tests.rs"]
mod vectors_tests;

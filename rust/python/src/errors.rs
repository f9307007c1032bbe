//! Rust errors as Python exceptions.

use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyValueError};
use std::io;

/// An I/O error with its errno, so that Python sees the right `OSError` subclass. What the engine
/// itself refuses as a bad value is a `ValueError`.
pub(crate) fn io_error(error: &io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(errno) => PyOSError::new_err((errno, error.to_string())),
        None if error.kind() == io::ErrorKind::InvalidInput => value_error(error),
        // One of ours: its kind decides the subclass.
        None => io::Error::new(error.kind(), error.to_string()).into(),
    }
}

/// A bad value in an options mapping.
pub(crate) fn value_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

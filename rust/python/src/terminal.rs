//! `Terminal`: a program in a pseudo-terminal.

use pyo3::prelude::*;

// The signature of every `register`, whether it can fail or not.
#[allow(clippy::unnecessary_wraps)]
pub(crate) fn register(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}

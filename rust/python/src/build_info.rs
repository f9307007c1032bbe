//! `build()`: how this module was built.

use pyo3::prelude::*;
use pyo3::types::PyDict;

#[pyfunction]
fn build(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let commit = env!("PERFQ_COMMIT");
    let dict = PyDict::new(py);
    dict.set_item("version", env!("CARGO_PKG_VERSION"))?;
    dict.set_item("commit", (!commit.is_empty()).then_some(commit))?;
    dict.set_item("profile", env!("PERFQ_PROFILE"))?;
    dict.set_item("rustc", env!("PERFQ_RUSTC"))?;
    dict.set_item("target", env!("PERFQ_TARGET"))?;
    Ok(dict)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(build, module)?)
}

//! What crosses the border: an options mapping in, the engine's figures out.

use crate::errors::value_error;
use crate::recorder::Recorder;
use perfq_engine::recorder::RecordSink;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// `recorder` (a `Recorder` or None) and what else stands in the mapping. `ValueError` for unknown
/// keys and bad values.
pub(crate) fn with_recorder<T: DeserializeOwned>(options: &Bound<'_, PyDict>) -> PyResult<(Option<RecordSink>, T)> {
    let rest = options.copy()?;
    let recorder = match rest.get_item("recorder")? {
        Some(recorder) => {
            rest.del_item("recorder")?;
            recorder.extract::<Option<PyRef<'_, Recorder>>>()?.map(|recorder| recorder.sink())
        }
        None => None,
    };
    Ok((recorder, pythonize::depythonize(&rest).map_err(value_error)?))
}

/// A value of the engine as plain Python: mappings, lists, numbers, text.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    pythonize::pythonize(py, value).map_err(value_error)
}

//! One options mapping: the recorder taken out, the rest as the engine's own type.

use crate::errors::value_error;
use crate::recorder::Recorder;
use perfq_engine::recorder::RecordSink;
use pyo3::prelude::*;
use pyo3::types::PyDict;
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

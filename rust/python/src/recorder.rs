//! `Recorder`: samples.ndjson.

use crate::errors::io_error;
use crate::options::to_python;
use perfq_engine::recorder;
use pyo3::prelude::*;
use pyo3::types::PyAny;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

#[pyclass(module = "perfq._core", frozen)]
pub(crate) struct Recorder {
    inner: Mutex<recorder::Recorder>,
    sink: recorder::RecordSink,
}

impl Recorder {
    /// For the engine's own writers.
    pub(crate) fn sink(&self) -> recorder::RecordSink {
        self.sink.clone()
    }
}

#[pymethods]
impl Recorder {
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        let inner = recorder::Recorder::create(&path).map_err(|e| io_error(&e))?;
        let sink = inner.sink();
        Ok(Self { inner: Mutex::new(inner), sink })
    }

    fn write(&self, record_json: &str) {
        self.sink.write_line([record_json.as_bytes(), b"\n"].concat());
    }

    fn flush(&self, py: Python<'_>) {
        py.detach(|| self.inner.lock().unwrap_or_else(PoisonError::into_inner).flush());
    }

    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let status = self.inner.lock().unwrap_or_else(PoisonError::into_inner).status();
        to_python(py, &status)
    }

    fn close<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let status = py.detach(|| self.inner.lock().unwrap_or_else(PoisonError::into_inner).close());
        to_python(py, &status)
    }
}

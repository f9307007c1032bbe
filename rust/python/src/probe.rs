//! `ProbeListener`: clients that report from inside.

use crate::errors::{io_error, value_error};
use crate::options::with_recorder;
use perfq_engine::probe;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[pyclass(module = "perfq._core", frozen)]
struct ProbeListener {
    inner: Mutex<probe::ProbeListener>,
}

impl ProbeListener {
    fn locked(&self) -> MutexGuard<'_, probe::ProbeListener> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn dict<'py>(py: Python<'py>, progress: &probe::fold::ProbeProgress) -> PyResult<Bound<'py, PyDict>> {
    Ok(pythonize::pythonize(py, progress).map_err(value_error)?.cast_into::<PyDict>()?)
}

#[pymethods]
impl ProbeListener {
    #[staticmethod]
    fn start(py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let (recorder, options) = with_recorder(options)?;
        let inner = py.detach(|| probe::ProbeListener::start(options, recorder)).map_err(|e| io_error(&e))?;
        Ok(Self { inner: Mutex::new(inner) })
    }

    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let progress = py.detach(|| self.locked().progress());
        dict(py, &progress)
    }

    fn stop<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let progress = py.detach(|| self.locked().stop());
        dict(py, &progress)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exc))]
    fn __exit__(&self, py: Python<'_>, _exc: &Bound<'_, pyo3::types::PyTuple>) {
        py.detach(|| self.locked().stop());
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ProbeListener>()
}

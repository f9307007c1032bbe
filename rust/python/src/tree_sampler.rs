//! `TreeSampler`: CPU and memory of process trees.

use crate::errors::io_error;
use crate::options::{to_python, with_recorder};
use perfq_engine::sampler::tree;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[pyclass(module = "perfq._core", frozen)]
struct TreeSampler {
    inner: Mutex<tree::TreeSampler>,
}

impl TreeSampler {
    fn locked(&self) -> MutexGuard<'_, tree::TreeSampler> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl TreeSampler {
    #[staticmethod]
    fn start(py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let (recorder, options) = with_recorder(options)?;
        let inner = py.detach(|| tree::TreeSampler::start(options, recorder)).map_err(|e| io_error(&e))?;
        Ok(Self { inner: Mutex::new(inner) })
    }

    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let progress = py.detach(|| self.locked().progress());
        to_python(py, &progress)
    }

    fn stop<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let progress = py.detach(|| self.locked().stop());
        to_python(py, &progress)
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
    module.add_class::<TreeSampler>()
}

//! What is started with a recorder, asked how it is, and stopped: `ProbeListener` (clients that report from inside) and
//! `TreeSampler` (CPU and memory of process trees).

use crate::errors::io_error;
use crate::options::{to_python, with_recorder};
use perfq_engine::{probe, sampler};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The class of one; a class of Python cannot be generic.
macro_rules! service {
    ($name:ident, $service:ty) => {
        #[pyclass(module = "perfq._core", frozen)]
        struct $name {
            inner: Mutex<$service>,
        }

        impl $name {
            fn locked(&self) -> MutexGuard<'_, $service> {
                self.inner.lock().unwrap_or_else(PoisonError::into_inner)
            }
        }

        #[pymethods]
        impl $name {
            #[staticmethod]
            fn start(py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Self> {
                let (recorder, options) = with_recorder(options)?;
                let inner = py.detach(|| <$service>::start(options, recorder)).map_err(|e| io_error(&e))?;
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
    };
}

service!(ProbeListener, probe::ProbeListener);
service!(TreeSampler, sampler::tree::TreeSampler);

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ProbeListener>()?;
    module.add_class::<TreeSampler>()
}

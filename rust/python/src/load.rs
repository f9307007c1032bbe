//! `LoadRun`: requests on their schedule.

use crate::errors::io_error;
use crate::options::{to_python, with_recorder};
use perfq_engine::load;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What is in flight has a few seconds.
const LONGEST_STOP: Duration = Duration::from_secs(60);

#[pyclass(module = "perfq._core", frozen)]
struct LoadRun {
    /// Without its own lock: every call takes `&self`, and closing ends the run.
    inner: Mutex<Option<std::sync::Arc<load::LoadRun>>>,
}

impl LoadRun {
    fn run(&self) -> PyResult<std::sync::Arc<load::LoadRun>> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.clone().ok_or_else(|| crate::errors::value_error("the run is closed"))
    }
}

#[pymethods]
impl LoadRun {
    #[staticmethod]
    fn start(py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let (recorder, options) = with_recorder(options)?;
        let inner = py.detach(|| load::LoadRun::start(options, recorder)).map_err(|e| io_error(&e))?;
        Ok(Self { inner: Mutex::new(Some(std::sync::Arc::new(inner))) })
    }

    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let run = self.run()?;
        let progress = py.detach(|| run.progress());
        to_python(py, &progress)
    }

    fn stop(&self, why: &str) -> PyResult<()> {
        self.run()?.stop(why);
        Ok(())
    }

    fn set_token(&self, token: &str) -> PyResult<()> {
        self.run()?.set_token(token).map_err(|e| io_error(&e))
    }

    fn wait(&self, py: Python<'_>, timeout_s: f64) -> PyResult<bool> {
        let limit = Duration::try_from_secs_f64(timeout_s).map_err(crate::errors::value_error)?;
        let run = self.run()?;
        Ok(py.detach(|| run.wait(limit)))
    }

    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let run = self.run()?;
        let result = py.detach(|| run.result());
        to_python(py, &result)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exc))]
    fn __exit__(&self, py: Python<'_>, _exc: &Bound<'_, pyo3::types::PyTuple>) {
        let run = self.inner.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(run) = run {
            run.stop("closed");
            py.detach(|| {
                // Whoever waits for it in another thread holds it as well: it may not end with this hold.
                run.wait(LONGEST_STOP);
                drop(run);
            });
        }
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<LoadRun>()
}

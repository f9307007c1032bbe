//! `Sampler`: many sessions at once, each by its cgroup, its process or both.

use crate::errors::{io_error, value_error};
use crate::options::to_python;
use perfq_engine::sampler::sessions::{Refused, SessionSampler};
use pyo3::exceptions::{PyFileNotFoundError, PyProcessLookupError};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict, PyTuple};
use std::path::PathBuf;

#[pyclass(module = "perfq._core", frozen)]
struct Sampler {
    inner: SessionSampler,
}

/// One folder, or one for each hierarchy.
#[derive(FromPyObject)]
enum Folders {
    One(PathBuf),
    Many(Vec<PathBuf>),
}

fn refused(refused: Refused) -> PyErr {
    match refused {
        Refused::Invalid(why) => value_error(why),
        Refused::NoProcess(_) => PyProcessLookupError::new_err(refused.to_string()),
        Refused::NoGroup(_) => PyFileNotFoundError::new_err(refused.to_string()),
        Refused::Io(error) => io_error(&error),
    }
}

#[pymethods]
impl Sampler {
    #[staticmethod]
    fn start(py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let options = pythonize::depythonize(options).map_err(value_error)?;
        let inner = py.detach(|| SessionSampler::start(options)).map_err(refused)?;
        Ok(Self { inner })
    }

    #[pyo3(signature = (session, *, pid = None, cgroup = None))]
    fn attach(&self, py: Python<'_>, session: u64, pid: Option<u32>, cgroup: Option<Folders>) -> PyResult<u64> {
        let cgroup = match cgroup {
            None => Vec::new(),
            Some(Folders::One(folder)) => vec![folder],
            Some(Folders::Many(folders)) => folders,
        };
        py.detach(|| self.inner.attach(session, pid, cgroup)).map_err(refused)
    }

    #[pyo3(signature = (session, *, wait_ms = None))]
    fn pause<'py>(&self, py: Python<'py>, session: u64, wait_ms: Option<u64>) -> PyResult<Bound<'py, PyAny>> {
        let answer = py.detach(|| self.inner.pause(session, wait_ms)).map_err(refused)?;
        to_python(py, &answer)
    }

    fn resume(&self, py: Python<'_>, session: u64) -> PyResult<Option<u64>> {
        py.detach(|| self.inner.resume(session)).map_err(refused)
    }

    fn sample(&self, py: Python<'_>, session: u64) -> PyResult<Option<u64>> {
        py.detach(|| self.inner.sample(session)).map_err(refused)
    }

    #[pyo3(signature = (session, *, wait_ms = None))]
    fn drain<'py>(&self, py: Python<'py>, session: u64, wait_ms: Option<u64>) -> PyResult<Bound<'py, PyAny>> {
        let end = py.detach(|| self.inner.drain(session, wait_ms)).map_err(refused)?;
        to_python(py, &end)
    }

    fn last_samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let last = py.detach(|| self.inner.last_samples());
        to_python(py, &last)
    }

    fn figures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let figures = py.detach(|| self.inner.figures());
        to_python(py, &figures)
    }

    fn close<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let figures = py.detach(|| self.inner.close());
        to_python(py, &figures)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exc))]
    fn __exit__(&self, py: Python<'_>, _exc: &Bound<'_, PyTuple>) {
        py.detach(|| self.inner.close());
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Sampler>()
}

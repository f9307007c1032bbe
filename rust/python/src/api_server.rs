//! `ApiServer`: the embedded Kubernetes API server.

use crate::errors::{io_error, value_error};
use crate::options::{to_python, with_recorder};
use crate::plan::Plan;
use perfq_engine::api_server;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io;
use std::sync::Arc;

#[pyclass(module = "perfq._core", frozen)]
pub(crate) struct ApiServer {
    inner: api_server::ApiServer,
}

fn committed(py: Python<'_>, commit: Option<api_server::Committed>) -> PyResult<Option<Bound<'_, PyDict>>> {
    commit
        .map(|commit| {
            let dict = PyDict::new(py);
            dict.set_item("t", commit.t)?;
            dict.set_item("rv", commit.rv)?;
            Ok(dict)
        })
        .transpose()
}

#[pymethods]
impl ApiServer {
    #[staticmethod]
    fn start(py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let rest = options.copy()?;
        let plan = rest.get_item("plan")?.ok_or_else(|| value_error("plan: missing"))?;
        let plan = Arc::clone(&plan.cast::<Plan>()?.get().inner);
        rest.del_item("plan")?;
        let (sink, options) = with_recorder::<api_server::Options>(&rest)?;
        let inner = py.detach(|| api_server::ApiServer::start(plan, options, sink)).map_err(|error| {
            if error.kind() == io::ErrorKind::InvalidInput { value_error(error) } else { io_error(&error) }
        })?;
        Ok(Self { inner })
    }

    #[getter]
    fn url(&self) -> String {
        self.inner.url()
    }

    #[getter]
    fn port(&self) -> u16 {
        self.inner.port()
    }

    #[getter]
    fn ca_pem(&self) -> Option<&str> {
        self.inner.ca_pem()
    }

    #[getter]
    fn token(&self) -> Option<&str> {
        self.inner.token()
    }

    fn start_churn(&self) -> u64 {
        self.inner.start_churn()
    }

    fn extend(&self, py: Python<'_>, seconds: u32) -> PyResult<()> {
        py.detach(|| self.inner.extend(seconds)).map_err(value_error)
    }

    fn probe<'py>(
        &self,
        py: Python<'py>,
        i: u64,
        ns: &str,
        name: &str,
        number: u64,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        committed(py, py.detach(|| self.inner.probe(i, ns, name, number)))
    }

    fn restore<'py>(&self, py: Python<'py>, i: u64, ns: &str, name: &str) -> PyResult<Option<Bound<'py, PyDict>>> {
        committed(py, py.detach(|| self.inner.restore(i, ns, name)))
    }

    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let progress = py.detach(|| self.inner.progress());
        to_python(py, &progress)
    }

    fn digest(&self, py: Python<'_>) -> String {
        py.detach(|| self.inner.digest())
    }

    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.inner.stop());
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, pyo3::types::PyTuple>) {
        self.stop(py);
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ApiServer>()
}

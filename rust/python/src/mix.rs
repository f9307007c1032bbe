//! `Mix`: a resolved load profile's spec and the requests that it draws.

use crate::errors::value_error;
use perfq_core::load::mix;
use perfq_core::load::{Request, WatchEnd};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::Arc;

#[pyclass(module = "perfq._core", frozen)]
pub(crate) struct Mix {
    inner: Arc<mix::Mix>,
}

#[pymethods]
impl Mix {
    #[new]
    fn new(spec_json: &str) -> PyResult<Self> {
        let spec: mix::MixSpec = serde_json::from_str(spec_json).map_err(value_error)?;
        Ok(Self { inner: Arc::new(mix::Mix::new(&spec).map_err(value_error)?) })
    }

    fn plan(&self, py: Python<'_>, runner: u32) -> (Option<u64>, Option<u64>) {
        let plan = py.detach(|| self.inner.plan(runner));
        (plan.planned, plan.end_us)
    }

    fn requests<'py>(
        &self,
        py: Python<'py>,
        runner: u32,
        runners: u32,
        limit: usize,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let drawn: Vec<Request> = py
            .detach(|| self.inner.requests(runner, runners).take(limit).collect::<Result<_, _>>())
            .map_err(value_error)?;
        drawn.iter().map(|request| as_dict(py, request)).collect()
    }
}

fn as_dict<'py>(py: Python<'py>, request: &Request) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("due_us", request.due_us)?;
    dict.set_item("verb", request.verb.name())?;
    dict.set_item("path", request.path.as_ref())?;
    dict.set_item("query", request.query.as_deref())?;
    dict.set_item("content_type", request.content_type.as_deref())?;
    dict.set_item("body", request.body.as_ref().map(|body| PyBytes::new(py, body)))?;
    dict.set_item("key", request.key.as_ref().map(perfq_core::load::Key::text))?;
    dict.set_item("user_agent", request.user_agent.as_deref())?;
    let headers: Vec<_> = request
        .headers
        .iter()
        .flat_map(|all| all.iter())
        .map(|(name, value)| (name.as_ref(), value.as_ref()))
        .collect();
    dict.set_item("headers", headers)?;
    dict.set_item("until_initial_bookmark", request.watch == Some(WatchEnd::InitialBookmark))?;
    Ok(dict)
}

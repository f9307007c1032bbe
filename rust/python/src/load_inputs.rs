//! Files of requests: checked, shared among runners, made into traces.

use crate::errors::{io_error, value_error};
use crate::options::to_python;
use perfq_core::load::RequestError;
use perfq_engine::load::inspect::{self, ReadOptions, Stopped};
use perfq_engine::load::readers;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict};
use std::path::{Path, PathBuf};

fn read_options(options: Option<&Bound<'_, PyDict>>) -> PyResult<ReadOptions> {
    options.map_or_else(|| Ok(ReadOptions::default()), |options| pythonize::depythonize(options).map_err(value_error))
}

/// `FILE:LINE: clause`.
fn at(path: &Path, error: &RequestError) -> PyErr {
    let path = path.display();
    match error.line {
        Some(line) => value_error(format!("{path}:{line}: {}", error.text)),
        None => value_error(format!("{path}: {}", error.text)),
    }
}

fn stopped(path: &Path, why: Stopped<PyErr>) -> PyErr {
    match why {
        Stopped::File(error) => at(path, &error),
        Stopped::Target(to, error) => at(&to, &error),
        Stopped::Options(text) => value_error(text),
        Stopped::Caller(error) => error,
    }
}

/// Whether Ctrl-C was pressed.
#[allow(clippy::redundant_closure_for_method_calls)] // the method's lifetime is not general enough
fn go_on() -> PyResult<()> {
    Python::attach(|py| py.check_signals())
}

#[pyfunction]
fn load_detect(py: Python<'_>, path: PathBuf) -> PyResult<(Bound<'_, PyAny>, &'static str)> {
    let (format, packing) = py.detach(|| readers::detect(&path)).map_err(|error| io_error(&error))?;
    Ok((to_python(py, &format)?, packing.name()))
}

#[pyfunction]
#[pyo3(signature = (path, options=None))]
fn load_open<'py>(py: Python<'py>, path: PathBuf, options: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
    let options = read_options(options)?;
    let found = py.detach(|| inspect::inspect(&path, &options, go_on)).map_err(|why| stopped(&path, why))?;
    to_python(py, &found)
}

#[pyfunction]
#[pyo3(signature = (src, dst, options=None))]
fn load_convert<'py>(
    py: Python<'py>,
    src: PathBuf,
    dst: PathBuf,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = read_options(options)?;
    let found = py.detach(|| inspect::convert(&src, &dst, &options, go_on)).map_err(|why| stopped(&src, why))?;
    to_python(py, &found)
}

#[pyfunction]
#[pyo3(signature = (path, runners, options=None, hot_keys=10))]
fn load_plan<'py>(
    py: Python<'py>,
    path: PathBuf,
    runners: u32,
    options: Option<&Bound<'py, PyDict>>,
    hot_keys: usize,
) -> PyResult<Bound<'py, PyAny>> {
    if !(1..=1_000_000).contains(&runners) {
        return Err(value_error(format!("runners is {runners}: 1 to 1000000 were expected")));
    }
    let options = read_options(options)?;
    let shares = || inspect::shares(&path, runners, hot_keys, &options, go_on);
    let found = py.detach(shares).map_err(|why| stopped(&path, why))?;
    to_python(py, &found)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(load_detect, module)?)?;
    module.add_function(wrap_pyfunction!(load_open, module)?)?;
    module.add_function(wrap_pyfunction!(load_convert, module)?)?;
    module.add_function(wrap_pyfunction!(load_plan, module)?)
}

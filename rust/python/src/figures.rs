//! Quantiles, partition and down-sampling.

use crate::errors::value_error;
use perfq_core::{downsample, partition, quantile};
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[pyfunction]
fn quantiles(py: Python<'_>, mut values: Vec<i64>) -> PyResult<Bound<'_, PyDict>> {
    figures_dict(py, &py.detach(|| quantile::summarize(&mut values)))
}

/// The published figures as a mapping.
pub(crate) fn figures_dict<'py>(py: Python<'py>, figures: &quantile::Summary) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("count", figures.count)?;
    for (name, value) in [
        ("p50", figures.p50),
        ("p90", figures.p90),
        ("p95", figures.p95),
        ("p99", figures.p99),
        ("p999", figures.p999),
        ("max", figures.max),
    ] {
        dict.set_item(name, value)?;
    }
    Ok(dict)
}

#[pyfunction]
fn fnv1a64(key: &str) -> u64 {
    partition::fnv1a64(key.as_bytes())
}

#[pyfunction]
#[pyo3(name = "partition")]
fn partition_of(key: &str, runners: u32) -> PyResult<u32> {
    if runners == 0 {
        return Err(value_error("runners must be at least 1"));
    }
    Ok(partition::partition(key, runners))
}

#[pyfunction]
#[pyo3(name = "downsample")]
fn downsample_points(points: Vec<(i64, i64)>, slices: usize) -> Vec<(i64, i64)> {
    downsample::min_max(&points, slices)
}

#[pyfunction]
fn monotonic_ns() -> u64 {
    perfq_engine::clock::now_ns()
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(quantiles, module)?)?;
    module.add_function(wrap_pyfunction!(fnv1a64, module)?)?;
    module.add_function(wrap_pyfunction!(partition_of, module)?)?;
    module.add_function(wrap_pyfunction!(downsample_points, module)?)?;
    module.add_function(wrap_pyfunction!(monotonic_ns, module)?)
}

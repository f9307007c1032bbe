//! `Histogram`: what a load records of its latencies, merged and read.

use crate::errors::value_error;
use crate::figures::figures_dict;
use perfq_core::histogram;
use perfq_core::quantile::Ratio;
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[pyclass(module = "perfq._core")]
#[derive(Default)]
pub(crate) struct Histogram {
    inner: histogram::Histogram,
}

#[pymethods]
impl Histogram {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn record(&mut self, value: u64) {
        self.inner.record(value);
    }

    fn merge_json(&mut self, text: &[u8]) -> PyResult<()> {
        let other: histogram::Histogram = serde_json::from_slice(text).map_err(value_error)?;
        self.inner.merge(&other);
        Ok(())
    }

    fn merge(&mut self, other: PyRef<'_, Self>) {
        self.inner.merge(&other.inner);
    }

    #[getter]
    fn count(&self) -> u64 {
        self.inner.count()
    }

    #[getter]
    fn max(&self) -> Option<u64> {
        self.inner.max()
    }

    #[getter]
    fn min(&self) -> Option<u64> {
        self.inner.min()
    }

    #[getter]
    fn sum(&self) -> u128 {
        self.inner.sum()
    }

    fn quantile(&self, num: u64, den: u64) -> PyResult<Option<u64>> {
        if den == 0 || num > den {
            return Err(value_error(format!("{num}/{den} is no share")));
        }
        Ok(self.inner.quantile(Ratio { num, den }))
    }

    fn figures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        figures_dict(py, &self.inner.summary())
    }

    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.inner).map_err(value_error)
    }
}

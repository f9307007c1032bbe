//! `Plan`: a resolved workload.

use crate::errors::{io_error, value_error};
use perfq_core::workload;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::fs::File;
use std::io::Write;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Which canonical text.
fn write_kind(plan: &workload::Plan, kind: &str, sink: &mut dyn FnMut(&[u8])) -> PyResult<()> {
    match kind {
        "profile" => plan.write_profile(sink),
        "objects" => plan.write_objects(sink),
        "events" => plan.write_events(sink),
        "final" => plan.write_final(sink),
        other => return Err(value_error(format!("no canonical text {other:?}: profile, objects, events or final"))),
    }
    Ok(())
}

#[pyclass(module = "perfq._core", frozen)]
pub(crate) struct Plan {
    pub(crate) inner: Arc<workload::Plan>,
    hashes: workload::PlanHashes,
}

impl Plan {
    fn of(py: Python<'_>, profile: workload::Profile) -> PyResult<Self> {
        py.detach(|| {
            let inner = workload::Plan::new(profile)
                .map_err(|found| value_error(found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))?;
            let hashes = inner.hashes();
            Ok(Self { inner: Arc::new(inner), hashes })
        })
    }
}

#[pymethods]
impl Plan {
    #[new]
    fn new(py: Python<'_>, profile_json: &str) -> PyResult<Self> {
        Self::of(py, serde_json::from_str(profile_json).map_err(value_error)?)
    }

    #[staticmethod]
    fn violations(profile_json: &str) -> PyResult<Vec<(String, String, String)>> {
        let profile: workload::Profile = serde_json::from_str(profile_json).map_err(value_error)?;
        Ok(profile.violations().into_iter().map(|v| (v.path, v.got, v.expected)).collect())
    }

    fn extended(&self, py: Python<'_>, seconds: u32) -> PyResult<Self> {
        let mut profile = self.inner.profile().clone();
        profile.duration_seconds = profile.duration_seconds.saturating_add(seconds);
        Self::of(py, profile)
    }

    fn emit<'py>(&self, py: Python<'py>, kind: &str) -> PyResult<Bound<'py, PyBytes>> {
        let mut text = Vec::new();
        write_kind(&self.inner, kind, &mut |piece| text.extend_from_slice(piece))?;
        Ok(PyBytes::new(py, &text))
    }

    fn emit_to(&self, py: Python<'_>, kind: &str, fd: i32) -> PyResult<()> {
        // SAFETY: the caller's descriptor stays open for the length of this call; it is duplicated.
        let owned: OwnedFd = unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned().map_err(|e| io_error(&e))?;
        let mut file = File::from(owned);
        py.detach(|| {
            let mut failed = None;
            write_kind(&self.inner, kind, &mut |piece| {
                if failed.is_none() {
                    failed = file.write_all(piece).err();
                }
            })?;
            failed.map_or(Ok(()), |error| Err(io_error(&error)))
        })
    }

    #[getter]
    fn profile_json(&self) -> PyResult<String> {
        serde_json::to_string(self.inner.profile()).map_err(value_error)
    }

    #[getter]
    fn id(&self) -> &str {
        &self.inner.profile().id
    }

    #[getter]
    fn profile_hash(&self) -> &str {
        &self.hashes.profile
    }

    #[getter]
    fn object_hash(&self) -> &str {
        &self.hashes.objects
    }

    #[getter]
    fn event_hash(&self) -> &str {
        &self.hashes.events
    }

    #[getter]
    fn final_hash(&self) -> &str {
        &self.hashes.finals
    }

    #[getter]
    fn objects(&self) -> u32 {
        self.inner.profile().object_count
    }

    #[getter]
    fn events(&self) -> u64 {
        self.inner.event_count()
    }

    #[getter]
    fn namespaces(&self) -> u32 {
        self.inner.profile().namespace_count
    }

    #[getter]
    fn peak_rate(&self) -> u32 {
        self.inner.profile().peak_rate()
    }

    #[getter]
    fn duration_seconds(&self) -> u32 {
        self.inner.profile().duration_seconds
    }
}

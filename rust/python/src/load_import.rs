//! `load_import`: audit logs become a trace.

use crate::errors::value_error;
use crate::options::to_python;
use perfq_core::load::audit::Why;
use perfq_engine::load::import::{Control, ImportError, Options, import};
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// So often Python may have its signals.
const SIGNALS: Duration = Duration::from_millis(100);
/// So long an import that is to stop may take for it.
const GIVEN_TO_STOP: Duration = Duration::from_secs(1);

fn failed(error: &ImportError) -> PyErr {
    match error {
        ImportError::Sort { .. } => PyOSError::new_err(error.to_string()),
        _ => value_error(error),
    }
}

#[pyfunction]
#[pyo3(signature = (paths, out, options, progress = None))]
fn load_import<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    out: PathBuf,
    options: &Bound<'py, PyDict>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let options: Options = pythonize::depythonize(options).map_err(value_error)?;
    let (control, ended) = (Arc::new(Control::default()), Arc::new(AtomicBool::new(false)));
    let caller = std::thread::current();
    let (controlled, end) = (control.clone(), ended.clone());
    let worker = std::thread::Builder::new().name("load-import".to_owned()).spawn(move || {
        let imported = import(&paths, &out, &options, &controlled);
        end.store(true, Ordering::Release);
        caller.unpark();
        imported
    })?;
    while !ended.load(Ordering::Acquire) && !worker.is_finished() {
        py.detach(|| std::thread::park_timeout(SIGNALS));
        let told = progress.as_ref().map_or(Ok(()), |progress| {
            let seen =
                [&control.bytes_read, &control.bytes, &control.requests].map(|count| count.load(Ordering::Relaxed));
            progress.call1((seen[0], seen[1], seen[2])).map(|_| ())
        });
        if let Err(raised) = py.check_signals().and(told) {
            control.stop.store(true, Ordering::Relaxed);
            // One that waits for a pipe is left alone; it has nothing that would outlive the process.
            let until = Instant::now() + GIVEN_TO_STOP;
            while !ended.load(Ordering::Acquire) && Instant::now() < until {
                py.detach(|| std::thread::park_timeout(SIGNALS));
            }
            return Err(raised);
        }
    }
    let imported = worker.join().map_err(|_| PyRuntimeError::new_err("the import panicked"))?;
    to_python(py, &imported.map_err(|error| failed(&error))?)
}

/// Every reason by which an import loses or changes something: its name, what is counted, and what it means.
#[pyfunction]
fn load_import_reasons() -> Vec<(&'static str, &'static str, &'static str)> {
    Why::ALL.into_iter().map(|why| (why.name(), why.of().name(), why.text())).collect()
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(load_import_reasons, module)?)?;
    module.add_function(wrap_pyfunction!(load_import, module)?)
}

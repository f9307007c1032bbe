//! `Terminal` and `TerminalView`: a program in a pseudo-terminal, and how its screen is read.

use crate::errors::{io_error, value_error};
use crate::options::to_python;
use crate::recorder::Recorder;
use perfq_engine::clock::{nanos, now_ns};
use perfq_engine::terminal::view::{View, ViewOptions};
use perfq_engine::terminal::{self, Direction, Expect, StartError};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict, PyList};
use pythonize::depythonize;
use regex::Regex;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Between two looks for a signal, while the GIL is released.
const SLICE: Duration = Duration::from_millis(100);

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TerminalView>()?;
    module.add_class::<Terminal>()?;
    module.add_function(wrap_pyfunction!(pattern_error, module)?)?;
    module.add_function(wrap_pyfunction!(is_key, module)?)
}

#[pyfunction]
fn pattern_error(pattern: &str) -> Option<String> {
    Regex::new(pattern).err().map(|error| error.to_string())
}

#[pyfunction]
fn is_key(name: &str) -> bool {
    terminal::keys::encode(name, terminal::keys::KeyModes::default()).is_some()
}

fn seconds(value: f64, what: &str) -> PyResult<Duration> {
    Duration::try_from_secs_f64(value)
        .map_err(|_| value_error(format!("{what}: got {value}, expected seconds, 0 or more")))
}

/// Calls `poll` with the GIL released until it answers; signal handlers run in between.
fn wait<T: Send>(py: Python<'_>, mut poll: impl FnMut() -> Option<T> + Send) -> PyResult<T> {
    loop {
        if let Some(answer) = py.detach(&mut poll) {
            return Ok(answer);
        }
        py.check_signals()?;
    }
}

fn start_error(error: StartError) -> PyErr {
    match error {
        StartError::Option(text) => value_error(text),
        StartError::Io(error) => io_error(&error),
        StartError::Program { errno: Some(errno), .. } => PyOSError::new_err((errno, error.to_string())),
        StartError::Program { errno: None, .. } => PyOSError::new_err(error.to_string()),
    }
}

#[pyclass(module = "perfq._core", frozen)]
pub(crate) struct TerminalView {
    inner: Arc<View>,
}

#[pymethods]
impl TerminalView {
    #[new]
    fn new(options: &Bound<'_, PyAny>) -> PyResult<Self> {
        let options: ViewOptions = depythonize(options).map_err(value_error)?;
        Ok(Self { inner: Arc::new(View::new(options).map_err(value_error)?) })
    }
}

#[pyclass(module = "perfq._core", frozen)]
pub(crate) struct Terminal {
    inner: terminal::Terminal,
}

#[pymethods]
impl Terminal {
    #[staticmethod]
    fn start(py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let rest = options.copy()?;
        let mut sink = None;
        let mut view = None;
        if let Some(recorder) = options.get_item("recorder")? {
            rest.del_item("recorder")?;
            sink = recorder.extract::<Option<PyRef<'_, Recorder>>>()?.map(|recorder| recorder.sink());
        }
        if let Some(given) = options.get_item("view")? {
            rest.del_item("view")?;
            view = given.extract::<Option<PyRef<'_, TerminalView>>>()?.map(|view| Arc::clone(&view.inner));
        }
        let mut cast = None;
        if let Some(given) = options.get_item("cast")? {
            rest.del_item("cast")?;
            cast = given.extract::<Option<PathBuf>>()?;
        }
        let mut options: terminal::Options = depythonize(rest.as_any()).map_err(value_error)?;
        options.cast = cast;
        let inner = py.detach(|| terminal::Terminal::start(&options, view, sink)).map_err(start_error)?;
        Ok(Self { inner })
    }

    #[getter]
    fn pid(&self) -> u32 {
        self.inner.pid()
    }

    #[getter]
    fn supervisor_pid(&self) -> u32 {
        self.inner.supervisor_pid()
    }

    fn key(&self, name: &str) -> PyResult<Vec<u8>> {
        self.inner.key(name).ok_or_else(|| {
            value_error(format!("no key {name:?}: a character, or up, enter, f5, page_down, ctrl+d and the like"))
        })
    }

    fn write(&self, py: Python<'_>, data: Vec<u8>) -> PyResult<u64> {
        py.detach(|| self.inner.write(&data)).map_err(|error| io_error(&error))
    }

    fn screen<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &py.detach(|| self.inner.screen()))
    }

    fn wait_screen<'py>(&self, py: Python<'py>, pattern: &str, timeout_s: f64) -> PyResult<Option<Bound<'py, PyAny>>> {
        let deadline = now_ns().saturating_add(nanos(seconds(timeout_s, "timeout_s")?));
        let pattern = Regex::new(pattern).map_err(value_error)?;
        let id = py.detach(|| self.inner.begin_wait(pattern));
        let found = wait(py, || {
            let left = Duration::from_nanos(deadline.saturating_sub(now_ns()));
            self.inner.poll_wait(id, left.min(SLICE)).or_else(|| (now_ns() >= deadline).then_some(None))
        });
        self.inner.end_wait(id);
        found?.map(|hit| to_python(py, &hit)).transpose()
    }

    fn rows<'py>(&self, py: Python<'py>, view: &TerminalView) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &py.detach(|| self.inner.rows(&view.inner)))
    }

    fn cursor_row<'py>(&self, py: Python<'py>, view: &TerminalView) -> PyResult<Option<Bound<'py, PyAny>>> {
        let row = py.detach(|| self.inner.rows(&view.inner)).into_iter().find(|row| row.cursor);
        row.map(|row| to_python(py, &row)).transpose()
    }

    fn expect_cell(&self, i: u64, key: (String, String), column: String, text: String, view: &TerminalView) {
        self.inner.expect_cell(i, Expect { key, column, text, view: Arc::clone(&view.inner) });
    }

    fn seen_cells<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let cells = PyList::empty(py);
        for (i, t) in self.inner.seen_cells() {
            let cell = PyDict::new(py);
            cell.set_item("i", i)?;
            cell.set_item("t", t)?;
            cells.append(cell)?;
        }
        Ok(cells)
    }

    fn forget_cell(&self, i: u64) -> bool {
        self.inner.forget_cell(i)
    }

    fn press<'py>(
        &self,
        py: Python<'py>,
        key: Vec<u8>,
        direction: &str,
        view: &TerminalView,
        timeout_s: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let timeout = nanos(seconds(timeout_s, "timeout_s")?);
        let direction = match direction {
            "down" => Direction::Down,
            "up" => Direction::Up,
            other => return Err(value_error(format!("direction: got {other:?}, expected \"down\" or \"up\""))),
        };
        let pressed = match py.detach(|| self.inner.begin_press(&key, direction, &view.inner)) {
            Ok(sent) => wait(py, || self.inner.poll_press(sent.saturating_add(timeout)))?,
            Err(pressed) => *pressed,
        };
        to_python(py, &pressed)
    }

    fn resize<'py>(&self, py: Python<'py>, cols: u16, rows: u16, timeout_s: f64) -> PyResult<Bound<'py, PyAny>> {
        let timeout = nanos(seconds(timeout_s, "timeout_s")?);
        let sent = py.detach(|| self.inner.begin_resize(cols, rows)).map_err(|error| io_error(&error))?;
        let resized = wait(py, || self.inner.poll_resize(sent, sent.saturating_add(timeout)))?;
        to_python(py, &resized)
    }

    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &py.detach(|| self.inner.progress()))
    }

    #[pyo3(signature = (grace_s=2.0))]
    fn stop<'py>(&self, py: Python<'py>, grace_s: f64) -> PyResult<Bound<'py, PyAny>> {
        let grace = seconds(grace_s, "grace_s")?;
        to_python(py, &py.detach(|| self.inner.stop(grace)))
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, py: Python<'_>, _args: &Bound<'_, PyAny>) {
        py.detach(|| self.inner.stop(Duration::ZERO));
    }
}

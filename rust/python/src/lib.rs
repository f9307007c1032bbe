//! `perfq._core`: names, signatures, conversions, one error mapping. Nothing else.
//!
//! The border is coarse: one options mapping in, one handle out, the GIL released while Rust works.

// pyo3 takes owned arguments where Python hands them over.
#![allow(clippy::needless_pass_by_value, missing_docs)]

mod api_server;
mod build_info;
mod errors;
mod figures;
mod histogram;
mod load;
mod load_import;
mod load_inputs;
mod mix;
mod options;
mod plan;
mod recorder;
mod sampler;
mod services;
mod terminal;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<mix::Mix>()?;
    module.add_class::<plan::Plan>()?;
    module.add_class::<recorder::Recorder>()?;
    module.add_class::<histogram::Histogram>()?;
    build_info::register(module)?;
    figures::register(module)?;
    api_server::register(module)?;
    load::register(module)?;
    load_inputs::register(module)?;
    load_import::register(module)?;
    sampler::register(module)?;
    services::register(module)?;
    terminal::register(module)
}

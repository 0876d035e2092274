//! Kohort in Python: the native half of the package `kohort`.
//!
//! Data frames come in and go out by the Arrow PyCapsule interface (`capsule.rs`, which has the only unsafe block),
//! their cells as text (`to_text.rs`, `from_text.rs`). Every call (`calls.rs`) is one call of the library on a thread
//! of its own (`running.rs`). What a Python reader sees is in python/kohort.

#![cfg(feature = "module")]

mod calls;
mod capsule;
mod counted;
mod data;
mod engine;
mod errors;
mod frame;
mod from_text;
mod parts;
mod release;
mod released;
mod risk;
mod running;
mod settings;
mod to_text;

use pyo3::prelude::*;

#[pymodule]
fn _kohort(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::add_to(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("CODE_SEPARATOR", to_text::CODES.to_string())?;
    module.add_class::<data::Data>()?;
    module.add_class::<frame::Frame>()?;
    module.add_class::<frame::ReleasedTable>()?;
    module.add_class::<release::Release>()?;
    module.add_class::<release::Published>()?;
    module.add_function(wrap_pyfunction!(calls::anonymize, module)?)?;
    module.add_function(wrap_pyfunction!(calls::measure_risk, module)?)?;
    module.add_function(wrap_pyfunction!(calls::suggest, module)?)?;
    module.add_function(wrap_pyfunction!(calls::verify, module)?)?;
    module.add_function(wrap_pyfunction!(calls::compare, module)?)?;
    module.add_function(wrap_pyfunction!(parts::write_part, module)?)?;
    module.add_function(wrap_pyfunction!(engine::text_type, module)?)?;
    module.add_function(wrap_pyfunction!(parts::add_keys, module)?)?;
    module.add_function(wrap_pyfunction!(parts::count_patients, module)?)?;
    module.add_function(wrap_pyfunction!(calls::anonymize_into, module)?)?;
    module.add_function(wrap_pyfunction!(calls::flatten, module)?)?;
    module.add_function(wrap_pyfunction!(calls::make_key, module)?)?;
    module.add_function(wrap_pyfunction!(calls::command, module)?)?;
    module.add_function(wrap_pyfunction!(settings::to_dict, module)?)?;
    module.add_function(wrap_pyfunction!(settings::to_toml, module)?)
}

//! Errors as Python's exceptions, one class for each kind. Their messages are those of the command line, and hold no
//! value of the data.

use kohort::{Error, Kind, Subject};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;

create_exception!(kohort, KohortError, PyException, "Kohort could not do what was asked; the base of all its errors.");
create_exception!(kohort, PolicyError, KohortError, "The policy or an argument is wrong: change it.");
create_exception!(kohort, DataError, KohortError, "The data cannot be read, or does not fit the policy.");
create_exception!(kohort, CannotBeMetError, KohortError, "No release of this data meets the policy.");
create_exception!(kohort, RefusedError, KohortError, "The verifier refused a release.");
create_exception!(kohort, MachineError, KohortError, "The machine failed: no memory, a full disk.");

/// An error of the library as an exception.
pub(crate) fn raised(error: &Error) -> PyErr {
    let message = error.message.clone();
    match error.kind {
        Kind::Yours if error.subject == Subject::Policy => PolicyError::new_err(message),
        Kind::Yours | Kind::Unaccepted => DataError::new_err(message),
        Kind::Infeasible => CannotBeMetError::new_err(message),
        Kind::Refused => RefusedError::new_err(message),
        Kind::Machine => MachineError::new_err(message),
        Kind::Cancelled => PyKeyboardInterrupt::new_err(message),
    }
}

/// Adds the classes to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("KohortError", py.get_type::<KohortError>())?;
    module.add("PolicyError", py.get_type::<PolicyError>())?;
    module.add("DataError", py.get_type::<DataError>())?;
    module.add("CannotBeMetError", py.get_type::<CannotBeMetError>())?;
    module.add("RefusedError", py.get_type::<RefusedError>())?;
    module.add("MachineError", py.get_type::<MachineError>())
}

//! Policies as Python's dictionaries, and back.

use crate::errors::{PolicyError, raised};
use kohort_core::policy::{Item, Section, Value};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// The name of a policy without a file in messages.
const NAME: &str = "the policy";

/// A policy's text as a dictionary.
#[pyfunction]
pub(crate) fn to_dict<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    section_to_dict(py, &Section::parse(NAME, text).map_err(|error| raised(&error))?)
}

/// A dictionary as the text of a policy.
#[pyfunction]
pub(crate) fn to_toml(settings: &Bound<'_, PyDict>) -> PyResult<String> {
    Ok(section(settings, NAME)?.to_toml())
}

fn section_to_dict<'py>(py: Python<'py>, section: &Section) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, item) in &section.entries {
        dict.set_item(key, value_to_object(py, &item.value)?)?;
    }
    Ok(dict)
}

fn value_to_object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Text(text) => text.into_pyobject(py)?.into_any(),
        Value::Flag(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Number(digits) => number(py, digits)?,
        Value::List(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(value_to_object(py, &item.value)?)?;
            }
            list.into_any()
        }
        Value::Section(own) => section_to_dict(py, own)?.into_any(),
        Value::Date => return Err(PolicyError::new_err("the policy holds a date, which no key takes.")),
    })
}

/// A whole number, a float that is written as it was, or else a decimal, which keeps every digit.
fn number<'py>(py: Python<'py>, digits: &str) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(whole) = digits.parse::<i64>() {
        return Ok(whole.into_pyobject(py)?.into_any());
    }
    match digits.parse::<f64>() {
        Ok(float) if float.to_string() == digits => Ok(PyFloat::new(py, float).into_any()),
        _ => py.import("decimal")?.getattr("Decimal")?.call1((digits.replace('_', ""),)),
    }
}

fn section(settings: &Bound<'_, PyDict>, name: &str) -> PyResult<Section> {
    let mut own = Section::empty(NAME, name);
    for (key, value) in settings.iter() {
        let Ok(key) = key.cast::<PyString>() else {
            return Err(PolicyError::new_err(format!("{name}: a key is not text.")));
        };
        let key = key.to_str()?.to_string();
        // A key without a value is not written.
        if !value.is_none() {
            let item = Item { value: object_to_value(&value, &key)?, line: 0 };
            own.entries.push((key, item));
        }
    }
    Ok(own)
}

fn object_to_value(object: &Bound<'_, PyAny>, key: &str) -> PyResult<Value> {
    if let Ok(flag) = object.cast::<PyBool>() {
        return Ok(Value::Flag(flag.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        return Ok(Value::Number(object.str()?.to_str()?.to_string()));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::Text(text.to_str()?.to_string()));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        return Ok(Value::Section(section(dict, key)?));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let items = object.try_iter()?.map(|item| Ok(Item { value: object_to_value(&item?, key)?, line: 0 }));
        return Ok(Value::List(items.collect::<PyResult<_>>()?));
    }
    // Floats, also those of other libraries, and decimals.
    if let Ok(float) = object.extract::<f64>() {
        let digits = match object.is_instance_of::<PyFloat>() {
            true => float.to_string(),
            false => object.str()?.to_str()?.to_string(),
        };
        // A flag of another library is a number, too, whose text is none.
        if float.is_finite() && digits.parse::<f64>().is_ok() {
            return Ok(Value::Number(digits));
        }
    }
    Err(PolicyError::new_err(format!("`{key}`: a policy takes text, numbers, True and False, lists and dictionaries.")))
}

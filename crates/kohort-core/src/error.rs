//! Errors: whose they are, where they are, what to do. Never a value of the data.

use std::fmt;

/// The kind of an error: who can correct it, or why there is no release. The command line turns each kind into one exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Your arguments, policy or data: exit code 2.
    Yours,
    /// The verifier refused a release: exit code 1.
    Refused,
    /// A released column outside every requirement is dangerous, and the policy does not accept it: exit code 2.
    Unaccepted,
    /// No release can meet the requirement on this data: exit code 3.
    Infeasible,
    /// Disk, memory, interrupted: exit code 4.
    Machine,
    /// The caller stopped the run: exit code 4.
    Cancelled,
}

/// The part of the input that an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The policy: it must be changed.
    Policy,
    /// Anything else: the data, the arguments, a release.
    Other,
}

/// Values of the data that an error is about. Printed only where the custodian asked for them
/// (`--show-values`): neither `Display` nor `Debug` shows them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Hidden(Vec<String>);

impl Hidden {
    /// Hides these values.
    pub fn new(values: Vec<String>) -> Self {
        Hidden(values)
    }

    /// The values themselves, for the custodian's own screen.
    pub fn reveal(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hidden({} values)", self.0.len())
    }
}

/// An error, with a message for the custodian.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Its kind.
    pub kind: Kind,
    /// The part of the input that it is about.
    pub subject: Subject,
    /// The message: what went wrong, where, and what to do. It holds no value of the data.
    pub message: String,
    /// The values it is about.
    pub values: Hidden,
}

/// The result of everything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    fn new(kind: Kind, message: impl Into<String>) -> Self {
        Error { kind, subject: Subject::Other, message: message.into(), values: Hidden::default() }
    }

    /// The arguments or the data are not as they should be.
    pub fn yours(message: impl Into<String>) -> Self {
        Error::new(Kind::Yours, message)
    }

    /// The policy is not as it should be.
    pub fn policy(message: impl Into<String>) -> Self {
        Error { subject: Subject::Policy, ..Error::new(Kind::Yours, message) }
    }

    /// The verifier does not let a release pass.
    pub fn refused(message: impl Into<String>) -> Self {
        Error::new(Kind::Refused, message)
    }

    /// The policy does not accept a danger of a released column.
    pub fn unaccepted(message: impl Into<String>) -> Self {
        Error::new(Kind::Unaccepted, message)
    }

    /// The requirement cannot be met on this data.
    pub fn infeasible(message: impl Into<String>) -> Self {
        Error::new(Kind::Infeasible, message)
    }

    /// The machine failed: a disk is full, the run was interrupted.
    pub fn machine(message: impl Into<String>) -> Self {
        Error::new(Kind::Machine, message)
    }

    /// The caller stopped the run.
    pub fn cancelled() -> Self {
        Error::new(Kind::Cancelled, "the run was cancelled. Nothing was published.")
    }

    /// An I/O error on a file: yours if it is not there or may not be read, else the machine's.
    pub fn io(path: &std::path::Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind as E;
        let kind = match error.kind() {
            E::NotFound | E::PermissionDenied | E::IsADirectory | E::NotADirectory | E::AlreadyExists => Kind::Yours,
            _ => Kind::Machine,
        };
        Error::new(kind, format!("{}: {}.", path.display(), plain(error)))
    }

    /// The same error with the values it is about, hidden.
    pub fn about(mut self, values: Vec<String>) -> Self {
        self.values = Hidden::new(values);
        self
    }
}

/// The system's words without its error number.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    text.trim_end_matches('.').to_string()
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

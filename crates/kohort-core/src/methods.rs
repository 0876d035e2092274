//! The names of the methods: a closed list, by which the verifier refuses a name that nobody knows. It decides nothing
//! else. The register of methods is made from the same lines, so that a new method has its folder and one line, here.

/// Calls a macro with the names of all methods, in the order of the manual. Each is the name of the method's folder
/// and its name in policies.
#[macro_export]
macro_rules! with_methods {
    ($list:ident) => {
        $list! {
            local,
            lattice,
            specialize,
            suppress,
            ceiling,
            disassociate,
            claims,
        }
    };
}

macro_rules! names {
    ($($name:ident,)*) => {
        /// The names of all methods, in the order of the manual.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

with_methods!(names);

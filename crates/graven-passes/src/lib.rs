//! Passes from program to program.

pub mod dce;
pub mod effects;
pub mod functionalize;

pub use functionalize::{FunctionalizeError, functionalize};

pub(crate) mod stub {
    pub(crate) mod shape {
        use graven_ir::*;
        use graven_ops::emit::*;
        pub(crate) fn infer(
            _c: &mut Context,
            operator: &str,
            _a: &[Arg<TensorMeta>],
            _k: &[(&str, Arg<TensorMeta>)],
        ) -> Result<Vec<TensorMeta>, EmitError> {
            Err(EmitError::NoShapeRule {
                operator: operator.to_owned(),
            })
        }
        pub(crate) fn returns_bool(p: &str) -> bool {
            matches!(
                p.trim_end_matches('_'),
                "eq" | "ne" | "lt" | "le" | "gt" | "ge"
            )
        }
    }
    pub(crate) mod composite {
        pub(crate) fn composite(_n: &str) -> Option<()> {
            None
        }
    }
}

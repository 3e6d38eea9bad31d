//! `as_strided`: geometry that counts from the storage.
//!
//! In eager mode the sizes, strides and offset of `as_strided` address the storage, whatever
//! tensor it is taken of. A chain therefore never holds `as_strided` behind another view: it is
//! taken of the base. The recorded base has its own place for element 0, and after a write it
//! may have other strides than the program gives it; [`Machine::storage_order`] brings it back.

use graven_ir::{
    Argument, ArgumentKind, DType, Input, MemoryFormat, NodeId, SymInt, TargetId, TensorMeta, TensorMetaId, Value,
};
use graven_ops::emit::{Arg, Emit as _};

use super::emit::Pure;
use super::error::{FunctionalizeError, Problem};
use super::machine::{Machine, StorageId, TensorId};
use super::view::{View, ViewCall, ViewId};

impl Machine<'_> {
    /// The chain entry for `as_strided` of `of`, which was recorded with `inputs`.
    pub(crate) fn as_strided_of(
        &mut self,
        target: TargetId,
        of: TensorId,
        inputs: &[Input],
        meta: TensorMetaId,
    ) -> Result<ViewId, FunctionalizeError> {
        let inputs = if self.is_base(of) {
            inputs.to_vec()
        } else {
            self.with_offset(inputs, self.context.meta(meta).storage_offset)?
        };
        Ok(self.push_view(View {
            parent: None,
            call: ViewCall { target, inputs: inputs.into(), base: 0 },
            inverse_inputs: None,
            inverse: graven_ops::catalogue::view::inverse("aten::as_strided"),
            meta,
        }))
    }

    /// The inputs of an `as_strided` call with the offset given.
    fn with_offset(&mut self, inputs: &[Input], offset: SymInt) -> Result<Vec<Input>, FunctionalizeError> {
        let mut inputs: Vec<Input> = inputs.iter().take(3).cloned().collect();
        let argument = self.argument_of(&Arg::Int(offset), &graven_ir::schema::SchemaType::SymInt)?;
        let name = self.context.names.intern("storage_offset");
        inputs.push(Input { name, kind: ArgumentKind::Positional, argument });
        Ok(inputs)
    }
}

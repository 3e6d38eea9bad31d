use super::error::FunctionalizeError;
use super::machine::*;
use graven_ir::*;
use graven_ops::OperatorId;
impl Machine<'_> {
    pub(crate) fn call_composite(
        &mut self,
        _o: OperatorId,
        _t: TargetId,
        _i: Vec<CallInput>,
        _r: Option<&Value>,
    ) -> Result<Binding, FunctionalizeError> {
        unreachable!()
    }
}

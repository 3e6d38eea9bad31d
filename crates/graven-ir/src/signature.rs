//! The graph signature: what each input and output of the graph stands for.

use crate::argument::Argument;
use crate::names::NameId;

/// What an input is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InputKind {
    /// An argument of the call.
    UserInput,
    /// A parameter of the module.
    Parameter,
    /// A buffer of the module.
    Buffer,
    /// A tensor that the program holds as a constant.
    ConstantTensor,
    /// A script object.
    CustomObj,
    /// An effect token.
    Token,
}

/// What an output is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OutputKind {
    /// A result of the call.
    UserOutput,
    /// The loss of a joint graph.
    LossOutput,
    /// The new value of a buffer.
    BufferMutation,
    /// The new value of a parameter.
    ParameterMutation,
    /// The new value of an argument of the call.
    UserInputMutation,
    /// The gradient of a parameter.
    GradientToParameter,
    /// The gradient of an argument of the call.
    GradientToUserInput,
    /// An effect token.
    Token,
}

/// What one placeholder stands for; the n-th spec belongs to the n-th placeholder.
#[derive(Clone, PartialEq, Debug)]
pub struct InputSpec {
    /// What it is.
    pub kind: InputKind,
    /// The dotted name of a parameter, buffer, constant or object.
    pub target: Option<NameId>,
    /// Whether a buffer is part of the state dict; `None` for all others.
    pub persistent: Option<bool>,
    /// The value of an input that is not a tensor and was fixed by the export.
    pub constant: Option<Argument>,
}

/// What one output stands for; the n-th spec belongs to the n-th output of the graph.
#[derive(Clone, PartialEq, Debug)]
pub struct OutputSpec {
    /// What it is.
    pub kind: OutputKind,
    /// The dotted name of the parameter or buffer, or the placeholder's name of a user input.
    pub target: Option<NameId>,
}

/// What each input and output of the graph stands for.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GraphSignature {
    /// One per placeholder, in order.
    pub inputs: Vec<InputSpec>,
    /// One per output, in order: tokens, mutations, then the user outputs.
    pub outputs: Vec<OutputSpec>,
}

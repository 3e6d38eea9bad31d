//! The verifier's rules.

use crate::signature::{InputKind, OutputKind};

/// How a rule is broken. Each variant is one rule; [`Violation::code`] is its lasting name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    // Graphs.
    /// Names are unique in a graph.
    #[error("another node has the same name")]
    DuplicateName,
    /// A node refers only to nodes before it.
    #[error("argument refers to `{value}`, which is not defined before it")]
    Undefined {
        /// The node that is referred to.
        value: String,
    },
    /// Placeholders come before all other nodes.
    #[error("placeholder stands behind other nodes")]
    LatePlaceholder,
    /// Placeholders and nested graphs take no arguments; `getitem` takes one node.
    #[error("a node of this kind takes {expected}, found {found} arguments")]
    ArgumentCount {
        /// What it takes.
        expected: &'static str,
        /// How many arguments it has.
        found: usize,
    },
    /// Positional arguments come first, and keyword arguments have a name each.
    #[error("argument {position} {problem}")]
    ArgumentOrder {
        /// Its position among all arguments.
        position: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A `getitem` reads one of the results that there are.
    #[error("reads result {index} of `{source_node}`, which has {}", Results(*.results))]
    GetItemIndex {
        /// The index.
        index: u32,
        /// The node that it reads from.
        source_node: String,
        /// How many results that has; `None` when it is not a node with several results.
        results: Option<usize>,
    },
    /// A `getitem`'s value is the one that its source records at the index.
    #[error("its recorded value is not that of result {index} of `{source_node}`")]
    GetItemValue {
        /// The index.
        index: u32,
        /// The node that it reads from.
        source_node: String,
    },
    /// A nested graph that a node refers to exists.
    #[error("refers to nested graph {index} of {count}")]
    MissingGraph {
        /// Its position.
        index: u32,
        /// How many there are.
        count: usize,
    },
    /// Nested graphs of one graph have different names.
    #[error("two nested graphs are called `{name}`")]
    DuplicateGraph {
        /// The name.
        name: String,
    },
    /// A graph returns nodes that exist.
    #[error("output {position} refers to a node that does not exist")]
    UndefinedOutput {
        /// Its position among the outputs.
        position: usize,
    },
    /// Only a single output is returned bare.
    #[error("{outputs} outputs cannot be returned without a tuple")]
    BareOutputs {
        /// How many there are.
        outputs: usize,
    },

    // Nested graphs and the operator that calls them.
    /// A nested graph has a placeholder for each value that it is called with.
    #[error("passes {operands} values to `{graph}`, which takes {placeholders}")]
    OperandCount {
        /// The nested graph.
        graph: String,
        /// How many values the call passes.
        operands: usize,
        /// How many the graph takes.
        placeholders: usize,
    },
    /// A call has as many results as the nested graph returns.
    #[error("has {results} results, but `{graph}` returns {outputs}")]
    ResultCount {
        /// The nested graph.
        graph: String,
        /// How many results the call has.
        results: usize,
        /// How many values the graph returns.
        outputs: usize,
    },

    // The signature.
    /// The signature describes each placeholder.
    #[error("the signature has {specs} inputs, the graph {placeholders} placeholders")]
    InputCount {
        /// Inputs of the signature.
        specs: usize,
        /// Placeholders of the graph.
        placeholders: usize,
    },
    /// The signature describes each output.
    #[error("the signature has {specs} outputs, the graph returns {outputs}")]
    OutputCount {
        /// Outputs of the signature.
        specs: usize,
        /// What the graph returns.
        outputs: usize,
    },
    /// A placeholder's value is of the kind that the signature says.
    #[error("{} cannot be {found}", .kind.torch_name())]
    InputValue {
        /// What the signature says.
        kind: InputKind,
        /// What the placeholder is.
        found: &'static str,
    },
    /// Inputs and outputs that stand for something else name it, and no others do.
    #[error("{kind} {problem}")]
    Target {
        /// The kind of the input or output, as torch calls it.
        kind: &'static str,
        /// What is wrong.
        problem: &'static str,
    },
    /// Buffers, and only buffers, are persistent or not.
    #[error("{} {problem}", .kind.torch_name())]
    Persistence {
        /// The kind of the input.
        kind: InputKind,
        /// What is wrong.
        problem: &'static str,
    },
    /// Inputs that have one target, as parameters that are shared under two names may, agree on
    /// what it is.
    #[error("another input with the target `{target}` has another {property}")]
    DifferentInputs {
        /// The target.
        target: String,
        /// Kind, dtype or shape.
        property: &'static str,
    },
    /// Parameters, buffers and constants are in the state.
    #[error("{} `{target}` is not in the state", .kind.torch_name())]
    MissingState {
        /// The kind of the input.
        kind: InputKind,
        /// The target.
        target: String,
    },
    /// A tensor of the state has the dtype and shape of its placeholder.
    #[error("`{target}` has another {property} in the state")]
    StateMismatch {
        /// The target.
        target: String,
        /// Dtype or shape.
        property: &'static str,
    },
    /// A mutation's target is an input of the right kind.
    #[error("{} of `{target}`, which is no such input", .kind.torch_name())]
    MutationTarget {
        /// The kind of the output.
        kind: OutputKind,
        /// The target.
        target: String,
    },
    /// An input has one mutation at most.
    #[error("`{target}` has two mutations")]
    DuplicateMutation {
        /// The target.
        target: String,
    },
    /// Outputs stand in torch's order: tokens, mutations in the order of the inputs, the rest.
    #[error("output {position}, {}, is out of order", .kind.torch_name())]
    OutputOrder {
        /// Its position among the outputs.
        position: usize,
        /// Its kind.
        kind: OutputKind,
    },
    /// What a mutation or a token returns is the value of a node.
    #[error("output {position}, {}, is no node's value", .kind.torch_name())]
    ConstantOutput {
        /// Its position among the outputs.
        position: usize,
        /// Its kind.
        kind: OutputKind,
    },
    /// The value of a mutation has the dtype and shape of its target.
    #[error("the new value of `{target}` has another {property}")]
    MutationValue {
        /// The target.
        target: String,
        /// Dtype or shape.
        property: &'static str,
    },
    /// Two mutations of one kind return two nodes: torch looks a mutation up by its value, and
    /// refuses a program in which it finds fewer than it counts.
    #[error("the value of `{first}` is also that of `{second}`")]
    SharedMutationValue {
        /// The target of one mutation.
        first: String,
        /// The target of the other.
        second: String,
    },
    /// As many tokens go in as come out.
    #[error("{inputs} tokens go in and {outputs} come out")]
    TokenCount {
        /// Token inputs.
        inputs: usize,
        /// Token outputs.
        outputs: usize,
    },
    /// A metadata mutation is one of a tensor input.
    #[error("a metadata mutation of what is no tensor input")]
    MetadataMutationInput,

    // Functional programs.
    /// No operator writes to an argument.
    #[error("`{operator}` writes to an argument")]
    Write {
        /// The operator.
        operator: String,
    },
}

/// How many results a node has.
struct Results(Option<usize>);

impl std::fmt::Display for Results {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(results) => write!(f, "{results}"),
            None => f.write_str("a single value"),
        }
    }
}

impl Violation {
    /// The rule's code. Codes are never given to another rule.
    pub fn code(&self) -> &'static str {
        match self {
            Self::DuplicateName => "V101",
            Self::Undefined { .. } => "V102",
            Self::LatePlaceholder => "V103",
            Self::ArgumentCount { .. } => "V104",
            Self::ArgumentOrder { .. } => "V105",
            Self::GetItemIndex { .. } => "V106",
            Self::GetItemValue { .. } => "V107",
            Self::MissingGraph { .. } => "V108",
            Self::DuplicateGraph { .. } => "V109",
            Self::UndefinedOutput { .. } => "V110",
            Self::BareOutputs { .. } => "V111",
            Self::OperandCount { .. } => "V201",
            Self::ResultCount { .. } => "V202",
            Self::InputCount { .. } => "V301",
            Self::OutputCount { .. } => "V302",
            Self::InputValue { .. } => "V303",
            Self::Target { .. } => "V304",
            Self::Persistence { .. } => "V305",
            Self::DifferentInputs { .. } => "V306",
            Self::MissingState { .. } => "V307",
            Self::StateMismatch { .. } => "V308",
            Self::MutationTarget { .. } => "V309",
            Self::DuplicateMutation { .. } => "V310",
            Self::OutputOrder { .. } => "V311",
            Self::ConstantOutput { .. } => "V312",
            Self::MutationValue { .. } => "V313",
            Self::TokenCount { .. } => "V314",
            Self::MetadataMutationInput => "V315",
            Self::SharedMutationValue { .. } => "V316",
            Self::Write { .. } => "V401",
        }
    }
}

//! The order of placeholders in a functional program.
//!
//! torch retraces the program through a module that holds the state: parameters and buffers are
//! hung into a tree of modules in the order of the raw signature, and then listed module by
//! module. A module that is first met through a buffer so comes after those that were met
//! through parameters, and constants stand among the buffers of their module.

use graven_ir::{Context, ExportedProgram, InputKind, InputSpec};
use indexmap::IndexMap;

/// A module of the tree: the signature positions of its own entries, then its children.
#[derive(Default)]
struct Module {
    parameters: Vec<usize>,
    buffers: Vec<usize>,
    children: IndexMap<Box<str>, usize>,
}

/// For each placeholder of the functional program the position that it has in the raw one.
pub(crate) fn placeholder_order(context: &Context, program: &ExportedProgram) -> Vec<usize> {
    let specs = &program.signature.inputs;
    let mut modules = vec![Module::default()];
    for (position, spec) in specs.iter().enumerate() {
        hang(&mut modules, context, spec, position);
    }
    let (mut parameters, mut buffers): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut pending = vec![0_usize];
    while let Some(index) = pending.pop() {
        let module = &modules[index];
        parameters.extend(&module.parameters);
        buffers.extend(&module.buffers);
        pending.extend(module.children.values().rev());
    }
    let of_kind = |kinds: &'static [InputKind]| {
        specs
            .iter()
            .enumerate()
            .filter(move |(_, spec)| kinds.contains(&spec.kind))
            .map(|(position, _)| position)
    };
    let mut order: Vec<usize> = of_kind(&[InputKind::Token]).collect();
    order.extend(parameters);
    order.extend(buffers);
    order.extend(of_kind(&[InputKind::CustomObj]));
    order.extend(of_kind(&[InputKind::UserInput]));
    order
}

fn hang(modules: &mut Vec<Module>, context: &Context, spec: &InputSpec, position: usize) {
    let is_parameter = match spec.kind {
        InputKind::Parameter => true,
        InputKind::Buffer | InputKind::ConstantTensor => false,
        _ => return,
    };
    let name = spec.target.map_or("", |target| context.names.get(target));
    let mut current = 0;
    let mut parts = name.split('.').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            break;
        }
        current = match modules[current].children.get(part) {
            Some(&child) => child,
            None => {
                modules.push(Module::default());
                let child = modules.len() - 1;
                modules[current].children.insert(part.into(), child);
                child
            }
        };
    }
    let module = &mut modules[current];
    if is_parameter {
        module.parameters.push(position)
    } else {
        module.buffers.push(position)
    }
}

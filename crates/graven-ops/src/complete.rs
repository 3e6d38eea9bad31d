//! What a program that was read from text lacks, and the schemas of its operators tell: the
//! names of positional arguments, which form a list has, whether a word of the listing is a
//! string or a device, and whether several results are a list or a tuple.

use graven_ir::schema::{Schema, SchemaType};
use graven_ir::{
    Argument, ArgumentKind, Context, Device, ExportedProgram, Graph, ListKind, Node, Op, Value,
};

use crate::registry::Registry;
use crate::target::{SymbolicFunction, TargetKind};

/// Completes all calls of operators that are in `registry`, nested graphs included. Calls of
/// others stay as they are.
pub fn complete_from_schemas(program: &mut ExportedProgram, registry: &Registry) {
    let ExportedProgram { context, graph, .. } = program;
    let mut graphs: Vec<&mut Graph> = vec![graph];
    while let Some(graph) = graphs.pop() {
        for node in &mut graph.nodes {
            let Op::Call(target) = node.op else { continue };
            match registry.classify(context.target_name(target)) {
                TargetKind::Operator(operator) => {
                    let operator = registry.operator(operator);
                    if operator.signature_is_known() {
                        complete_call(context, node, operator.schema());
                    }
                }
                TargetKind::Symbolic(function) => name_operands(context, node, function),
                TargetKind::HigherOrder(_) | TargetKind::Unknown => {}
            }
        }
        graphs.extend(graph.graphs.iter_mut().map(|nested| &mut nested.graph));
    }
}

fn complete_call(context: &mut Context, node: &mut Node, schema: &Schema) {
    for (position, input) in node.inputs.iter_mut().enumerate() {
        let declared = match input.kind {
            ArgumentKind::Positional => Some(position),
            ArgumentKind::Keyword => schema.argument(context.names.get(input.name)),
        };
        // A call that does not fit its schema is for the verifier to tell.
        let Some(declared) = declared.and_then(|index| schema.arguments.get(index)) else {
            continue;
        };
        if input.kind == ArgumentKind::Positional {
            input.name = context.names.intern(&declared.name);
        }
        complete_argument(context, &mut input.argument, &declared.ty);
    }
    if let (Value::Tuple(items), [result]) = (&mut node.value, &*schema.returns)
        && matches!(result.ty, SchemaType::List(..))
    {
        node.value = Value::List(std::mem::take(items));
    }
}

fn name_operands(context: &mut Context, node: &mut Node, function: SymbolicFunction) {
    for (input, name) in node.inputs.iter_mut().zip(function.argument_names()) {
        input.name = context.names.intern(name);
    }
}

fn complete_argument(context: &mut Context, argument: &mut Argument, ty: &SchemaType) {
    let ty = required(ty);
    match (&mut *argument, ty) {
        (Argument::List(kind, items), SchemaType::List(element, _)) => {
            if let Some(declared) = list_kind(element, items) {
                *kind = declared;
            }
        }
        (Argument::Device(device), SchemaType::Str) => {
            let text = device_text(context, *device);
            *argument = Argument::String(context.names.intern(&text));
        }
        (Argument::String(text), SchemaType::Device) => {
            let text = context.names.get(*text).to_owned();
            if let Some(device) = device_of_text(context, &text) {
                *argument = Argument::Device(device);
            }
        }
        _ => {}
    }
}

/// The type without `?`.
fn required(ty: &SchemaType) -> &SchemaType {
    match ty {
        SchemaType::Optional(inner) => inner,
        ty => ty,
    }
}

/// The archive's form of a list of this type; `None` where the elements alone tell.
fn list_kind(element: &SchemaType, items: &[Argument]) -> Option<ListKind> {
    let has_nodes = items.iter().any(|item| item.as_node().is_some());
    let has_none = items.contains(&Argument::None);
    Some(match required(element) {
        SchemaType::Tensor if has_none => ListKind::OptionalTensors,
        SchemaType::Tensor => ListKind::Tensors,
        SchemaType::Int | SchemaType::SymInt if has_nodes => ListKind::SymInts,
        SchemaType::Int | SchemaType::SymInt => ListKind::Ints,
        SchemaType::Float | SchemaType::SymFloat if has_nodes => ListKind::SymFloats,
        SchemaType::Float | SchemaType::SymFloat => ListKind::Floats,
        SchemaType::Bool | SchemaType::SymBool if has_nodes => ListKind::SymBools,
        SchemaType::Bool | SchemaType::SymBool => ListKind::Bools,
        SchemaType::Str => ListKind::Strings,
        _ => return None,
    })
}

fn device_text(context: &Context, device: Device) -> String {
    let kind = context.names.get(device.kind);
    match device.index {
        Some(index) => format!("{kind}:{index}"),
        None => kind.to_owned(),
    }
}

fn device_of_text(context: &mut Context, text: &str) -> Option<Device> {
    let (kind, index) = match text.split_once(':') {
        Some((kind, index)) => (kind, Some(index.parse().ok()?)),
        None => (text, None),
    };
    let kind = context.names.intern(kind);
    Some(Device { kind, index })
}

#[cfg(test)]
mod tests {
    use graven_ir::text;

    use super::*;

    #[test]
    fn schemas_complete_what_text_lacks() {
        let mut program = text::parse_fx(
            "graph():
    %x : [num_users=2] = placeholder[target=x]
    %split : [num_users=1] = call_function[target=torch.ops.aten.split.Tensor](args = (%x, 2), kwargs = {})
    %getitem : [num_users=1] = call_function[target=operator.getitem](args = (%split, 0), kwargs = {})
    %div : [num_users=0] = call_function[target=torch.ops.aten.div.Tensor_mode](args = (%x, %getitem), kwargs = {rounding_mode: cpu})
    %zeros : [num_users=0] = call_function[target=torch.ops.aten.zeros.default](args = ([],), kwargs = {device: tpu})
    return ()
",
        )
        .unwrap();
        complete_from_schemas(&mut program, &Registry::aten());
        let ExportedProgram { context, graph, .. } = &program;
        let names = |node: &Node| -> Vec<String> {
            let names = node
                .inputs
                .iter()
                .map(|input| context.names.get(input.name));
            names.map(str::to_owned).collect()
        };
        assert_eq!(names(&graph.nodes[1]), ["self", "split_size"]);
        assert!(matches!(graph.nodes[1].value, Value::List(_)));
        assert_eq!(names(&graph.nodes[3]), ["self", "other", "rounding_mode"]);
        assert!(matches!(
            graph.nodes[3].inputs[2].argument,
            Argument::String(_)
        ));
        let zeros = &graph.nodes[4].inputs;
        assert!(matches!(
            zeros[0].argument,
            Argument::List(ListKind::Ints, _)
        ));
        assert!(matches!(zeros[1].argument, Argument::Device(_)));
    }
}

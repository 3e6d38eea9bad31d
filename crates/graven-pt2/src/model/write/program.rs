//! Writing an `ExportedProgram`.

use std::io::Write;

use graven_ir::{
    Argument, Context, ExportedProgram, InputKind, InputSpec, NameId, Node, OutputKind,
    SchemaVersion, Value,
};
use serde_json::value::RawValue;

use super::graph::GraphWriter;
use crate::error::Pt2Error;
use crate::json_out::JsonOut;

/// The schema version of programs that come from nowhere else, or from an older format.
const WRITTEN_VERSION: SchemaVersion = SchemaVersion {
    major: 8,
    minor: 20,
};

/// Writes the text of `model.json`; `path` is what errors call it.
pub(crate) fn write_program(
    program: &ExportedProgram,
    sink: &mut dyn Write,
    path: &str,
) -> Result<(), Pt2Error> {
    let mut out = JsonOut::to(sink);
    out.open_object();
    out.key("graph_module");
    let mut out = graph_module(out, program)?;
    let names = &program.context.names;

    out.key("opset_version");
    out.open_object();
    for (name, version) in &program.opset_version {
        out.int_field(names.get(*name), *version);
    }
    out.close_object();
    out.key("range_constraints");
    out.open_object();
    for range in &program.range_constraints {
        out.key(names.get(range.symbol));
        out.open_object();
        optional_int(&mut out, "min_val", range.min);
        optional_int(&mut out, "max_val", range.max);
        out.close_object();
    }
    out.close_object();
    let version = program
        .schema_version
        .filter(|version| version.major == WRITTEN_VERSION.major)
        .unwrap_or(WRITTEN_VERSION);
    out.key("schema_version");
    out.open_object();
    out.int_field("major", i64::from(version.major));
    out.int_field("minor", i64::from(version.minor));
    out.close_object();
    string_list(&mut out, &program.context, "verifiers", &program.verifiers);
    if let Some(version) = program.torch_version {
        out.string_field("torch_version", names.get(version));
    }
    string_list(
        &mut out,
        &program.context,
        "guards_code",
        &program.guards_code,
    );
    raw_fields(&mut out, &program.context, &program.unknown_fields)?;
    out.close_object();
    out.finish().map_err(|source| Pt2Error::WriteEntry {
        path: path.to_owned(),
        source,
    })?;
    Ok(())
}

fn graph_module<'a>(
    mut out: JsonOut<'a>,
    program: &'a ExportedProgram,
) -> Result<JsonOut<'a>, Pt2Error> {
    let context = &program.context;
    let constants = program
        .signature
        .inputs
        .iter()
        .map(|spec| spec.constant.as_ref())
        .collect();
    out.open_object();
    out.key("graph");
    let mut writer = GraphWriter::new(out, context, &program.graph, constants);
    writer.write()?;
    writer.out.key("signature");
    signature(&mut writer, program)?;
    let mut out = writer.out;
    out.key("module_call_graph");
    match program.module_call_graph {
        Some(text) => raw(&mut out, context, "module_call_graph", text)?,
        None => out.raw("[]"),
    }
    raw_fields(&mut out, context, &program.graph_module_fields)?;
    out.close_object();
    Ok(out)
}

fn optional_int(out: &mut JsonOut<'_>, key: &str, value: Option<i64>) {
    out.key(key);
    match value {
        Some(value) => out.int(value),
        None => out.null(),
    }
}

fn string_list(out: &mut JsonOut<'_>, context: &Context, key: &str, items: &[NameId]) {
    out.key(key);
    out.open_list();
    for item in items {
        out.string(context.names.get(*item));
    }
    out.close_list();
}

fn raw_fields(
    out: &mut JsonOut<'_>,
    context: &Context,
    fields: &[(NameId, NameId)],
) -> Result<(), Pt2Error> {
    for (key, text) in fields {
        let key = context.names.get(*key);
        out.key(key);
        raw(out, context, key, *text)?;
    }
    Ok(())
}

/// Text that should be JSON: a program can come from elsewhere than an archive.
fn raw(out: &mut JsonOut<'_>, context: &Context, key: &str, text: NameId) -> Result<(), Pt2Error> {
    let text = context.names.get(text);
    let json: &RawValue = serde_json::from_str(text).map_err(|source| Pt2Error::NotJson {
        field: key.to_owned(),
        source,
    })?;
    out.raw(json.get());
    Ok(())
}

// ---- the signature ----

fn signature(writer: &mut GraphWriter<'_>, program: &ExportedProgram) -> Result<(), Pt2Error> {
    let graph = &program.graph;
    let placeholders = graph.placeholders().count();
    check_length("inputs", program.signature.inputs.len(), placeholders)?;
    check_length(
        "outputs",
        program.signature.outputs.len(),
        graph.outputs.len(),
    )?;
    writer.out.open_object();
    writer.out.key("input_specs");
    writer.out.open_list();
    for (spec, (id, node)) in program.signature.inputs.iter().zip(graph.placeholders()) {
        match &spec.constant {
            Some(constant) => constant_spec(writer, node, constant)?,
            None => input_spec(writer, spec, &Argument::Node(id), node)?,
        }
    }
    writer.out.close_list();
    writer.out.key("output_specs");
    writer.out.open_list();
    for (spec, output) in program.signature.outputs.iter().zip(&graph.outputs) {
        let (tag, target_field) = output_form(spec.kind);
        writer.out.open_object();
        writer.out.key(tag);
        writer.out.open_object();
        writer.out.key("arg");
        if spec.kind == OutputKind::UserOutput {
            writer.argument(output, |_| "the output".to_owned())?;
        } else {
            bare_argument(writer, output)?;
        }
        target(writer, target_field, spec.target);
        writer.out.close_object();
        writer.out.close_object();
    }
    writer.out.close_list();
    writer.out.close_object();
    Ok(())
}

fn check_length(what: &'static str, signature: usize, graph: usize) -> Result<(), Pt2Error> {
    if signature == graph {
        return Ok(());
    }
    Err(Pt2Error::SignatureLength {
        what,
        signature,
        graph,
    })
}

/// The tag of an output spec, and the field that names its target.
fn output_form(kind: OutputKind) -> (&'static str, &'static str) {
    match kind {
        OutputKind::UserOutput => ("user_output", ""),
        OutputKind::LossOutput => ("loss_output", ""),
        OutputKind::BufferMutation => ("buffer_mutation", "buffer_name"),
        OutputKind::ParameterMutation => ("parameter_mutation", "parameter_name"),
        OutputKind::UserInputMutation => ("user_input_mutation", "user_input_name"),
        OutputKind::GradientToParameter => ("gradient_to_parameter", "parameter_name"),
        OutputKind::GradientToUserInput => ("gradient_to_user_input", "user_input_name"),
        OutputKind::Token => ("token", ""),
    }
}

fn input_spec(
    writer: &mut GraphWriter<'_>,
    spec: &InputSpec,
    argument: &Argument,
    node: &Node,
) -> Result<(), Pt2Error> {
    let (tag, target_field) = match spec.kind {
        InputKind::UserInput => ("user_input", ""),
        InputKind::Parameter => ("parameter", "parameter_name"),
        InputKind::Buffer => ("buffer", "buffer_name"),
        InputKind::ConstantTensor => ("tensor_constant", "tensor_constant_name"),
        InputKind::CustomObj => ("custom_obj", "custom_obj_name"),
        InputKind::Token => ("token", ""),
    };
    writer.out.open_object();
    writer.out.key(tag);
    writer.out.open_object();
    writer.out.key("arg");
    match spec.kind {
        InputKind::UserInput => writer.argument(argument, |_| "an input".to_owned())?,
        InputKind::CustomObj => {
            let class = match node.value {
                Value::CustomObject(class) => class,
                _ => node.name,
            };
            let names = &writer.context.names;
            let (name, class) = (names.get(node.name), names.get(class));
            super::argument::custom_object(&mut writer.out, name, class);
        }
        _ => bare_argument(writer, argument)?,
    }
    target(writer, target_field, spec.target);
    if spec.kind == InputKind::Buffer {
        writer
            .out
            .bool_field("persistent", spec.persistent.unwrap_or(true));
    }
    writer.out.close_object();
    writer.out.close_object();
    Ok(())
}

fn constant_spec(
    writer: &mut GraphWriter<'_>,
    node: &Node,
    constant: &Argument,
) -> Result<(), Pt2Error> {
    let name = writer.archive_name(node.name);
    let name = writer.context.names.get(name);
    writer.out.open_object();
    writer.out.key("constant_input");
    writer.out.open_object();
    writer.out.string_field("name", name);
    writer.out.key("value");
    writer.argument(constant, |_| "an input".to_owned())?;
    writer.out.close_object();
    writer.out.close_object();
    Ok(())
}

/// An object that has only the name of a value.
fn bare_argument(writer: &mut GraphWriter<'_>, argument: &Argument) -> Result<(), Pt2Error> {
    let node = argument.as_node().ok_or_else(|| Pt2Error::ArgumentForm {
        user: "the signature".to_owned(),
        form: "a constant where a node's value has to be",
    })?;
    let name = writer.context.names.get(writer.name(node));
    writer.out.open_object();
    writer.out.string_field("name", name);
    writer.out.close_object();
    Ok(())
}

fn target(writer: &mut GraphWriter<'_>, field: &str, target: Option<NameId>) {
    if !field.is_empty() {
        let name = target.map_or("", |target| writer.context.names.get(target));
        writer.out.string_field(field, name);
    }
}

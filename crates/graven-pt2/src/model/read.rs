//! From the text of `model.json` to a program.

use graven_ir::{
    Argument, Context, ExportedProgram, Graph, GraphSignature, InputKind, InputSpec, NameId,
    OutputSpec, SchemaVersion, Value,
};
use graven_ops::Registry;
use serde::Deserialize;
use serde::de::DeserializeSeed;

use super::bare_floats::quote_bare_floats;
use super::program::{ProgramParts, ProgramReader};
use super::progress::Progress;
use super::resolve::{Place, Setting, resolve};
use super::signature::{SignatureParts, SpecArgument};
use super::slots::NameTable;
use crate::archive::Entry;
use crate::error::Pt2Error;
use crate::json::Object;

/// The greatest major schema version that is understood, and the least.
pub(crate) const NEWEST_MAJOR: u32 = 8;
const OLDEST_MAJOR: u32 = 7;

/// Reads the program that `entry` holds; `path` is what errors call it. `registry` knows the
/// operators' schemas, where the program is too old to say how arguments are given.
pub(crate) fn read_program(
    entry: &Entry,
    path: &str,
    registry: &Registry,
) -> Result<ExportedProgram, Pt2Error> {
    let original = entry.text(path)?;
    let progress = Progress::new(entry.content());
    let quoted;
    let mut text = original;
    let mut parsed = parse(text, &progress);
    if parsed.as_ref().is_err_and(serde_json::Error::is_syntax)
        && let Some(without) = quote_bare_floats(original)
    {
        quoted = without;
        text = &quoted;
        parsed = parse(text, &progress);
    }
    let parts = match parsed {
        Ok(parts) => parts,
        Err(source) => {
            // A later format may differ anywhere; say that first.
            if let Ok(header) = serde_json::from_str::<Header>(text) {
                header.check()?;
            }
            let path = path.to_owned();
            return Err(Pt2Error::Json { path, source });
        }
    };
    let ProgramParts {
        mut program,
        graph,
        signature,
    } = parts;
    let torch_version = program
        .torch_version
        .map(|name| program.context.names.get(name).to_owned());
    if let Some(version) = program.schema_version {
        check_version(version, torch_version)?;
    }
    let constant_names: Vec<_> = signature
        .inputs
        .iter()
        .map(|spec| match spec.argument {
            SpecArgument::Value(name) => Some(name),
            SpecArgument::Constant(name, _) => name,
        })
        .collect();
    program.graph = resolve(
        &mut program.context,
        graph,
        Setting {
            registry,
            constant_names: &constant_names,
            place: Place::Top,
        },
        &mut NameTable::default(),
    )?;
    program.signature = resolve_signature(&program.context, &program.graph, signature)?;
    Ok(program)
}

fn parse(text: &str, progress: &Progress<'_>) -> Result<ProgramParts, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let parts = Object(ProgramReader::new(progress)).deserialize(&mut deserializer)?;
    deserializer.end()?;
    progress.done();
    Ok(parts)
}

/// What says which format a program has.
#[derive(Deserialize)]
struct Header {
    schema_version: HeaderVersion,
    torch_version: Option<String>,
}

#[derive(Deserialize)]
struct HeaderVersion {
    major: u32,
    minor: u32,
}

impl Header {
    fn check(self) -> Result<(), Pt2Error> {
        let version = SchemaVersion {
            major: self.schema_version.major,
            minor: self.schema_version.minor,
        };
        check_version(version, self.torch_version)
    }
}

/// A later minor version only adds fields, which are kept; a later major one may be anything.
fn check_version(version: SchemaVersion, torch_version: Option<String>) -> Result<(), Pt2Error> {
    if version.major > NEWEST_MAJOR {
        return Err(Pt2Error::NewerSchema {
            found_major: version.major,
            found_minor: version.minor,
            torch_version,
            supported_major: NEWEST_MAJOR,
        });
    }
    if version.major < OLDEST_MAJOR {
        return Err(Pt2Error::OlderSchema {
            found_major: version.major,
            found_minor: version.minor,
            torch_version,
            supported_major: NEWEST_MAJOR,
        });
    }
    Ok(())
}

/// The signature, checked against the graph that it speaks of.
fn resolve_signature(
    context: &Context,
    graph: &Graph,
    parts: SignatureParts,
) -> Result<GraphSignature, Pt2Error> {
    let placeholders: Vec<_> = graph.placeholders().map(|(_, node)| node).collect();
    check_length("inputs", parts.inputs.len(), placeholders.len())?;
    check_length("outputs", parts.outputs.len(), graph.outputs.len())?;
    let mismatch =
        |what, position, signature: NameId, graph: Option<NameId>| Pt2Error::SignatureName {
            what,
            position,
            signature: context.names.get(signature).to_owned(),
            graph: graph
                .map_or("a constant", |name| context.names.get(name))
                .to_owned(),
        };
    let mut signature = GraphSignature::default();
    for (position, (spec, placeholder)) in parts.inputs.into_iter().zip(placeholders).enumerate() {
        let constant = match spec.argument {
            SpecArgument::Value(name) => {
                let is_constant = placeholder.value == Value::Constant;
                if is_constant || name != placeholder.name {
                    let actual = (!is_constant).then_some(placeholder.name);
                    return Err(mismatch("input", position, name, actual));
                }
                None
            }
            SpecArgument::Constant(..) if placeholder.value != Value::Constant => {
                return Err(Pt2Error::InputForm { position });
            }
            SpecArgument::Constant(_, constant) => Some(constant),
        };
        signature.inputs.push(InputSpec {
            kind: spec.kind,
            target: spec.target,
            persistent: match spec.kind {
                InputKind::Buffer => Some(spec.persistent.unwrap_or(true)),
                _ => None,
            },
            constant,
        });
    }
    for (position, (spec, output)) in parts.outputs.into_iter().zip(&graph.outputs).enumerate() {
        if let SpecArgument::Value(name) = spec.argument {
            let node = output
                .as_node()
                .and_then(|node| graph.nodes.get(node.index()));
            let actual = node.map(|node| node.name);
            if actual != Some(name) && !matches!(output, Argument::CustomObject(..)) {
                return Err(mismatch("output", position, name, actual));
            }
        }
        signature.outputs.push(OutputSpec {
            kind: spec.kind,
            target: spec.target,
        });
    }
    Ok(signature)
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

//! Reading an `ExportedProgram`.

use std::fmt;

use graven_ir::{Context, ExportedProgram, NameId, RangeConstraint, SchemaVersion};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::graph::{GraphParts, GraphReader};
use super::progress::Progress;
use super::signature::{SignatureParts, SignatureReader};
use crate::json::{Fields, Interned, Object, Text, missing, raw_value, unknown_field};

/// What is read of a program before its names are resolved.
#[derive(Debug)]
pub(super) struct ProgramParts {
    /// All but graph and signature.
    pub(super) program: ExportedProgram,
    pub(super) graph: GraphParts,
    pub(super) signature: SignatureParts,
}

/// Reads an `ExportedProgram`.
pub(super) struct ProgramReader<'a> {
    progress: &'a Progress<'a>,
    program: ExportedProgram,
    module: Option<(GraphParts, SignatureParts)>,
}

impl<'a> ProgramReader<'a> {
    pub(super) fn new(progress: &'a Progress<'a>) -> Self {
        Self {
            progress,
            program: ExportedProgram::default(),
            module: None,
        }
    }
}

impl<'de> Fields<'de> for ProgramReader<'_> {
    type Output = ProgramParts;
    const WHAT: &'static str = "an exported program";

    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let program = &mut self.program;
        match key {
            "graph_module" => {
                let reader = GraphModuleReader {
                    progress: self.progress,
                    program,
                    graph: None,
                    signature: None,
                };
                self.module = Some(map.next_value_seed(Object(reader))?);
            }
            "opset_version" => {
                for (Text(name), version) in map.next_value::<Pairs<i64>>()?.0 {
                    let name = program.context.names.intern(&name);
                    program.opset_version.push((name, version));
                }
            }
            "range_constraints" => {
                for (Text(symbol), range) in map.next_value::<Pairs<Range>>()?.0 {
                    program.range_constraints.push(RangeConstraint {
                        symbol: program.context.names.intern(&symbol),
                        min: range.min_val,
                        max: range.max_val,
                    });
                }
            }
            "schema_version" => {
                let version: Version = map.next_value()?;
                program.schema_version = Some(SchemaVersion {
                    major: version.major,
                    minor: version.minor,
                });
            }
            "verifiers" => program.verifiers = interned(&mut program.context, map)?,
            "guards_code" => program.guards_code = interned(&mut program.context, map)?,
            "torch_version" => {
                let version = map.next_value_seed(Interned(&mut program.context.names))?;
                program.torch_version = Some(version);
            }
            _ => {
                let field = unknown_field(&mut program.context.names, key, map)?;
                program.unknown_fields.push(field);
            }
        }
        Ok(())
    }

    fn finish<E: serde::de::Error>(self) -> Result<ProgramParts, E> {
        let (graph, signature) = missing(self.module, "graph_module")?;
        missing(self.program.schema_version, "schema_version")?;
        Ok(ProgramParts {
            program: self.program,
            graph,
            signature,
        })
    }
}

/// Reads a `GraphModule`.
struct GraphModuleReader<'a> {
    progress: &'a Progress<'a>,
    program: &'a mut ExportedProgram,
    graph: Option<GraphParts>,
    signature: Option<SignatureParts>,
}

impl<'de> Fields<'de> for GraphModuleReader<'_> {
    type Output = (GraphParts, SignatureParts);
    const WHAT: &'static str = "a graph module";

    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let context = &mut self.program.context;
        match key {
            "graph" => {
                self.graph = Some(
                    map.next_value_seed(Object(GraphReader::new(context, Some(self.progress))))?,
                );
            }
            "signature" => {
                self.signature = Some(map.next_value_seed(Object(SignatureReader {
                    context,
                    parts: SignatureParts::default(),
                }))?);
            }
            "module_call_graph" => {
                let text = raw_value(map)?;
                self.program.module_call_graph = Some(context.names.intern(text));
            }
            _ => {
                let field = unknown_field(&mut context.names, key, map)?;
                self.program.graph_module_fields.push(field);
            }
        }
        Ok(())
    }

    fn finish<E: serde::de::Error>(self) -> Result<Self::Output, E> {
        Ok((
            missing(self.graph, "graph")?,
            missing(self.signature, "signature")?,
        ))
    }
}

/// A list of strings, interned.
fn interned<'de, A: MapAccess<'de>>(
    context: &mut Context,
    map: &mut A,
) -> Result<Vec<NameId>, A::Error> {
    let texts: Vec<Text<'de>> = map.next_value()?;
    Ok(texts
        .iter()
        .map(|Text(text)| context.names.intern(text))
        .collect())
}

#[derive(Deserialize)]
struct Version {
    major: u32,
    minor: u32,
}

#[derive(Deserialize)]
struct Range {
    #[serde(default, deserialize_with = "bound")]
    min_val: Option<i64>,
    #[serde(default, deserialize_with = "bound")]
    max_val: Option<i64>,
}

/// No bound is `null`, and an infinity in archives of torch 2.5.
fn bound<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Bound {
        Value(i64),
        Infinity(Infinity),
    }
    #[derive(Deserialize)]
    enum Infinity {
        #[serde(rename = "Infinity", alias = "-Infinity")]
        Either,
    }
    Ok(match Option::deserialize(deserializer)? {
        Some(Bound::Value(value)) => Some(value),
        Some(Bound::Infinity(Infinity::Either)) | None => None,
    })
}

/// A small object as pairs, in the text's order.
struct Pairs<'de, T>(Vec<(Text<'de>, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<'de, T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for PairsVisitor<T> {
            type Value = Vec<(Text<'de>, T)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(pairs)
            }
        }
        deserializer
            .deserialize_map(PairsVisitor(std::marker::PhantomData))
            .map(Pairs)
    }
}

//! Writing a program into an archive.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use graven_ir::state::{ByteSource, StateEntry, StateKind, StorageId};
use graven_ir::text::SourceLine;
use graven_ir::{ExportedProgram, InputKind, NameId};
use rustc_hash::FxHashSet;

use crate::archive::{Sink, Writer, archive_name, write_file};
use crate::error::Pt2Error;
use crate::json_out::JsonOut;
use crate::layout;
use crate::model::{tensor_meta, write_program};

/// Writes `program` into an archive at `path`, as `torch.export.save` does.
///
/// The archive is written beside `path` and put in its place when it is complete; a file that
/// is there already is replaced. Weights are copied as they are.
///
/// # Errors
/// When the program has a part that archives cannot hold, or the file cannot be written.
/// Nothing is left behind then.
pub fn write(program: &ExportedProgram, path: impl AsRef<Path>) -> Result<(), Pt2Error> {
    let path = path.as_ref();
    let plan = Plan::of(program)?;
    write_file(path, |out| plan.write(out, &archive_name(path)).map(|_| ()))
}

/// Writes `program` into an archive in memory, as `torch.export.save` does with a buffer.
///
/// # Errors
/// When the program has a part that archives cannot hold.
pub fn write_bytes(program: &ExportedProgram) -> Result<Vec<u8>, Pt2Error> {
    Plan::of(program)?.write(Vec::new(), "archive")
}

/// The JSON text that the archive of `program` holds as `model.json`.
///
/// # Errors
/// When the program has a part that archives cannot hold.
pub fn model_json(program: &ExportedProgram) -> Result<String, Pt2Error> {
    let mut text = Vec::new();
    write_program(program, &mut text, "model.json")?;
    // The writer makes text only.
    Ok(String::from_utf8(text).unwrap_or_default())
}

/// All entries of an archive, in torch's order.
struct Plan<'a> {
    entries: Vec<(String, Content<'a>)>,
}

/// The bytes of an entry.
enum Content<'a> {
    Shared(&'a dyn ByteSource),
    Own(Vec<u8>),
    /// The program as JSON, made while it is written.
    Program(&'a ExportedProgram),
}

impl<'a> Plan<'a> {
    fn of(program: &'a ExportedProgram) -> Result<Self, Pt2Error> {
        refuse_metadata_mutations(program)?;
        let model = program.model_name.map_or(layout::DEFAULT_MODEL, |name| {
            program.context.names.get(name)
        });
        let mut plan = Self {
            entries: Vec::new(),
        };
        let taken: HashSet<&str> = program
            .attachments
            .iter()
            .map(|attachment| attachment.path.as_str())
            .collect();
        plan.add_state(program, model, &taken)?;
        plan.add(layout::model_path(model), Content::Program(program));
        for (path, _) in &plan.entries {
            if taken.contains(path.as_str()) {
                return Err(Pt2Error::AttachmentInTheWay { path: path.clone() });
            }
        }
        for attachment in &program.attachments {
            let content = Content::Shared(attachment.content.as_ref());
            plan.add(attachment.path.clone(), content);
        }
        for (path, content) in [
            (layout::sample_inputs_path(model), ""),
            (layout::FORMAT_PATH.to_owned(), layout::FORMAT),
            (layout::VERSION_PATH.to_owned(), layout::VERSION),
            (
                layout::CONTAINER_VERSION_PATH.to_owned(),
                layout::CONTAINER_VERSION,
            ),
            (layout::BYTE_ORDER_PATH.to_owned(), layout::BYTE_ORDER),
        ] {
            if !taken.contains(path.as_str()) {
                plan.add(path, Content::Own(content.as_bytes().to_vec()));
            }
        }
        Ok(plan)
    }

    fn add(&mut self, path: String, content: Content<'a>) {
        self.entries.push((path, content));
    }

    fn write<W: Sink>(&self, out: W, folder: &str) -> Result<W, Pt2Error> {
        let mut writer = Writer::new(out, folder);
        for (path, content) in &self.entries {
            match content {
                Content::Shared(source) => writer.add(path, *source)?,
                Content::Own(bytes) => writer.add(path, bytes)?,
                Content::Program(program) => {
                    writer.add_stream(path, |sink| write_program(program, sink, path))?;
                }
            }
        }
        writer.finish().map_err(|source| Pt2Error::WriteEntry {
            path: "the directory".to_owned(),
            source,
        })
    }

    /// Weights and constants, each with its config behind it.
    fn add_state(
        &mut self,
        program: &'a ExportedProgram,
        model: &str,
        taken: &HashSet<&str>,
    ) -> Result<(), Pt2Error> {
        let constants = names_of_constants(program);
        let (constants, weights): (Vec<_>, Vec<_>) =
            program.state.entries.iter().partition(|entry| {
                entry.kind == StateKind::Constant || constants.contains(&entry.name)
            });
        for (entries, folder, config_path) in [
            (weights, layout::WEIGHTS, layout::weights_config_path(model)),
            (
                constants,
                layout::CONSTANTS,
                layout::constants_config_path(model),
            ),
        ] {
            let config = self.add_payloads(program, &entries, folder, taken)?;
            self.add(config_path, Content::Own(config));
        }
        Ok(())
    }

    /// The payloads of one folder; gives their config.
    fn add_payloads(
        &mut self,
        program: &'a ExportedProgram,
        entries: &[&StateEntry],
        folder: &str,
        taken: &HashSet<&str>,
    ) -> Result<Vec<u8>, Pt2Error> {
        let context = &program.context;
        let mut paths = PayloadNames {
            folder,
            taken,
            numbers: HashMap::new(),
            given: HashMap::new(),
        };
        let mut out = JsonOut::default();
        out.open_object();
        out.key("config");
        out.open_object();
        for entry in entries {
            let name = context.names.get(entry.name);
            let storage = program.state.storages.get(entry.storage.0 as usize);
            let source = storage.ok_or_else(|| Pt2Error::StateWithoutBytes {
                name: name.to_owned(),
            })?;
            if entry.meta.is_none() && !entry.use_pickle {
                return Err(Pt2Error::StateWithoutMeta {
                    name: name.to_owned(),
                });
            }
            let prefix = prefix(folder, entry, source.as_ref());
            let path_name = match paths.given.get(&entry.storage) {
                Some(path_name) => path_name.clone(),
                None => {
                    let path_name = paths.next(prefix, entry.storage);
                    let content = Content::Shared(source.as_ref());
                    self.add(format!("{folder}{path_name}"), content);
                    path_name
                }
            };
            out.key(name);
            out.open_object();
            out.string_field("path_name", &path_name);
            out.bool_field("is_param", entry.kind == StateKind::Parameter);
            out.bool_field("use_pickle", entry.use_pickle);
            out.key("tensor_meta");
            match entry.meta {
                Some(meta) => tensor_meta(&mut out, context, context.meta(meta)),
                None => out.null(),
            }
            out.close_object();
        }
        out.close_object();
        out.close_object();
        // Memory takes all that is written.
        Ok(out.finish().unwrap_or_default())
    }
}

/// Gives storages the names that torch gives them: a prefix that says what they hold, and a
/// number.
struct PayloadNames<'a> {
    folder: &'a str,
    taken: &'a HashSet<&'a str>,
    numbers: HashMap<&'static str, usize>,
    given: HashMap<StorageId, String>,
}

impl PayloadNames<'_> {
    fn next(&mut self, prefix: &'static str, storage: StorageId) -> String {
        let number = self.numbers.entry(prefix).or_default();
        loop {
            let name = format!("{prefix}{number}");
            *number += 1;
            // Another program of the archive may have it.
            if !self
                .taken
                .contains(format!("{}{name}", self.folder).as_str())
            {
                self.given.insert(storage, name.clone());
                return name;
            }
        }
    }
}

/// torch's loader tells from the prefix how to read a payload.
fn prefix(folder: &str, entry: &StateEntry, source: &dyn ByteSource) -> &'static str {
    const ZIP: &[u8] = b"PK";
    if folder == layout::WEIGHTS {
        "weight_"
    } else if entry.meta.is_some() {
        "tensor_"
    } else if source.bytes().starts_with(ZIP) {
        // A script object; torch packs those into an archive of their own.
        "custom_obj_"
    } else {
        "opaque_obj_"
    }
}

/// What stands with the constants although it is not one by its kind: buffers that are not
/// part of the state dict, parameters that were captured as constants.
fn names_of_constants(program: &ExportedProgram) -> FxHashSet<NameId> {
    program
        .signature
        .inputs
        .iter()
        .filter(|spec| match spec.kind {
            InputKind::Buffer => spec.persistent == Some(false),
            InputKind::ConstantTensor | InputKind::CustomObj => true,
            InputKind::UserInput | InputKind::Parameter | InputKind::Token => false,
        })
        .filter_map(|spec| spec.target)
        .collect()
}

fn refuse_metadata_mutations(program: &ExportedProgram) -> Result<(), Pt2Error> {
    let Some(mutation) = program.metadata_mutations.first() else {
        return Ok(());
    };
    let names = &program.context.names;
    let node = program.graph.nodes.get(mutation.input.index());
    let trace = program
        .context
        .metadata_text(mutation.metadata, "stack_trace");
    let source_line = trace
        .and_then(SourceLine::innermost)
        .map(|line| format!("{}:{}", line.file, line.line));
    Err(Pt2Error::MetadataMutation {
        input: node.map_or("", |node| names.get(node.name)).to_owned(),
        operator: names.get(mutation.operator).to_owned(),
        source_line,
    })
}

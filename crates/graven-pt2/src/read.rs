//! Reading an archive into a program.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use graven_ir::state::Attachment;
use graven_ir::{Context, ExportedProgram};
use graven_ops::Registry;

use crate::archive::{Archive, Bytes, Entry};
use crate::error::Pt2Error;
use crate::layout::{self, Layout};
use crate::model::read_program;
use crate::old_layout;
use crate::payload::read_config;
use crate::state::{Section, StateBuilder};
use crate::torch_save::add_tensors;

/// Reads the program in the archive at `path`.
///
/// The file is mapped. Weights stay where they are: no byte of them is read, and the program
/// keeps the map alive.
///
/// # Errors
/// When the file cannot be read, is no archive of `torch.export.save`, or is one that is
/// damaged or of a later format.
pub fn read(path: impl AsRef<Path>) -> Result<ExportedProgram, Pt2Error> {
    read_with_schemas(path, &Registry::aten())
}

/// Reads the program in the archive at `path`, whose custom operators `registry` knows.
///
/// Their schemas matter for archives that were written before torch 2.7: those do not say which
/// arguments are given by name.
///
/// # Errors
/// As [`read`].
pub fn read_with_schemas(
    path: impl AsRef<Path>,
    registry: &Registry,
) -> Result<ExportedProgram, Pt2Error> {
    read_archive(&Bytes::map(path.as_ref())?, registry)
}

/// Reads the program in the archive that `bytes` are.
///
/// # Errors
/// As [`read`].
pub fn read_bytes(bytes: Vec<u8>) -> Result<ExportedProgram, Pt2Error> {
    read_archive(&Bytes::new(bytes), &Registry::aten())
}

/// Reads a program without its state from the JSON text that an archive holds as `model.json`:
/// what [`model_json`](crate::model_json) gives.
///
/// # Errors
/// When the text is no program of a format that is understood.
pub fn read_model_json(text: &[u8]) -> Result<ExportedProgram, Pt2Error> {
    let entry = Entry::new(Bytes::new(text.to_vec()));
    read_program(&entry, "model.json", &Registry::aten())
}

fn read_archive(bytes: &Bytes, registry: &Registry) -> Result<ExportedProgram, Pt2Error> {
    let archive = Archive::open(bytes)?;
    if old_layout::is_old(&archive) {
        return old_layout::read(&archive, registry);
    }
    let layout = Layout::find(&archive)?;
    let model = layout.model()?;
    let model_path = layout::model_path(model);
    let mut program = read_program(layout.require(&model_path)?, &model_path, registry)?;
    if model != layout::DEFAULT_MODEL {
        program.model_name = Some(program.context.names.intern(model));
    }
    let mut used = HashSet::new();
    used.insert(model_path);
    read_state(&layout, model, &mut program, &mut used)?;
    keep_payloads_of_other_models(&layout, model, &mut used)?;
    for (path, entry) in layout.entries() {
        if !used.contains(path) {
            program.attachments.push(Attachment {
                path: path.to_owned(),
                content: Arc::new(entry.content().clone()),
            });
        }
    }
    Ok(program)
}

/// Weights and constants. The paths that they take are added to `used`.
fn read_state(
    layout: &Layout<'_>,
    model: &str,
    program: &mut ExportedProgram,
    used: &mut HashSet<String>,
) -> Result<(), Pt2Error> {
    let mut builder = StateBuilder::new();
    for (section, folder, config_path, pickled_path) in [
        (
            Section::Weights,
            layout::WEIGHTS,
            layout::weights_config_path(model),
            layout::pickled_weights_path(model),
        ),
        (
            Section::Constants,
            layout::CONSTANTS,
            layout::constants_config_path(model),
            layout::pickled_constants_path(model),
        ),
    ] {
        if let Some(entry) = layout.get(&pickled_path) {
            add_tensors(
                &mut builder,
                program,
                section,
                entry.content(),
                &pickled_path,
            )?;
            used.insert(pickled_path);
            continue;
        }
        let text = layout.text(&config_path)?;
        let payloads = read_config(&mut program.context, text, &config_path)?;
        used.insert(config_path);
        for payload in payloads {
            builder.add(
                &program.context,
                &program.signature,
                section,
                payload,
                |name| {
                    let path = format!("{folder}{name}");
                    let bytes = layout.require(&path)?.content().clone();
                    used.insert(path.clone());
                    Ok((path, bytes))
                },
            )?;
        }
    }
    builder.finish(program)
}

/// Takes out of `used` what another program of the archive names too.
fn keep_payloads_of_other_models(
    layout: &Layout<'_>,
    model: &str,
    used: &mut HashSet<String>,
) -> Result<(), Pt2Error> {
    let ours = [
        layout::weights_config_path(model),
        layout::constants_config_path(model),
    ];
    for (path, entry) in layout.entries() {
        let Some((folder, _)) = [layout::WEIGHTS, layout::CONSTANTS]
            .iter()
            .find_map(|folder| Some((folder, path.strip_prefix(folder)?)))
            .filter(|(_, name)| name.ends_with("_config.json"))
        else {
            continue;
        };
        if ours.iter().any(|ours| ours == path) {
            continue;
        }
        // Only the paths are wanted.
        let mut scratch = Context::default();
        for payload in read_config(&mut scratch, entry.text(path)?, path)? {
            used.remove(&format!("{folder}{}", payload.path_name));
        }
    }
    Ok(())
}

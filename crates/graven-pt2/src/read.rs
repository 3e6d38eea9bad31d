//! Reading an archive into a program.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use graven_ir::state::Attachment;
use graven_ir::{Context, ExportedProgram};

use crate::archive::{Archive, Bytes};
use crate::error::Pt2Error;
use crate::layout::{self, Layout};
use crate::model::read_program;
use crate::payload::read_config;
use crate::state::{Section, StateBuilder};

/// Reads the program in the archive at `path`.
///
/// The file is mapped. Weights stay where they are: no byte of them is read, and the program
/// keeps the map alive.
///
/// # Errors
/// When the file cannot be read, is no archive of `torch.export.save`, or is one that is
/// damaged or of a later format.
pub fn read(path: impl AsRef<Path>) -> Result<ExportedProgram, Pt2Error> {
    read_archive(&Bytes::map(path.as_ref())?)
}

/// Reads the program in the archive that `bytes` are.
///
/// # Errors
/// As [`read`].
pub fn read_bytes(bytes: Vec<u8>) -> Result<ExportedProgram, Pt2Error> {
    read_archive(&Bytes::new(bytes))
}

fn read_archive(bytes: &Bytes) -> Result<ExportedProgram, Pt2Error> {
    let archive = Archive::open(bytes)?;
    let layout = Layout::find(&archive)?;
    let model = layout.model()?;
    let model_path = layout::model_path(model);
    let mut program = read_program(layout.text(&model_path)?, &model_path)?;
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
    for (section, folder, config_path) in [
        (
            Section::Weights,
            layout::WEIGHTS,
            layout::weights_config_path(model),
        ),
        (
            Section::Constants,
            layout::CONSTANTS,
            layout::constants_config_path(model),
        ),
    ] {
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
        for payload in read_config(&mut scratch, entry.verified(path)?, path)? {
            used.remove(&format!("{folder}{}", payload.path_name));
        }
    }
    Ok(())
}

//! The layout of torch 2.5 to 2.7: a plain zip with the program as JSON and its tensors in
//! archives of `torch.save`.

use std::sync::Arc;

use graven_ir::ExportedProgram;
use graven_ir::state::Attachment;
use graven_ops::Registry;

use crate::archive::Archive;
use crate::error::Pt2Error;
use crate::layout::{DEFAULT_MODEL, sample_inputs_path};
use crate::model::read_program;
use crate::state::{Section, StateBuilder};
use crate::torch_save::add_tensors;

const PROGRAM: &str = "serialized_exported_program.json";
const EXAMPLE_INPUTS: &str = "serialized_example_inputs.pt";
const EXTRA_FILES: &str = "extra_files/";

/// The first name is that of torch 2.5 to 2.7, the second an older one.
const STATE_DICT: [&str; 2] = ["serialized_state_dict.pt", "serialized_state_dict.json"];
const CONSTANTS: [&str; 2] = ["serialized_constants.pt", "serialized_constants.json"];

/// Whether `archive` has this layout.
pub(crate) fn is_old(archive: &Archive) -> bool {
    archive.get(PROGRAM).is_some()
}

/// Reads the program in `archive`.
pub(crate) fn read(archive: &Archive, registry: &Registry) -> Result<ExportedProgram, Pt2Error> {
    let entry = archive.get(PROGRAM).ok_or(Pt2Error::NotAProgram)?;
    let mut program = read_program(entry, PROGRAM, registry)?;
    let mut builder = StateBuilder::new();
    for (section, names) in [
        (Section::Weights, STATE_DICT),
        (Section::Constants, CONSTANTS),
    ] {
        let (path, entry) = names
            .iter()
            .find_map(|name| Some((*name, archive.get(name)?)))
            .ok_or_else(|| Pt2Error::MissingEntry {
                path: names.join(" or "),
            })?;
        add_tensors(&mut builder, &mut program, section, entry.content(), path)?;
    }
    builder.finish(&mut program)?;
    for (path, entry) in archive.entries() {
        let path = match path.strip_prefix(EXTRA_FILES) {
            Some(name) => format!("extra/{name}"),
            None if path == EXAMPLE_INPUTS => sample_inputs_path(DEFAULT_MODEL),
            None => continue,
        };
        program.attachments.push(Attachment {
            path,
            content: Arc::new(entry.content().clone()),
        });
    }
    Ok(program)
}

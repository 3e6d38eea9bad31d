//! Where things are in an archive of torch 2.8 and later.

use crate::archive::{Archive, Entry};
use crate::error::Pt2Error;

/// Says that this is such an archive; holds [`FORMAT`].
pub(crate) const FORMAT_PATH: &str = "archive_format";
pub(crate) const FORMAT: &str = "pt2";

/// Holds the version of the layout.
pub(crate) const VERSION_PATH: &str = "archive_version";
pub(crate) const VERSION: &str = "0";

/// Holds the byte order of the weights.
pub(crate) const BYTE_ORDER_PATH: &str = "byteorder";
pub(crate) const BYTE_ORDER: &str = "little";

/// Holds the version of torch's container format.
pub(crate) const CONTAINER_VERSION_PATH: &str = ".data/version";
pub(crate) const CONTAINER_VERSION: &str = "6\n";

pub(crate) const WEIGHTS: &str = "data/weights/";
pub(crate) const CONSTANTS: &str = "data/constants/";
const MODELS: &str = "models/";

/// The name of torch's own: `torch.export.save` writes no other.
pub(crate) const DEFAULT_MODEL: &str = "model";

/// The program called `model`.
pub(crate) fn model_path(model: &str) -> String {
    format!("{MODELS}{model}.json")
}

/// Which bytes are which weight of it.
pub(crate) fn weights_config_path(model: &str) -> String {
    format!("{WEIGHTS}{model}_weights_config.json")
}

/// Which bytes are which constant of it.
pub(crate) fn constants_config_path(model: &str) -> String {
    format!("{CONSTANTS}{model}_constants_config.json")
}

/// Its weights, as torch 2.8 wrote them: an archive of `torch.save`.
pub(crate) fn pickled_weights_path(model: &str) -> String {
    format!("{WEIGHTS}{model}.pt")
}

/// Its constants, as torch 2.8 wrote them.
pub(crate) fn pickled_constants_path(model: &str) -> String {
    format!("{CONSTANTS}{model}.pt")
}

/// Its sample inputs.
pub(crate) fn sample_inputs_path(model: &str) -> String {
    format!("data/sample_inputs/{model}.pt")
}

/// Refuses bytes of the other order; `order` is what the archive says.
pub(crate) fn check_byte_order(order: &[u8]) -> Result<(), Pt2Error> {
    if order.trim_ascii_end() == BYTE_ORDER.as_bytes() {
        return Ok(());
    }
    Err(Pt2Error::ByteOrder {
        order: excerpt(order),
    })
}

/// The beginning of a text, to be shown: a hostile one could have any length.
fn excerpt(text: &[u8]) -> String {
    String::from_utf8_lossy(text).chars().take(40).collect()
}

/// An archive whose paths are seen without the top folder.
pub(crate) struct Layout<'a> {
    archive: &'a Archive,
    /// The top folder with its slash; empty where the entries stand at the top.
    folder: String,
}

impl<'a> Layout<'a> {
    /// Finds the top folder: the one that holds `archive_format`.
    pub(crate) fn find(archive: &'a Archive) -> Result<Self, Pt2Error> {
        let folder = archive
            .entries()
            .find_map(|(path, _)| match path.split_once('/') {
                Some((folder, FORMAT_PATH)) => Some(format!("{folder}/")),
                None if path == FORMAT_PATH => Some(String::new()),
                _ => None,
            })
            .ok_or(Pt2Error::NotAProgram)?;
        let layout = Self { archive, folder };
        if let Some((path, _)) = archive
            .entries()
            .find(|(path, _)| !path.starts_with(&layout.folder))
        {
            return Err(Pt2Error::OutsideFolder {
                path: path.to_owned(),
                folder: layout.folder,
            });
        }
        let format = layout.require(FORMAT_PATH)?.verified(FORMAT_PATH)?;
        if format.trim_ascii_end() != FORMAT.as_bytes() {
            return Err(Pt2Error::ArchiveFormat {
                format: excerpt(format),
            });
        }
        if let Some(order) = layout.get(BYTE_ORDER_PATH) {
            check_byte_order(order.verified(BYTE_ORDER_PATH)?)?;
        }
        Ok(layout)
    }

    /// The entry at `path`.
    pub(crate) fn get(&self, path: &str) -> Option<&'a Entry> {
        self.archive.get(&format!("{}{path}", self.folder))
    }

    /// The entry at `path`, which has to be there.
    pub(crate) fn require(&self, path: &str) -> Result<&'a Entry, Pt2Error> {
        self.get(path).ok_or_else(|| Pt2Error::MissingEntry {
            path: path.to_owned(),
        })
    }

    /// The content of the entry at `path`, which has to be there, compared with its checksum.
    pub(crate) fn text(&self, path: &str) -> Result<&'a str, Pt2Error> {
        self.require(path)?.text(path)
    }

    /// All entries, in the archive's order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'a str, &'a Entry)> {
        self.archive
            .entries()
            .filter_map(|(path, entry)| Some((path.strip_prefix(&self.folder)?, entry)))
    }

    /// The name of the program to read: `model`, or the only one that there is.
    pub(crate) fn model(&self) -> Result<&'a str, Pt2Error> {
        let models: Vec<&str> = self
            .entries()
            .filter_map(|(path, _)| path.strip_prefix(MODELS)?.strip_suffix(".json"))
            .collect();
        match models.as_slice() {
            [] => Err(Pt2Error::NoModel),
            [only] => Ok(only),
            several => several
                .iter()
                .find(|name| **name == DEFAULT_MODEL)
                .copied()
                .ok_or_else(|| Pt2Error::SeveralModels {
                    names: several.iter().map(|name| (*name).to_owned()).collect(),
                }),
        }
    }
}

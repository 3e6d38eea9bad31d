//! Archives of `torch.save`: a pickle, and the bytes of its storages beside it.
//!
//! Before torch 2.8 the state dict and the constants of a program were such archives inside
//! the program's. Of what they may hold, dictionaries from names to tensors are read.

use graven_ir::value::Dims;
use graven_ir::{Context, Device, ExportedProgram, Layout, SymInt, TensorMeta};

use crate::archive::{Archive, Bytes};
use crate::error::Pt2Error;
use crate::payload::Payload;
use crate::pickle::{self, Pickle, TensorRef, Value};
use crate::state::{Section, StateBuilder};

/// Adds the tensors of the archive that `bytes` are to `builder`; `path` is what errors call it.
pub(crate) fn add_tensors(
    builder: &mut StateBuilder,
    program: &mut ExportedProgram,
    section: Section,
    bytes: &Bytes,
    path: &str,
) -> Result<(), Pt2Error> {
    // torch writes nothing for nothing.
    if bytes.as_slice().is_empty() {
        return Ok(());
    }
    let archive = Archive::open(bytes)?;
    let (folder, text) = find_pickle(&archive, path)?;
    if let Some(order) = archive.get(&format!("{folder}byteorder")) {
        crate::layout::check_byte_order(order.verified("byteorder")?)?;
    }
    let pickled = |source| Pt2Error::Pickle {
        path: path.to_owned(),
        source,
    };
    let pickle = pickle::run(text).map_err(pickled)?;
    let not_tensors = || Pt2Error::NotTensors {
        path: path.to_owned(),
    };
    let Value::Dict(items) = pickle.root() else {
        return Err(not_tensors());
    };
    for (name, tensor) in items {
        let (Some(name), Value::Tensor(tensor)) = (pickle.text(*name), pickle.get(*tensor)) else {
            return Err(not_tensors());
        };
        let key = pickle.text(tensor.storage.key).ok_or_else(not_tensors)?;
        let payload = Payload {
            name: program.context.names.intern(name),
            path_name: key.to_owned(),
            is_parameter: tensor.is_parameter,
            use_pickle: false,
            meta: Some(meta(&mut program.context, &pickle, tensor)),
        };
        builder.add(
            &program.context,
            &program.signature,
            section,
            payload,
            |key| {
                let inner = format!("{folder}data/{key}");
                let shown = format!("{path}:{inner}");
                match archive.get(&inner) {
                    Some(entry) => Ok((shown, entry.content().clone())),
                    None => Err(Pt2Error::MissingEntry { path: shown }),
                }
            },
        )?;
    }
    Ok(())
}

/// The archive's top folder, with its slash, and the pickle.
pub(crate) fn find_pickle<'a>(
    archive: &'a Archive,
    path: &str,
) -> Result<(&'a str, &'a [u8]), Pt2Error> {
    for (entry_path, entry) in archive.entries() {
        if let Some(folder) = entry_path.strip_suffix("data.pkl")
            && (folder.is_empty() || folder.find('/') == Some(folder.len() - 1))
        {
            return Ok((folder, entry.verified(entry_path)?));
        }
    }
    Err(Pt2Error::MissingEntry {
        path: format!("{path}:data.pkl"),
    })
}

fn meta(context: &mut Context, pickle: &Pickle, tensor: &TensorRef) -> graven_ir::TensorMetaId {
    let device = pickle.text(tensor.storage.device).unwrap_or("cpu");
    let (kind, index) = match device.split_once(':') {
        Some((kind, index)) => (kind, index.parse().ok()),
        None => (device, None),
    };
    let dims = |values: &[i64]| values.iter().copied().map(SymInt::Int).collect::<Dims>();
    let meta = TensorMeta {
        dtype: tensor.dtype,
        sizes: dims(&tensor.sizes),
        strides: dims(&tensor.strides),
        storage_offset: SymInt::Int(tensor.storage_offset),
        layout: Layout::Strided,
        device: Device {
            kind: context.names.intern(kind),
            index,
        },
        requires_grad: tensor.requires_grad,
    };
    context.metas.intern(meta)
}

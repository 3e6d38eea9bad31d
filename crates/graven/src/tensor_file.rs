//! Files of named tensors: safetensors.

use std::path::{Path, PathBuf};

use graven_ir::DType;
use graven_tensor::{Array, Storage};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};

/// A file of tensors that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TensorFileError {
    /// The file cannot be read or written.
    #[error("cannot use {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no safetensors file.
    #[error("{} is no safetensors file: {source}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Why.
        source: safetensors::SafeTensorError,
    },
    /// A tensor has a dtype that the other side does not know.
    #[error("`{name}` has a dtype that cannot be used: {dtype}")]
    DType {
        /// The tensor.
        name: String,
        /// The dtype.
        dtype: String,
    },
    /// A tensor cannot be held.
    #[error("`{name}`: {source}")]
    Tensor {
        /// The tensor.
        name: String,
        /// Why.
        source: graven_tensor::Problem,
    },
}

/// Which dtypes are which.
const DTYPES: [(Dtype, DType); 11] = [
    (Dtype::BOOL, DType::Bool),
    (Dtype::U8, DType::UInt8),
    (Dtype::I8, DType::Int8),
    (Dtype::I16, DType::Int16),
    (Dtype::I32, DType::Int32),
    (Dtype::I64, DType::Int64),
    (Dtype::F16, DType::Float16),
    (Dtype::BF16, DType::BFloat16),
    (Dtype::F32, DType::Float32),
    (Dtype::F64, DType::Float64),
    (Dtype::C64, DType::Complex64),
];

/// Reads all tensors of a safetensors file, sorted by name.
///
/// # Errors
/// [`TensorFileError`].
pub fn read(path: &Path) -> Result<Vec<(String, Array)>, TensorFileError> {
    let bytes = std::fs::read(path).map_err(|source| TensorFileError::File {
        path: path.to_owned(),
        source,
    })?;
    let file = SafeTensors::deserialize(&bytes).map_err(|source| TensorFileError::Format {
        path: path.to_owned(),
        source,
    })?;
    let mut tensors = Vec::new();
    for (name, view) in file.iter() {
        tensors.push((name.to_owned(), array(name, &view)?));
    }
    tensors.sort_by(|(left, _), (right, _)| left.cmp(right));
    Ok(tensors)
}

fn array(name: &str, view: &TensorView<'_>) -> Result<Array, TensorFileError> {
    let dtype = DTYPES.iter().find(|(dtype, _)| *dtype == view.dtype());
    let (_, dtype) = dtype.ok_or_else(|| TensorFileError::DType {
        name: name.to_owned(),
        dtype: format!("{:?}", view.dtype()),
    })?;
    let strides = graven_tensor::geometry::contiguous_strides(view.shape());
    Storage::from_bytes(view.data())
        .and_then(|storage| Array::new(storage, *dtype, view.shape(), strides, 0))
        .map_err(|source| TensorFileError::Tensor {
            name: name.to_owned(),
            source,
        })
}

/// Writes tensors to a safetensors file, through a temporary file beside it.
///
/// # Errors
/// [`TensorFileError`]; then nothing is written.
pub fn write(path: &Path, tensors: &[(String, Array)]) -> Result<(), TensorFileError> {
    let failed = |name: &String, source| TensorFileError::Tensor {
        name: name.clone(),
        source,
    };
    let mut contents = Vec::with_capacity(tensors.len());
    for (name, tensor) in tensors {
        let dtype = DTYPES.iter().find(|(_, dtype)| *dtype == tensor.dtype());
        let (dtype, _) = dtype.ok_or_else(|| TensorFileError::DType {
            name: name.clone(),
            dtype: tensor.dtype().name().to_owned(),
        })?;
        let bytes = tensor
            .element_bytes()
            .map_err(|source| failed(name, source))?;
        contents.push((name, *dtype, tensor.sizes().to_vec(), bytes));
    }
    let views: Result<Vec<_>, _> = contents
        .iter()
        .map(|(name, dtype, sizes, bytes)| {
            TensorView::new(*dtype, sizes.clone(), bytes).map(|view| (name.as_str(), view))
        })
        .collect();
    let format = |source| TensorFileError::Format {
        path: path.to_owned(),
        source,
    };
    let bytes = safetensors::serialize(views.map_err(format)?, None).map_err(format)?;
    let file = |source| TensorFileError::File {
        path: path.to_owned(),
        source,
    };
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut temporary =
        tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(file)?;
    std::io::Write::write_all(&mut temporary, &bytes).map_err(file)?;
    temporary.persist(path).map_err(|error| file(error.error))?;
    Ok(())
}

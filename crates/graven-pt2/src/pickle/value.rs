//! What a pickle describes.

use graven_ir::DType;
use smallvec::SmallVec;

/// A value of one [`Pickle`]: its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ValueId(pub(super) u32);

/// All values of a pickle, and which of them it stands for.
#[derive(Debug)]
pub(crate) struct Pickle {
    pub(super) values: Vec<Value>,
    pub(super) root: ValueId,
}

impl Pickle {
    /// What the pickle stands for.
    pub(crate) fn root(&self) -> &Value {
        self.get(self.root)
    }

    /// The text that `id` is, if it is one.
    pub(crate) fn text(&self, id: ValueId) -> Option<&str> {
        match self.get(id) {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value.
    pub(crate) fn get(&self, id: ValueId) -> &Value {
        self.values.get(id.0 as usize).unwrap_or(&Value::None)
    }
}

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    /// The count of bytes only: none of what is read from pickles has any.
    Bytes(usize),
    Tuple(Vec<ValueId>),
    List(Vec<ValueId>),
    Dict(Vec<(ValueId, ValueId)>),
    Function(Function),
    Storage(StorageRef),
    Tensor(TensorRef),
}

/// The functions and classes that are understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Function {
    /// `collections.OrderedDict`
    OrderedDict,
    /// `torch._utils._rebuild_tensor_v2`
    Tensor,
    /// `torch._utils._rebuild_tensor_v3`, which is told the dtype.
    TypedTensor,
    /// `torch._utils._rebuild_parameter`
    Parameter,
    /// `torch._utils._rebuild_parameter_with_state`
    ParameterWithState,
    /// `torch._tensor._rebuild_from_type_v2`, which calls another function.
    FromType,
    /// `torch.Tensor`, as a type.
    TensorType,
    /// `set`
    Set,
    /// `torch.FloatStorage` and the like.
    StorageType(DType),
    /// `torch.storage.UntypedStorage`
    UntypedStorage,
    /// `torch.float32` and the like.
    DType(DType),
}

impl Function {
    /// The function called `module.name`.
    pub(super) fn find(module: &str, name: &str) -> Option<Self> {
        Some(match (module, name) {
            ("collections", "OrderedDict") => Self::OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2") => Self::Tensor,
            ("torch._utils", "_rebuild_tensor_v3") => Self::TypedTensor,
            ("torch._utils", "_rebuild_parameter") => Self::Parameter,
            ("torch._utils", "_rebuild_parameter_with_state") => Self::ParameterWithState,
            ("torch._tensor", "_rebuild_from_type_v2") => Self::FromType,
            ("torch", "Tensor") | ("torch.nn.parameter", "Parameter") => Self::TensorType,
            ("builtins" | "__builtin__", "set") => Self::Set,
            ("torch.storage", "UntypedStorage") | ("torch", "UntypedStorage") => {
                Self::UntypedStorage
            }
            ("torch", name) => match storage_dtype(name) {
                Some(dtype) => Self::StorageType(dtype),
                None => Self::DType(DType::from_name(name)?),
            },
            _ => return None,
        })
    }
}

/// The dtype of the elements of a typed storage.
fn storage_dtype(name: &str) -> Option<DType> {
    Some(match name {
        "ByteStorage" => DType::UInt8,
        "CharStorage" => DType::Int8,
        "ShortStorage" => DType::Int16,
        "IntStorage" => DType::Int32,
        "LongStorage" => DType::Int64,
        "HalfStorage" => DType::Float16,
        "FloatStorage" => DType::Float32,
        "DoubleStorage" => DType::Float64,
        "ComplexFloatStorage" => DType::Complex64,
        "ComplexDoubleStorage" => DType::Complex128,
        "BoolStorage" => DType::Bool,
        "BFloat16Storage" => DType::BFloat16,
        _ => return None,
    })
}

/// Bytes beside the pickle, in the archive of `torch.save`.
///
/// Texts are named, not copied: a short pickle can name a long text often.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct StorageRef {
    /// The name of its entry, under `data/`: a text.
    pub(crate) key: ValueId,
    /// The type of its elements; `None` for plain bytes.
    pub(crate) dtype: Option<DType>,
    /// Where its tensors are to live, a text: `cpu`.
    pub(crate) device: ValueId,
}

/// A tensor.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TensorRef {
    pub(crate) storage: StorageRef,
    pub(crate) dtype: DType,
    pub(crate) storage_offset: i64,
    pub(crate) sizes: SmallVec<[i64; 4]>,
    pub(crate) strides: SmallVec<[i64; 4]>,
    pub(crate) requires_grad: bool,
    pub(crate) is_parameter: bool,
}

//! The stack machine.

use std::collections::HashMap;

use smallvec::SmallVec;

use super::PickleError;
use super::reader::Reader;
use super::value::{Function, Pickle, StorageRef, TensorRef, Value, ValueId};

/// Runs the pickle that `bytes` are.
pub(crate) fn run(bytes: &[u8]) -> Result<Pickle, PickleError> {
    let mut machine = Machine {
        reader: Reader::new(bytes),
        values: Vec::new(),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
        start: 0,
    };
    let root = loop {
        if let Some(root) = machine.step()? {
            break root;
        }
    };
    match machine.reader.remaining() {
        0 => Ok(Pickle {
            values: machine.values,
            root,
        }),
        count => Err(PickleError::Trailing { count }),
    }
}

/// What torch allows a tensor.
const MAX_DIMENSIONS: usize = 64;

struct Machine<'a> {
    reader: Reader<'a>,
    values: Vec<Value>,
    stack: Vec<ValueId>,
    /// Heights of the stack where groups begin.
    marks: Vec<usize>,
    memo: HashMap<u64, ValueId>,
    /// Where the instruction that runs stands.
    start: usize,
}

impl Machine<'_> {
    /// Runs one instruction; gives the value of the last one.
    fn step(&mut self) -> Result<Option<ValueId>, PickleError> {
        self.start = self.reader.position();
        let opcode = self.reader.u8()?;
        match opcode {
            b'.' => return self.pop().map(Some),
            // What concerns the format: its version, the length of what follows.
            0x80 => drop(self.reader.u8()?),
            0x95 => drop(self.reader.u64()?),
            b'(' => self.marks.push(self.stack.len()),
            b'0' => drop(self.pop()?),
            b'1' => drop(self.pop_group()?),
            b'2' => {
                let top = *self.stack.last().ok_or_else(|| self.nothing())?;
                self.stack.push(top);
            }
            b'N' => self.push(Value::None)?,
            0x88 => self.push(Value::Bool(true))?,
            0x89 => self.push(Value::Bool(false))?,
            b'K' | b'M' | b'J' | 0x8a | 0x8b => self.integer(opcode)?,
            b'G' => {
                let value = self.reader.f64()?;
                self.push(Value::Float(value))?;
            }
            b'X' | 0x8c | 0x8d => self.text(opcode)?,
            b'B' | b'C' | 0x8e => {
                let width = match opcode {
                    b'C' => 1,
                    b'B' => 4,
                    _ => 8,
                };
                let length = self.reader.length(width)?;
                let bytes = self.reader.take(length)?;
                self.push(Value::Bytes(bytes.len()))?;
            }
            b'c' | 0x93 => self.global(opcode)?,
            b'}' => self.push(Value::Dict(Vec::new()))?,
            b']' => self.push(Value::List(Vec::new()))?,
            b')' | b't' | 0x85..=0x87 => self.tuple(opcode)?,
            b'a' | b'e' => self.append(opcode)?,
            b's' | b'u' => self.set_items(opcode)?,
            b'q' | b'r' | b'h' | b'j' | 0x94 => self.remember_or_recall(opcode)?,
            b'Q' => self.persistent_id()?,
            b'R' => self.call()?,
            // Attributes of an object; of what is read here only dictionaries have some, and
            // those say nothing of tensors.
            b'b' => drop(self.pop()?),
            opcode => {
                return Err(PickleError::Opcode {
                    opcode,
                    position: self.start,
                });
            }
        }
        Ok(None)
    }

    // ---- the stack ----

    fn nothing(&self) -> PickleError {
        PickleError::Stack {
            position: self.start,
        }
    }

    fn expects(&self, expected: &'static str) -> PickleError {
        PickleError::Kind {
            position: self.start,
            expected,
        }
    }

    fn push(&mut self, value: Value) -> Result<(), PickleError> {
        let id = u32::try_from(self.values.len()).map_err(|_| self.nothing())?;
        self.values.push(value);
        self.stack.push(ValueId(id));
        Ok(())
    }

    /// Takes the top of the stack, but nothing from before the last mark.
    fn pop(&mut self) -> Result<ValueId, PickleError> {
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() <= floor {
            return Err(self.nothing());
        }
        self.stack.pop().ok_or_else(|| self.nothing())
    }

    /// Takes all above the last mark, and the mark.
    fn pop_group(&mut self) -> Result<Vec<ValueId>, PickleError> {
        let mark = self.marks.pop().ok_or_else(|| self.nothing())?;
        if mark > self.stack.len() {
            return Err(self.nothing());
        }
        Ok(self.stack.split_off(mark))
    }

    fn value(&self, id: ValueId) -> &Value {
        self.values.get(id.0 as usize).unwrap_or(&Value::None)
    }

    // ---- plain values ----

    fn integer(&mut self, opcode: u8) -> Result<(), PickleError> {
        let value = match opcode {
            b'K' => i64::from(self.reader.u8()?),
            b'M' => i64::from(self.reader.u16()?),
            b'J' => i64::from(self.reader.i32()?),
            0x8a => {
                let count = self.reader.length(1)?;
                self.reader.long(count)?
            }
            _ => {
                let count = self.reader.length(4)?;
                self.reader.long(count)?
            }
        };
        self.push(Value::Int(value))
    }

    fn text(&mut self, opcode: u8) -> Result<(), PickleError> {
        let width = match opcode {
            0x8c => 1,
            b'X' => 4,
            _ => 8,
        };
        let length = self.reader.length(width)?;
        let text = utf8(self.reader.take(length)?, self.start)?;
        self.push(Value::Text(text.to_owned()))
    }

    fn global(&mut self, opcode: u8) -> Result<(), PickleError> {
        let function = if opcode == b'c' {
            let module = utf8(self.reader.line()?, self.start)?;
            find(module, utf8(self.reader.line()?, self.start)?)?
        } else {
            let (name, module) = (self.pop()?, self.pop()?);
            match (self.value(module), self.value(name)) {
                (Value::Text(module), Value::Text(name)) => find(module, name)?,
                _ => return Err(self.expects("two names")),
            }
        };
        self.push(Value::Function(function))
    }

    // ---- collections ----

    fn tuple(&mut self, opcode: u8) -> Result<(), PickleError> {
        let count = match opcode {
            b')' => 0,
            b't' => {
                let items = self.pop_group()?;
                return self.push(Value::Tuple(items));
            }
            opcode => usize::from(opcode - 0x84),
        };
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            items.push(self.pop()?);
        }
        items.reverse();
        self.push(Value::Tuple(items))
    }

    fn append(&mut self, opcode: u8) -> Result<(), PickleError> {
        let items = if opcode == b'e' {
            self.pop_group()?
        } else {
            vec![self.pop()?]
        };
        let list = *self.stack.last().ok_or_else(|| self.nothing())?;
        match self.values.get_mut(list.0 as usize) {
            Some(Value::List(list)) => list.extend(items),
            _ => return Err(self.expects("a list")),
        }
        Ok(())
    }

    fn set_items(&mut self, opcode: u8) -> Result<(), PickleError> {
        let items = if opcode == b'u' {
            self.pop_group()?
        } else {
            let (value, key) = (self.pop()?, self.pop()?);
            vec![key, value]
        };
        let (pairs, []) = items.as_chunks::<2>() else {
            return Err(self.expects("keys and values"));
        };
        let dict = *self.stack.last().ok_or_else(|| self.nothing())?;
        match self.values.get_mut(dict.0 as usize) {
            Some(Value::Dict(dict)) => dict.extend(pairs.iter().map(|&[key, value]| (key, value))),
            _ => return Err(self.expects("a dictionary")),
        }
        Ok(())
    }

    fn remember_or_recall(&mut self, opcode: u8) -> Result<(), PickleError> {
        let index = match opcode {
            b'q' | b'h' => u64::from(self.reader.u8()?),
            b'r' | b'j' => u64::from(self.reader.u32()?),
            _ => self.memo.len() as u64,
        };
        if matches!(opcode, b'h' | b'j') {
            let value = self.memo.get(&index).copied();
            self.stack.push(value.ok_or(PickleError::Memo { index })?);
        } else {
            let top = *self.stack.last().ok_or_else(|| self.nothing())?;
            self.memo.insert(index, top);
        }
        Ok(())
    }

    // ---- what torch describes ----

    /// `('storage', type, key, device, element count)`
    fn persistent_id(&mut self) -> Result<(), PickleError> {
        let id = self.pop()?;
        let storage = self
            .storage(id)
            .ok_or_else(|| self.expects("the description of a storage"))?;
        self.push(Value::Storage(storage))
    }

    fn storage(&self, id: ValueId) -> Option<StorageRef> {
        let Value::Tuple(fields) = self.value(id) else {
            return None;
        };
        let &[tag, class, key, device, count] = fields.as_slice() else {
            return None;
        };
        let dtype = match self.value(class) {
            Value::Function(Function::StorageType(dtype)) => Some(*dtype),
            Value::Function(Function::UntypedStorage) => None,
            _ => return None,
        };
        let is_text = |id| matches!(self.value(id), Value::Text(_));
        let tagged = matches!(self.value(tag), Value::Text(tag) if tag == "storage");
        let counted = matches!(self.value(count), Value::Int(_));
        (tagged && counted && is_text(key) && is_text(device)).then_some(StorageRef {
            key,
            dtype,
            device,
        })
    }

    /// A call of a function that is understood.
    fn call(&mut self) -> Result<(), PickleError> {
        let (arguments, function) = (self.pop()?, self.pop()?);
        let Value::Function(function) = *self.value(function) else {
            return Err(self.expects("a function"));
        };
        let Value::Tuple(arguments) = self.value(arguments) else {
            return Err(self.expects("a tuple of arguments"));
        };
        let value = match function {
            Function::OrderedDict if arguments.is_empty() => Some(Value::Dict(Vec::new())),
            Function::Tensor | Function::TypedTensor => self.tensor(function, arguments),
            Function::Parameter | Function::ParameterWithState => self.parameter(arguments),
            Function::FromType => self.typed(arguments),
            Function::Set => self.set(arguments),
            _ => None,
        };
        let value = value.ok_or_else(|| self.expects("other arguments for that function"))?;
        self.push(value)
    }

    /// `(storage, offset, size, stride, requires_grad, hooks[, dtype][, metadata])`
    fn tensor(&self, function: Function, arguments: &[ValueId]) -> Option<Value> {
        let (&[storage, offset, sizes, strides, requires_grad, _hooks], rest) =
            arguments.split_first_chunk()?;
        let Value::Storage(storage) = *self.value(storage) else {
            return None;
        };
        let Value::Int(storage_offset) = *self.value(offset) else {
            return None;
        };
        let Value::Bool(requires_grad) = *self.value(requires_grad) else {
            return None;
        };
        let (dtype, rest) = match (function, rest.split_first()) {
            (Function::TypedTensor, Some((dtype, rest))) => match self.value(*dtype) {
                Value::Function(Function::DType(dtype)) => (*dtype, rest),
                _ => return None,
            },
            _ => (storage.dtype?, rest),
        };
        // What may follow says that the tensor is conjugated or negated in its bytes.
        let plain = rest.iter().all(|metadata| match self.value(*metadata) {
            Value::None => true,
            Value::Dict(metadata) => metadata.is_empty(),
            _ => false,
        });
        let (sizes, strides) = (self.integers(sizes)?, self.integers(strides)?);
        (plain && sizes.len() == strides.len()).then_some(Value::Tensor(TensorRef {
            storage,
            dtype,
            storage_offset,
            sizes,
            strides,
            requires_grad,
            is_parameter: false,
        }))
    }

    /// `(function, type, arguments, state)`: what the function makes of the arguments. The state
    /// is that of Python attributes, which no program reads.
    fn typed(&self, arguments: &[ValueId]) -> Option<Value> {
        let &[function, kind, arguments, _state] = arguments else {
            return None;
        };
        let is_tensor = *self.value(kind) == Value::Function(Function::TensorType);
        let (Value::Function(function), Value::Tuple(arguments)) =
            (self.value(function), self.value(arguments))
        else {
            return None;
        };
        match function {
            Function::Tensor | Function::TypedTensor if is_tensor => {
                self.tensor(*function, arguments)
            }
            Function::Parameter | Function::ParameterWithState if is_tensor => {
                self.parameter(arguments)
            }
            _ => None,
        }
    }

    /// `(items,)`: read as the list of its items.
    fn set(&self, arguments: &[ValueId]) -> Option<Value> {
        match arguments {
            [] => Some(Value::List(Vec::new())),
            [items] => match self.value(*items) {
                Value::List(items) | Value::Tuple(items) => Some(Value::List(items.clone())),
                _ => None,
            },
            _ => None,
        }
    }

    /// `(tensor, requires_grad, hooks[, state])`
    fn parameter(&self, arguments: &[ValueId]) -> Option<Value> {
        let (&[tensor, requires_grad], _) = arguments.split_first_chunk()?;
        match (self.value(tensor), self.value(requires_grad)) {
            (Value::Tensor(tensor), Value::Bool(requires_grad)) => Some(Value::Tensor(TensorRef {
                requires_grad: *requires_grad,
                is_parameter: true,
                ..tensor.clone()
            })),
            _ => None,
        }
    }

    /// Sizes or strides.
    fn integers(&self, id: ValueId) -> Option<SmallVec<[i64; 4]>> {
        let (Value::Tuple(items) | Value::List(items)) = self.value(id) else {
            return None;
        };
        if items.len() > MAX_DIMENSIONS {
            return None;
        }
        items
            .iter()
            .map(|item| match self.value(*item) {
                Value::Int(value) => Some(*value),
                _ => None,
            })
            .collect()
    }
}

fn utf8(bytes: &[u8], position: usize) -> Result<&str, PickleError> {
    std::str::from_utf8(bytes).map_err(|_| PickleError::Text { position })
}

fn find(module: &str, name: &str) -> Result<Function, PickleError> {
    Function::find(module, name).ok_or_else(|| PickleError::Global {
        module: module.to_owned(),
        name: name.to_owned(),
    })
}

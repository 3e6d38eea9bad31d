//! Random programs that view and write: the functional program computes what the raw one does,
//! outputs and side effects, passes the verifier, and survives being printed and read.
//!
//! A program is made by running it: each call is chosen by the sizes of what is there, computed on
//! tensors with true aliasing, and printed with the metadata that came out. `PROGRAMS=N` makes N
//! of them instead of a few hundred.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used)]

mod support;

use std::fmt::Write as _;
use std::sync::Arc;

use graven::compare::{self, Tolerance};
use graven::tensor::{Array, Eager, Generator, Tensor};
use graven::{Module, Registry, Value, functionalize, text};

/// How many programs are made when no one says.
const PROGRAMS: u64 = 400;

#[test]
fn functional_programs_compute_what_raw_ones_do() {
    let count = std::env::var("PROGRAMS")
        .ok()
        .and_then(|count| count.parse().ok());
    let eager = Arc::new(Eager::default());
    let mut refused = 0;
    let count = count.unwrap_or(PROGRAMS);
    for seed in 0..count {
        let source = Maker::new(&eager, seed).program();
        match check(&eager, &source) {
            Ok(Outcome::Same) => {}
            Ok(Outcome::Refused) => refused += 1,
            Err(problem) => panic!("program {seed}: {problem}\n{source}"),
        }
    }
    assert!(
        refused * 20 <= count,
        "{refused} of {count} programs were refused"
    );
}

enum Outcome {
    Same,
    /// The pass says that it cannot: what overlaps is written, for instance.
    Refused,
}

fn check(eager: &Arc<Eager>, source: &str) -> Result<Outcome, String> {
    let registry = Registry::aten();
    let raw = text::parse(source).map_err(|error| format!("does not parse: {error}"))?;
    let mut functional = raw.clone();
    if functionalize(&mut functional, &registry).is_err() {
        return Ok(Outcome::Refused);
    }
    support::check_functional(&functional, &registry)
        .map_err(|failed| failed.message().unwrap_or_default().to_owned())?;
    let printed = text::readable(&functional);
    let again = text::parse(&printed).map_err(|error| format!("cannot be read back: {error}"))?;
    if text::readable(&again) != printed {
        return Err(format!("is read back as another program\n{printed}"));
    }
    let module =
        |program| Module::new(program, Arc::clone(eager)).map_err(|error| error.to_string());
    let inputs: Vec<Value> = SIZES
        .iter()
        .enumerate()
        .map(|(index, sizes)| numbers(sizes, index as f32).into())
        .collect();
    let comparison = compare::compare(
        &module(&raw)?,
        &module(&functional)?,
        &inputs,
        Tolerance::default(),
    );
    let comparison = comparison.map_err(|error| error.to_string())?;
    match comparison.results {
        None => Ok(Outcome::Same),
        Some(difference) => Err(format!(
            "{}: {}, at {:?}\n{printed}",
            difference.place, difference.what, comparison.node
        )),
    }
}

/// Sizes of the inputs.
const SIZES: [&[usize]; 3] = [&[4, 4], &[2, 3, 4], &[12]];

/// Different numbers for each input.
fn numbers(sizes: &[usize], shift: f32) -> Array {
    let count: usize = sizes.iter().product();
    let values: Vec<f32> = (0..count)
        .map(|index| ((index * 7 + 3) % 13) as f32 * 0.25 - 1.0 + shift)
        .collect();
    Array::from_elements(&values, sizes).unwrap()
}

/// A value of the program that is being made.
#[derive(Clone)]
struct Known {
    name: String,
    tensor: Tensor,
    /// Whether it may be written: results of `expand` may not.
    is_writable: bool,
}

struct Maker<'a> {
    eager: &'a Eager,
    random: Generator,
    known: Vec<Known>,
    body: String,
    count: usize,
}

impl<'a> Maker<'a> {
    fn new(eager: &'a Eager, seed: u64) -> Self {
        let known = SIZES.iter().enumerate().map(|(index, sizes)| Known {
            name: format!("x{index}"),
            tensor: Tensor::new(numbers(sizes, index as f32)),
            is_writable: true,
        });
        Self {
            eager,
            random: Generator::new(seed),
            known: known.collect(),
            body: String::new(),
            count: 0,
        }
    }

    /// A number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        self.random.next_u32() as usize % bound.max(1)
    }

    fn program(mut self) -> String {
        let statements = 3 + self.below(14);
        for _ in 0..statements {
            match self.below(10) {
                0..=3 => self.view(),
                4..=7 => self.write(),
                8 => self.read(),
                _ => self.change_metadata(),
            }
        }
        let outputs = 1 + self.below(3);
        let outputs: Vec<String> = (0..outputs)
            .map(|_| {
                let index = self.below(self.known.len());
                self.known[index].name.clone()
            })
            .collect();
        let placeholders: Vec<String> = SIZES
            .iter()
            .enumerate()
            .map(|(index, sizes)| format!("x{index}: \"f32{sizes:?}\""))
            .collect();
        format!(
            "def forward(self, {}):\n{}    return ({},)\n",
            placeholders.join(", "),
            self.body,
            outputs.join(", ")
        )
    }

    /// Prints a call whose result is known. Names are those of `torch.fx` or any others.
    fn record(&mut self, target: &str, arguments: &str, result: &Tensor, is_writable: bool) {
        self.count += 1;
        let name = format!("v{}", self.count);
        let annotation = annotation(&result.array());
        let _ = writeln!(
            self.body,
            "    {name}: \"{annotation}\" = torch.ops.aten.{target}({arguments})"
        );
        self.known.push(Known {
            name,
            tensor: result.clone(),
            is_writable,
        });
    }

    fn call(&self, operator: &str, args: &[Value]) -> Option<Value> {
        self.eager.invoke(operator, args, &[]).ok()
    }

    /// A value; the later ones are likelier, so that views are of views.
    fn pick(&mut self) -> Known {
        let count = self.known.len();
        let index = self.below(count).max(self.below(count));
        self.known[index].clone()
    }

    fn view(&mut self) {
        let base = self.pick();
        let array = base.tensor.array();
        let rank = array.rank();
        if rank == 0 {
            return;
        }
        let dim = self.below(rank);
        let size = array.size(dim);
        let (d, int) = (Value::Int(dim as i64), |value: usize| {
            Value::Int(value as i64)
        });
        let mut is_writable = base.is_writable;
        let (operator, args) = match self.below(11) {
            0 => {
                let start = self.below(size.max(1));
                let end = start + 1 + self.below(size - start.min(size));
                let step = 1 + self.below(2);
                ("slice.Tensor", vec![d, int(start), int(end), int(step)])
            }
            1 if size > 0 => ("select.int", vec![d, int(self.below(size))]),
            2 => ("transpose.int", vec![d, int(self.below(rank))]),
            3 => ("unsqueeze.default", vec![int(self.below(rank + 1))]),
            4 => ("squeeze.dim", vec![d]),
            5 => {
                let mut order: Vec<Value> = (0..rank).map(int).collect();
                order.rotate_left(self.below(rank));
                ("permute.default", vec![Value::List(order)])
            }
            6 if rank > 1 => {
                let other = (dim + 1) % rank;
                let offset = Value::Int(self.below(3) as i64 - 1);
                ("diagonal.default", vec![offset, d, int(other)])
            }
            7 => ("view.default", vec![Value::List(vec![Value::Int(-1)])]),
            8 if size > 1 => {
                let window = 1 + self.below(size);
                // Windows side by side, or apart.
                let step = window + self.below(2);
                ("unfold.default", vec![d, int(window), int(step)])
            }
            9 => {
                is_writable = false;
                let mut sizes: Vec<Value> = array.sizes().iter().copied().map(int).collect();
                sizes.insert(0, Value::Int(2));
                ("expand.default", vec![Value::List(sizes)])
            }
            10 => ("detach.default", Vec::new()),
            _ => ("alias.default", Vec::new()),
        };
        let full = format!("aten::{}", operator.trim_end_matches(".default"));
        let mut all = vec![Value::Tensor(base.tensor.clone())];
        all.extend(args.iter().cloned());
        // What does not fit, as a view of strides that have none, is no statement.
        if let Some(Value::Tensor(result)) = self.call(&full, &all) {
            let arguments = printed(&base.name, &args);
            self.record(operator, &arguments, &result, is_writable);
        }
    }

    fn write(&mut self) {
        let target = self.pick();
        if !target.is_writable {
            return;
        }
        let (operator, args) = match self.below(6) {
            0 => ("add_.Tensor", vec![Value::Float(0.5)]),
            1 => ("mul_.Tensor", vec![Value::Float(-1.5)]),
            2 => ("fill_.Scalar", vec![Value::Float(0.25)]),
            3 => ("sin_.default", Vec::new()),
            _ => return self.write_from(&target),
        };
        self.apply(&target, operator, &args, &printed(&target.name, &args));
    }

    /// Writes from another value that can be broadcast to the target.
    fn write_from(&mut self, target: &Known) {
        let sizes = target.tensor.array();
        let fitting: Vec<Known> = self
            .known
            .iter()
            .filter(|known| known.tensor.array().expand(sizes.sizes()).is_ok())
            .cloned()
            .collect();
        let source = fitting[self.below(fitting.len())].clone();
        let operator = ["copy_.default", "add_.Tensor", "mul_.Tensor"][self.below(3)];
        // A kernel that reads what it writes partly has no result that can be told.
        let array = source.tensor.array();
        let shares = array.storage().is(sizes.storage());
        let is_same = array.strides() == sizes.strides()
            && array.sizes() == sizes.sizes()
            && array.offset() == sizes.offset();
        if shares && !is_same {
            return;
        }
        let args = [Value::Tensor(source.tensor.clone())];
        let arguments = format!("{}, {}", target.name, source.name);
        self.apply(target, operator, &args, &arguments);
    }

    fn apply(&mut self, target: &Known, operator: &str, args: &[Value], arguments: &str) {
        let full = format!("aten::{}", operator.trim_end_matches(".default"));
        let mut all = vec![Value::Tensor(target.tensor.clone())];
        all.extend(args.iter().cloned());
        if let Some(Value::Tensor(result)) = self.call(&full, &all) {
            self.record(operator, arguments, &result, true);
        }
    }

    fn read(&mut self) {
        let (left, right) = (self.pick(), self.pick());
        let args = [
            Value::Tensor(left.tensor.clone()),
            Value::Tensor(right.tensor.clone()),
        ];
        if let Some(Value::Tensor(result)) = self.call("aten::mul.Tensor", &args) {
            let arguments = format!("{}, {}", left.name, right.name);
            self.record("mul.Tensor", &arguments, &result, true);
        }
    }

    /// Changes the geometry of an intermediate value: inputs keep theirs.
    fn change_metadata(&mut self) {
        let target = self.pick();
        let array = target.tensor.array();
        if self.known[..SIZES.len()]
            .iter()
            .any(|input| input.tensor.is(&target.tensor))
            || array.rank() < 2
        {
            return;
        }
        let dim = self.below(array.rank());
        let (operator, args) = match self.below(2) {
            0 => (
                "transpose_.default",
                vec![Value::Int(0), Value::Int(dim as i64)],
            ),
            _ => ("unsqueeze_.default", vec![Value::Int(dim as i64)]),
        };
        let arguments = printed(&target.name, &args);
        self.apply(&target, operator, &args, &arguments);
    }
}

/// `f32[2, 3][1, 2]`: strides where they are not the contiguous ones.
fn annotation(array: &Array) -> String {
    match array.is_contiguous() {
        true => format!("f32{:?}", array.sizes()),
        false => format!("f32{:?}{:?}", array.sizes(), array.strides()),
    }
}

fn printed(base: &str, args: &[Value]) -> String {
    let mut text = base.to_owned();
    for arg in args {
        let _ = write!(text, ", {}", argument(arg));
    }
    text
}

fn argument(value: &Value) -> String {
    match value {
        Value::Int(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(argument).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.kind().to_owned(),
    }
}

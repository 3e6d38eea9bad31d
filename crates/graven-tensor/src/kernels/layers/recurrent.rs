//! Recurrent layers: `rnn`, `gru`, `lstm`.

use super::super::Table;
use super::super::join::cat;
use super::super::matmul::{Matrix, Product, Target, linear};
use super::super::pointwise::{Math, compute};
use super::super::view::{select, transpose, unsqueezed};
use crate::array::{Array, Fresh};
use crate::call::Call;
use crate::element::Element as _;
use crate::error::Problem;
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::gru.input", |call| run(call, Cell::Gru)),
    ("aten::lstm.input", |call| run(call, Cell::Lstm)),
    ("aten::rnn_relu.input", |call| run(call, Cell::Relu)),
    ("aten::rnn_tanh.input", |call| run(call, Cell::Tanh)),
];

#[derive(Clone, Copy, PartialEq, Debug)]
enum Cell {
    Tanh,
    Relu,
    Gru,
    Lstm,
}

impl Cell {
    /// How many vectors of the hidden size a step computes.
    fn gates(self) -> usize {
        match self {
            Self::Tanh | Self::Relu => 1,
            Self::Gru => 3,
            Self::Lstm => 4,
        }
    }
}

/// Weights of one direction of one layer.
struct Weights {
    input: Array,
    hidden: Array,
    input_bias: Option<Array>,
    hidden_bias: Option<Array>,
    /// `[projection, hidden]` of an LSTM with projections.
    projection: Option<Array>,
}

/// `lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)`;
/// the others take one state instead of two.
fn run(call: &Call<'_>, cell: Cell) -> Result<Value, Problem> {
    let mut input = call.array(0)?;
    let states = match cell {
        Cell::Lstm => call.arrays(1)?,
        _ => vec![call.array(1)?],
    };
    let params = call.arrays(2)?;
    let (has_biases, is_two_way, is_batch_first) = (call.bool(3)?, call.bool(7)?, call.bool(8)?);
    let layers = usize::try_from(call.int(4)?).unwrap_or(0);
    if call.bool(6)? && call.float(5)? > 0.0 && layers > 1 {
        return Err(Problem::invalid(
            "dropout between layers in training is not supported",
        ));
    }
    let directions = 1 + usize::from(is_two_way);
    let is_single = input.rank() == 2;
    if is_single {
        input = unsqueezed(&input, usize::from(!is_batch_first))?;
    }
    if is_batch_first {
        input = transpose(&input, 0, 1)?;
    }
    let mut states = states
        .into_iter()
        .map(|state| {
            if is_single {
                unsqueezed(&state, 1)
            } else {
                Ok(state)
            }
        })
        .collect::<Result<Vec<Array>, _>>()?;
    let per_cell = params.len() / (layers * directions).max(1);
    if input.rank() != 3 || per_cell * layers * directions != params.len() || per_cell < 2 {
        return Err(Problem::invalid("weights and layers do not go together"));
    }
    if cell == Cell::Lstm && states.len() != 2 {
        return Err(Problem::invalid("an lstm has two states"));
    }
    let mut params = params.into_iter();
    let (mut last, mut last_cells) = (Vec::new(), Vec::new());
    for layer in 0..layers {
        let mut outputs = Vec::with_capacity(directions);
        for direction in 0..directions {
            let mut next = || {
                params
                    .next()
                    .ok_or_else(|| Problem::invalid("a weight is missing"))
            };
            let weights = Weights {
                input: next()?,
                hidden: next()?,
                input_bias: if has_biases { Some(next()?) } else { None },
                hidden_bias: if has_biases { Some(next()?) } else { None },
                projection: match per_cell == 3 + 2 * usize::from(has_biases) {
                    true => Some(next()?),
                    false => None,
                },
            };
            let index = (layer * directions + direction) as i64;
            let state = states
                .iter_mut()
                .map(|state| select(state, 0, index))
                .collect::<Result<Vec<_>, _>>()?;
            let (output, hidden, cells) = layer_of(&input, &state, &weights, cell, direction == 1)?;
            outputs.push(output);
            last.push(unsqueezed(&hidden, 0)?);
            last_cells.extend(cells.map(|cells| unsqueezed(&cells, 0)).transpose()?);
        }
        input = cat(&outputs, -1)?;
    }
    let finish = |arrays: &[Array]| {
        let state = cat(arrays, 0)?;
        match is_single {
            true => super::super::view::squeeze(&state, |dim| dim == 1)?.contiguous(),
            false => Ok(state),
        }
    };
    let mut output = input;
    if is_batch_first {
        output = transpose(&output, 0, 1)?;
    }
    if is_single {
        let dim = usize::from(!is_batch_first);
        output = super::super::view::squeeze(&output, |other| other == dim)?;
    }
    let mut results = vec![output, finish(&last)?];
    if cell == Cell::Lstm {
        results.push(finish(&last_cells)?);
    }
    Ok(results.into())
}

/// One direction of one layer: all outputs, the last state, and of an LSTM the last cells.
fn layer_of(
    input: &Array,
    state: &[Array],
    weights: &Weights,
    cell: Cell,
    is_reversed: bool,
) -> Result<(Array, Array, Option<Array>), Problem> {
    let (steps, batch) = (input.size(0), input.size(1));
    let gates = weights.hidden.size(0);
    let hidden = gates / cell.gates();
    // The inputs' part of all steps at once.
    let inputs = linear(input, &weights.input, weights.input_bias.as_ref())?;
    compute!(float, input.dtype(), C, O => {
        let inputs = inputs.converted(C::DTYPE)?.to_vec::<C>()?;
        let recurrent = weights.hidden.converted(C::DTYPE)?.contiguous()?;
        let recurrent = recurrent.to_vec::<C>()?;
        let projection = match &weights.projection {
            Some(projection) => Some(projection.converted(C::DTYPE)?.to_vec::<C>()?),
            None => None,
        };
        let width = weights.projection.as_ref().map_or(hidden, |projection| projection.size(0));
        let bias = match &weights.hidden_bias {
            Some(bias) => bias.converted(C::DTYPE)?.to_vec::<C>()?,
            None => vec![C::of(0.0); gates],
        };
        let mut values = Step {
            batch,
            hidden,
            width,
            state: state[0].converted(C::DTYPE)?.to_vec::<C>()?,
            cells: match state.get(1) {
                Some(cells) => cells.converted(C::DTYPE)?.to_vec::<C>()?,
                None => Vec::new(),
            },
        };
        let mut output = Fresh::<C>::new(steps * batch * width)?;
        for number in 0..steps {
            let step = if is_reversed { steps - 1 - number } else { number };
            let input = &inputs[step * batch * gates..(step + 1) * batch * gates];
            let mut sums = vec![C::of(0.0); batch * gates];
            for row in sums.chunks_mut(gates.max(1)) {
                row.copy_from_slice(&bias);
            }
            C::multiply(
                Target::added(&mut sums, gates),
                Matrix::contiguous(&values.state, batch, width),
                Matrix::contiguous(&recurrent, gates, width).transposed(),
                false,
            );
            values.advance(cell, input, &sums, projection.as_deref());
            output.elements()[step * batch * width..(step + 1) * batch * width]
                .copy_from_slice(&values.state);
        }
        let output = output.into_array(&[steps, batch, width])?.converted(O::DTYPE)?;
        let last = Array::from_elements(&values.state, &[batch, width])?.converted(O::DTYPE)?;
        let cells = match cell {
            Cell::Lstm => {
                Some(Array::from_elements(&values.cells, &[batch, hidden])?.converted(O::DTYPE)?)
            }
            _ => None,
        };
        Ok((output, last, cells))
    })
}

/// The state of a layer between two steps.
struct Step<C> {
    batch: usize,
    hidden: usize,
    width: usize,
    state: Vec<C>,
    cells: Vec<C>,
}

impl<C: Math + Product> Step<C> {
    /// One step: `input` and `sums` are the input's and the state's part of each gate.
    fn advance(&mut self, cell: Cell, input: &[C], sums: &[C], projection: Option<&[C]>) {
        let (hidden, gates) = (self.hidden, self.hidden * cell.gates());
        let one = C::of(1.0);
        let mut new = vec![C::of(0.0); self.batch * hidden];
        for row in 0..self.batch {
            let input = &input[row * gates..(row + 1) * gates];
            let sums = &sums[row * gates..(row + 1) * gates];
            for index in 0..hidden {
                let gate =
                    |number: usize| input[number * hidden + index] + sums[number * hidden + index];
                let at = row * hidden + index;
                new[at] = match cell {
                    Cell::Tanh => gate(0).hyperbolic_tangent(),
                    Cell::Relu => gate(0).max(C::of(0.0)),
                    Cell::Gru => {
                        let (reset, update) = (gate(0).logistic(), gate(1).logistic());
                        let candidate =
                            input[2 * hidden + index] + reset * sums[2 * hidden + index];
                        let candidate = candidate.hyperbolic_tangent();
                        (one - update) * candidate + update * self.state[at]
                    }
                    Cell::Lstm => {
                        let kept = gate(1).logistic() * self.cells[at];
                        let cells = kept + gate(0).logistic() * gate(2).hyperbolic_tangent();
                        self.cells[at] = cells;
                        gate(3).logistic() * cells.hyperbolic_tangent()
                    }
                };
            }
        }
        self.state = match projection {
            None => new,
            Some(projection) => {
                let mut projected = vec![C::of(0.0); self.batch * self.width];
                C::multiply(
                    Target::new(&mut projected, self.width),
                    Matrix::contiguous(&new, self.batch, hidden),
                    Matrix::contiguous(projection, self.width, hidden).transposed(),
                    false,
                );
                projected
            }
        };
    }
}

//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Functionalize programs that torch.export wrote.
#[derive(Parser, Debug)]
#[command(name = "graven", version, about, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  graven show model.pt2                              the program, as torch prints its graph
  graven functionalize model.pt2 -o functional.pt2   a pure graph, in an archive that torch opens
  graven functionalize model.pt2 --format readable   the same, printed
  graven run model.pt2 --inputs in.safetensors --outputs out.safetensors
  graven check model.pt2                             the raw and the functional program, compared
  graven effects model.pt2                           what it does to parameters, buffers and inputs

Exit codes: 0 done; 1 the input cannot be used (the message says why); 2 the command line is wrong.";

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Print a program
    Show(Show),
    /// Turn a program into a pure graph, with its side effects named in the signature
    Functionalize(Functionalize),
    /// Run a program on the CPU
    Run(Run),
    /// Check that passes keep what a program computes
    Check(Check),
    /// Report what a program does to its parameters, buffers and inputs
    Effects(Effects),
}

/// How a program is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Format {
    /// The FX listing and the signature: `str(ep.graph)`, an empty line, `str(ep.graph_signature)`
    Fx,
    /// The readable program: `str(ep)`
    Readable,
    /// The signature alone: `str(ep.graph_signature)`
    Signature,
    /// The archive's model.json
    Json,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  graven show model.pt2
  graven show model.pt2 --format readable
  graven show model.pt2 --format json | jq .graph_module.signature")]
pub(crate) struct Show {
    /// The archive
    pub(crate) file: PathBuf,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Fx)]
    pub(crate) format: Format,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  graven functionalize model.pt2 -o functional.pt2
  graven functionalize model.pt2 --format fx
  graven functionalize model.pt2 -o functional.pt2 --schema mylib.schemas
  graven functionalize model.pt2 --assume-functional mylib::gelu_fast")]
pub(crate) struct Functionalize {
    /// The archive
    pub(crate) file: PathBuf,
    /// Where to write the functional archive; without it the program is printed
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Fx, conflicts_with = "output")]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) operators: Operators,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  graven effects model.pt2
  graven effects model.pt2 --json
  graven effects model.pt2 --schema mylib.schemas")]
pub(crate) struct Effects {
    /// The archive
    pub(crate) file: PathBuf,
    /// JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) operators: Operators,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  graven run model.pt2                                   on the archive's sample inputs; prints sizes
  graven run model.pt2 --inputs in.safetensors --outputs out.safetensors
  graven run model.pt2 --inputs in.safetensors --scalar 1=3 --seed 0 --outputs out.safetensors

Inputs are tensors called in.<i>. Outputs are called out.<i>; what the call changed is called
buf.<name>, par.<name> and inmut.<i>.")]
pub(crate) struct Run {
    /// The archive
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    /// Where to write outputs and changes (safetensors); without it their sizes are printed
    #[arg(short, long, value_name = "FILE")]
    pub(crate) outputs: Option<PathBuf>,
    /// The seed of the random number generator, as torch.manual_seed takes it
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Values of parameters and buffers, by name, instead of the archive's (safetensors)
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) operators: Operators,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  graven check model.pt2                          on the archive's sample inputs
  graven check model.pt2 --random 10              and on ten random inputs like them
  graven check model.pt2 --inputs in.safetensors

Exit codes: 0 the same values; 1 a difference, or the program cannot be run.")]
pub(crate) struct Check {
    /// The archive
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    /// How many random inputs to check besides
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) random: u64,
    /// How much values may differ, times the expected value
    #[arg(long, value_name = "X", default_value_t = 1e-4)]
    pub(crate) relative: f64,
    /// How much values may differ, whatever the value
    #[arg(long, value_name = "X", default_value_t = 1e-5)]
    pub(crate) absolute: f64,
    #[command(flatten)]
    pub(crate) operators: Operators,
}

/// What a program is called with.
#[derive(Args, Debug)]
pub(crate) struct Inputs {
    /// Tensors called in.0, in.1, ... (safetensors); without it the archive's sample inputs
    #[arg(short, long, value_name = "FILE")]
    pub(crate) inputs: Option<PathBuf>,
    /// An input that is no tensor: a number, true, false or null, by its position
    #[arg(long = "scalar", value_name = "I=VALUE", value_parser = scalar)]
    pub(crate) scalars: Vec<(usize, graven::Value)>,
}

/// `I=VALUE`, the value as JSON has it.
fn scalar(text: &str) -> Result<(usize, graven::Value), String> {
    use graven::Value;
    let (position, value) = text.split_once('=').ok_or("expected I=VALUE, as 0=3")?;
    let position = position
        .parse()
        .map_err(|_| format!("`{position}` is no position of an input"))?;
    let value = match serde_json::from_str(value) {
        Ok(serde_json::Value::Null) => Value::None,
        Ok(serde_json::Value::Bool(value)) => Value::Bool(value),
        Ok(serde_json::Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
            (Some(value), _) => Value::Int(value),
            (None, Some(value)) => Value::Float(value),
            (None, None) => return Err(format!("`{value}` has no room in 64 bits")),
        },
        _ => return Err(format!("`{value}` is no number, true, false or null")),
    };
    Ok((position, value))
}

/// What is told of custom operators.
#[derive(Args, Debug)]
pub(crate) struct Operators {
    /// A file of operator schemas, one a line: `mylib::inc(Tensor(a!) x, float n) -> ()`
    #[arg(long = "schema", value_name = "FILE")]
    pub(crate) schemas: Vec<PathBuf>,
    /// An operator that writes nothing and returns fresh tensors, whatever its arguments are
    #[arg(long = "assume-functional", value_name = "NAME")]
    pub(crate) assumed_functional: Vec<String>,
}

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
  graven effects model.pt2                           what it does to parameters, buffers and inputs

Exit codes: 0 done; 1 the input cannot be used (the message says why); 2 the command line is wrong.";

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Print a program
    Show(Show),
    /// Turn a program into a pure graph, with its side effects named in the signature
    Functionalize(Functionalize),
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

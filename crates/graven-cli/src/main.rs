//! The command `graven`.
//!
//! Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 the
//! input is at fault, 2 the command line is.

mod arguments;
mod check;
mod effects;
mod functionalize;
mod output;
mod run;
mod show;

use std::process::ExitCode;

use clap::Parser as _;

use arguments::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.command {
        Command::Show(arguments) => show::run(arguments),
        Command::Functionalize(arguments) => functionalize::run(arguments),
        Command::Effects(arguments) => effects::run(arguments),
        Command::Run(arguments) => run::run(arguments),
        Command::Check(arguments) => check::run(arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // A reader that has seen enough (`graven show … | head`) is no fault.
        Err(output::Failure::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            output::report(&failure);
            ExitCode::from(1)
        }
    }
}

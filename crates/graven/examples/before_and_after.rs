//! Prints a program as torch exported it, and the pure graph that it is turned into.
//!
//! ```sh
//! cargo run --example before_and_after                  # the example of torch's documentation
//! cargo run --example before_and_after -- model.pt2     # your own
//! ```

use std::error::Error;
use std::io::{Write as _, stdout};
use std::path::PathBuf;

use graven::{Registry, functionalize, load, text};

/// Where the repository keeps the example of torch's documentation.
const EXAMPLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/cases/doc_buffer_mutation/model.pt2"
);

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).map(PathBuf::from);
    let mut program = load(path.unwrap_or_else(|| EXAMPLE.into()))?;
    let mut out = stdout().lock();
    writeln!(out, "As exported\n===========")?;
    writeln!(out, "{}", text::readable(&program))?;

    functionalize(&mut program, &Registry::aten())?;

    writeln!(out, "Functional\n==========")?;
    writeln!(out, "{}", text::readable(&program))?;
    Ok(())
}

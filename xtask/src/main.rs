//! The project's chores: what CI runs, in Rust.
//!
//! `cargo xtask ci` checks formatting, lints, tests, documentation and the house rules.

mod tidy;

use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};

const USAGE: &str = "\
usage: cargo xtask COMMAND

commands:
  ci       everything that CI runs: formatting, lints, tests, documentation, house rules
  tidy     the house rules alone
  bless    rewrite the expected programs of tests/programs from what graven prints; review them";

fn main() -> ExitCode {
    let command = std::env::args().nth(1);
    let result = match command.as_deref() {
        Some("ci") => ci(),
        Some("tidy") => tidy::check(),
        Some("bless") => bless(),
        _ => Err(anyhow::anyhow!("{USAGE}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// The steps of CI, in the order in which they fail fastest.
fn ci() -> Result<()> {
    run("cargo", &["fmt", "--all", "--check"], &[])?;
    tidy::check()?;
    run(
        "cargo",
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ],
        &[],
    )?;
    run("cargo", &["test", "--workspace", "--locked"], &[])?;
    run(
        "cargo",
        &["doc", "--workspace", "--no-deps", "--locked"],
        &[("RUSTDOCFLAGS", "-D warnings")],
    )
}

fn bless() -> Result<()> {
    run(
        "cargo",
        &["test", "-p", "graven", "--test", "programs"],
        &[("BLESS", "1")],
    )
}

fn run(program: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Result<()> {
    let line = format!("{program} {}", arguments.join(" "));
    report(&format!("$ {line}"));
    let status = Command::new(program)
        .args(arguments)
        .envs(variables.iter().copied())
        .status()
        .with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed");
    }
    Ok(())
}

#[expect(
    clippy::print_stderr,
    reason = "a chore says what it does on standard error"
)]
fn report(text: &str) {
    eprintln!("{text}");
}

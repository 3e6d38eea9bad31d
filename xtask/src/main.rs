//! The project's chores: what CI runs, in Rust.

fn main() {}

//! The command `graven`.

fn main() {}

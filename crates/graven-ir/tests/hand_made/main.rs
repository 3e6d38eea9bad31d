//! Programs built by hand: what the printers write of them, and what the verifier finds in them.

mod support;
mod text;
mod verify;

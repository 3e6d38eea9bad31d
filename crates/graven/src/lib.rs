//! graven: functionalize torch.export programs in Rust.

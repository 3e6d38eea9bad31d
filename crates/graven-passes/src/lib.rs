//! Passes from program to program: functionalize and its alias analysis.

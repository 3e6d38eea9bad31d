//! Any bytes as the `model.json` of an archive.

#![no_main]

use graven_ir::InputKind;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    if let Ok(mut program) = graven_pt2::read_model_json(text) {
        // There is no state; what stands for it becomes an input.
        for spec in &mut program.signature.inputs {
            if spec.constant.is_none() {
                spec.kind = InputKind::UserInput;
            }
        }
        graven_fuzz::check(&program);
    }
});

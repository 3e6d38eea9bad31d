//! Any text as a program, in either printed form: reading must end in a program or an error. What
//! can be read is functionalized and printed.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(mut program) = graven::text::parse(text) else {
        return;
    };
    let _ = graven::text::fx(&program);
    graven_ops::complete_from_schemas(&mut program, &graven::Registry::aten());
    if graven::functionalize(&mut program, &graven::Registry::aten()).is_ok() {
        let _ = graven::text::readable(&program);
    }
});

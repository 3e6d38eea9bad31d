//! Any bytes as an archive: reading must end in a program or an error. What can be read is
//! written and read again; what the verifier accepts is functionalized, printed and written.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut program) = graven_pt2::read_bytes(bytes.to_vec()) else {
        return;
    };
    graven_fuzz::check(&program);
    if !graven::verify::verify_all(&program).is_empty() {
        return;
    }
    if graven::functionalize(&mut program, &graven::Registry::aten()).is_ok() {
        let _ = graven_pt2::write_bytes(&program);
    }
});

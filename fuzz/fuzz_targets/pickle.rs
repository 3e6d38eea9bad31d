//! Any bytes as the pickle in the weights of an archive of torch 2.8.

#![no_main]

use libfuzzer_sys::fuzz_target;

const MODEL: &[u8] = br#"{"graph_module": {"graph": {"inputs": [], "outputs": [], "nodes": []},
    "signature": {"input_specs": [], "output_specs": []}, "module_call_graph": []},
    "opset_version": {}, "range_constraints": {}, "schema_version": {"major": 8, "minor": 20}}"#;

fuzz_target!(|pickle: &[u8]| {
    let weights = graven_fuzz::pack(&[
        ("archive/data.pkl", pickle),
        ("archive/data/0", &[0; 64]),
        ("archive/data/1", &[0; 64]),
    ]);
    let archive = graven_fuzz::pack(&[
        ("m/archive_format", b"pt2"),
        ("m/models/model.json", MODEL),
        ("m/data/weights/model.pt", &weights),
        ("m/data/constants/model_constants_config.json", br#"{"config": {}}"#),
    ]);
    if let Ok(program) = graven_pt2::read_bytes(archive) {
        graven_fuzz::check(&program);
    }
});

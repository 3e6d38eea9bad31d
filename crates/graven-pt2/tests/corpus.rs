//! Each case of the corpus is read.

use std::fs;
use std::path::PathBuf;

fn cases() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases")
}

#[test]
fn every_case_is_read() {
    let mut count = 0;
    for case in fs::read_dir(cases()).unwrap() {
        let archive = case.unwrap().path().join("model.pt2");
        if archive.exists() {
            let program = graven_pt2::read(&archive)
                .unwrap_or_else(|error| panic!("{}: {error:?}", archive.display()));
            assert!(!program.graph.nodes.is_empty());
            count += 1;
        }
    }
    assert_eq!(count, 90);
}

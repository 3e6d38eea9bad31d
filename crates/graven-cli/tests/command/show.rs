//! `graven show`.

use std::fs;

use super::{case, graven, model};

const CASES: [&str; 4] = [
    "doc_buffer_mutation",
    "cond_branches",
    "dyn_batch_views",
    "lstm",
];

#[test]
fn fx_is_what_torch_prints() {
    for name in CASES {
        let expected = fs::read_to_string(case(name).join("raw.fx.txt")).unwrap();
        let printed = graven(["show", &model(name)]).success();
        assert_eq!(printed.trim_end(), expected.trim_end(), "{name}");
        let printed = graven(["show", &model(name), "--format", "fx"]).success();
        assert_eq!(printed.trim_end(), expected.trim_end(), "{name}");
    }
}

#[test]
fn readable_is_what_torch_prints() {
    for name in CASES {
        let expected = fs::read_to_string(case(name).join("raw.readable.txt")).unwrap();
        let printed = graven(["show", &model(name), "--format", "readable"]).success();
        assert_eq!(printed.trim_end(), expected.trim_end(), "{name}");
    }
}

#[test]
fn the_signature_is_the_end_of_the_listing() {
    let listing = graven(["show", &model("lstm")]).success();
    let signature = graven(["show", &model("lstm"), "--format", "signature"]).success();
    assert!(signature.contains("# inputs") && signature.contains("# outputs"));
    assert!(listing.ends_with(&signature));
}

#[test]
fn json_is_that_of_the_archive() {
    let printed = graven(["show", &model("doc_buffer_mutation"), "--format", "json"]).success();
    let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let held = crate::archive::json(&crate::archive::case("doc_buffer_mutation"));
    assert_eq!(printed, held);
}

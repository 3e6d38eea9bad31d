//! `graven effects`.

use serde_json::Value;

use super::{graven, model};

fn report(name: &str) -> Vec<Value> {
    let printed = graven(["effects", "--json", &model(name)]).success();
    serde_json::from_str(&printed).unwrap()
}

#[test]
fn the_table_names_the_write() {
    let table = graven(["effects", &model("doc_buffer_mutation")]).success();
    for word in [
        "my_buffer2",
        "read, written",
        "aten.add_.Tensor",
        "self.my_buffer2.add_(1.0)",
        "add_2 → BUFFER_MUTATION",
    ] {
        assert!(table.contains(word), "`{word}` is not in\n{table}");
    }
    assert!(!table.contains('\u{1b}'), "colour");
}

#[test]
fn json_has_an_entry_for_each_input() {
    let report = report("doc_buffer_mutation");
    let names: Vec<_> = report
        .iter()
        .map(|entry| entry["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["p_my_parameter", "b_my_buffer1", "b_my_buffer2", "x1", "x2"]
    );
    let written = &report[2];
    assert_eq!(written["kind"], "buffer");
    assert_eq!(written["target"], "my_buffer2");
    assert_eq!(written["read"], true);
    assert_eq!(written["written"], true);
    assert_eq!(written["carried_by"]["kind"], "BUFFER_MUTATION");
    assert_eq!(
        written["writes"][0]["operator"],
        "torch.ops.aten.add_.Tensor"
    );
    assert!(report[0]["writes"].as_array().unwrap().is_empty());
}

#[test]
fn writes_through_views_have_their_chain() {
    let chains: Vec<usize> = report("base_and_view_interleaved")
        .iter()
        .flat_map(|entry| entry["writes"].as_array().unwrap().clone())
        .map(|write| write["view_chain"].as_array().unwrap().len())
        .collect();
    assert!(!chains.is_empty());
    assert!(chains.iter().any(|length| *length > 0), "{chains:?}");
}

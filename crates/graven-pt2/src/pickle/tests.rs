//! Pickles written by hand.

use graven_ir::DType;

use super::*;

/// `{'w': torch.nn.Parameter(<float storage '0'>, offset 1, size (2,), stride (1,))}`, as
/// torch 2.6 writes it.
fn parameter() -> Vec<u8> {
    let mut bytes = b"\x80\x02}q\x00X\x01\x00\x00\x00wq\x01".to_vec();
    bytes.extend_from_slice(b"ctorch._utils\n_rebuild_parameter\nq\x02");
    bytes.extend_from_slice(b"ctorch._utils\n_rebuild_tensor_v2\nq\x03((");
    bytes.extend_from_slice(b"X\x07\x00\x00\x00storagectorch\nFloatStorage\n");
    bytes.extend_from_slice(b"X\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x03tQ");
    bytes.extend_from_slice(b"K\x01K\x02\x85K\x01\x85\x89ccollections\nOrderedDict\n)RtR");
    bytes.extend_from_slice(b"\x88ccollections\nOrderedDict\n)R\x87Rq\x04s.");
    bytes
}

#[test]
fn a_parameter_is_described() {
    let pickle = run(&parameter()).unwrap();
    let Value::Dict(items) = pickle.root() else {
        panic!("{:?}", pickle.root());
    };
    let [(key, value)] = items.as_slice() else {
        panic!("{items:?}");
    };
    assert_eq!(*pickle.get(*key), Value::Text("w".to_owned()));
    let Value::Tensor(tensor) = pickle.get(*value) else {
        panic!("{:?}", pickle.get(*value));
    };
    assert_eq!(pickle.text(tensor.storage.key), Some("0"));
    assert_eq!(tensor.dtype, DType::Float32);
    assert_eq!(
        (tensor.storage_offset, tensor.sizes.as_slice()),
        (1, &[2][..])
    );
    assert!(tensor.is_parameter && tensor.requires_grad);
}

#[test]
fn every_prefix_is_an_error() {
    let bytes = parameter();
    for end in 0..bytes.len() {
        assert!(run(&bytes[..end]).is_err(), "{end} bytes");
    }
}

#[test]
fn functions_that_are_not_on_the_list_are_refused() {
    let attack = b"\x80\x02cposix\nsystem\n(X\x02\x00\x00\x00lstR.";
    assert_eq!(
        run(attack).unwrap_err(),
        PickleError::Global {
            module: "posix".to_owned(),
            name: "system".to_owned(),
        }
    );
    // The same by the instruction that takes the names from the stack.
    assert!(matches!(
        run(b"\x80\x04\x8c\x02os\x8c\x06system\x93."),
        Err(PickleError::Global { .. })
    ));
}

#[test]
fn lies_about_lengths_take_no_memory() {
    assert_eq!(
        run(b"\x8d\xff\xff\xff\xff\xff\xff\xff\x7f").unwrap_err(),
        PickleError::Truncated
    );
    assert_eq!(
        run(b"\x8b\xff\xff\xff\x7f").unwrap_err(),
        PickleError::Truncated
    );
    assert_eq!(run(b"Nr\xff\xff\xff\xff.").map(|_| ()), Ok(()));
}

#[test]
fn a_group_cannot_reach_below_its_mark() {
    assert!(matches!(run(b"N(0t."), Err(PickleError::Stack { .. })));
    assert!(matches!(run(b"t."), Err(PickleError::Stack { .. })));
    assert!(matches!(
        run(b"}K\x01s."),
        Err(PickleError::Stack { .. }) | Err(PickleError::Kind { .. })
    ));
}

#[test]
fn integers_of_any_length() {
    for (bytes, expected) in [
        (&b"\x8a\x00."[..], Some(0)),
        (b"\x8a\x01\xff.", Some(-1)),
        (b"\x8a\x02\x00\x80.", Some(-32768)),
        (b"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00.", None),
        (
            b"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\x7f\x00.",
            Some(i64::MAX),
        ),
    ] {
        let value = run(bytes).ok().map(|pickle| pickle.root().clone());
        assert_eq!(value, expected.map(Value::Int), "{bytes:?}");
    }
}

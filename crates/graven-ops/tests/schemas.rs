//! The whole table: every schema prints as it reads, and what follows from schemas agrees with
//! what torch says.

use std::collections::BTreeSet;

use graven_ir::schema::{DefaultValue, Schema};
use graven_ops::{
    Composite, Registry, RegistryError, SymbolicFunction, Tag, TargetKind, TensorOption,
    TwinArgument, TwinResult,
};

const TABLE: &str = include_str!("../aten.schemas");
/// What torchgen says of twins.
const TORCHGEN_TWINS: &str = include_str!("data/torchgen_twins.tsv");
/// What torch does.
const RECORDED_TWINS: &str = include_str!("data/recorded_twins.tsv");

fn rows(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with('#'))
}

#[test]
fn every_schema_prints_as_it_reads() {
    let mut count = 0;
    for line in rows(TABLE) {
        let text = line.split('\t').next().unwrap();
        let schema = Schema::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(schema.to_string(), text);
        count += 1;
    }
    assert_eq!(count, 3246);
}

#[test]
fn every_operator_is_found_by_both_names() {
    let registry = Registry::aten();
    for id in registry.ids() {
        let name = registry.operator(id).name();
        assert_eq!(registry.find(&name.to_string()), Some(id));
        assert_eq!(registry.find_target(&name.target()), Some(id));
    }
}

/// What the twin of `name` is, if it has one.
fn twin_name(registry: &Registry, name: &str) -> Option<String> {
    let id = registry.find(name)?;
    let twin = registry.functional_twin(id)?;
    Some(registry.operator(twin.operator).name().to_string())
}

fn writing_operators(registry: &Registry) -> Vec<String> {
    registry
        .ids()
        .map(|id| registry.operator(id))
        .filter(|operator| operator.is_mutable())
        .map(|operator| operator.name().to_string())
        .collect()
}

#[test]
fn twins_are_what_torch_records() {
    let registry = Registry::aten();
    let mut count = 0;
    for line in rows(RECORDED_TWINS) {
        let (name, twin) = line.split_once('\t').unwrap();
        assert_eq!(twin_name(&registry, name).as_deref(), Some(twin), "{name}");
        count += 1;
    }
    assert_eq!(count, 801);
}

/// torchgen groups the composites that only lend another name with the functional operator of
/// that name, which torch does not record: of those the recording decides.
#[test]
fn twins_are_those_of_torchgen() {
    let registry = Registry::aten();
    let recorded: BTreeSet<&str> = rows(RECORDED_TWINS)
        .filter_map(|line| Some(line.split_once('\t')?.0))
        .collect();
    let (mut same, mut other_names) = (0, 0);
    for line in rows(TORCHGEN_TWINS) {
        let (name, expected) = line.split_once('\t').unwrap();
        if twin_name(&registry, name).as_deref() == Some(expected) {
            same += 1;
            continue;
        }
        let operator = registry.operator(registry.find(name).unwrap());
        assert_eq!(operator.composite(), Composite::Implicit, "{name}");
        assert!(recorded.contains(name), "{name}");
        other_names += 1;
    }
    assert_eq!((same, other_names), (1334, 81));
}

/// Writing operators that torchgen groups with no functional one, and whose schema has a twin:
/// metadata mutations, whose twin is a view; and composites.
const TWINS_BEYOND_TORCHGEN: [(&str, &str); 29] = [
    ("aten::__iand__.Scalar", "aten::bitwise_and.Scalar"),
    ("aten::__iand__.Tensor", "aten::bitwise_and.Tensor"),
    ("aten::__ior__.Scalar", "aten::bitwise_or.Scalar"),
    ("aten::__ior__.Tensor", "aten::bitwise_or.Tensor"),
    ("aten::__ixor__.Scalar", "aten::bitwise_xor.Scalar"),
    ("aten::__ixor__.Tensor", "aten::bitwise_xor.Tensor"),
    ("aten::alpha_dropout_", "aten::alpha_dropout"),
    ("aten::as_strided_", "aten::as_strided"),
    ("aten::detach_", "aten::detach"),
    ("aten::divide_.Scalar", "aten::div.Scalar"),
    ("aten::divide_.Scalar_mode", "aten::div.Scalar_mode"),
    ("aten::dropout_", "aten::dropout"),
    (
        "aten::feature_alpha_dropout_",
        "aten::feature_alpha_dropout",
    ),
    ("aten::feature_dropout_", "aten::feature_dropout"),
    ("aten::multiply_.Scalar", "aten::mul.Scalar"),
    ("aten::polygamma_", "aten::polygamma"),
    ("aten::relu6_", "aten::relu6"),
    ("aten::rrelu_", "aten::rrelu"),
    ("aten::selu_", "aten::selu"),
    ("aten::squeeze_", "aten::squeeze"),
    ("aten::squeeze_.dim", "aten::squeeze.dim"),
    ("aten::squeeze_.dims", "aten::squeeze.dims"),
    ("aten::subtract_.Scalar", "aten::sub.Scalar"),
    ("aten::swapaxes_", "aten::transpose.int"),
    ("aten::swapdims_", "aten::transpose.int"),
    ("aten::t_", "aten::t"),
    ("aten::transpose_", "aten::transpose.int"),
    ("aten::true_divide_.Scalar", "aten::div.Scalar"),
    ("aten::unsqueeze_", "aten::unsqueeze"),
];

/// The others: no operator has their schema without the writes.
const WITHOUT_TWIN: [&str; 23] = [
    "aten::_cudnn_attention_forward_no_dropout_inplace",
    "aten::_cummax_helper",
    "aten::_cummin_helper",
    "aten::_fill_mem_eff_dropout_mask_",
    "aten::_flash_attention_forward_no_dropout_inplace",
    "aten::_slow_conv2d_backward.grad_input",
    "aten::_sobol_engine_ff_",
    "aten::_sobol_engine_initialize_state_",
    "aten::_sobol_engine_scramble_",
    "aten::adaptive_avg_pool3d_backward.grad_input",
    "aten::fbgemm_linear_fp16_weight.out",
    "aten::fbgemm_linear_fp16_weight_fp32_activation.out",
    "aten::fill_diagonal_",
    "aten::fused_moving_avg_obs_fake_quant",
    "aten::record_stream",
    "aten::requires_grad_",
    "aten::retain_grad",
    "aten::set_.source_Tensor_storage_offset",
    "aten::set_data",
    "aten::shallow_copy_data_",
    "prims::as_strided",
    "prims::copy_to",
    "prims::resize",
];

#[test]
fn every_writing_operator_has_a_twin_or_is_listed() {
    let registry = Registry::aten();
    let grouped: BTreeSet<&str> = rows(TORCHGEN_TWINS)
        .filter_map(|line| Some(line.split_once('\t')?.0))
        .collect();
    let mut beyond = Vec::new();
    let mut without = Vec::new();
    for name in writing_operators(&registry) {
        match twin_name(&registry, &name) {
            None => without.push(name),
            Some(twin) if !grouped.contains(&*name) => beyond.push((name, twin)),
            Some(_) => {}
        }
    }
    let beyond: Vec<_> = beyond
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    assert_eq!(beyond, TWINS_BEYOND_TORCHGEN);
    assert_eq!(without, WITHOUT_TWIN);
    assert_eq!(
        grouped.len() + beyond.len() + without.len(),
        writing_operators(&registry).len()
    );
}

/// Every written argument gets one new value, every result of the operator is accounted for, and
/// where ATen names the twin's results after arguments (`running_mean_out`), the names agree.
#[test]
fn results_of_twins_are_paired_with_what_they_replace() {
    let registry = Registry::aten();
    let mut named = 0;
    for id in registry.ids() {
        let operator = registry.operator(id);
        let Some(twin) = registry.functional_twin(id) else {
            continue;
        };
        let name = operator.name();
        let returned = registry.operator(twin.operator).schema();
        let mut replaced: Vec<usize> = Vec::new();
        for (result, returned) in twin.results.iter().zip(&returned.returns) {
            let TwinResult::NewValueOf(argument) = *result else {
                continue;
            };
            replaced.push(argument);
            let argument = &operator.schema().arguments[argument].name;
            let source = returned
                .name
                .as_deref()
                .and_then(|name| name.strip_suffix("_out"));
            if let Some(source) = source {
                let expected = source == &**argument || (source, &**argument) == ("self", "out");
                assert!(expected, "{name}: {source} {argument}");
                named += 1;
            }
        }
        replaced.sort_unstable();
        assert_eq!(replaced, operator.writes(), "{name}");
        assert_eq!(twin.arguments.len(), returned.arguments.len(), "{name}");
    }
    assert!(named > 20, "only {named} results have such names");
}

/// torch keeps 514 composites whole: these, `upsample_nearest*` (explicit in the table, composite
/// only in Python, and recorded as they are in either case), and 46 outside of ATen.
#[test]
fn composites_that_are_kept_whole() {
    let registry = Registry::aten();
    let kept: Vec<String> = registry
        .ids()
        .map(|id| registry.operator(id))
        .filter(|operator| operator.is_kept_whole())
        .map(|operator| operator.name().to_string())
        .collect();
    assert_eq!(kept.len(), 514 - 6 - 46);
    for name in [
        "linear",
        "matmul",
        "layer_norm",
        "scaled_dot_product_attention",
        "item",
    ] {
        assert!(kept.contains(&format!("aten::{name}")), "{name}");
    }
    for name in [
        "dropout",
        "batch_norm",
        "native_batch_norm",
        "reshape",
        "numel",
        "relu",
    ] {
        assert!(!kept.contains(&format!("aten::{name}")), "{name}");
    }
}

#[test]
fn facts_of_single_operators() {
    let registry = Registry::aten();
    let operator = |name: &str| registry.operator(registry.find(name).unwrap());
    assert!(operator("aten::transpose.int").is_view());
    assert!(operator("aten::split.Tensor").is_view());
    assert!(!operator("aten::add_.Tensor").is_view());
    assert!(operator("aten::transpose_").is_inplace_view());
    assert!(operator("aten::relu").has_tag(Tag::Core));
    assert!(operator("aten::bernoulli.p").has_tag(Tag::NondeterministicSeeded));
    assert_eq!(operator("aten::mm").composite(), Composite::Explicit);
    assert_eq!(operator("aten::linear").composite(), Composite::Implicit);
    assert_eq!(operator("aten::relu").composite(), Composite::None);
    assert_eq!(
        operator("aten::max.dim_max").writes(),
        [3, 4],
        "both `out` arguments"
    );
    let core = registry
        .ids()
        .filter(|id| registry.operator(*id).has_tag(Tag::Core));
    assert_eq!(core.count(), 193);
}

#[test]
fn a_twin_says_where_arguments_come_from_and_results_go() {
    let registry = Registry::aten();
    let twin = |name: &str| {
        registry
            .functional_twin(registry.find(name).unwrap())
            .unwrap()
    };
    use TwinArgument::{Argument, OptionOfOut};
    use TwinResult::{NewValueOf, Own};

    let batch_norm = twin("aten::_native_batch_norm_legit");
    assert_eq!(
        *batch_norm.results,
        [Own(0), Own(1), Own(2), NewValueOf(3), NewValueOf(4)]
    );
    assert_eq!(
        *twin("aten::polygamma_").arguments,
        [Argument(1), Argument(0)]
    );
    assert_eq!(
        *twin("aten::sort.values_stable").results,
        [NewValueOf(4), NewValueOf(5)]
    );
    assert_eq!(
        *twin("aten::bernoulli_.float").defaults,
        [(1, DefaultValue::Float(0.5))]
    );
    assert_eq!(*twin("aten::normal_").defaults, []);
    assert_eq!(
        *twin("aten::full.out").arguments,
        [
            Argument(0),
            Argument(1),
            OptionOfOut(TensorOption::DType),
            OptionOfOut(TensorOption::Layout),
            OptionOfOut(TensorOption::Device),
            OptionOfOut(TensorOption::PinMemory),
        ]
    );
}

#[test]
fn users_declare_operators() {
    let mut registry = Registry::aten();
    let aten = registry.clone();
    let text = "# mine\n\nmylib::inc(Tensor(a!) x, Tensor(b!)[] ys, float n=1.0) -> ()\n\
                  mylib::inc.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n\
                aten::relu(Tensor self) -> Tensor\n";
    assert_eq!(registry.extend(text), Ok(2));
    assert_eq!(registry.extend(text), Ok(0));
    let inc = registry.find_target("torch.ops.mylib.inc.default").unwrap();
    assert_eq!(registry.operator(inc).writes(), [0, 1]);
    assert_eq!(registry.functional_twin(inc), None);
    assert_eq!(
        registry.classify("torch.ops.mylib.inc.default"),
        TargetKind::Operator(inc)
    );
    assert_eq!(
        aten.classify("torch.ops.mylib.inc.default"),
        TargetKind::Unknown
    );

    let before = registry.len();
    let error = registry
        .extend("m::f(Tensor x) -> ()\nm::g(Tensor) -> ()")
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 2: expected the argument's name at byte 11, found \") -> ()\""
    );
    assert_eq!(
        registry.len(),
        before,
        "nothing is added when a line is wrong"
    );
    let error = registry
        .extend("aten::relu(Tensor self) -> Tensor(a)")
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 1: aten::relu is already known as `aten::relu(Tensor self) -> Tensor`"
    );
}

#[test]
fn operators_that_a_user_adds_to_aten_find_their_twins() {
    let mut registry = Registry::aten();
    registry
        .extend("aten::wave_(Tensor(a!) self) -> Tensor(a!)")
        .unwrap();
    assert_eq!(twin_name(&registry, "aten::wave_"), None);
    registry
        .extend("aten::wave(Tensor self) -> Tensor")
        .unwrap();
    assert_eq!(
        twin_name(&registry, "aten::wave_").as_deref(),
        Some("aten::wave")
    );
}

#[test]
fn operators_are_assumed_functional_by_name() {
    let mut registry = Registry::aten();
    for name in ["mylib::f", "mylib.g.default", "torch.ops.mylib.h.two"] {
        let id = registry.assume_functional(name).unwrap();
        let operator = registry.operator(id);
        assert!(!operator.signature_is_known() && !operator.is_mutable());
        assert_eq!(operator.check_call(7, ["anything"].into_iter()), Ok(()));
        assert_eq!(registry.assume_functional(name), Ok(id));
    }
    assert!(registry.find("mylib::h.two").is_some());
    assert!(registry.assume_functional("aten::relu").is_ok());
    assert!(matches!(
        registry.assume_functional("aten::relu_"),
        Err(RegistryError::NotFunctional { .. })
    ));
    assert!(matches!(
        registry.assume_functional("relu"),
        Err(RegistryError::NotAName { .. })
    ));
}

#[test]
fn targets_are_classified() {
    let registry = Registry::aten();
    for (target, kind) in [
        (
            "torch.ops.higher_order.cond",
            TargetKind::HigherOrder("cond"),
        ),
        ("_operator.mul", TargetKind::Symbolic(SymbolicFunction::Mul)),
        ("operator.mul", TargetKind::Symbolic(SymbolicFunction::Mul)),
        ("math.floor", TargetKind::Symbolic(SymbolicFunction::Floor)),
        ("torch.sym_max", TargetKind::Symbolic(SymbolicFunction::Max)),
        ("torch.ops.mylib.inc.default", TargetKind::Unknown),
        ("os.system", TargetKind::Unknown),
    ] {
        assert_eq!(registry.classify(target), kind, "{target}");
    }
}

#[test]
fn a_registry_may_be_shared_between_threads() {
    fn shared<T: Clone + Send + Sync>() {}
    shared::<Registry>();
}

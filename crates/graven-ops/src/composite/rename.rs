//! Writing composites that are another operator, given the same arguments.

use super::{Formula, Outcome, Taken};
use crate::call::Call;
use crate::emit::Emit;

/// The composite and what it calls.
const RENAMED: &[(&str, &str)] = &[
    ("aten::__iand__.Scalar", "aten::bitwise_and_.Scalar"),
    ("aten::__iand__.Tensor", "aten::bitwise_and_.Tensor"),
    ("aten::__ior__.Scalar", "aten::bitwise_or_.Scalar"),
    ("aten::__ior__.Tensor", "aten::bitwise_or_.Tensor"),
    ("aten::__ixor__.Scalar", "aten::bitwise_xor_.Scalar"),
    ("aten::__ixor__.Tensor", "aten::bitwise_xor_.Tensor"),
    ("aten::absolute.out", "aten::abs.out"),
    ("aten::absolute_", "aten::abs_"),
    ("aten::arccos.out", "aten::acos.out"),
    ("aten::arccos_", "aten::acos_"),
    ("aten::arccosh.out", "aten::acosh.out"),
    ("aten::arccosh_", "aten::acosh_"),
    ("aten::arcsin.out", "aten::asin.out"),
    ("aten::arcsin_", "aten::asin_"),
    ("aten::arcsinh.out", "aten::asinh.out"),
    ("aten::arcsinh_", "aten::asinh_"),
    ("aten::arctan.out", "aten::atan.out"),
    ("aten::arctan2.out", "aten::atan2.out"),
    ("aten::arctan2_", "aten::atan2_"),
    ("aten::arctan_", "aten::atan_"),
    ("aten::arctanh.out", "aten::atanh.out"),
    ("aten::arctanh_", "aten::atanh_"),
    ("aten::clip.Tensor_out", "aten::clamp.Tensor_out"),
    ("aten::clip.out", "aten::clamp.out"),
    ("aten::clip_", "aten::clamp_"),
    ("aten::clip_.Tensor", "aten::clamp_.Tensor"),
    ("aten::concat.out", "aten::cat.out"),
    ("aten::concatenate.out", "aten::cat.out"),
    ("aten::divide.out", "aten::div.out"),
    ("aten::divide.out_mode", "aten::div.out_mode"),
    ("aten::divide_.Scalar", "aten::div_.Scalar"),
    ("aten::divide_.Scalar_mode", "aten::div_.Scalar_mode"),
    ("aten::divide_.Tensor", "aten::div_.Tensor"),
    ("aten::divide_.Tensor_mode", "aten::div_.Tensor_mode"),
    ("aten::fix.out", "aten::trunc.out"),
    ("aten::fix_", "aten::trunc_"),
    ("aten::greater.Scalar_out", "aten::gt.Scalar_out"),
    ("aten::greater.Tensor_out", "aten::gt.Tensor_out"),
    ("aten::greater_.Scalar", "aten::gt_.Scalar"),
    ("aten::greater_.Tensor", "aten::gt_.Tensor"),
    ("aten::greater_equal.Scalar_out", "aten::ge.Scalar_out"),
    ("aten::greater_equal.Tensor_out", "aten::ge.Tensor_out"),
    ("aten::greater_equal_.Scalar", "aten::ge_.Scalar"),
    ("aten::greater_equal_.Tensor", "aten::ge_.Tensor"),
    ("aten::less.Scalar_out", "aten::lt.Scalar_out"),
    ("aten::less.Tensor_out", "aten::lt.Tensor_out"),
    ("aten::less_.Scalar", "aten::lt_.Scalar"),
    ("aten::less_.Tensor", "aten::lt_.Tensor"),
    ("aten::less_equal.Scalar_out", "aten::le.Scalar_out"),
    ("aten::less_equal.Tensor_out", "aten::le.Tensor_out"),
    ("aten::less_equal_.Scalar", "aten::le_.Scalar"),
    ("aten::less_equal_.Tensor", "aten::le_.Tensor"),
    ("aten::max.out", "aten::maximum.out"),
    ("aten::min.out", "aten::minimum.out"),
    ("aten::multiply.out", "aten::mul.out"),
    ("aten::multiply_.Scalar", "aten::mul_.Scalar"),
    ("aten::multiply_.Tensor", "aten::mul_.Tensor"),
    ("aten::negative.out", "aten::neg.out"),
    ("aten::negative_", "aten::neg_"),
    ("aten::not_equal.Scalar_out", "aten::ne.Scalar_out"),
    ("aten::not_equal.Tensor_out", "aten::ne.Tensor_out"),
    ("aten::not_equal_.Scalar", "aten::ne_.Scalar"),
    ("aten::not_equal_.Tensor", "aten::ne_.Tensor"),
    ("aten::special_digamma.out", "aten::digamma.out"),
    ("aten::special_erf.out", "aten::erf.out"),
    ("aten::special_erfc.out", "aten::erfc.out"),
    ("aten::special_erfinv.out", "aten::erfinv.out"),
    ("aten::special_exp2.out", "aten::exp2.out"),
    ("aten::special_expit.out", "aten::sigmoid.out"),
    ("aten::special_expm1.out", "aten::expm1.out"),
    ("aten::special_gammainc.out", "aten::igamma.out"),
    ("aten::special_gammaincc.out", "aten::igammac.out"),
    ("aten::special_gammaln.out", "aten::lgamma.out"),
    ("aten::special_i0.out", "aten::i0.out"),
    ("aten::special_log1p.out", "aten::log1p.out"),
    ("aten::special_logit.out", "aten::logit.out"),
    ("aten::special_logsumexp.out", "aten::logsumexp.out"),
    ("aten::special_multigammaln.out", "aten::mvlgamma.out"),
    ("aten::special_polygamma.out", "aten::polygamma.out"),
    ("aten::special_psi.out", "aten::digamma.out"),
    ("aten::special_sinc.out", "aten::sinc.out"),
    (
        "aten::special_xlogy.other_scalar_out",
        "aten::xlogy.OutScalar_Other",
    ),
    ("aten::special_xlogy.out", "aten::xlogy.OutTensor"),
    (
        "aten::special_xlogy.self_scalar_out",
        "aten::xlogy.OutScalar_Self",
    ),
    ("aten::subtract.out", "aten::sub.out"),
    ("aten::subtract_.Scalar", "aten::sub_.Scalar"),
    ("aten::subtract_.Tensor", "aten::sub_.Tensor"),
    ("aten::true_divide.out", "aten::div.out"),
    ("aten::true_divide_.Scalar", "aten::div_.Scalar"),
    ("aten::true_divide_.Tensor", "aten::div_.Tensor"),
];

fn target_of(operator: &str) -> Option<&'static str> {
    let position = RENAMED.binary_search_by_key(&operator, |row| row.0).ok()?;
    Some(RENAMED[position].1)
}

pub(super) fn formula<E: Emit>(operator: &str) -> Option<Formula<E>> {
    target_of(operator).map(|_| renamed as Formula<E>)
}

fn renamed<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let name = call.operator();
    let target = target_of(&name).ok_or_else(|| call.unfit("is not another operator's name"))?;
    emit.call(target, call.args, call.kwargs)
        .map(Outcome::Values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    #[test]
    fn the_table_is_sorted_and_the_arguments_are_the_same() {
        assert!(RENAMED.is_sorted_by(|a, b| a.0 < b.0));
        let registry = Registry::aten();
        for (name, target) in RENAMED {
            let types = |name: &str| -> Vec<_> {
                let operator = registry.find(name).unwrap_or_else(|| panic!("{name}"));
                let arguments = &registry.operator(operator).schema().arguments;
                arguments
                    .iter()
                    .map(|argument| argument.ty.clone())
                    .collect()
            };
            assert_eq!(types(name), types(target), "{name}");
        }
    }
}

//! What autocast does to an operator's arguments on the CPU.
//!
//! The lists are the operators for which torch 2.15 registers a kernel under the dispatch key
//! `AutocastCPU`; no schema tells them.

/// What autocast casts floating-point arguments to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// The region's dtype.
    LowerPrecision,
    /// `float32`
    Float32,
    /// The widest dtype among the arguments.
    Promote,
}

/// The policy of the operator with this full name; `None` when autocast leaves it alone.
pub fn policy(operator: &str) -> Option<Policy> {
    let name = operator.strip_prefix("aten::")?;
    let lists = [
        (LOWER_PRECISION, Policy::LowerPrecision),
        (FLOAT32, Policy::Float32),
        (PROMOTE, Policy::Promote),
    ];
    lists
        .into_iter()
        .find(|(list, _)| list.binary_search(&name).is_ok())
        .map(|(_, policy)| policy)
}

const LOWER_PRECISION: &[&str] = &[
    "_addmm_activation",
    "_convolution.deprecated",
    "_native_multi_head_attention",
    "addbmm",
    "addmm",
    "baddbmm",
    "bmm",
    "conv1d",
    "conv1d.padding",
    "conv2d",
    "conv2d.padding",
    "conv3d",
    "conv3d.padding",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d.input",
    "conv_transpose3d.input",
    "linalg_vecdot",
    "linear",
    "matmul",
    "mkldnn_rnn_layer",
    "mm",
    "prelu",
    "scaled_dot_product_attention",
];

const FLOAT32: &[&str] = &[
    "_grid_sampler_2d_cpu_fallback",
    "_lu_with_info",
    "adaptive_avg_pool3d",
    "adaptive_max_pool3d",
    "avg_pool3d",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cdist",
    "cholesky_inverse",
    "cholesky_solve",
    "cosine_embedding_loss",
    "cross_entropy_loss",
    "ctc_loss.IntList",
    "ctc_loss.Tensor",
    "fake_quantize_per_tensor_affine",
    "fft_fft",
    "fft_fft2",
    "fft_fftn",
    "fft_hfft",
    "fft_ifft",
    "fft_ifft2",
    "fft_ifftn",
    "fft_ihfft",
    "fft_irfft",
    "fft_irfft2",
    "fft_irfftn",
    "fft_rfft",
    "fft_rfft2",
    "fft_rfftn",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "geqrf",
    "grid_sampler",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "hinge_embedding_loss",
    "huber_loss",
    "inverse",
    "kl_div",
    "l1_loss",
    "linalg_cholesky",
    "linalg_cholesky_ex",
    "linalg_cond",
    "linalg_cond.p_str",
    "linalg_eig",
    "linalg_eigh",
    "linalg_eigvals",
    "linalg_eigvalsh",
    "linalg_householder_product",
    "linalg_inv",
    "linalg_inv_ex",
    "linalg_lstsq",
    "linalg_matrix_rank",
    "linalg_matrix_rank.atol_rtol_float",
    "linalg_matrix_rank.atol_rtol_tensor",
    "linalg_matrix_rank.tol_tensor",
    "linalg_matrix_sqrth",
    "linalg_qr",
    "linalg_solve",
    "linalg_svd",
    "linalg_svdvals",
    "linalg_tensorinv",
    "linalg_tensorsolve",
    "lu_solve",
    "margin_ranking_loss",
    "max_pool3d",
    "max_unpool2d",
    "max_unpool3d",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_margin_loss_forward",
    "nanquantile",
    "nanquantile.scalar",
    "nll_loss",
    "nll_loss2d",
    "orgqr",
    "ormqr",
    "pinverse",
    "poisson_nll_loss",
    "polar",
    "prod",
    "prod.dim_int",
    "quantile",
    "quantile.scalar",
    "reflection_pad1d",
    "reflection_pad2d",
    "replication_pad1d",
    "replication_pad2d",
    "replication_pad3d",
    "smooth_l1_loss",
    "soft_margin_loss",
    "stft",
    "stft.center",
    "svd",
    "trace",
    "triangular_solve",
    "triplet_margin_loss",
    "view_as_complex",
];

const PROMOTE: &[&str] = &["cat", "index_copy", "stack"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_found() {
        assert!(
            [LOWER_PRECISION, FLOAT32, PROMOTE]
                .iter()
                .all(|list| list.is_sorted())
        );
        assert_eq!(policy("aten::linear"), Some(Policy::LowerPrecision));
        assert_eq!(policy("aten::mse_loss"), Some(Policy::Float32));
        assert_eq!(policy("aten::cat"), Some(Policy::Promote));
        assert_eq!(policy("aten::add.Tensor"), None);
    }
}

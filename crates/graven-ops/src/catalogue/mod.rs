//! What schemas cannot say of operators, by family.

pub mod autocast;
pub mod layout;
pub mod view;

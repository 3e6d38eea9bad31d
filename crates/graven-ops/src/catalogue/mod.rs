//! What schemas cannot say of operators, by family.

pub mod autocast;
pub mod hidden_alias;
pub mod layout;
pub mod lazy;
pub mod overlap;
pub mod view;

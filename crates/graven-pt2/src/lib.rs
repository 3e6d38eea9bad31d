//! Reading and writing torch.export archives (.pt2).

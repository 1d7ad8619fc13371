"""M. Tipping, "Sparse Bayesian learning and the relevance vector machine", JMLR 1, 2001 (T01)."""

"""A. Chmielewski-Anders et al., "The RVM and sparsity of Bayesian learning", KTH, 2019 (KTH19)."""

"""C. Rasmussen, J. Quiñonero-Candela, "Healing the relevance vector machine", ICML 2005 (RQ05)."""

"""J. Quiñonero-Candela, "Learning with uncertainty", PhD thesis, 2004 (QC04)."""

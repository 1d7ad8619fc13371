"""A. Schmolck, "Smooth Relevance Vector Machines", PhD thesis, 2008 (S08)."""

"""Other packages, behind one face."""

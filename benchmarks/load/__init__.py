"""Long use of one process, and the largest data that fit into a given memory."""

"""How a file of text is written: its bytes, its cells, its numbers, and where its header is."""

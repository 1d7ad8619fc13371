"""What a command has to say: for people, and for programs."""

"""What moved between two programs, and what kind of move it is: align, classify, explain. Pure, no torch."""

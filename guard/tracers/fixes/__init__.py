"""Defects of the installed torch that guard mends while it traces."""

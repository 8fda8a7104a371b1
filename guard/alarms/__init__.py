"""Signs that one graph is wrong, told from the graph alone: pure. An alarm is a sign, never by itself a finding."""

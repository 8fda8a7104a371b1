"""The verbs: one file each, with one public function that returns an exit code."""

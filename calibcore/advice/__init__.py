"""What the numbers mean and what could be done: patterns, verdicts, remedies."""

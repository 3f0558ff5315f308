"""What a sample can and cannot tell: intervals, chance, detection, comparison."""

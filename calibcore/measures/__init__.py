"""Measures: pure functions of profiles, bins or arrays."""

"""Settings of the whole suite: property tests draw the same examples on every machine."""

from hypothesis import settings

settings.register_profile("calibcore", deadline=None, derandomize=True, database=None, max_examples=100)
settings.load_profile("calibcore")

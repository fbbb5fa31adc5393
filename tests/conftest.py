"""For all tests: examples of property tests may take as long as a busy machine makes them."""

from hypothesis import settings

settings.register_profile("p4cc", deadline=None)
settings.load_profile("p4cc")

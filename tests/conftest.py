"""For all tests: property tests draw the same examples on each run, so that a change fails only by what it changed.

`make properties` draws new ones (profile `new`). Examples may take as long as a busy machine makes them.
"""

from hypothesis import settings

settings.register_profile("same", deadline=None, derandomize=True, database=None)
settings.register_profile("new", deadline=None, print_blob=True)
settings.load_profile("same")

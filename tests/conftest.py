"""What holds for all tests."""

from hypothesis import settings

# No deadline: a slow machine is no failure. For a longer search: pytest --hypothesis-profile=thorough.
settings.register_profile("kesoku", deadline=None, max_examples=60, print_blob=True)
settings.register_profile("thorough", deadline=None, max_examples=1_000, print_blob=True)
settings.load_profile("kesoku")

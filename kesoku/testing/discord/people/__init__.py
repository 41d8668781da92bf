"""The side of the people: what a test lets them do."""

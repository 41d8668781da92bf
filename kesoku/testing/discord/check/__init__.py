"""What Discord takes in a request, and what it refuses."""

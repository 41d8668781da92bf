"""What there is, in the forms of the wire."""

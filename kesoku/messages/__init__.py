"""Messages: values and tables, no input or output."""

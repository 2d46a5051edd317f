"""The demo shop as plain data, and what writes it into the tables and takes it out again."""

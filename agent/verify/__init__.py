"""Checks the book against itself: reads the rows of a request, then computes again what its chain says of them."""

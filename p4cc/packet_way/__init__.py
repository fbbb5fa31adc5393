"""The way of each packet through one program, as text and as a page of its own."""

"""Controllers of the user's in virtual time: the class to derive from, its switches, and who calls it when."""

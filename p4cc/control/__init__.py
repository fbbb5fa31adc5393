"""Controllers of the user's, in virtual time and in labs: a class to derive from, its switches, who calls it when."""

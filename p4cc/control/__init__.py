"""Users' controllers, in virtual time and in labs: the base class, its switches, and the code that calls handlers."""

//! Text cases that run a P4 program through every execution back end.

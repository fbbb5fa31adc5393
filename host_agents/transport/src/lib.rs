//! Window transport and wire format, sans-IO.

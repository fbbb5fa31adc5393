//! P4Info generation and the P4Runtime gRPC server; the only async crate.

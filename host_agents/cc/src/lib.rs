//! Congestion control algorithms, sans-IO, one file each.

//! The P4Runtime text, point by point, over gRPC: a server over one switch whose clock the tests set.

mod batches;
mod chip;
mod defaults;
mod digests;
mod direct;
mod epochs;
mod groups;
mod info;
mod lab;
mod large_reads;
mod long_configs;
mod no_bits;
mod pairs;
mod pushed;
mod pushes;
mod reconcile;
mod replicas;
mod signed;
mod stopping;
mod streams;
mod translated;

//! BF Runtime, point by point, over gRPC: a server over one switch whose clock the tests set.

mod arrays;
mod batches;
mod clients;
mod fixed;
mod lab;
mod matching;
mod profiles;
mod snapshots;

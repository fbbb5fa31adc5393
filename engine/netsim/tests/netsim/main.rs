//! The network as a whole: arithmetic by hand, conservation, determinism, ties, limits, errors.

#[path = "../support/mod.rs"]
mod support;

#[path = "../support/fabric.rs"]
mod fabrics;

#[path = "../support/fat_tree.rs"]
mod fat_tree;

mod by_hand;
mod captures;
mod cards;
mod columns;
mod connections;
mod control;
mod d3;
mod endless;
mod errors;
mod fabric;
mod faults;
mod generated;
mod injected;
mod invariants;
mod jitter;
mod jobs;
mod pairs;
mod reads;
mod receivers;
mod several_links;
mod streams;
mod tcp;
mod telemetry;
mod threads;
mod trace;
mod traffic;
mod user_headers;
mod user_packets;
mod watching;
mod wire;

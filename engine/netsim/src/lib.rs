//! Virtual-time network: event loop, links, hosts, switches that run the P4 program.

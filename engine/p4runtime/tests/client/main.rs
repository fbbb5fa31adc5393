//! The client's P4Info rules: ids, match types, sizes and values are those of the P4Info that came with the program.

mod info;
mod lab;
mod translated;

//! A language server for P4-16.
//!
//! The way of a keystroke: [`server`] applies the edit to its copy of the text and cancels what still reads
//! or checks the text before; a thread reads the program anew ([`analysis`]: preprocessor, parser,
//! [`names`]), which takes milliseconds, and questions that came meanwhile are answered from that; when no
//! other edit follows, another thread runs the whole compiler and its findings are published. [`features`]
//! has one file per question.
//!
//! Invariants: the server's text is the client's after every edit, whatever its ranges; no text makes it
//! panic, and none keeps it from answering, since all reading and checking is on threads under a budget; an
//! answer belongs to the text that the client has. Files are read and never written, but for copies of those
//! that come with p4cc.

pub mod analysis;
pub mod config;
pub mod features;
pub mod format;
pub mod names;
pub mod text;
pub mod view;

mod builtin;
mod comments;
mod cursor;
mod jobs;
mod paths;
mod project;
mod requests;
mod server;

use lsp_server::Connection;

pub use server::serve;

/// Serves one client over standard input and output, until it says `exit`.
///
/// # Errors
/// What broke the connection, or that the client left without `shutdown`.
pub fn serve_stdio() -> Result<(), String> {
    let (connection, threads) = Connection::stdio();
    let served = serve(&connection);
    // The writer ends when nobody can send any more.
    drop(connection);
    served?;
    threads.join().map_err(|error| error.to_string())
}

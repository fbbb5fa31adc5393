//! What a client may ask, one file per request.

pub mod actions;
pub mod completion;
pub mod diagnostics;
pub mod hover;
pub mod inlay;
pub mod macros;
pub mod navigation;
pub mod rename;
pub mod signature;
pub mod symbols;

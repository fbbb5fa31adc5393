//! What a client may ask, one file per request.

pub mod actions;
pub mod completion;
pub mod diagnostics;
pub mod formatting;
pub mod hover;
pub mod inlay;
pub mod macros;
pub mod navigation;
mod remedy;
pub mod rename;
mod rewrites;
pub mod signature;
pub mod symbols;

use lsp_types::{TextEdit, Uri, WorkspaceEdit};

/// Edits of a document.
pub type Edits = (Uri, Vec<TextEdit>);

/// Edits of documents as the protocol has them.
#[allow(clippy::mutable_key_type, reason = "the map is that of the protocol's types")]
pub fn workspace_edit(edits: impl IntoIterator<Item = Edits>) -> WorkspaceEdit {
    WorkspaceEdit { changes: Some(edits.into_iter().collect()), ..WorkspaceEdit::default() }
}

//! Questions of a client, answered from an analysis of the text that it has.

use crate::features::{
    actions, completion, formatting, hover, inlay, navigation, rename, signature, symbols, workspace_edit,
};
use crate::view::{Cursor, View};
use lsp_server::{ErrorCode, Request, Response};
use lsp_types::request::{
    CodeActionRequest, Completion, DocumentHighlightRequest, DocumentSymbolRequest, Formatting,
    GotoDefinition, HoverRequest, InlayHintRequest, PrepareRenameRequest, References, Rename, Request as _,
    SignatureHelpRequest,
};
use lsp_types::{CompletionList, Position, TextDocumentIdentifier, Uri};
use p4cc_syntax::Diagnostic;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;

/// Where a question is asked: all have a document, and most a position.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    /// The document.
    pub text_document: TextDocumentIdentifier,
    position: Option<Position>,
}

/// The document that a question is about.
pub fn document_of(request: &Request) -> Option<Uri> {
    Asked::deserialize(&request.params).ok().map(|asked| asked.text_document.uri)
}

/// Whether the server answers questions of this kind.
pub fn is_known(method: &str) -> bool {
    [
        GotoDefinition::METHOD,
        References::METHOD,
        DocumentHighlightRequest::METHOD,
        DocumentSymbolRequest::METHOD,
        Formatting::METHOD,
        HoverRequest::METHOD,
        Completion::METHOD,
        SignatureHelpRequest::METHOD,
        PrepareRenameRequest::METHOD,
        Rename::METHOD,
        InlayHintRequest::METHOD,
        CodeActionRequest::METHOD,
    ]
    .contains(&method)
}

/// Whether a question is about every program that includes the document.
pub fn concerns_all_programs(method: &str) -> bool {
    [References::METHOD, Rename::METHOD].contains(&method)
}

/// Whether an answer reads or writes files: other programs, a folder's list, copies of what p4cc brings.
pub fn takes_files(method: &str) -> bool {
    concerns_all_programs(method)
        || [Completion::METHOD, GotoDefinition::METHOD, CodeActionRequest::METHOD].contains(&method)
}

/// What a question is answered from.
pub struct Asking<'a> {
    /// The program that the document is read with.
    pub view: View<'a>,
    /// Others that include it.
    pub others: Vec<View<'a>>,
    /// What is wrong with the program.
    pub findings: &'a [Diagnostic],
}

/// Answers a question about a document.
pub fn answer(asking: &Asking<'_>, path: &Path, request: Request) -> Response {
    let view = &asking.view;
    let id = request.id.clone();
    let Ok(asked) = Asked::deserialize(&request.params) else {
        return Response::new_err(
            id,
            ErrorCode::InvalidParams as i32,
            "the parameters name no document".into(),
        );
    };
    let Some(file) = view.analysis.file(path) else { return Response::new_ok(id, Value::Null) };
    let cursor = asked.position.and_then(|position| view.cursor(path, position));
    let result = match cursor {
        Some(cursor) => at_position(asking, path, cursor, &request),
        None => in_document(view, asking.findings, file, &request),
    };
    match result {
        Ok(value) => Response::new_ok(id, value),
        Err((code, message)) => Response::new_err(id, code as i32, message),
    }
}

type Answer = Result<Value, (ErrorCode, String)>;

fn json(value: impl serde::Serialize) -> Answer {
    serde_json::to_value(value).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}

fn params<P: DeserializeOwned>(request: &Request) -> Result<P, (ErrorCode, String)> {
    P::deserialize(&request.params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

fn at_position(asking: &Asking<'_>, path: &Path, cursor: Cursor, request: &Request) -> Answer {
    let view = &asking.view;
    // The same bytes of the same file, in each program.
    let everywhere = || {
        let others = asking.others.iter().filter_map(|view| Some((view, view.analysis.file(path)?)));
        let others = others.map(|(view, file)| (view, Cursor { file, ..cursor }));
        std::iter::once((view, cursor)).chain(others)
    };
    match request.method.as_str() {
        GotoDefinition::METHOD => json(navigation::definition(view, cursor)),
        References::METHOD => {
            let asked: lsp_types::ReferenceParams = params(request)?;
            json(navigation::references(everywhere(), asked.context.include_declaration))
        }
        DocumentHighlightRequest::METHOD => json(navigation::highlights(view, cursor)),
        HoverRequest::METHOD => json(hover::hover(view, cursor)),
        Completion::METHOD => {
            let items = completion::complete(view, cursor);
            json(CompletionList { is_incomplete: false, items })
        }
        SignatureHelpRequest::METHOD => json(signature::help(view, cursor)),
        PrepareRenameRequest::METHOD => match rename::prepare(view, cursor) {
            Ok(range) => json(range),
            Err(why) => Err((ErrorCode::RequestFailed, why)),
        },
        Rename::METHOD => {
            let asked: lsp_types::RenameParams = params(request)?;
            match rename::rename(everywhere(), &asked.new_name) {
                Ok(edits) => json(workspace_edit(edits)),
                Err(why) => Err((ErrorCode::RequestFailed, why)),
            }
        }
        method => Err((ErrorCode::InvalidParams, format!("{method} takes no position"))),
    }
}

fn in_document(view: &View<'_>, findings: &[Diagnostic], file: usize, request: &Request) -> Answer {
    match request.method.as_str() {
        DocumentSymbolRequest::METHOD => json(symbols::symbols(view, file)),
        Formatting::METHOD => match formatting::edits(view, file) {
            Ok(edits) => json(edits),
            Err(why) => Err((ErrorCode::RequestFailed, why)),
        },
        InlayHintRequest::METHOD => {
            let asked: lsp_types::InlayHintParams = params(request)?;
            json(inlay::hints(view, file, asked.range))
        }
        CodeActionRequest::METHOD => {
            let asked: lsp_types::CodeActionParams = params(request)?;
            json(actions::actions(view, findings, file, asked.range))
        }
        method => Err((ErrorCode::InvalidParams, format!("{method} wants a position"))),
    }
}

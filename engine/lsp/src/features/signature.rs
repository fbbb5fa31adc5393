//! The parameters of the call that is being written.

use crate::cursor::{callees, chain, commas, open_bracket, tokens};
use crate::names::DefId;
use crate::view::{Cursor, View};
use lsp_types::{
    Documentation, MarkupContent, MarkupKind, ParameterInformation, ParameterLabel, SignatureHelp,
    SignatureInformation,
};

/// Signatures of what is called around the cursor.
pub fn help(view: &View<'_>, cursor: Cursor) -> Option<SignatureHelp> {
    let (tokens, _) = tokens(view.analysis.text(cursor.file), cursor.at);
    let (open, bracket) = open_bracket(&tokens)?;
    if bracket != "(" {
        return None;
    }
    let chain = chain(without_type_args(&tokens[..open]))?;
    let found = callees(view.names(), &chain, view.offset(cursor));
    let active = commas(&tokens[open + 1..]);
    let signatures: Vec<SignatureInformation> = found.iter().filter_map(|id| signature(view, *id)).collect();
    if signatures.is_empty() {
        return None;
    }
    let fits = |one: &SignatureInformation| one.parameters.as_ref().is_some_and(|all| all.len() > active);
    let best = signatures.iter().position(fits).unwrap_or(0);
    Some(SignatureHelp {
        signatures,
        active_signature: Some(best as u32),
        active_parameter: Some(active as u32),
    })
}

/// `f<bit<8>>` is an `f`.
fn without_type_args<'a, 't>(tokens: &'a [crate::cursor::Token<'t>]) -> &'a [crate::cursor::Token<'t>] {
    if tokens.last().is_none_or(|last| last.text != ">") {
        return tokens;
    }
    let mut depth = 0u32;
    for (at, token) in tokens.iter().enumerate().rev() {
        match token.text {
            ">" => depth += 1,
            "<" => depth = depth.saturating_sub(1),
            ";" | "{" | "}" => return tokens,
            _ => {}
        }
        if depth == 0 {
            return &tokens[..at];
        }
    }
    tokens
}

fn signature(view: &View<'_>, id: DefId) -> Option<SignatureInformation> {
    let names = view.names();
    let label = names.line(id);
    let mut from = label.rfind(&format!("{}(", names.def(id).name)).or_else(|| label.find('('))?;
    let mut parameters = Vec::new();
    for param in names.params(id) {
        let text = names.param(param);
        // Columns of the label are units of UTF-16; names of P4 are ASCII.
        let start = from + label.get(from..)?.find(&text)?;
        from = start + text.len();
        let label = ParameterLabel::LabelOffsets([start as u32, from as u32]);
        parameters.push(ParameterInformation { label, documentation: None });
    }
    let documentation = super::hover::documentation(view, id)
        .map(|value| Documentation::MarkupContent(MarkupContent { kind: MarkupKind::PlainText, value }));
    Some(SignatureInformation { label, documentation, parameters: Some(parameters), active_parameter: None })
}

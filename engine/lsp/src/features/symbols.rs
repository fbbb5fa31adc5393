//! The outline of a file.

use crate::names::{DefId, DefKind};
use crate::view::View;
use lsp_types::{DocumentSymbol, SymbolKind};

/// Types, parsers with their states, controls with their actions and tables, in order.
pub fn symbols(view: &View<'_>, file: usize) -> Vec<DocumentSymbol> {
    let path = &view.analysis.files[file].path;
    let tops = view.names().defs().filter(|(_, def)| def.parent.is_none());
    tops.filter_map(|(id, _)| symbol(view, id, path)).collect()
}

fn symbol(view: &View<'_>, id: DefId, path: &std::path::Path) -> Option<DocumentSymbol> {
    let def = view.names().def(id);
    let kind = kind(def.kind)?;
    let name = view.analysis.place(def.span).filter(|place| !place.expanded)?;
    let file = view.analysis.files.get(name.file).filter(|file| file.path == path)?;
    debug_assert_eq!(file.path, path);
    let whole = view.analysis.place(def.whole);
    let whole = whole.filter(|whole| whole.file == name.file && !whole.expanded).map(|whole| whole.range);
    // What is said to hold the name must do so, whatever macros are around.
    let around = whole
        .map_or(name.range.clone(), |whole| whole.start.min(name.range.start)..whole.end.max(name.range.end));
    let children: Vec<DocumentSymbol> =
        def.children.iter().filter_map(|child| symbol(view, *child, path)).collect();
    let detail = match def.kind {
        DefKind::Field | DefKind::Const | DefKind::Instance | DefKind::Typedef => {
            Some(view.names().show(&def.ty))
        }
        kind => Some(kind.word().to_owned()),
    };
    #[allow(deprecated, reason = "the field is there until the protocol drops it")]
    Some(DocumentSymbol {
        name: def.name.clone(),
        detail,
        kind,
        tags: None,
        deprecated: None,
        range: view.range(name.file, around),
        selection_range: view.range(name.file, name.range),
        children: (!children.is_empty()).then_some(children),
    })
}

/// What an outline shows a declaration as; parameters and variables are none of it.
fn kind(kind: DefKind) -> Option<SymbolKind> {
    Some(match kind {
        DefKind::Header | DefKind::Struct | DefKind::Union => SymbolKind::STRUCT,
        DefKind::Enum => SymbolKind::ENUM,
        DefKind::EnumMember | DefKind::ErrorMember | DefKind::MatchKind => SymbolKind::ENUM_MEMBER,
        DefKind::Typedef => SymbolKind::TYPE_PARAMETER,
        DefKind::Field => SymbolKind::FIELD,
        DefKind::Const => SymbolKind::CONSTANT,
        DefKind::Instance | DefKind::ValueSet => SymbolKind::OBJECT,
        DefKind::Action | DefKind::Function => SymbolKind::FUNCTION,
        DefKind::Table => SymbolKind::ARRAY,
        DefKind::Control | DefKind::Parser => SymbolKind::CLASS,
        DefKind::State => SymbolKind::EVENT,
        DefKind::Extern | DefKind::Package => SymbolKind::INTERFACE,
        DefKind::Method => SymbolKind::METHOD,
        DefKind::Constructor => SymbolKind::CONSTRUCTOR,
        DefKind::Variable | DefKind::Param(_) | DefKind::TypeParam => return None,
    })
}

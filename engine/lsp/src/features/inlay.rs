//! Where each field of a header stands, behind its line.

use super::hover::offset_of;
use crate::names::DefKind;
use crate::view::View;
use lsp_types::{InlayHint, InlayHintLabel, InlayHintTooltip, Range};

/// Hints for the headers that a range of a file declares. Behind a field of variable width there are none.
pub fn hints(view: &View<'_>, file: usize, range: Range) -> Vec<InlayHint> {
    let names = view.names();
    let fields = names.defs().filter(|(_, def)| def.kind == DefKind::Field);
    let mut found = Vec::new();
    for (id, def) in fields {
        let Some(place) = view.analysis.place(def.span).filter(|place| place.file == file && !place.expanded)
        else {
            continue;
        };
        let position = view.range(file, place.range).end;
        if position < range.start || position > range.end {
            continue;
        }
        let (Some(at), Some(width)) = (offset_of(names, id), def.width) else { continue };
        let label = match at % 8 {
            0 => format!("byte {}", at / 8),
            bit => format!("byte {}, bit {bit}", at / 8),
        };
        let last = at.saturating_add(width).saturating_sub(1);
        found.push(InlayHint {
            position,
            label: InlayHintLabel::String(label),
            kind: None,
            text_edits: None,
            tooltip: Some(InlayHintTooltip::String(format!(
                "bits {at} to {last} of the header, {width} wide"
            ))),
            padding_left: Some(true),
            padding_right: None,
            data: None,
        });
    }
    found
}

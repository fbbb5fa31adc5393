//! Architectures: from the package that `main` is an instance of to the entry points.
//!
//! An architecture is one module with an implementation of [`Lowering`], and its lines in the registry: its
//! module and its place in [`ALL`]. Other code asks the lowerer for a property (`is_tofino`).

mod psa;
mod tna;
mod v1model;

use crate::Lowerer;
use crate::object::{EnvId, Object};
use crate::storage::Rvalue;
use p4cc_ir::Architecture;
use p4cc_types::hir::{Call, Constructed, Instance, Program};
use p4cc_types::ty::Ty;

/// All architectures; a program that is for none is lowered as one of the first.
const ALL: [&dyn Lowering; 3] = [&v1model::V1Switch, &psa::PsaSwitch, &tna::TofinoSwitch];

/// What the lowering asks of an architecture.
pub(super) trait Lowering {
    /// The name of its package.
    fn package(&self) -> &'static str;

    /// The names of the architectures with this package, for messages.
    fn architectures(&self) -> &'static [&'static str];

    /// The one of them that the program is for.
    fn architecture(&self, _lowerer: &Lowerer<'_>) -> &'static str {
        self.architectures().first().copied().unwrap_or_default()
    }

    /// Whether `main` has the parts of the package: a program may declare its own of that name.
    fn has_parts(&self, hir: &Program, main: &Instance) -> bool;

    /// The entry points of `main`, and its blocks in order.
    fn entry_points(&self, lowerer: &mut Lowerer<'_>, main: &Instance) -> Option<(Architecture, Vec<EnvId>)>;

    /// A method that only this architecture has; None for one that it shares with others.
    fn method(
        &self,
        _lowerer: &mut Lowerer<'_>,
        _object: Object,
        _name: &str,
        _call: &Call,
        _ret: Option<&Ty>,
    ) -> Option<Option<Rvalue>> {
        None
    }

    /// An extern function that only this architecture has; None for one that it shares with others.
    fn function(
        &self,
        _lowerer: &mut Lowerer<'_>,
        _name: &str,
        _type_args: &[Ty],
        _call: &Call,
        _ret: Option<&Ty>,
    ) -> Option<Option<Rvalue>> {
        None
    }
}

fn of_package(package: &str) -> Option<&'static dyn Lowering> {
    ALL.into_iter().find(|lowering| lowering.package() == package)
}

/// Whether a package has the name of a known architecture's.
pub fn is_known_name(package: &str) -> bool {
    of_package(package).is_some()
}

/// Whether `main` has the parts of its architecture's package.
pub fn is_known_package(hir: &Program, main: &Instance) -> bool {
    let Constructed::Package(package) = &main.construct.what else { return false };
    of_package(package).is_some_and(|lowering| lowering.has_parts(hir, main))
}

/// The packages with their architectures, for messages.
pub fn known_packages() -> String {
    let packages =
        ALL.map(|lowering| format!("`{}` of {}", lowering.package(), lowering.architectures().join(" and ")));
    format!("known are {}", listed(&packages, "and"))
}

/// The architectures, for messages.
pub fn known_architectures() -> String {
    let names: Vec<_> = ALL.iter().flat_map(|lowering| lowering.architectures()).collect();
    listed(&names, "or")
}

/// Names with commas between them, and a word in front of the last.
fn listed(names: &[impl ToString], word: &str) -> String {
    let mut names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let last = names.pop().unwrap_or_default();
    if names.is_empty() { last } else { format!("{} {word} {last}", names.join(", ")) }
}

impl Lowerer<'_> {
    /// What is particular to the program's architecture.
    pub(super) fn lowering(&self) -> &'static dyn Lowering {
        of_package(&self.package).unwrap_or(&v1model::V1Switch)
    }

    /// The architecture's name, for messages.
    pub(super) fn architecture(&self) -> &'static str {
        self.lowering().architecture(self)
    }

    /// Whether the program is for v1model.
    pub(super) fn is_v1model(&self) -> bool {
        self.lowering().package() == v1model::V1Switch.package()
    }

    /// Whether the program is for PSA.
    pub(super) fn is_psa(&self) -> bool {
        self.package == psa::PsaSwitch.package()
    }

    /// Whether the program is for a Tofino chip.
    pub(super) fn is_tofino(&self) -> bool {
        self.package == tna::TofinoSwitch.package()
    }
}

//! What can be said of a type.

use super::{Def, DefId, DefKind, Names, Ty};
use p4cc_syntax::ast::Direction;

/// Types inside one another that are shown.
const MAX_SHOWN_DEPTH: u32 = 6;

/// Parts of a type whose parameters are filled in.
const MAX_FILLED: u32 = 256;

impl Names {
    /// A type with its typedefs followed.
    pub fn target<'t>(&'t self, mut ty: &'t Ty) -> &'t Ty {
        // A declaration names earlier ones only, so this ends.
        while let Ty::Named(id, _) = ty
            && self.def(*id).kind == DefKind::Typedef
        {
            ty = &self.def(*id).ty;
        }
        ty
    }

    /// Width in bits of a value, if it has one.
    pub fn width(&self, ty: &Ty) -> Option<u64> {
        match ty {
            Ty::Plain("bool") => Some(1),
            Ty::Bit(width) | Ty::Int(width) => width.map(u64::from),
            Ty::Named(id, _) => self.def(*id).width,
            Ty::Stack(elem, size) => self.width(elem)?.checked_mul(u64::from((*size)?)),
            Ty::Tuple(items) => items.iter().try_fold(0u64, |sum, item| sum.checked_add(self.width(item)?)),
            _ => None,
        }
    }

    /// A type as its user writes it.
    pub fn show(&self, ty: &Ty) -> String {
        self.show_within(ty, MAX_SHOWN_DEPTH)
    }

    fn show_within(&self, ty: &Ty, depth: u32) -> String {
        let Some(depth) = depth.checked_sub(1) else { return "...".to_owned() };
        let list = |items: &[Ty]| {
            items.iter().map(|item| self.show_within(item, depth)).collect::<Vec<_>>().join(", ")
        };
        let number =
            |number: &Option<u32>| number.map_or_else(|| "?".to_owned(), |number| number.to_string());
        match ty {
            Ty::Unknown => "?".to_owned(),
            Ty::Plain(word) => (*word).to_owned(),
            Ty::Error => "error".to_owned(),
            Ty::Bit(width) => format!("bit<{}>", number(width)),
            Ty::Int(width) => format!("int<{}>", number(width)),
            Ty::Varbit(width) => format!("varbit<{}>", number(width)),
            Ty::Named(id, args) if args.is_empty() => self.def(*id).name.clone(),
            Ty::Named(id, args) => format!("{}<{}>", self.def(*id).name, list(args)),
            Ty::Stack(elem, size) => format!("{}[{}]", self.show_within(elem, depth), number(size)),
            Ty::Tuple(items) => format!("tuple<{}>", list(items)),
            Ty::List(elem) => format!("list<{}>", self.show_within(elem, depth)),
            Ty::TypeName(ty) => self.show_within(ty, depth),
            Ty::Applied(table) => format!("result of {}.apply()", self.def(*table).name),
        }
    }

    /// Replaces the type parameters of a generic declaration by type arguments.
    pub(super) fn fill(&self, ty: &Ty, generic: DefId, args: &[Ty]) -> Ty {
        if args.is_empty() {
            return ty.clone();
        }
        let params: Vec<DefId> = self.type_params(generic).collect();
        let mut left = MAX_FILLED;
        self.replace(ty, &params, args, &mut left)
    }

    fn type_params(&self, generic: DefId) -> impl Iterator<Item = DefId> {
        let children = self.def(generic).children.iter().copied();
        children.filter(|child| self.def(*child).kind == DefKind::TypeParam)
    }

    fn replace(&self, ty: &Ty, params: &[DefId], args: &[Ty], left: &mut u32) -> Ty {
        // A call of a call of a generic method may double its type each time.
        let Some(less) = left.checked_sub(1) else { return Ty::Unknown };
        *left = less;
        let mut all =
            |items: &[Ty]| items.iter().map(|item| self.replace(item, params, args, left)).collect();
        match ty {
            Ty::Named(id, inner) => match params.iter().position(|param| param == id) {
                Some(at) => args.get(at).map(|arg| self.replace(arg, &[], &[], left)).unwrap_or_default(),
                None => Ty::Named(*id, all(inner)),
            },
            Ty::Stack(elem, size) => Ty::Stack(Box::new(self.replace(elem, params, args, left)), *size),
            Ty::List(elem) => Ty::List(Box::new(self.replace(elem, params, args, left))),
            Ty::Tuple(items) => Ty::Tuple(all(items)),
            _ => ty.clone(),
        }
    }

    /// The declaration whose members a value of a type has, with its type arguments.
    pub(super) fn holder<'t>(&'t self, ty: &'t Ty) -> Option<(DefId, &'t [Ty])> {
        match self.target(ty) {
            Ty::Named(id, args) => Some((*id, args)),
            Ty::TypeName(ty) => match self.target(ty) {
                Ty::Named(id, args) => Some((*id, args)),
                _ => None,
            },
            _ => None,
        }
    }

    /// A member of a value or type by its name.
    pub fn member(&self, ty: &Ty, name: &str) -> Option<DefId> {
        if let Ty::Error = self.target(ty) {
            return self.errors.get(name).copied();
        }
        if let Ty::TypeName(inner) = ty
            && matches!(self.target(inner), Ty::Error)
        {
            return self.member(inner, name);
        }
        let (holder, _) = self.holder(ty)?;
        self.part(holder, name)
    }

    /// The type of a member, that of a value included that is no declaration of the program.
    pub fn member_type(&self, ty: &Ty, name: &str) -> Ty {
        if let Some(member) = self.member(ty, name) {
            let (holder, args) = match self.holder(ty) {
                Some(found) => found,
                None => return self.def(member).ty.clone(),
            };
            return self.fill(&self.def(member).ty, holder, args);
        }
        match (self.target(ty), name) {
            (Ty::Stack(elem, _), "next" | "last") => (**elem).clone(),
            (Ty::Stack(..), "lastIndex" | "size") => Ty::Bit(Some(32)),
            (Ty::Applied(_), "hit" | "miss") => Ty::Plain("bool"),
            _ => Ty::Unknown,
        }
    }

    /// The type of what a call gives.
    pub fn call_type(&self, callee: &Ty, name: &str) -> Ty {
        match (self.target(callee), name) {
            (_, "isValid") => Ty::Plain("bool"),
            (Ty::Named(id, _), "apply") if self.def(*id).kind == DefKind::Table => Ty::Applied(*id),
            _ => self.member_type(callee, name),
        }
    }

    /// The type of what a name stands for, where a value stands.
    pub fn value_type(&self, id: DefId) -> Ty {
        let def = self.def(id);
        match def.kind {
            kind if kind.is_type() => Ty::TypeName(Box::new(Ty::Named(id, Vec::new()))),
            _ => def.ty.clone(),
        }
    }

    /// Constructors of a type.
    pub fn constructors(&self, id: DefId) -> Vec<DefId> {
        let children = self.def(id).children.iter().copied();
        children.filter(|child| self.def(*child).kind == DefKind::Constructor).collect()
    }

    /// Methods of one name.
    pub fn same_name(&self, id: DefId) -> Vec<DefId> {
        let def = self.def(id);
        let Some(parent) = def.parent else { return vec![id] };
        let siblings = self.def(parent).children.iter().copied();
        siblings
            .filter(|other| self.def(*other).name == def.name && self.def(*other).kind == def.kind)
            .collect()
    }

    /// A declaration in one line, as its user would write it.
    pub fn line(&self, id: DefId) -> String {
        let def = self.def(id);
        let name = &def.name;
        let ty = || self.show(&def.ty);
        match def.kind {
            DefKind::Header | DefKind::Struct | DefKind::Union | DefKind::Extern | DefKind::Enum => {
                format!("{} {name}{}", def.kind.word(), self.type_param_list(id))
            }
            DefKind::EnumMember | DefKind::ErrorMember => {
                let owner = def.parent.map_or("error", |parent| self.def(parent).name.as_str());
                let value = def.value.map_or_else(String::new, |value| format!(" = {value}"));
                format!("{owner}.{name}{value}")
            }
            DefKind::MatchKind => format!("match_kind {name}"),
            DefKind::Typedef => format!("typedef {} {name}", ty()),
            DefKind::Field => match def.parent {
                Some(parent) => format!("{} {}.{name}", ty(), self.def(parent).name),
                None => format!("{} {name}", ty()),
            },
            DefKind::Const => match def.value {
                Some(value) => format!("const {} {name} = {value}", ty()),
                None => format!("const {} {name}", ty()),
            },
            DefKind::Variable | DefKind::Instance => format!("{} {name}", ty()),
            DefKind::Param(direction) => format!("{}{} {name}", word(direction), ty()),
            DefKind::TypeParam => format!("type parameter {name}"),
            DefKind::ValueSet => format!("value_set<{}> {name}", ty()),
            DefKind::State | DefKind::Table => format!("{} {name}", def.kind.word()),
            DefKind::Action | DefKind::Control | DefKind::Parser | DefKind::Package => {
                format!("{} {name}{}({})", def.kind.word(), self.type_param_list(id), self.param_list(id))
            }
            DefKind::Function | DefKind::Method => {
                format!("{} {name}{}({})", ty(), self.type_param_list(id), self.param_list(id))
            }
            DefKind::Constructor => format!("{name}({})", self.param_list(id)),
        }
    }

    fn type_param_list(&self, id: DefId) -> String {
        let names: Vec<&str> = self.type_params(id).map(|param| self.def(param).name.as_str()).collect();
        if names.is_empty() { String::new() } else { format!("<{}>", names.join(", ")) }
    }

    fn param_list(&self, id: DefId) -> String {
        self.params(id).map(|param| self.param(param)).collect::<Vec<_>>().join(", ")
    }

    /// A parameter as written.
    pub fn param(&self, param: &Def) -> String {
        let direction = match param.kind {
            DefKind::Param(direction) => direction,
            _ => Direction::None,
        };
        format!("{}{} {}", word(direction), self.show(&param.ty), param.name)
    }
}

const fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::None => "",
        Direction::In => "in ",
        Direction::Out => "out ",
        Direction::InOut => "inout ",
    }
}

//! A client's P4Info against its program: ids, match types, forms of values and scopes of actions are the
//! P4Info's, and each object that it names is the program's of that name.
//!
//! What the P4Info leaves out is out of the client's sight; what it names and the program lacks is refused.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_ir::{
    ActionId, ActionScope, ChipMatch, ControlPlaneName, DataType, MatchKind, Program, Table, TableId, VarType,
};

use crate::data_form::Types;
use crate::errors::Failure;
use crate::objects::{ActionInfo, CellInfo, HeaderPart, KeyInfo, ParamInfo, TableInfo};
use crate::p4info::{Ids, chip, field_ids, value_set_fields};
use crate::proto::p4::config::v1 as p4;
use crate::translation::{Form, Translations};
use p4::match_field::{Match, MatchType};

/// What is bound, and to what.
pub(crate) struct Binder<'a> {
    pub(crate) program: &'a Program,
    pub(crate) info: &'a p4::P4Info,
    pub(crate) translations: &'a Translations,
    /// Ids given so far.
    taken: BTreeSet<u32>,
}

/// A key as the program declares it.
type Declared<'a> = (&'a ControlPlaneName, VarType, MatchKind);

/// An object of the P4Info and the program's of its name.
pub(crate) type Bound<'a, T> = (u32, usize, &'a T);

fn lacks(what: &str, name: &str) -> Failure {
    Failure::invalid(format!(
        "the P4Info names {what} {name}, which the program in p4_device_config does not have; give the P4Info of this program, \
         without what the compiler left out"
    ))
}

impl<'a> Binder<'a> {
    pub(crate) fn new(program: &'a Program, info: &'a p4::P4Info, translations: &'a Translations) -> Self {
        Self { program, info, translations, taken: BTreeSet::new() }
    }

    /// Finds the program's object for each of a list.
    pub(crate) fn bind<'g, 'p, T>(
        &mut self,
        what: &str,
        given: &'g [T],
        preamble: impl Fn(&T) -> Option<&p4::Preamble>,
        names: impl Iterator<Item = (usize, &'p ControlPlaneName)>,
    ) -> Result<Vec<Bound<'g, T>>, Failure> {
        let mut positions: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, cp) in names {
            positions.entry(cp.name.as_str()).or_insert(at);
        }
        let mut bound = Vec::with_capacity(given.len());
        for one in given {
            let Some(preamble) = preamble(one) else {
                return Err(Failure::invalid(format!("the P4Info has a {what} without a preamble")));
            };
            let (id, name) = (preamble.id, &preamble.name);
            let at = positions.remove(name.as_str()).ok_or_else(|| lacks(what, name))?;
            self.take(what, id, name)?;
            bound.push((id, at, one));
        }
        Ok(bound)
    }

    fn take(&mut self, what: &str, id: u32, name: &str) -> Result<(), Failure> {
        if id == 0 || !self.taken.insert(id) {
            let cause = if id == 0 { "has no id" } else { "has the id of another object" };
            return Err(Failure::invalid(format!("the P4Info's {what} {name} (id {id:#010x}) {cause}")));
        }
        Ok(())
    }

    /// Externs that no architecture here has.
    pub(crate) fn no_externs(&self) -> Result<(), Failure> {
        // A TNA program has port metadata, be they described or not.
        let known = |of: &&p4::Extern| {
            chip::view(self.program).is_none() || of.extern_type_id != chip::PORT_METADATA.0
        };
        let mut instances = self.info.externs.iter().filter(known).flat_map(|of| &of.instances);
        match instances.find_map(|instance| instance.preamble.as_ref()) {
            Some(preamble) => Err(lacks("extern instance", &preamble.name)),
            None => Ok(()),
        }
    }

    /// The tables of the P4Info, but for those that the program lacks and that could do nothing in it:
    /// without keys, with `NoAction` only. p4c tells of them, and leaves them out of its JSON.
    pub(crate) fn tables(&self) -> Vec<&'a p4::Table> {
        let known: BTreeSet<&str> = self.program.tables.iter().map(|table| table.cp.name.as_str()).collect();
        let wanted = |table: &&p4::Table| {
            table.preamble.as_ref().is_none_or(|one| known.contains(one.name.as_str()))
                || !self.is_idle(table)
        };
        self.info.tables.iter().filter(wanted).collect()
    }

    fn is_idle(&self, table: &p4::Table) -> bool {
        let no_action = |id: u32| {
            let named = self.info.actions.iter().filter_map(|action| action.preamble.as_ref());
            named.into_iter().any(|preamble| preamble.id == id && preamble.name == "NoAction")
        };
        table.match_fields.is_empty()
            && table.implementation_id == 0
            && table.direct_resource_ids.is_empty()
            && table.action_refs.iter().all(|listed| no_action(listed.id))
    }

    /// The action profiles of the P4Info, but for those that no table has and
    /// the program lacks: p4c tells of them, and leaves them out of its JSON.
    pub(crate) fn profiles(&self) -> Vec<&'a p4::ActionProfile> {
        let known: BTreeSet<&str> = self.program.profiles.iter().map(|one| one.cp.name.as_str()).collect();
        let is_used = |profile: &p4::ActionProfile| {
            let id = profile.preamble.as_ref().map(|preamble| preamble.id);
            let implements = |table: &p4::Table| Some(table.implementation_id) == id;
            !profile.table_ids.is_empty() || self.info.tables.iter().any(implements)
        };
        let wanted = |profile: &&p4::ActionProfile| {
            profile.preamble.as_ref().is_none_or(|one| known.contains(one.name.as_str())) || is_used(profile)
        };
        self.info.action_profiles.iter().filter(wanted).collect()
    }

    /// Names of objects that the P4Info has and the program does without, by id.
    pub(crate) fn left_out(&self) -> BTreeMap<u32, String> {
        let (tables, profiles) = (self.tables(), self.profiles());
        let kept = |id: u32| {
            let has = |preamble: &Option<p4::Preamble>| preamble.as_ref().is_some_and(|one| one.id == id);
            tables.iter().any(|one| has(&one.preamble)) || profiles.iter().any(|one| has(&one.preamble))
        };
        let all = self.info.tables.iter().filter_map(|one| one.preamble.as_ref());
        let all = all.chain(self.info.action_profiles.iter().filter_map(|one| one.preamble.as_ref()));
        all.filter(|one| !kept(one.id)).map(|one| (one.id, one.name.clone())).collect()
    }

    /// Names of the program's digests as the P4Info has them. A message whose type has no name is numbered
    /// there; in JSON it has the name of a tuple that p4c made, or none.
    pub(crate) fn digest_names(&self) -> Vec<ControlPlaneName> {
        let mut names: Vec<ControlPlaneName> =
            self.program.digests.iter().map(|digest| digest.cp.clone()).collect();
        let given = self.info.digests.iter().filter_map(|digest| digest.preamble.as_ref());
        let given: Vec<&str> = given.map(|preamble| preamble.name.as_str()).collect();
        let has_number = |name: &str, front: &str| {
            name.strip_prefix(front).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
        };
        let is_unnamed = |name: &str| name == "digest" || has_number(name, "tuple_");
        let own: BTreeSet<String> = names.iter().map(|cp| cp.name.clone()).collect();
        let mut numbered = given.iter().filter(|name| has_number(name, "digest_") && !own.contains(**name));
        for cp in names.iter_mut().filter(|cp| is_unnamed(&cp.name) && !given.contains(&cp.name.as_str())) {
            let Some(name) = numbered.next() else { break };
            cp.name = (*name).to_owned();
        }
        names
    }

    /// The actions of the P4Info, but for those that no table lists and the program lacks: p4c tells of
    /// actions that only the program calls, and leaves them out of its JSON where no packet reaches the call.
    pub(crate) fn actions(&self) -> Vec<&'a p4::Action> {
        let tables = self.tables();
        let listed: BTreeSet<u32> =
            tables.iter().flat_map(|table| &table.action_refs).map(|listed| listed.id).collect();
        let known: BTreeSet<&str> =
            self.program.actions.iter().map(|action| action.cp.name.as_str()).collect();
        let wanted = |action: &&p4::Action| match &action.preamble {
            Some(preamble) => listed.contains(&preamble.id) || known.contains(preamble.name.as_str()),
            None => true,
        };
        self.info.actions.iter().filter(wanted).collect()
    }

    /// The form of a key, parameter or field.
    fn form(
        &self,
        place: &str,
        bitwidth: i32,
        type_name: Option<&p4::P4NamedType>,
        ty: VarType,
    ) -> Result<Form, Failure> {
        let width = ty.width();
        let differs = |given: i32, own: u32| {
            Err(Failure::invalid(format!("{place} has {given} bits in the P4Info, {own} in the program")))
        };
        let types = self.info.type_info.as_ref();
        if let Some(named) = type_name {
            if let Some(form) = self.translations.form(&named.name, width) {
                let sdn_width = form.sdn_width().unwrap_or(0);
                return if u32::try_from(bitwidth) == Ok(sdn_width) {
                    Ok(form)
                } else {
                    differs(bitwidth, sdn_width)
                };
            }
            if let Some(of) = types.and_then(|types| types.enums.get(&named.name)) {
                return Ok(Form::names(width, of.members.iter().map(|one| one.name.clone()).collect()));
            }
        }
        if bitwidth == 0 && type_name.is_none() && width == 32 {
            return Ok(Form::names(width, self.program.errors.clone()));
        }
        if u32::try_from(bitwidth) == Ok(width) { Ok(Form::own(ty)) } else { differs(bitwidth, width) }
    }

    /// Match fields of a table or value set. A name may leave out the front of the other's: JSON of an old
    /// p4c does not say what the struct around the headers is called.
    fn keys(
        &self,
        owner: &str,
        given: &[p4::MatchField],
        declared: &[Declared<'_>],
    ) -> Result<Vec<KeyInfo>, Failure> {
        let mut keys: Vec<KeyInfo> = Vec::with_capacity(given.len());
        let same = |a: &str, b: &str| a == b;
        let ends = |a: &str, b: &str| a.strip_suffix(b).is_some_and(|front| front.ends_with('.'));
        let positional =
            declared.len() == given.len() && declared.iter().all(|(cp, ..)| is_nameless(&cp.name));
        for (at, field) in given.iter().enumerate() {
            let free = |position: &usize| keys.iter().all(|key| key.position != Some(*position));
            let by = |matches: &dyn Fn(&str, &str) -> bool| {
                let named = |position: &usize| matches(&field.name, &declared[*position].0.name);
                (0..declared.len()).filter(free).find(named)
            };
            let found = if positional { Some(at) } else { by(&same).or_else(|| by(&ends)) };
            let place = format!("{owner}, field {}", field.name);
            let no_bits = has_no_bits(field.bitwidth, field.type_name.as_ref());
            let (ty, own, form, kind) = match (found, match_type(field).and_then(kind_of)) {
                (Some(position), _) => {
                    let (_, ty, own) = declared[position];
                    let form = self.form(&place, field.bitwidth, field.type_name.as_ref(), ty)?;
                    (ty, own, form, match_kind(&place, field, own)?)
                }
                // The program's tables do without what has one value only.
                (None, Some(kind)) if no_bits => (NO_BITS, kind, Form::own(NO_BITS), kind),
                _ => return Err(lacks("match field", &format!("{} of {owner}", field.name))),
            };
            let (position, id, name) = (found, field.id, field.name.clone());
            if id == 0 || keys.iter().any(|key| key.id == id) {
                return Err(Failure::invalid(format!("{place}: id {id} in the P4Info is 0 or given twice")));
            }
            keys.push(KeyInfo { id, position, name, ty, kind, own, form });
        }
        let missing = (0..declared.len()).find(|at| keys.iter().all(|key| key.position != Some(*at)));
        match missing {
            Some(at) => Err(Failure::invalid(format!(
                "{owner}: the P4Info leaves out match field {} of the program",
                declared[at].0.name
            ))),
            None => Ok(keys),
        }
    }

    /// A table; its actions by the ids of the P4Info.
    pub(crate) fn table(&self, id: u32, table: TableId, given: &p4::Table) -> Result<TableInfo, Failure> {
        let own = &self.program.tables[table.index()];
        let owner = format!("table {}", own.cp.name);
        let declared: Vec<Declared<'_>> =
            matched(own).map(|key| (&key.cp, self.program.vars[key.var.index()].ty, key.kind)).collect();
        let keys = self.keys(&owner, &given.match_fields, &declared)?;
        let has_priority = keys
            .iter()
            .filter(|key| key.position.is_some())
            .any(|key| matches!(key.kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional));
        let mut actions = BTreeMap::new();
        for listed in &given.action_refs {
            let named = self.info.actions.iter().filter_map(|action| action.preamble.as_ref());
            let Some(preamble) = named.into_iter().find(|preamble| preamble.id == listed.id) else {
                let id = listed.id;
                return Err(Failure::invalid(format!(
                    "{owner}: the P4Info has no action with id {id:#010x}"
                )));
            };
            let name = &preamble.name;
            let action = own
                .actions
                .iter()
                .map(|one| one.action)
                .find(|action| self.program.actions[action.index()].cp.name == *name);
            let action = action.ok_or_else(|| lacks("action", &format!("{name} of {owner}")))?;
            actions.insert(listed.id, (action, scope(listed.scope)));
        }
        self.implementation(&owner, own, given.implementation_id)?;
        Ok(TableInfo { table, id, keys, has_priority, actions })
    }

    /// The action profile of a table is the program's.
    fn implementation(&self, owner: &str, own: &Table, given: u32) -> Result<(), Failure> {
        let preambles = self.info.action_profiles.iter().filter_map(|profile| profile.preamble.as_ref());
        let named = preambles.into_iter().find(|preamble| preamble.id == given).map(|one| one.name.as_str());
        let own = own.profile.map(|profile| self.program.profiles[profile.index()].cp.name.as_str());
        if named == own && (given != 0) == own.is_some() {
            return Ok(());
        }
        let shown = |name: Option<&str>| name.unwrap_or("none").to_owned();
        let (named, own) = (shown(named), shown(own));
        Err(Failure::invalid(format!(
            "{owner}: its implementation is {named} in the P4Info, {own} in the program"
        )))
    }

    /// Parameters of the program's action in their order, as the P4Info names them.
    pub(crate) fn action(
        &self,
        at: usize,
        given: Option<&p4::Action>,
        own_id: u32,
    ) -> Result<ActionInfo, Failure> {
        let own = &self.program.actions[at];
        let ty = |at: usize| self.program.vars[own.params[at].var.index()].ty;
        let Some((given, preamble)) = given.and_then(|given| Some((given, given.preamble.as_ref()?))) else {
            let ids = field_ids(own.params.iter().map(|param| &param.cp));
            let params = ids.into_iter().zip(&own.params).enumerate().map(|(at, (id, param))| ParamInfo {
                id,
                name: param.cp.name.clone(),
                form: Form::own(ty(at)),
            });
            return Ok(ActionInfo { id: own_id, params: params.collect(), no_bits: Vec::new() });
        };
        let owner = format!("action {}", own.cp.name);
        let mut params: Vec<Option<ParamInfo>> = vec![None; own.params.len()];
        let mut no_bits = Vec::new();
        for one in &given.params {
            let has =
                |action: &p4cc_ir::Action| action.params.iter().position(|param| param.cp.name == one.name);
            let Some(at) = has(own) else {
                // p4c's JSON has a copy without parameters for each call of an action that tables list too.
                let copies = self.program.actions.iter().filter(|action| action.cp.name == own.cp.name);
                if copies.into_iter().any(|action| has(action).is_some()) {
                    continue;
                }
                if has_no_bits(one.bitwidth, one.type_name.as_ref()) {
                    let (name, form) = (one.name.clone(), Form::own(NO_BITS));
                    no_bits.push(ParamInfo { id: one.id, name, form });
                    continue;
                }
                return Err(lacks("parameter", &format!("{} of {owner}", one.name)));
            };
            let place = format!("{owner}, parameter {}", one.name);
            let form = self.form(&place, one.bitwidth, one.type_name.as_ref(), ty(at))?;
            params[at] = Some(ParamInfo { id: one.id, name: one.name.clone(), form });
        }
        let is_listed = self
            .program
            .tables
            .iter()
            .flat_map(|table| &table.actions)
            .any(|listed| listed.action == ActionId::from_index(at));
        let missing = params.iter().position(Option::is_none).filter(|_| is_listed);
        if let Some(missing) = missing {
            let name = &own.params[missing].cp.name;
            return Err(Failure::invalid(format!(
                "{owner}: the P4Info leaves out parameter {name} of the program"
            )));
        }
        Ok(ActionInfo { id: preamble.id, params: params.into_iter().flatten().collect(), no_bits })
    }

    /// Keys of a value set's members.
    pub(crate) fn value_set(&self, at: usize, given: &p4::ValueSet) -> Result<Vec<KeyInfo>, Failure> {
        let own = &self.program.value_sets[at];
        let declared: Vec<Declared<'_>> = own.keys.iter().map(|(cp, ty, kind)| (cp, *ty, *kind)).collect();
        // p4c's back end for the chip says the size only.
        let of_chip = given.r#match.is_empty() && chip::view(self.program).is_some();
        let fields = if of_chip { value_set_fields(self.program, own) } else { given.r#match.clone() };
        self.keys(&format!("value set {}", own.cp.name), &fields, &declared)
    }

    fn types(&self) -> Types<'_> {
        Types { info: self.info, translations: self.translations, errors: &self.program.errors }
    }

    /// The form of what a register's cell or a digest's message packs.
    pub(crate) fn data(
        &self,
        place: &str,
        given: Option<&p4::P4DataTypeSpec>,
        leaves: Vec<VarType>,
    ) -> Result<CellInfo, Failure> {
        let form = given.and_then(|spec| self.types().form(spec, &leaves));
        match form {
            Some(form) => Ok(CellInfo { form, leaves }),
            None => {
                Err(Failure::invalid(format!("{place}: its type in the P4Info is not that of the program")))
            }
        }
    }

    /// The form of an array's index, where it is translated.
    pub(crate) fn index(&self, given: Option<&p4::P4NamedType>) -> Option<Form> {
        let name = &given?.name;
        let width = match self.program.data_types.new_types.get(name).map(|declared| &declared.original) {
            Some(DataType::Scalar(ty)) => ty.width(),
            _ => 32,
        };
        self.translations.form(name, width).filter(|form| !form.is_own())
    }

    /// The fields of `packet_in` and `packet_out` headers, by the headers' names.
    pub(crate) fn controller_headers(&self) -> Result<BTreeMap<String, Vec<HeaderPart>>, Failure> {
        let mut headers = BTreeMap::new();
        for given in &self.info.controller_packet_metadata {
            let Some(preamble) = &given.preamble else {
                return Err(Failure::invalid("the P4Info has controller metadata without a preamble"));
            };
            headers.insert(preamble.name.clone(), self.controller_header(&preamble.name, &given.metadata)?);
        }
        Ok(headers)
    }

    fn controller_header(
        &self,
        name: &str,
        given: &[p4::controller_packet_metadata::Metadata],
    ) -> Result<Vec<HeaderPart>, Failure> {
        let fields = self.header_fields(name, given);
        let Some(fields) = fields else {
            // As BMv2's server does with JSON, which does not say which header is the controller's.
            let part = |one: &p4::controller_packet_metadata::Metadata| {
                let width = u32::try_from(one.bitwidth).ok().filter(|width| *width > 0)?;
                Some(HeaderPart {
                    id: Some(one.id),
                    name: one.name.clone(),
                    form: Form::own(VarType::Bit(width)),
                })
            };
            let parts: Option<Vec<HeaderPart>> = given.iter().map(part).collect();
            return parts.ok_or_else(|| lacks("controller header", name));
        };
        let mut parts: Vec<(HeaderPart, VarType)> = fields
            .into_iter()
            .map(|(name, ty)| (HeaderPart { id: None, name, form: Form::own(ty) }, ty))
            .collect();
        for one in given {
            let part = parts.iter_mut().find(|(part, _)| part.name == one.name && part.id.is_none());
            let Some((part, ty)) = part else {
                return Err(lacks("metadata", &format!("{} of controller header {name}", one.name)));
            };
            let place = format!("controller header {name}, metadata {}", one.name);
            part.form = self.form(&place, one.bitwidth, one.type_name.as_ref(), *ty)?;
            part.id = Some(one.id);
        }
        Ok(parts.into_iter().map(|(part, _)| part).collect())
    }

    /// The program's header for the controller: the annotated one or, in JSON, one that has these fields.
    fn header_fields(
        &self,
        name: &str,
        given: &[p4::controller_packet_metadata::Metadata],
    ) -> Option<Vec<(String, VarType)>> {
        let annotated = self.program.controller_headers.iter().find(|header| header.cp.name == name);
        if let Some(header) = annotated {
            let fields = header.fields.iter().map(|(cp, ty)| (cp.name.clone(), *ty));
            return Some(fields.collect());
        }
        let fits = |fields: &[p4cc_ir::HeaderField]| {
            let mut wanted = given.iter().map(|one| one.name.as_str()).peekable();
            let padding = |name: &str| name.starts_with('_');
            let all = fields
                .iter()
                .all(|field| wanted.next_if_eq(&field.name.as_str()).is_some() || padding(&field.name));
            all && wanted.peek().is_none() && !given.is_empty()
        };
        let header = self.program.header_types.iter().find(|header| fits(&header.fields))?;
        Some(header.fields.iter().map(|field| (field.name.clone(), field.ty)).collect())
    }
}

/// A key without a name of its own: of a value set of scalars, or of JSON.
fn is_nameless(name: &str) -> bool {
    name.strip_prefix("key").unwrap_or(name).chars().all(|c| c.is_ascii_digit())
}

/// Keys that entries match.
pub(crate) fn matched(table: &Table) -> impl Iterator<Item = &p4cc_ir::Key> {
    table.keys.iter().filter(|key| key.kind != MatchKind::Selector)
}

/// Gives the keys of value sets the match kinds of the P4Info: BMv2 JSON says the sum of their bits only.
pub(crate) fn value_set_kinds(program: &mut Program, info: &p4::P4Info) {
    for value_set in &mut program.value_sets {
        let named = |one: &&p4::ValueSet| {
            one.preamble.as_ref().is_some_and(|preamble| preamble.name == value_set.cp.name)
        };
        let Some(given) = info.value_sets.iter().find(named) else { continue };
        if given.r#match.len() == value_set.keys.len() {
            for ((.., own), field) in value_set.keys.iter_mut().zip(&given.r#match) {
                *own = match_type(field).and_then(kind_of).unwrap_or(*own);
            }
        }
    }
}

fn match_type(field: &p4::MatchField) -> Option<MatchType> {
    match field.r#match {
        Some(Match::MatchType(kind)) => MatchType::try_from(kind).ok(),
        // The chip's own kinds, which match exactly.
        Some(Match::OtherMatchType(ref kind)) => ChipMatch::by_name(kind).map(|_| MatchType::Exact),
        None => None,
    }
}

fn kind_of(given: MatchType) -> Option<MatchKind> {
    match given {
        MatchType::Exact => Some(MatchKind::Exact),
        MatchType::Lpm => Some(MatchKind::Lpm),
        MatchType::Ternary => Some(MatchKind::Ternary),
        MatchType::Range => Some(MatchKind::Range),
        MatchType::Optional => Some(MatchKind::Optional),
        MatchType::Unspecified => None,
    }
}

/// How a field matches: as in the program, but for `optional`, which p4c's JSON gives as ternary.
/// The type of what has no bits.
const NO_BITS: VarType = VarType::Bit(0);

/// Whether a P4Info says of a key or parameter that it has no bits.
fn has_no_bits(bitwidth: i32, type_name: Option<&p4::P4NamedType>) -> bool {
    bitwidth == 0 && type_name.is_none()
}

fn match_kind(place: &str, field: &p4::MatchField, own: MatchKind) -> Result<MatchKind, Failure> {
    let given = match_type(field);
    match given.and_then(kind_of) {
        Some(kind) if kind == own || (kind == MatchKind::Optional && own == MatchKind::Ternary) => Ok(kind),
        _ => {
            let given = given.map_or("unknown", |kind| kind.as_str_name());
            let own = own.name();
            Err(Failure::invalid(format!(
                "{place}: its match type is {given} in the P4Info, {own} in the program"
            )))
        }
    }
}

fn scope(given: i32) -> ActionScope {
    use p4::action_ref::Scope;
    match Scope::try_from(given) {
        Ok(Scope::TableOnly) => ActionScope::TableOnly,
        Ok(Scope::DefaultOnly) => ActionScope::DefaultOnly,
        _ => ActionScope::TableAndDefault,
    }
}

/// The program's own ids, where it has some; none are given to what a client's P4Info leaves out.
pub(crate) fn own_action_ids(program: &Program) -> Vec<u32> {
    Ids::new(program).map_or_else(|_| vec![0; program.actions.len()], |ids| ids.actions)
}

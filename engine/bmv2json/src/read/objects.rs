//! Counters, meters, registers, profiles, value sets, calculations, lists of fields, error codes.

use std::collections::BTreeMap;

use p4cc_budget::Resource;
use serde_json::Value;

use super::Reader;
use super::json::{
    NOT_P4C, Res, fault, flag, get, id_of, items, list, name_of, number, number_to, of_type, opt, text,
    tuple, typed,
};
use super::names::{Calculation, SetInfo, once};
use p4cc_ir::state_bytes::HasCells;
use p4cc_ir::{
    ControlPlaneName, CountUnit, Counter, CounterId, CustomCrc, CustomCrcId, DataType, Digest, DigestId,
    FieldList, HashAlgorithm, HeaderField, Meter, MeterId, Profile, ProfileId, Program, Register, RegisterId,
    RegisterKind, ValueSet, ValueSetId, VarId, VarType, limits,
};

/// Most error codes of a program.
const MAX_ERROR_CODES: usize = 1_024;

/// What the control plane sees of a named object.
pub(super) fn visible(name: &str) -> ControlPlaneName {
    ControlPlaneName { name: name.to_owned(), ..ControlPlaneName::default() }
}

/// The algorithm of a calculation or selector of this name.
pub(super) fn algorithm<'j>(program: &mut Program, name: &str, value: &'j Value) -> Res<'j, HashAlgorithm> {
    let mut custom = |width| {
        program.custom_crcs.push(CustomCrc { name: name.to_owned(), width, start: None });
        CustomCrcId::from_index(program.custom_crcs.len() - 1)
    };
    Ok(match text(value)? {
        "crc32" => HashAlgorithm::Crc32,
        "crc32_custom" => HashAlgorithm::Crc32Custom(custom(32)),
        "crc16" => HashAlgorithm::Crc16,
        "crc16_custom" => HashAlgorithm::Crc16Custom(custom(16)),
        "random" => HashAlgorithm::Random,
        "identity" => HashAlgorithm::Identity,
        "csum16" => HashAlgorithm::Csum16,
        "xor16" => HashAlgorithm::Xor16,
        other => {
            let remedy =
                "use one of v1model's: crc32, crc16, their _custom forms, random, identity, csum16, xor16";
            return fault(value, format!("the algorithm `{other:.40}` is unknown"), remedy);
        }
    })
}

fn array_size(item: &Value) -> Res<'_, u32> {
    number_to(get(item, "size")?, limits::MAX_ARRAY_CELLS)
}

impl<'j> Reader<'j> {
    /// Reads all objects; what is wrong is reported item by item.
    pub(super) fn objects(&mut self) {
        self.each("counter_arrays", Self::counter);
        self.each("meter_arrays", Self::meter);
        self.each("register_arrays", Self::register);
        self.each("parse_vsets", Self::value_set);
        self.each("calculations", Self::calculation);
        self.each("field_lists", Self::field_list);
        self.each("learn_lists", Self::learn_list);
        self.each("extern_instances", Self::instance);
        self.errors_of_program();
    }

    fn counter(&mut self, item: &'j Value) -> Res<'j, ()> {
        let name = name_of(item)?;
        let direct = opt(item, "is_direct").map_or(Ok(false), flag)?;
        let size = if direct { None } else { Some(array_size(item)?) };
        let id = CounterId::from_index(self.program.counters.len());
        let counter = Counter { cp: visible(name), unit: CountUnit::Both, size };
        self.cells(item, &counter)?;
        self.program.counters.push(counter);
        if direct {
            self.objects.direct_counters.insert(text(get(item, "binding")?)?, id);
        }
        once(item, name, self.objects.counters.insert(name, id).is_some())
    }

    /// Takes what an object's cells take of memory.
    pub(super) fn cells(&self, item: &'j Value, object: &impl HasCells) -> Res<'j, ()> {
        let bytes = usize::try_from(object.state_bytes()).unwrap_or(usize::MAX);
        if self.b.charge(Resource::StateBytes, bytes) { Ok(()) } else { self.faults.over(item) }
    }

    fn meter(&mut self, item: &'j Value) -> Res<'j, ()> {
        let name = name_of(item)?;
        let direct = opt(item, "is_direct").map_or(Ok(false), flag)?;
        let size = if direct { None } else { Some(array_size(item)?) };
        let unit = match text(get(item, "type")?)? {
            "packets" => CountUnit::Packets,
            "bytes" => CountUnit::Bytes,
            other => {
                return fault(item, format!("a meter counts packets or bytes, not `{other:.40}`"), NOT_P4C);
            }
        };
        let rates = opt(item, "rate_count").map_or(Ok(2), number)?;
        if rates != 2 {
            return fault(item, format!("a meter with {rates} rates"), "use meters of two rates");
        }
        let id = MeterId::from_index(self.program.meters.len());
        let meter = Meter { cp: visible(name), unit, size };
        self.cells(item, &meter)?;
        self.program.meters.push(meter);
        if direct {
            let target = get(item, "result_target")?;
            self.objects.direct_meters.insert(text(get(item, "binding")?)?, (id, target));
        }
        once(item, name, self.objects.meters.insert(name, id).is_some())
    }

    fn register(&mut self, item: &'j Value) -> Res<'j, ()> {
        let name = name_of(item)?;
        let bits = get(item, "bitwidth")?;
        let width = number_to(bits, limits::MAX_WIDTH)?;
        if width == 0 {
            return fault(bits, "a register cell has no bits", NOT_P4C);
        }
        let id = RegisterId::from_index(self.program.registers.len());
        let (ty, size) = (VarType::Bit(width), array_size(item)?);
        let register = Register {
            cp: visible(name),
            ty,
            composite: None,
            data_type: DataType::Scalar(ty),
            size,
            kind: RegisterKind::Array,
            initial: None,
        };
        self.cells(item, &register)?;
        self.program.registers.push(register);
        once(item, name, self.objects.registers.insert(name, id).is_some())
    }

    fn value_set(&mut self, item: &'j Value) -> Res<'j, ()> {
        let name = name_of(item)?;
        let width = number_to(get(item, "compressed_bitwidth")?, limits::MAX_WIDTH)?;
        if width == 0 {
            return fault(item, "a value set without bits", NOT_P4C);
        }
        let size = opt(item, "max_size").map_or(Ok(1_024), |size| number_to(size, limits::MAX_TABLE_SIZE))?;
        let id = ValueSetId::from_index(self.program.value_sets.len());
        self.program.value_sets.push(ValueSet { cp: visible(name), size, keys: Vec::new() });
        let info = SetInfo { id, at: item, width, used: false };
        once(item, name, self.objects.sets.insert(name, info).is_some())
    }

    fn calculation(&mut self, item: &'j Value) -> Res<'j, ()> {
        let name = name_of(item)?;
        let algorithm = algorithm(&mut self.program, name, get(item, "algo")?)?;
        let calculation = Calculation { algorithm, input: list(get(item, "input")?)? };
        once(item, name, self.objects.calculations.insert(name, calculation).is_some())
    }

    /// Variables behind `[header, field]`, or all of a header.
    pub(super) fn listed_vars(&self, element: &'j Value) -> Res<'j, Vec<VarId>> {
        match typed(element)? {
            ("field", pair) => {
                let [header, field] = tuple::<2>(pair)?;
                let slot = self.shapes.slot(header, text(header)?)?;
                let index = self.shapes.field_index(field, slot.type_name, text(field)?)?;
                Ok(vec![slot.vars[index]])
            }
            ("header", name) => Ok(self.shapes.slot(name, text(name)?)?.vars.to_vec()),
            // There is nothing to keep of a constant: BMv2 passes it over, too.
            ("hexstr", value) => text(value).map(|_| Vec::new()),
            (other, _) => {
                let cause = format!("`{other:.40}` cannot stand in a field list");
                fault(element, cause, "list metadata fields only")
            }
        }
    }

    fn field_list(&mut self, item: &'j Value) -> Res<'j, ()> {
        let index = id_of(item)?;
        // Equal numbers are looked for one by one.
        if !self.b.charge(Resource::Steps, self.program.field_lists.len()) {
            return self.faults.over(item);
        }
        let mut vars = Vec::new();
        for element in items(item, "elements")? {
            let of_element = self.listed_vars(element)?;
            if !self.b.charge(Resource::Instructions, of_element.len()) {
                return self.faults.over(element);
            }
            vars.extend(of_element);
        }
        if self.program.field_lists.iter().any(|list| list.index == index) {
            return fault(item, format!("field list {index} is declared twice"), NOT_P4C);
        }
        self.program.field_lists.push(FieldList { index, vars });
        Ok(())
    }

    /// A digest: widths of its fields are those of the elements.
    fn learn_list(&mut self, item: &'j Value) -> Res<'j, ()> {
        let (id, name) = (id_of(item)?, name_of(item)?);
        let elements = items(item, "elements")?;
        let mut fields = Vec::with_capacity(elements.len());
        for (number, element) in elements.iter().enumerate() {
            fields.push(self.digest_field(number, element)?);
        }
        if !self.b.charge(Resource::Steps, self.program.digests.len()) {
            return self.faults.over(item);
        }
        let same = |digest: &Digest| digest.cp.name == name && digest.fields == fields;
        let digest = self.program.digests.iter().position(same).unwrap_or(self.program.digests.len());
        if digest == self.program.digests.len() {
            let (cp, type_name) = (visible(name), name.to_owned());
            let members =
                fields.iter().map(|field| (field.name.clone(), DataType::Scalar(field.ty))).collect();
            self.program.data_types.structs.insert(type_name.clone(), members);
            let data_type = DataType::Struct(type_name.clone());
            self.program.digests.push(Digest { cp, type_name, fields, data_type });
        }
        let entry = (DigestId::from_index(digest), elements);
        once(item, name, self.objects.learn_lists.insert(id, entry).is_some())
    }

    fn digest_field(&self, number: usize, element: &'j Value) -> Res<'j, HeaderField> {
        let (ty, value) = typed(element)?;
        if ty == "hexstr" {
            let width = number_to(get(element, "bitwidth")?, limits::MAX_WIDTH)?.max(1);
            return Ok(HeaderField { name: format!("field{number}"), ty: VarType::Bit(width) });
        }
        if ty != "field" {
            return fault(element, format!("`{ty:.40}` cannot stand in a digest"), NOT_P4C);
        }
        let [_, field] = tuple::<2>(value)?;
        let field = text(field)?;
        if field == "$valid$" {
            return Ok(HeaderField { name: format!("field{number}"), ty: VarType::Bit(1) });
        }
        let ty = self.listed_vars(element)?.first().map_or(VarType::Bit(1), |&var| self.b.ty(var));
        Ok(HeaderField { name: field.to_owned(), ty })
    }

    /// Names of errors: core.p4's first, as the IR wants them, then the program's in order of their codes.
    /// Codes that differ from the IR's positions are translated where the parser hands its error over.
    fn errors_of_program(&mut self) {
        let core = [
            "NoError",
            "PacketTooShort",
            "NoMatch",
            "StackOutOfBounds",
            "HeaderTooShort",
            "ParserTimeout",
            "ParserInvalidArgument",
        ];
        self.program.errors = core.map(str::to_owned).to_vec();
        let mut codes = BTreeMap::new();
        self.each("errors", |_, item| {
            let [name, code] = tuple::<2>(item)?;
            let name = text(name)?;
            match codes.insert(number(code)?, name) {
                Some(_) => fault(item, format!("error code {code} stands twice"), NOT_P4C),
                None => Ok(()),
            }
        });
        if codes.len() > MAX_ERROR_CODES {
            let cause = format!("{} error codes, more than {MAX_ERROR_CODES}", codes.len());
            return self.faults.complain(self.root, cause, "declare fewer errors");
        }
        for (code, name) in codes {
            let known = self.program.errors.iter().position(|known| known == name);
            let index = known.unwrap_or_else(|| {
                self.program.errors.push(name.to_owned());
                self.program.errors.len() - 1
            });
            if code as usize != index {
                self.objects.error_codes.insert(code, index as u32);
            }
        }
    }

    /// Action profiles stand in the pipelines.
    pub(super) fn profile(&mut self, item: &'j Value) -> Res<'j, ()> {
        let name = name_of(item)?;
        let size = number_to(get(item, "max_size")?, limits::MAX_TABLE_SIZE)?;
        let mut selector = None;
        if let Some(value) = opt(item, "selector") {
            // The number of bits kept is not in the format: BMv2 keeps all of them.
            selector = Some((algorithm(&mut self.program, name, get(value, "algo")?)?, 64));
            let input = list(get(value, "input")?)?;
            for field in input {
                of_type(field, "field")?;
            }
            self.objects.selector_inputs.insert(name, input);
        }
        let max_group_size = opt(item, "max_group_size").map_or(Ok(0), number)?;
        let id = ProfileId::from_index(self.program.profiles.len());
        let cp = visible(name);
        self.program.profiles.push(Profile { selector, max_group_size, ..Profile::plain(cp, size) });
        once(item, name, self.objects.profiles.insert(name, id).is_some())
    }
}

//! Documents for psa_switch, as p4c's PSA back end writes them: both halves of the pipeline, and the externs
//! that are instances.
//!
//! Where psa_switch differs from PSA the program does what psa_switch does: metadata that ingress leaves is
//! there in egress, whatever the deparser says, and copies and packets that go again begin with none.

use serde_json::Value;

use super::Reader;
use super::build::constant;
use super::json::{NOT_P4C, Res, fault, get, items, name_of, of_type, parameters, text};
use super::names::{Instance, once};
use super::objects::{algorithm, visible};
use super::term::Lvalue;
use crate::colors::{COLORS, TO_GREEN_FIRST, TO_RED_FIRST};
use p4cc_ir::verify::MAX_DATA_FIELDS;
use p4cc_ir::{
    Architecture, BinOp, Bits, Bridge, CountUnit, Counter, CounterId, ExternCall, Func, FuncId, HalfPipeline,
    HashAlgorithm, Inst, Meter, MeterId, Operand, Psa, PsaEgressInput, PsaEgressOutput, PsaIngressInput,
    PsaIngressOutput, PsaParserInput, Terminator, UnOp, VarId, VarKind, VarType, limits,
};

/// What marks a document for psa_switch: its parsers have names of their own.
const INGRESS_PARSER: &str = "ingress_parser";
const COLOR_WIDTH: u32 = 32;
/// Width of the ones' complement sum.
const SUM_WIDTH: u32 = 16;
/// Widest variable that the switch itself reads or writes.
const MAX_INTRINSIC: u32 = 64;

/// Whether a document is for psa_switch.
pub(super) fn is_for_psa_switch(root: &Value) -> bool {
    let parsers = items(root, "parsers").unwrap_or_default();
    parsers.iter().any(|parser| parser.get("name").and_then(Value::as_str) == Some(INGRESS_PARSER))
}

impl<'j> Reader<'j> {
    pub(super) fn instance(&mut self, item: &'j Value) -> Res<'j, ()> {
        let (name, ty) = (name_of(item)?, get(item, "type")?);
        if !self.is_psa {
            let remedy = "use v1model's externs only; others need a switch that was built with them";
            return fault(item, format!("the extern instance `{name:.60}` is unknown"), remedy);
        }
        let instance = match text(ty)? {
            "Counter" => {
                let size = self.size(attribute(item, "n_counters")?)?;
                let unit = match self.number(of_type(attribute(item, "type")?, "hexstr")?)?.to_u32() {
                    Some(0) => CountUnit::Packets,
                    Some(1) => CountUnit::Bytes,
                    Some(2) => CountUnit::Both,
                    _ => return fault(item, "a counter of an unknown type", NOT_P4C),
                };
                // p4c lists a counter among `counter_arrays` too, without its type.
                if let Some(&listed) = self.objects.counters.get(name) {
                    self.program.counters[listed.index()].unit = unit;
                    Instance::Counter(listed)
                } else {
                    let counter = Counter { cp: visible(name), unit, size: Some(size) };
                    self.cells(item, &counter)?;
                    self.program.counters.push(counter);
                    Instance::Counter(CounterId::from_index(self.program.counters.len() - 1))
                }
            }
            "Meter" => {
                let size = self.size(attribute(item, "n_meters")?)?;
                let unit = match text(of_type(attribute(item, "type")?, "string")?)? {
                    "bytes" => CountUnit::Bytes,
                    _ => CountUnit::Packets,
                };
                if let Some(&listed) = self.objects.meters.get(name) {
                    Instance::Meter(listed)
                } else {
                    let meter = Meter { cp: visible(name), unit, size: Some(size) };
                    self.cells(item, &meter)?;
                    self.program.meters.push(meter);
                    Instance::Meter(MeterId::from_index(self.program.meters.len() - 1))
                }
            }
            "Hash" => {
                let algo = of_type(attribute(item, "algo")?, "string")?;
                Instance::Hash(algorithm(&mut self.program, name, algo)?)
            }
            "Random" => Instance::Random(self.bound(item, "min")?, self.bound(item, "max")?),
            "InternetChecksum" => Instance::Checksum(self.b.local(format!("{name}.sum"), SUM_WIDTH)),
            other => {
                let cause = format!("psa_switch has no extern `{other:.60}`");
                return fault(ty, cause, "use the externs of psa.p4");
            }
        };
        once(item, name, self.objects.instances.insert(name, instance).is_some())
    }

    /// A number of cells, which p4c writes without quotes.
    fn size(&self, value: &'j Value) -> Res<'j, u32> {
        let size = match of_type(value, "hexstr")? {
            number @ Value::Number(_) => Some(super::json::number(number)?),
            digits => self.number(digits)?.to_u32(),
        };
        match size {
            Some(size) if size <= limits::MAX_ARRAY_CELLS => Ok(size),
            _ => fault(value, format!("not a size from 0 to {}", limits::MAX_ARRAY_CELLS), "make it smaller"),
        }
    }

    fn bound(&self, item: &'j Value, name: &str) -> Res<'j, Bits> {
        let value = attribute(item, name)?;
        match self.number(of_type(value, "hexstr")?)?.exactly(MAX_INTRINSIC) {
            Some(bits) => Ok(bits),
            None => fault(value, "a bound of more than 64 bits", "use a smaller range"),
        }
    }

    /// The entry points, when everything but them is read.
    pub(super) fn psa(&mut self, pipelines: [Option<&'j Value>; 2]) {
        let [ii, io, ei] =
            ["psa_ingress_input_metadata", "psa_ingress_output_metadata", "psa_egress_input_metadata"];
        let [ipi, epi, eo] = [
            "psa_ingress_parser_input_metadata",
            "psa_egress_parser_input_metadata",
            "psa_egress_output_metadata",
        ];
        let (ingress_input, egress_input) = (
            PsaIngressInput {
                ingress_port: self.intrinsic(ii, "ingress_port", 32),
                packet_path: self.intrinsic(ii, "packet_path", 32),
                ingress_timestamp: self.intrinsic(ii, "ingress_timestamp", 64),
                parser_error: self.intrinsic(ii, "parser_error", 32),
            },
            PsaEgressInput {
                class_of_service: self.intrinsic(ei, "class_of_service", 8),
                egress_port: self.intrinsic(ei, "egress_port", 32),
                packet_path: self.intrinsic(ei, "packet_path", 32),
                instance: self.intrinsic(ei, "instance", 16),
                egress_timestamp: self.intrinsic(ei, "egress_timestamp", 64),
                parser_error: self.intrinsic(ei, "parser_error", 32),
            },
        );
        let errors = [ingress_input.parser_error, egress_input.parser_error];
        let halves = [("ingress", pipelines[0], errors[0]), ("egress", pipelines[1], errors[1])];
        let [ingress, egress] = halves.map(|(name, item, error)| self.half(name, item, error));
        let parser_error = self.b.var("parser_error".to_owned(), VarType::Bit(32), VarKind::Metadata);
        self.program.architecture = Architecture::from(Psa {
            ingress,
            egress,
            parser_error,
            ingress_parser_input: PsaParserInput {
                port: self.intrinsic(ipi, "ingress_port", 32),
                packet_path: self.intrinsic(ipi, "packet_path", 32),
            },
            ingress_input,
            ingress_output: PsaIngressOutput {
                class_of_service: self.intrinsic(io, "class_of_service", 8),
                clone: self.intrinsic(io, "clone", 1),
                clone_session_id: self.intrinsic(io, "clone_session_id", 16),
                drop: self.intrinsic(io, "drop", 1),
                resubmit: self.intrinsic(io, "resubmit", 1),
                multicast_group: self.intrinsic(io, "multicast_group", 32),
                egress_port: self.intrinsic(io, "egress_port", 32),
            },
            egress_parser_input: PsaParserInput {
                port: self.intrinsic(epi, "egress_port", 32),
                packet_path: self.intrinsic(epi, "packet_path", 32),
            },
            egress_input,
            egress_output: PsaEgressOutput {
                clone: self.intrinsic(eo, "clone", 1),
                clone_session_id: self.intrinsic(eo, "clone_session_id", 16),
                drop: self.intrinsic(eo, "drop", 1),
            },
            egress_deparser_port: self.intrinsic("psa_egress_deparser_input_metadata", "egress_port", 32),
            normal: self.left_by_ingress(),
            resubmit: Bridge::default(),
            recirculate: Bridge::default(),
            clone_i2e: Bridge::default(),
            clone_e2e: Bridge::default(),
        });
    }

    /// A field that the switch knows; one that the program does not have is a variable that it cannot see.
    fn intrinsic(&mut self, header: &str, field: &str, width: u32) -> VarId {
        let found = self.shapes.find_field(header, field);
        let hidden = || VarType::Bit(width);
        let var = match found {
            Some(var) => var,
            None => self.b.var(format!("{header}.{field}"), hidden(), VarKind::Metadata),
        };
        let is_header = self.shapes.slots.get(header).is_some_and(|slot| slot.header.is_some());
        let ty = self.b.ty(var);
        if is_header || matches!(ty, VarType::Varbit(_)) || ty.width() > MAX_INTRINSIC {
            let cause = format!("`{field}` of `{header}` is not the metadata that psa_switch knows");
            self.faults.complain(self.root, cause, NOT_P4C);
        }
        var
    }

    /// Metadata that ingress hands to egress: all that the switch does not set itself.
    fn left_by_ingress(&self) -> Bridge {
        let metadata = self.shapes.slots.iter();
        let kept = metadata.filter(|(name, slot)| slot.header.is_none() && !name.starts_with("psa_"));
        Bridge { vars: kept.flat_map(|(_, slot)| slot.vars.iter().copied()).collect(), headers: Vec::new() }
    }

    fn half(&mut self, name: &str, pipeline: Option<&'j Value>, error: VarId) -> HalfPipeline {
        let parser = self.named_func("parsers", &format!("{name}_parser"), Self::psa_parser);
        let control = self.pipeline(pipeline, name, Some(error));
        let deparser = self.named_func("deparsers", &format!("{name}_deparser"), Self::psa_deparser);
        let [parser, control, deparser] = [parser, control, deparser].map(|func| {
            self.program.funcs.push(func);
            FuncId::from_index(self.program.funcs.len() - 1)
        });
        HalfPipeline { parser, control, deparser }
    }

    /// The function of one of the parsers or deparsers, by its name.
    fn named_func(&mut self, list: &str, name: &str, read: fn(&mut Self, &'j Value) -> Func) -> Func {
        let root = self.root;
        let all = items(root, list).unwrap_or_default();
        if let Some(item) = all.iter().find(|item| item.get("name").and_then(Value::as_str) == Some(name)) {
            return read(self, item);
        }
        let remedy = "read programs of p4c's PSA back end";
        self.faults.complain(root, format!("`{list}` has no `{name}`"), remedy);
        self.b.begin();
        self.b.finish(name, &Terminator::Return)
    }

    fn psa_parser(&mut self, item: &'j Value) -> Func {
        self.b.begin();
        self.in_parser = true;
        if let Err(fault) = self.states(item) {
            self.faults.report(fault);
        }
        self.in_parser = false;
        self.b.finish(name_of(item).unwrap_or_default(), &Terminator::Accept)
    }

    fn psa_deparser(&mut self, item: &'j Value) -> Func {
        self.b.begin();
        if let Err(fault) = self.deparse(item) {
            self.faults.report(fault);
        }
        self.b.finish(name_of(item).unwrap_or_default(), &Terminator::Return)
    }

    /// Methods of psa_switch's externs: the instance is the first parameter.
    pub(super) fn method(&mut self, call: &'j Value, op: &str) -> Res<'j, ()> {
        let Some(first) = super::json::list(get(call, "parameters")?)?.first() else {
            return fault(call, "a method without its instance", NOT_P4C);
        };
        let name = of_type(first, "extern")?;
        let Some(instance) = self.objects.instances.get(text(name)?).cloned() else {
            return fault(name, format!("there is no extern instance {name:.60}"), NOT_P4C);
        };
        match (instance, op) {
            (Instance::Counter(counter), "_Counter_count") => {
                let [_, index] = parameters::<2>(call)?;
                let index = self.index(index)?;
                self.extern_call(call, ExternCall::CounterCount { counter, index })
            }
            (Instance::Meter(meter), "_Meter_execute") => self.psa_meter(call, meter),
            (Instance::Hash(algorithm), "_Hash_get_hash") => {
                let [_, dst, data] = parameters::<3>(call)?;
                let base = constant(1, 0);
                let max = Operand::Const(Bits::from_u128(65, 1 << 64));
                self.psa_hash(dst, (algorithm, data), (base, max))
            }
            (Instance::Hash(algorithm), "_Hash_get_hash_mod") => {
                let [_, dst, base, data, max] = parameters::<5>(call)?;
                let (base, max) = (self.exact(base)?.operand, self.exact(max)?.operand);
                self.psa_hash(dst, (algorithm, data), (base, max))
            }
            (Instance::Random(low, high), "_Random_read") => {
                let [_, dst] = parameters::<2>(call)?;
                let (low, high) = (Operand::Const(low), Operand::Const(high));
                self.store_result(dst, |_| MAX_INTRINSIC, |dst| ExternCall::Random { dst, low, high })
            }
            (Instance::Checksum(sum), _) => self.checksum_method(call, op, sum),
            _ => fault(call, format!("{name:.60} has no method `{op:.60}`"), NOT_P4C),
        }
    }

    fn psa_meter(&mut self, call: &'j Value, meter: MeterId) -> Res<'j, ()> {
        // Our writer's method of four parameters takes the colour of the packet before, too.
        let (index, before, dst) = match super::json::list(get(call, "parameters")?)? {
            [_, index, before, dst] => (index, Some(before), dst),
            _ => {
                let [_, index, dst] = parameters::<3>(call)?;
                (index, None, dst)
            }
        };
        let before = before.map(|before| self.low(before, COLOR_WIDTH)).transpose()?;
        let before = before.map(|before| self.turned(before, TO_GREEN_FIRST));
        let (index, color) = (self.index(index)?, self.b.temp(COLOR_WIDTH));
        self.extern_call(call, ExternCall::MeterExecute { meter, index, color: before, dst: color })?;
        let turned = self.turned(Operand::Var(color), TO_RED_FIRST);
        self.put(dst, turned, COLOR_WIDTH)
    }

    /// A colour as another counts them, some steps on.
    fn turned(&mut self, color: Operand, steps: u64) -> Operand {
        let moved = self.b.binary(BinOp::Add, COLOR_WIDTH, color, constant(COLOR_WIDTH, steps));
        self.b.binary(BinOp::Mod, COLOR_WIDTH, moved, constant(COLOR_WIDTH, COLORS))
    }

    /// Writes a value of some width to a place, cut or filled to its width.
    fn put(&mut self, dst: &'j Value, value: Operand, width: u32) -> Res<'j, ()> {
        let place = self.place(dst)?;
        let ty = self.place_type(&place);
        if matches!(ty, VarType::Varbit(_)) {
            return fault(dst, "a varbit cannot take this result", NOT_P4C);
        }
        let value = self.b.resize(value, width, false, ty.width());
        self.write(place, value);
        Ok(())
    }

    fn psa_hash(
        &mut self,
        dst: &'j Value,
        (algorithm, data): (HashAlgorithm, &'j Value),
        (base, max): (Operand, Operand),
    ) -> Res<'j, ()> {
        let (mut data, bits) = self.field_data(data)?;
        // psa_switch fills the first byte, not the last.
        if let missing @ 1.. = bits.next_multiple_of(8) - bits {
            data.insert(0, constant(missing, 0));
        }
        let place = self.place(dst)?;
        let ty = self.place_type(&place);
        if matches!(ty, VarType::Varbit(_)) {
            return fault(dst, "a varbit cannot take a hash", NOT_P4C);
        }
        let result = match place {
            Lvalue::Var(var) => var,
            _ => self.b.temp(ty.width()),
        };
        self.b.emit(Inst::Extern(ExternCall::Hash { dst: result, algorithm, base, data, max }));
        if !matches!(place, Lvalue::Var(_)) {
            self.write(place, Operand::Var(result));
        }
        Ok(())
    }

    /// The fields of a list, and how many bits they have.
    fn field_data(&mut self, list: &'j Value) -> Res<'j, (Vec<Operand>, u32)> {
        let (mut data, mut bits) = (Vec::new(), 0_u32);
        for element in super::json::list(of_type(list, "field_list")?)? {
            for var in self.listed_vars(element)? {
                bits = bits.saturating_add(self.b.ty(var).width());
                data.push(Operand::Var(var));
            }
            if data.len() >= MAX_DATA_FIELDS {
                return fault(element, format!("more than {MAX_DATA_FIELDS} fields"), "use fewer fields");
            }
        }
        if bits > limits::MAX_WIDTH {
            return fault(list, format!("{bits} bits of fields"), "use fewer fields");
        }
        Ok((data, bits))
    }

    fn checksum_method(&mut self, call: &'j Value, op: &str, sum: VarId) -> Res<'j, ()> {
        let value = |reader: &mut Self| {
            let dst = reader.b.temp(SUM_WIDTH);
            reader.b.emit(Inst::Unary { dst, op: UnOp::Not, src: Operand::Var(sum) });
            Operand::Var(dst)
        };
        match op {
            "_InternetChecksum_clear" => {
                let [_] = parameters::<1>(call)?;
                self.b.emit(Inst::Assign { dst: sum, src: constant(SUM_WIDTH, 0) });
                Ok(())
            }
            "_InternetChecksum_add" | "_InternetChecksum_subtract" => {
                let [_, data] = parameters::<2>(call)?;
                self.add_to_sum(data, sum, op == "_InternetChecksum_subtract")
            }
            "_InternetChecksum_get" => {
                let [_, dst] = parameters::<2>(call)?;
                let value = value(self);
                self.put(dst, value, SUM_WIDTH)
            }
            "_InternetChecksum_get_verify" => {
                let [_, dst, stated] = parameters::<3>(call)?;
                let stated = self.low(stated, SUM_WIDTH)?;
                let value = value(self);
                let same = self.b.binary(BinOp::Eq, SUM_WIDTH, value, stated);
                self.put(dst, same, 1)
            }
            "_InternetChecksum_get_state" => {
                let [_, dst] = parameters::<2>(call)?;
                self.put(dst, Operand::Var(sum), SUM_WIDTH)
            }
            "_InternetChecksum_set_state" => {
                let [_, src] = parameters::<2>(call)?;
                let src = self.low(src, SUM_WIDTH)?;
                self.b.emit(Inst::Assign { dst: sum, src });
                Ok(())
            }
            other => fault(call, format!("a checksum has no method `{other:.60}`"), NOT_P4C),
        }
    }

    /// Adds 16-bit words, or their complements to take them out again (RFC 1624).
    fn add_to_sum(&mut self, list: &'j Value, sum: VarId, complement: bool) -> Res<'j, ()> {
        let (data, bits) = self.field_data(list)?;
        if !bits.is_multiple_of(SUM_WIDTH) {
            let cause = format!("{bits} bits are added to a checksum of {SUM_WIDTH}-bit words");
            return fault(list, cause, "add whole words");
        }
        let mut words = vec![Operand::Var(sum)];
        for src in data {
            let Operand::Var(var) = src else { continue };
            let ty = self.b.ty(var);
            if complement && !matches!(ty, VarType::Varbit(_)) {
                let dst = self.b.temp(ty.width());
                self.b.emit(Inst::Unary { dst, op: UnOp::Not, src });
                words.push(Operand::Var(dst));
            } else {
                words.push(src);
            }
        }
        let dst = self.b.temp(SUM_WIDTH);
        let (base, max) = (constant(SUM_WIDTH, 0), constant(COLOR_WIDTH, 1 << SUM_WIDTH));
        let algorithm = HashAlgorithm::Csum16;
        self.b.emit(Inst::Extern(ExternCall::Hash { dst, algorithm, base, data: words, max }));
        self.b.emit(Inst::Unary { dst: sum, op: UnOp::Not, src: Operand::Var(dst) });
        Ok(())
    }
}

/// An attribute of an instance, as a typed value.
fn attribute<'j>(item: &'j Value, name: &str) -> Res<'j, &'j Value> {
    let all = items(item, "attribute_values")?;
    let found = all.iter().find(|one| one.get("name").and_then(Value::as_str) == Some(name));
    match found {
        Some(attribute) => Ok(attribute),
        None => fault(item, format!("the attribute `{name}` is missing"), NOT_P4C),
    }
}

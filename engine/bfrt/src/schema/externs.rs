//! Externs: counters, meters, registers, hashes that can be changed, value sets, digests, port metadata.

use p4cc_ir::{
    CounterId, DataType, DigestId, FilterKind, HashView, MeterId, ParamView, RegisterId, RegisterKind,
    Table as MatchTable, ValueSetId,
};
use p4cc_p4runtime::p4info::chip::ChipObject;

use super::fields::{UINT32, UINT64, annotations, choices, field, id, key, table, values};
use super::match_tables::{add_profiles, by_rank, counter_data, meter_data};
use super::{
    Action, ActionScope, Annotation, Data, Key, KeyKind, LearnFilter, LpfPart, Means, Object, Schema, Source,
    Table, Type, WredPart,
};

/// Ports of the chip, each with eight channels at most.
const PORTS: u64 = 288;
/// Bits of a port's number.
const PORT_BITS: u32 = 9;

/// Resource types of a hash's tables.
const CONFIGURE: u32 = 0x95;
const COMPUTE: u32 = 0x96;
const ALGORITHM: u32 = 0x97;

/// What adds the tables of one kind of extern.
type Add = fn(&Source<'_>, &mut Schema);

/// Adds the tables of a program's externs, and its learn filters.
pub fn add(source: &Source<'_>, schema: &mut Schema) {
    let program = source.program;
    let param = |at: &usize| param_view(source, *at).is_some();
    let registers = |wanted: &dyn Fn(&usize) -> bool| {
        let ranks = program.registers.iter().enumerate().filter(|(at, _)| wanted(at));
        ranks.map(|(_, of)| of.cp.rank).min()
    };
    let filters = |wanted: fn(FilterKind) -> bool| {
        program.filters.iter().filter(|of| wanted(of.kind)).map(|of| of.cp.rank).min()
    };
    let hash_rank = |view: &HashView| {
        program.hashes.iter().find(|of| of.cp.name == view.cp.name).map_or(u32::MAX, |of| of.cp.rank)
    };
    let hashes = source.view.hashes.iter().filter(|view| view.calls == 1).map(hash_rank).min();
    // p4c writes the kinds in the order of their first objects.
    let mut kinds: Vec<(Option<u32>, Add)> = vec![
        (program.profiles.iter().map(|of| of.cp.rank).min(), add_profiles),
        (indirect(program.counters.iter().map(|of| (of.size, of.cp.rank))), add_counters),
        (indirect(program.meters.iter().map(|of| (of.size, of.cp.rank))), add_meters),
        (registers(&|at| !param(at) && is_array(source, *at)), add_registers),
        (registers(&param), add_register_params),
        (filters(|kind| matches!(kind, FilterKind::Lpf)), |source, schema| add_filters(source, schema, true)),
        (filters(|kind| !matches!(kind, FilterKind::Lpf)), |source, schema| {
            add_filters(source, schema, false)
        }),
        (hashes, add_hashes),
    ];
    kinds.sort_by_key(|(first, _)| *first);
    kinds.into_iter().for_each(|(_, add)| add(source, schema));
    add_value_sets(source, schema);
    add_learn_filters(source, schema);
}

/// The first place of arrays of a kind; direct ones have no table.
fn indirect(all: impl Iterator<Item = (Option<u32>, u32)>) -> Option<u32> {
    all.filter_map(|(size, rank)| size.map(|_| rank)).min()
}

fn add_hashes(source: &Source<'_>, schema: &mut Schema) {
    for (at, (view, object)) in source.view.hashes.iter().zip(&source.objects.hashes).enumerate() {
        // One that is called at several places has no tables.
        if view.calls == 1 {
            add_hash(at as u32, view, object, schema);
        }
    }
}

fn add_counters(source: &Source<'_>, schema: &mut Schema) {
    let counters = &source.program.counters;
    for at in by_rank(counters.iter().map(|counter| counter.cp.rank)) {
        let (of, object) = (&counters[at], &source.objects.counters[at]);
        let Some(size) = of.size else { continue };
        let means = Object::Counter(CounterId::from_index(at));
        let mut made = table(object.name.as_str(), object.id, "Counter", means, size.into());
        made.annotations = annotations(&of.cp.annotations);
        made.key.push(key(id::COUNTER_INDEX, "$COUNTER_INDEX", UINT32, Means::Index));
        made.data = counter_data(of.unit);
        made.operations.push("Sync");
        schema.tables.push(made);
    }
}

fn add_meters(source: &Source<'_>, schema: &mut Schema) {
    let meters = &source.program.meters;
    for at in by_rank(meters.iter().map(|meter| meter.cp.rank)) {
        let (of, object) = (&meters[at], &source.objects.meters[at]);
        let Some(size) = of.size else { continue };
        let means = Object::Meter(MeterId::from_index(at));
        let mut made = table(object.name.as_str(), object.id, "Meter", means, size.into());
        made.key.push(key(id::METER_INDEX, "$METER_INDEX", UINT32, Means::Index));
        made.data = meter_data(of.unit);
        made.attributes.push("MeterByteCountAdjust");
        schema.tables.push(made);
    }
}

fn add_registers(source: &Source<'_>, schema: &mut Schema) {
    let registers = &source.program.registers;
    let order = by_rank(registers.iter().map(|register| register.cp.rank));
    for &at in order.iter().filter(|&&at| param_view(source, at).is_none() && is_array(source, at)) {
        let (of, object) = (&registers[at], &source.objects.registers[at]);
        let means = Object::Register(RegisterId::from_index(at));
        let mut made = table(object.name.as_str(), object.id, "Register", means, of.size.into());
        made.key.push(key(id::REGISTER_INDEX, "$REGISTER_INDEX", UINT32, Means::Index));
        made.data = cell_data(source, at, 1);
        made.operations.push("Sync");
        schema.tables.push(made);
    }
}

fn is_array(source: &Source<'_>, register: usize) -> bool {
    source.program.registers[register].kind != RegisterKind::Direct
}

/// What a register is a parameter of, if it is one.
fn param_view<'a>(source: &Source<'a>, register: usize) -> Option<&'a ParamView> {
    source.view.params.iter().find(|param| param.param.index() == register)
}

fn add_register_params(source: &Source<'_>, schema: &mut Schema) {
    let registers = &source.program.registers;
    for at in by_rank(registers.iter().map(|register| register.cp.rank)) {
        let Some(param) = param_view(source, at) else { continue };
        let (of, object) = (&registers[at], &source.objects.registers[at]);
        let register = RegisterId::from_index(at);
        let mut made =
            table(object.name.as_str(), object.id, "RegisterParam", Object::RegisterParam(register), 1);
        made.annotations = annotations(&of.cp.annotations);
        made.depends_on.extend(param.register.and_then(|of| cells_of(source, of)));
        let initial = of.initial.as_ref().map_or(0, p4cc_ir::Bits::low_u64);
        let ty = Type::Bytes(of.ty.width(), Some(initial));
        made.data.push(field(1, "value", ty, Means::Cell(register, 0)).mandatory());
        schema.tables.push(made);
    }
}

/// What has the cells of a register: its own table, or the table whose entries have them.
fn cells_of(source: &Source<'_>, register: RegisterId) -> Option<u32> {
    if source.program.registers[register.index()].kind != RegisterKind::Direct {
        return Some(source.objects.registers[register.index()].id);
    }
    let table = source.program.tables.iter().position(|table| table.register == Some(register))?;
    Some(source.objects.tables[table].id)
}

/// The fields of a register's cell; their names begin with the register's own.
fn cell_data(source: &Source<'_>, register: usize, first: u32) -> Vec<Data> {
    let of = &source.program.registers[register];
    let name = without_pipe(source, &of.cp.name);
    let cell = |(at, (part, ty)): (usize, (String, Type))| {
        let means = Means::Cell(RegisterId::from_index(register), at);
        let mut made = field(first + at as u32, format!("{name}.{part}"), ty, means);
        made.annotations.push(Annotation {
            name: "$bfrt_field_class".to_owned(),
            value: Some("register_data".to_owned()),
        });
        made.mandatory()
    };
    let parts = values(&source.program.data_types, &of.data_type, first);
    parts.into_iter().enumerate().map(cell).collect()
}

/// The program's name of an object, without the pipe.
fn without_pipe<'a>(source: &Source<'_>, name: &'a str) -> &'a str {
    let named = source.view.pipes.iter().filter(|pipe| pipe.named);
    let cut = named.filter_map(|pipe| name.strip_prefix(pipe.name.as_str())?.strip_prefix('.')).next();
    cut.unwrap_or(name)
}

fn add_filters(source: &Source<'_>, schema: &mut Schema, lpf: bool) {
    let filters = &source.program.filters;
    for at in by_rank(filters.iter().map(|filter| filter.cp.rank)) {
        let (of, object) = (&filters[at], &source.objects.filters[at]);
        let Some(size) = of.size.filter(|_| matches!(of.kind, FilterKind::Lpf) == lpf) else { continue };
        let at = at as u32;
        let (kind, means, id, index) = match of.kind {
            FilterKind::Lpf => ("Lpf", Object::Lpf(at), id::LPF_INDEX, "$LPF_INDEX"),
            FilterKind::Wred { .. } => ("Wred", Object::Wred(at), id::WRED_INDEX, "$WRED_INDEX"),
        };
        let mut made = table(object.name.as_str(), object.id, kind, means, size.into());
        made.annotations = annotations(&of.cp.annotations);
        made.key.push(key(id, index, UINT32, Means::Index));
        made.data = filter_data(of.kind);
        schema.tables.push(made);
    }
}

/// Data fields of a low-pass filter or WRED.
fn filter_data(kind: FilterKind) -> Vec<Data> {
    let real = || Type::Float(None);
    let lpf = |name: &str, ty, part| (format!("$LPF_SPEC_{name}"), ty, Means::Lpf(part));
    let wred = |name: &str, ty, part| (format!("$WRED_SPEC_{name}"), ty, Means::Wred(part));
    let (first, parts) = match kind {
        FilterKind::Lpf => (
            id::LPF_SPEC,
            [
                lpf("TYPE", choices(&["RATE", "SAMPLE"], None), LpfPart::Type),
                lpf("GAIN_TIME_CONSTANT_NS", real(), LpfPart::GainTimeConstantNs),
                lpf("DECAY_TIME_CONSTANT_NS", real(), LpfPart::DecayTimeConstantNs),
                lpf("OUT_SCALE_DOWN_FACTOR", UINT32, LpfPart::OutScaleDownFactor),
            ],
        ),
        FilterKind::Wred { .. } => (
            id::WRED_SPEC,
            [
                wred("TIME_CONSTANT_NS", real(), WredPart::TimeConstantNs),
                wred("MIN_THRESH_CELLS", UINT32, WredPart::MinThreshCells),
                wred("MAX_THRESH_CELLS", UINT32, WredPart::MaxThreshCells),
                wred("MAX_PROBABILITY", real(), WredPart::MaxProbability),
            ],
        ),
    };
    (first..).zip(parts).map(|(id, (name, ty, means))| field(id, name, ty, means).mandatory()).collect()
}

fn add_value_sets(source: &Source<'_>, schema: &mut Schema) {
    for (at, (of, object)) in source.program.value_sets.iter().zip(&source.objects.value_sets).enumerate() {
        let means = Object::ValueSet(ValueSetId::from_index(at));
        let mut made = table(object.name.as_str(), object.id, "ParserValueSet", means, of.size.into());
        made.annotations = annotations(&of.cp.annotations);
        made.attributes.push("EntryScope");
        for (at, (cp, ty, _)) in of.keys.iter().enumerate() {
            let name = if cp.name.is_empty() { format!("f{}", at + 1) } else { cp.name.clone() };
            let ty = Type::Bytes(ty.width(), None);
            let made_key = key(at as u32 + 1, &name, ty, Means::Key(at));
            made.key.push(Key { kind: KeyKind::Ternary, mandatory: false, ..made_key });
        }
        schema.tables.push(made);
    }
}

fn add_learn_filters(source: &Source<'_>, schema: &mut Schema) {
    let digests = &source.program.digests;
    for at in by_rank(digests.iter().map(|digest| digest.cp.rank)) {
        let (of, object) = (&digests[at], &source.objects.digests[at]);
        let fields = values(&source.program.data_types, &of.data_type, 1).into_iter().enumerate();
        schema.learn_filters.push(LearnFilter {
            name: object.name.clone(),
            id: object.id,
            digest: DigestId::from_index(at),
            annotations: annotations(&of.cp.annotations),
            fields: fields.map(|(at, (name, ty))| field(at as u32 + 1, name, ty, Means::Named)).collect(),
        });
    }
}

/// Adds what a table's entries have of their own: counter, meter, register, filter.
pub fn add_direct(source: &Source<'_>, of: &MatchTable, next_id: u32, made: &mut Table) {
    if let Some(counter) = of.counter {
        made.data.extend(counter_data(source.program.counters[counter.index()].unit));
        made.operations.push("SyncCounters");
    }
    if let Some(meter) = of.meter {
        made.data.extend(meter_data(source.program.meters[meter.index()].unit));
        made.attributes.push("MeterByteCountAdjust");
    }
    if let Some(register) = of.register {
        made.data.extend(cell_data(source, register.index(), next_id));
        made.operations.push("SyncRegisters");
    }
    if let Some(filter) = of.filter {
        made.data.extend(filter_data(source.program.filters[filter.index()].kind));
    }
}

/// Adds the tables of what the switch puts in front of packets.
pub fn add_port_metadata(source: &Source<'_>, schema: &mut Schema) {
    for (at, (pipe, object)) in source.view.pipes.iter().zip(&source.objects.port_metadata).enumerate() {
        let view = &pipe.port_metadata;
        let means = Object::PortMetadata(at as u32);
        let mut made = table(object.name.as_str(), object.id, "PortMetadata", means, PORTS);
        let intrinsic = view.intrinsic.as_deref().unwrap_or("phase0_data");
        let ty = Type::Bytes(PORT_BITS, None);
        made.key.push(key(id::PORT_METADATA_PORT, &format!("{intrinsic}.ingress_port"), ty, Means::Index));
        made.data = match &view.data_type {
            Some(ty) => port_metadata_data(source, ty),
            None => {
                let ty = Type::Bytes(source.chip.port_metadata_bits(), None);
                vec![field(id::PORT_METADATA_DEFAULT, "$DEFAULT_FIELD", ty, Means::Named).optional()]
            }
        };
        schema.tables.push(made);
    }
}

fn port_metadata_data(source: &Source<'_>, ty: &DataType) -> Vec<Data> {
    let parts = values(&source.program.data_types, ty, 1).into_iter().enumerate();
    parts.map(|(at, (name, ty))| field(at as u32 + 1, name, ty, Means::Named).mandatory()).collect()
}

fn add_hash(at: u32, view: &HashView, object: &ChipObject, schema: &mut Schema) {
    let number = |prefix: u32| prefix << 24 | object.id & 0x00ff_ffff;
    let of = |part: &str, prefix, kind, means| {
        let mut made = table(format!("{}.{part}", object.name), number(prefix), kind, means, 1);
        made.annotations = annotations(&view.cp.annotations);
        made
    };
    let mut algorithm = of("algorithm", ALGORITHM, "DynHashAlgorithm", Object::HashAlgorithm(at));
    algorithm.depends_on.push(number(CONFIGURE));
    let number32 = || Type::Int("uint32", Some(0));
    algorithm.data = vec![
        field(id::HASH_ROTATE, "rotate", number32(), Means::Named).optional(),
        field(id::HASH_SEED, "seed", number32(), Means::Named).optional(),
        field(id::HASH_MSB, "msb", Type::Bool(Some(false)), Means::Named).optional(),
        field(id::HASH_EXTEND, "extend", Type::Bool(Some(false)), Means::Named).optional(),
    ];
    algorithm.actions = vec![pre_defined(), user_defined()];

    let mut configure = of("configure", CONFIGURE, "DynHashConfigure", Object::HashConfigure(at));
    let mut compute = of("compute", COMPUTE, "DynHashCompute", Object::HashCompute(at));
    compute.depends_on.push(number(CONFIGURE));
    let mut constants = 0;
    for (at, datum) in view.fields.iter().enumerate() {
        let item = |id, name, default, mandatory| {
            let made = field(id, name, Type::Int("uint64", default), Means::Named);
            if mandatory { made.mandatory() } else { made.optional() }
        };
        let items = vec![
            item(id::HASH_START_BIT, "start_bit", Some(0), false),
            item(id::HASH_LENGTH, "length", Some(datum.width.into()), false),
            item(id::HASH_ORDER, "order", None, true),
        ];
        let mut name = datum.name.clone();
        if datum.constant {
            name = format!("constant{constants}_{}_{name}", datum.width);
            constants += 1;
        } else {
            let ty = Type::Bytes(datum.width, None);
            let made = key(compute.key.len() as u32 + 1, &name, ty, Means::Key(at));
            compute.key.push(Key { mandatory: false, ..made });
        }
        let mut slices = field(at as u32 + 1, name, Type::Container(items), Means::Param(at)).repeated();
        if datum.constant {
            slices.annotations.push(Annotation { name: "bfrt_p4_constant".to_owned(), value: None });
        }
        configure.data.push(slices.optional());
    }
    let value = field(id::HASH_VALUE, "hash_value", Type::Bytes(view.width, None), Means::Named);
    compute.data.push(value.read_only());
    schema.tables.extend([algorithm, configure, compute]);
}

fn hash_action(id: u32, name: &str, data: Vec<Data>) -> Action {
    let (action, scope) = (None, ActionScope::TableAndDefault);
    Action { id, name: name.to_owned(), action, scope, annotations: Vec::new(), data }
}

fn pre_defined() -> Action {
    let names = choices(&ALGORITHMS, Some("RANDOM"));
    let data = vec![field(1, "algorithm_name", names, Means::Named).optional()];
    hash_action(id::HASH_PRE_DEFINED, "pre_defined", data)
}

fn user_defined() -> Action {
    let zero = || Type::Int("uint64", Some(0));
    let data = vec![
        field(1, "reverse", Type::Bool(Some(false)), Means::Named).optional(),
        field(2, "polynomial", UINT64, Means::Named).mandatory(),
        field(3, "init", zero(), Means::Named).optional(),
        field(4, "final_xor", zero(), Means::Named).optional(),
        field(5, "hash_bit_width", UINT64, Means::Named).optional(),
    ];
    hash_action(id::HASH_USER_DEFINED, "user_defined", data)
}

/// Hash functions that can be chosen by their names.
const ALGORITHMS: [&str; 44] = [
    "IDENTITY",
    "RANDOM",
    "XOR",
    "CRC_8",
    "CRC_8_DARC",
    "CRC_8_I_CODE",
    "CRC_8_ITU",
    "CRC_8_MAXIM",
    "CRC_8_ROHC",
    "CRC_8_WCDMA",
    "CRC_16",
    "CRC_16_BYPASS",
    "CRC_16_DDS_110",
    "CRC_16_DECT",
    "CRC_16_DECT_R",
    "CRC_16_DECT_X",
    "CRC_16_DNP",
    "CRC_16_EN_13757",
    "CRC_16_GENIBUS",
    "CRC_16_MAXIM",
    "CRC_16_MCRF4XX",
    "CRC_16_RIELLO",
    "CRC_16_T10_DIF",
    "CRC_16_TELEDISK",
    "CRC_16_USB",
    "X_25",
    "XMODEM",
    "MODBUS",
    "KERMIT",
    "CRC_CCITT_FALSE",
    "CRC_AUG_CCITT",
    "CRC_32",
    "CRC_32_BZIP2",
    "CRC_32C",
    "CRC_32D",
    "CRC_32_MPEG",
    "POSIX",
    "CRC_32Q",
    "JAMCRC",
    "XFER",
    "CRC_64",
    "CRC_64_GO_ISO",
    "CRC_64_WE",
    "CRC_64_JONES",
];

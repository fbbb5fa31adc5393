//! A builder of IR programs.

use std::sync::Arc;

use p4cc_ir::{
    Action, ActionCall, ActionId, ActionParam, ActionScope, Architecture, Bits, Block, ControlPlaneName,
    CountUnit, Counter, CounterId, CustomCrc, CustomCrcId, DataType, DataTypes, Func, FuncId, HashAlgorithm,
    Header, HeaderField, HeaderId, HeaderType, HeaderTypeId, Inst, Key, MatchKind, Meter, MeterId, Operand,
    Profile, ProfileId, Program, Register, RegisterId, RegisterKind, Stack, StackId, StandardMetadata, Table,
    TableAction, TableId, Terminator, Union, UnionId, V1Model, ValueSet, ValueSetId, Var, VarId, VarKind,
    VarType,
};

use crate::Pipeline;

/// A variable as an operand.
pub fn var(var: VarId) -> Operand {
    Operand::Var(var)
}

/// A constant as an operand.
pub fn constant(width: u32, value: u128) -> Operand {
    Operand::Const(Bits::from_u128(width, value))
}

/// A block without label.
pub fn block(insts: Vec<Inst>, terminator: Terminator) -> Block {
    Block { label: String::new(), insts, terminator }
}

/// Errors of core.p4, which each program begins with.
const CORE_ERRORS: [&str; 7] = [
    "NoError",
    "PacketTooShort",
    "NoMatch",
    "StackOutOfBounds",
    "HeaderTooShort",
    "ParserTimeout",
    "ParserInvalidArgument",
];

/// Builds a program; starts with standard metadata and empty entry points.
pub struct ProgramBuilder {
    /// The program so far; tests may bend it.
    pub program: Program,
}

fn named(name: &str) -> ControlPlaneName {
    ControlPlaneName { name: name.to_owned(), ..ControlPlaneName::default() }
}

impl Default for ProgramBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl ProgramBuilder {
    /// An empty program.
    pub fn new() -> Self {
        let mut vars = Vec::new();
        let mut meta = |name: &str, width: u32| {
            vars.push(Var {
                name: format!("standard_metadata.{name}"),
                ty: VarType::Bit(width),
                kind: VarKind::Metadata,
            });
            VarId::from_index(vars.len() - 1)
        };
        let metadata = StandardMetadata {
            ingress_port: meta("ingress_port", 9),
            egress_spec: meta("egress_spec", 9),
            egress_port: meta("egress_port", 9),
            instance_type: meta("instance_type", 32),
            packet_length: meta("packet_length", 32),
            enq_timestamp: meta("enq_timestamp", 32),
            enq_qdepth: meta("enq_qdepth", 19),
            deq_timedelta: meta("deq_timedelta", 32),
            deq_qdepth: meta("deq_qdepth", 19),
            ingress_global_timestamp: meta("ingress_global_timestamp", 48),
            egress_global_timestamp: meta("egress_global_timestamp", 48),
            mcast_grp: meta("mcast_grp", 16),
            egress_rid: meta("egress_rid", 16),
            checksum_error: meta("checksum_error", 1),
            parser_error: meta("parser_error", 32),
            priority: meta("priority", 3),
        };
        let names = ["parser", "verify", "ingress", "egress", "compute", "deparser"];
        let funcs = names.iter().enumerate().map(|(index, name)| {
            let end = if index == 0 { Terminator::Accept } else { Terminator::Return };
            Func { name: (*name).to_owned(), blocks: vec![block(Vec::new(), end)] }
        });
        let architecture = Architecture::V1Model(V1Model {
            parser: FuncId(0),
            verify_checksum: FuncId(1),
            ingress: FuncId(2),
            egress: FuncId(3),
            compute_checksum: FuncId(4),
            deparser: FuncId(5),
            metadata,
        });
        let program = Program {
            name: "test".to_owned(),
            architecture,
            vars,
            header_types: Vec::new(),
            headers: Vec::new(),
            stacks: Vec::new(),
            unions: Vec::new(),
            funcs: funcs.collect(),
            actions: Vec::new(),
            tables: Vec::new(),
            counters: Vec::new(),
            meters: Vec::new(),
            registers: Vec::new(),
            profiles: Vec::new(),
            digests: Vec::new(),
            value_sets: Vec::new(),
            custom_crcs: Vec::new(),
            filters: Vec::new(),
            hashes: Vec::new(),
            controller_headers: Vec::new(),
            field_lists: Vec::new(),
            errors: CORE_ERRORS.iter().map(|name| (*name).to_owned()).collect(),
            data_types: DataTypes::default(),
            package_annotations: Vec::new(),
        };
        Self { program }
    }

    /// Standard metadata.
    pub fn meta(&self) -> StandardMetadata {
        self.v1model().metadata
    }

    /// Entry points.
    pub fn v1model(&self) -> V1Model {
        let v1model = self.program.architecture.v1model();
        *v1model.unwrap_or_else(|| unreachable!("the builder makes v1model programs"))
    }

    /// A metadata variable of any type.
    pub fn var(&mut self, name: &str, ty: VarType) -> VarId {
        self.program.vars.push(Var { name: name.to_owned(), ty, kind: VarKind::Metadata });
        VarId::from_index(self.program.vars.len() - 1)
    }

    /// A metadata variable of so many bits.
    pub fn bits(&mut self, name: &str, width: u32) -> VarId {
        self.var(name, VarType::Bit(width))
    }

    /// A header type.
    pub fn header_type(&mut self, name: &str, fields: &[(&str, VarType)]) -> HeaderTypeId {
        let fields = fields.iter().map(|&(name, ty)| HeaderField { name: name.to_owned(), ty }).collect();
        self.program.header_types.push(HeaderType { name: name.to_owned(), fields });
        HeaderTypeId::from_index(self.program.header_types.len() - 1)
    }

    /// A header with its variables.
    pub fn header(&mut self, name: &str, ty: HeaderTypeId) -> HeaderId {
        let id = HeaderId::from_index(self.program.headers.len());
        let declared = self.program.header_types[ty.index()].fields.clone();
        let mut fields = Vec::new();
        for (position, field) in declared.into_iter().enumerate() {
            let kind = VarKind::Field { header: id, field: position as u32 };
            fields.push(VarId::from_index(self.program.vars.len()));
            self.program.vars.push(Var { name: format!("hdr.{name}.{}", field.name), ty: field.ty, kind });
        }
        self.program.headers.push(Header { name: name.to_owned(), ty, fields, union: None });
        id
    }

    /// Variables of a header's fields.
    pub fn fields(&self, header: HeaderId) -> Vec<VarId> {
        self.program.headers[header.index()].fields.clone()
    }

    /// A stack and its elements.
    pub fn stack(&mut self, name: &str, ty: HeaderTypeId, size: u32) -> (StackId, Vec<HeaderId>) {
        let elements: Vec<HeaderId> = (0..size).map(|i| self.header(&format!("{name}[{i}]"), ty)).collect();
        self.program.stacks.push(Stack { name: name.to_owned(), elements: elements.clone() });
        (StackId::from_index(self.program.stacks.len() - 1), elements)
    }

    /// A union and its members.
    pub fn union(&mut self, name: &str, types: &[HeaderTypeId]) -> (UnionId, Vec<HeaderId>) {
        let id = UnionId::from_index(self.program.unions.len());
        let members: Vec<HeaderId> =
            types.iter().enumerate().map(|(i, &ty)| self.header(&format!("{name}.m{i}"), ty)).collect();
        for member in &members {
            self.program.headers[member.index()].union = Some(id);
        }
        self.program.unions.push(Union { name: name.to_owned(), members: members.clone() });
        (id, members)
    }

    /// Gives a function its blocks.
    pub fn set_blocks(&mut self, func: FuncId, blocks: Vec<Block>) {
        self.program.funcs[func.index()].blocks = blocks;
    }

    /// Gives the ingress one block.
    pub fn ingress(&mut self, insts: Vec<Inst>) {
        self.set_blocks(self.v1model().ingress, vec![block(insts, Terminator::Return)]);
    }

    /// Gives the parser one block that accepts.
    pub fn parser(&mut self, insts: Vec<Inst>) {
        self.set_blocks(self.v1model().parser, vec![block(insts, Terminator::Accept)]);
    }

    /// Makes the deparser emit headers.
    pub fn deparser(&mut self, headers: &[HeaderId]) {
        let insts = headers.iter().map(|&header| Inst::Emit { header }).collect();
        self.set_blocks(self.v1model().deparser, vec![block(insts, Terminator::Return)]);
    }

    /// An action: its parameters' widths, its body from the parameters' variables.
    pub fn action(
        &mut self,
        name: &str,
        params: &[u32],
        body: impl FnOnce(&[VarId]) -> Vec<Inst>,
    ) -> ActionId {
        let vars: Vec<VarId> =
            params.iter().enumerate().map(|(i, &width)| self.bits(&format!("{name}.p{i}"), width)).collect();
        let blocks = vec![block(body(&vars), Terminator::Return)];
        self.program.funcs.push(Func { name: name.to_owned(), blocks });
        let body = FuncId::from_index(self.program.funcs.len() - 1);
        let param = |(i, &var): (usize, &VarId)| ActionParam { cp: named(&format!("p{i}")), var };
        let params = vars.iter().enumerate().map(param).collect();
        self.program.actions.push(Action { cp: named(name), params, body });
        ActionId::from_index(self.program.actions.len() - 1)
    }

    /// A table of 1024 entries; its default action is the last one listed, with zero arguments.
    pub fn table(&mut self, name: &str, keys: &[(VarId, MatchKind)], actions: &[ActionId]) -> TableId {
        let default = actions.last().copied().unwrap_or(ActionId(0));
        let params = &self.program.actions[default.index()].params;
        let width = |param: &ActionParam| self.program.vars[param.var.index()].ty.width();
        let args = params.iter().map(|param| Bits::zero(width(param))).collect();
        let keys = keys
            .iter()
            .map(|&(var, kind)| Key { cp: named(&self.program.vars[var.index()].name), var, kind })
            .collect();
        let actions = actions
            .iter()
            .map(|&action| TableAction {
                action,
                scope: ActionScope::TableAndDefault,
                annotations: Vec::new(),
            })
            .collect();
        self.program.tables.push(Table {
            cp: named(name),
            keys,
            actions,
            default_action: ActionCall { action: default, args },
            const_default: false,
            entries: Vec::new(),
            const_entries: false,
            size: 1024,
            profile: None,
            counter: None,
            meter: None,
            register: None,
            filter: None,
            idle_timeout: false,
        });
        TableId::from_index(self.program.tables.len() - 1)
    }

    /// A counter; `None` for a direct one.
    pub fn counter(&mut self, name: &str, size: Option<u32>) -> CounterId {
        self.program.counters.push(Counter { cp: named(name), unit: CountUnit::Both, size });
        CounterId::from_index(self.program.counters.len() - 1)
    }

    /// A meter; `None` for a direct one.
    pub fn meter(&mut self, name: &str, unit: CountUnit, size: Option<u32>) -> MeterId {
        self.program.meters.push(Meter { cp: named(name), unit, size });
        MeterId::from_index(self.program.meters.len() - 1)
    }

    /// A register array.
    pub fn register(&mut self, name: &str, width: u32, size: u32) -> RegisterId {
        self.program.registers.push(Register {
            cp: named(name),
            ty: VarType::Bit(width),
            composite: None,
            data_type: DataType::Scalar(VarType::Bit(width)),
            size,
            kind: RegisterKind::Array,
            initial: None,
        });
        RegisterId::from_index(self.program.registers.len() - 1)
    }

    /// A profile, or a selector when an algorithm is given (all 16 bits of it kept).
    pub fn profile(&mut self, name: &str, size: u32, selector: Option<HashAlgorithm>) -> ProfileId {
        let selector = selector.map(|algorithm| (algorithm, 16));
        let (cp, max_group_size) = (named(name), 32);
        self.program.profiles.push(Profile { selector, max_group_size, ..Profile::plain(cp, size) });
        ProfileId::from_index(self.program.profiles.len() - 1)
    }

    /// A custom check of 16 or 32 bits.
    pub fn custom_crc(&mut self, name: &str, width: u32) -> CustomCrcId {
        self.program.custom_crcs.push(CustomCrc { name: name.to_owned(), width, start: None });
        CustomCrcId::from_index(self.program.custom_crcs.len() - 1)
    }

    /// A value set with unnamed keys.
    pub fn value_set(&mut self, name: &str, size: u32, keys: &[(u32, MatchKind)]) -> ValueSetId {
        let keys = keys.iter().enumerate();
        let keys = keys.map(|(i, &(width, kind))| (named(&format!("k{i}")), VarType::Bit(width), kind));
        self.program.value_sets.push(ValueSet { cp: named(name), size, keys: keys.collect() });
        ValueSetId::from_index(self.program.value_sets.len() - 1)
    }

    /// The finished program.
    pub fn finish(self) -> Arc<Program> {
        Arc::new(self.program)
    }

    /// The compiled program.
    ///
    /// # Panics
    /// When the verifier refuses it.
    pub fn compile(self) -> Pipeline {
        match Pipeline::compile(self.finish()) {
            Ok(pipeline) => pipeline,
            Err(error) => panic!("{error}: {:#?}", error.violations),
        }
    }
}

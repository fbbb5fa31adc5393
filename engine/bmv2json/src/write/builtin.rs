//! Instances of metadata that the switch itself reads and writes, by architecture.

use p4cc_ir::{Psa, V1Model, VarId};

pub(super) const STANDARD: &str = "standard_metadata";

/// Fields of standard metadata with their widths, as v1model.p4 declares them.
const STANDARD_FIELDS: [(&str, u32); 16] = [
    ("ingress_port", 9),
    ("egress_spec", 9),
    ("egress_port", 9),
    ("instance_type", 32),
    ("packet_length", 32),
    ("enq_timestamp", 32),
    ("enq_qdepth", 19),
    ("deq_timedelta", 32),
    ("deq_qdepth", 19),
    ("ingress_global_timestamp", 48),
    ("egress_global_timestamp", 48),
    ("mcast_grp", 16),
    ("egress_rid", 16),
    ("checksum_error", 1),
    ("parser_error", 32),
    ("priority", 3),
];

/// An instance of metadata that the switch itself reads and writes.
pub(super) struct Builtin {
    pub name: &'static str,
    pub type_name: &'static str,
    /// Names, variables, and widths; without a width a field is as wide as its variable.
    pub fields: Vec<(&'static str, VarId, Option<u32>)>,
}

/// v1model's standard metadata.
pub(super) fn standard(v1: &V1Model) -> Builtin {
    let m = &v1.metadata;
    let vars = [
        m.ingress_port,
        m.egress_spec,
        m.egress_port,
        m.instance_type,
        m.packet_length,
        m.enq_timestamp,
        m.enq_qdepth,
        m.deq_timedelta,
        m.deq_qdepth,
        m.ingress_global_timestamp,
        m.egress_global_timestamp,
        m.mcast_grp,
        m.egress_rid,
        m.checksum_error,
        m.parser_error,
        m.priority,
    ];
    let fields = STANDARD_FIELDS.iter().zip(vars).map(|((name, width), var)| (*name, var, Some(*width)));
    Builtin { name: STANDARD, type_name: STANDARD, fields: fields.collect() }
}

/// The metadata that psa_switch reads and writes.
pub(super) fn of_psa(psa: &Psa) -> Vec<Builtin> {
    let (ipi, ii, io) = (psa.ingress_parser_input, psa.ingress_input, psa.ingress_output);
    let (epi, ei, eo) = (psa.egress_parser_input, psa.egress_input, psa.egress_output);
    let builtin = |name, type_name, fields: &[(&'static str, VarId)]| Builtin {
        name,
        type_name,
        fields: fields.iter().map(|(name, var)| (*name, *var, None)).collect(),
    };
    vec![
        builtin(
            "psa_ingress_parser_input_metadata",
            "psa_ingress_parser_input_metadata_t",
            &[("ingress_port", ipi.port), ("packet_path", ipi.packet_path)],
        ),
        builtin(
            "psa_ingress_input_metadata",
            "psa_ingress_input_metadata_t",
            &[
                ("ingress_port", ii.ingress_port),
                ("packet_path", ii.packet_path),
                ("ingress_timestamp", ii.ingress_timestamp),
                ("parser_error", ii.parser_error),
            ],
        ),
        builtin(
            "psa_ingress_output_metadata",
            "psa_ingress_output_metadata_t",
            &[
                ("class_of_service", io.class_of_service),
                ("clone", io.clone),
                ("clone_session_id", io.clone_session_id),
                ("drop", io.drop),
                ("resubmit", io.resubmit),
                ("multicast_group", io.multicast_group),
                ("egress_port", io.egress_port),
            ],
        ),
        builtin(
            "psa_egress_parser_input_metadata",
            "psa_egress_parser_input_metadata_t",
            &[("egress_port", epi.port), ("packet_path", epi.packet_path)],
        ),
        builtin(
            "psa_egress_input_metadata",
            "psa_egress_input_metadata_t",
            &[
                ("class_of_service", ei.class_of_service),
                ("egress_port", ei.egress_port),
                ("packet_path", ei.packet_path),
                ("instance", ei.instance),
                ("egress_timestamp", ei.egress_timestamp),
                ("parser_error", ei.parser_error),
            ],
        ),
        builtin(
            "psa_egress_output_metadata",
            "psa_egress_output_metadata_t",
            &[("clone", eo.clone), ("clone_session_id", eo.clone_session_id), ("drop", eo.drop)],
        ),
        builtin(
            "psa_egress_deparser_input_metadata",
            "psa_egress_deparser_input_metadata_t",
            &[("egress_port", psa.egress_deparser_port)],
        ),
    ]
}

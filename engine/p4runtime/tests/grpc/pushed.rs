//! A switch that runs what its primary pushes: a program with the P4Info of some compiler.

use parking_lot::Mutex;

use p4cc_p4runtime::proto::p4::config::v1::{P4Info, Preamble};
use p4cc_p4runtime::proto::p4::v1 as p4;
use p4cc_units::Time;
use tonic::{Code, Status};

use crate::lab::{DEVICE, Lab, PATIENCE, Stream, field};
use p4::entity::Entity as Of;
use p4::field_match::FieldMatchType;
use p4::set_forwarding_pipeline_config_request::Action;
use p4::stream_message_request::Update as Said;
use p4::stream_message_response::Update as Told;
use p4::update::Type;

/// The CPU port of the programs that are pushed.
const CPU_PORT: u32 = 255;

/// A lab and its primary.
pub struct Pushed {
    lab: Lab,
    stream: Mutex<Stream>,
}

impl Pushed {
    /// Without a program.
    pub fn new() -> Self {
        let lab = Lab::bare(CPU_PORT);
        let mut stream = lab.open();
        assert_eq!(lab.arbitrate(&mut stream, 1, None), Code::Ok);
        Self { lab, stream: Mutex::new(stream) }
    }

    /// With a program and a P4Info.
    pub fn with(program: &str, info: &P4Info) -> Self {
        let pushed = Self::new();
        pushed.push(program, info).expect("the P4Info is one of the program");
        pushed
    }

    /// VERIFY_AND_COMMIT.
    pub fn push(&self, program: &str, info: &P4Info) -> Result<(), Status> {
        let config = p4::ForwardingPipelineConfig {
            p4info: Some(info.clone()),
            p4_device_config: program.as_bytes().to_vec(),
            cookie: None,
        };
        let request = p4::SetForwardingPipelineConfigRequest {
            device_id: DEVICE,
            election_id: Some(p4::Uint128 { high: 0, low: 1 }),
            action: Action::VerifyAndCommit.into(),
            config: Some(config),
            ..Default::default()
        };
        let method = "/p4.v1.P4Runtime/SetForwardingPipelineConfig";
        self.lab.call::<_, p4::SetForwardingPipelineConfigResponse>(method, request).map(|_| ())
    }

    /// The P4Info that the server has.
    pub fn info(&self) -> P4Info {
        self.lab.info_of_switch()
    }

    /// One update; its own code and message if it failed.
    pub fn update(&self, verb: Type, entity: Of) -> Result<(), (Code, String)> {
        self.lab.update(verb, entity)
    }

    pub fn insert(&self, entry: p4::TableEntry) -> Result<(), (Code, String)> {
        self.lab.insert(Of::TableEntry(entry))
    }

    /// What a read of one entity gives.
    pub fn read(&self, entity: Of) -> Vec<Of> {
        self.lab.read(entity).expect("an answer")
    }

    /// All entries of a table.
    pub fn entries(&self, table_id: u32) -> Vec<p4::TableEntry> {
        let read = self.read(Of::TableEntry(p4::TableEntry { table_id, ..Default::default() }));
        let entry = |of| if let Of::TableEntry(entry) = of { Some(entry) } else { None };
        read.into_iter().filter_map(entry).collect()
    }

    pub fn say(&self, update: Said) {
        self.lab.say(&self.stream.lock(), Some(update));
    }

    /// The next message of the stream.
    pub fn hear(&self) -> Told {
        self.lab.hear(&mut self.stream.lock()).expect("the stream is open")
    }

    /// Lets a packet arrive.
    pub fn receive(&self, port: u32, bytes: &[u8]) {
        self.lab.receive_bytes(port, bytes);
    }

    /// Hands over what waits for the controller.
    pub fn deliver(&self) {
        self.lab.deliver_at(0);
    }

    /// The bytes that a port sends next.
    pub fn sent(&self, port: u32) -> Option<Vec<u8>> {
        let sent = self.lab.switch(|switch| switch.transmit(Time::ZERO, port))?;
        Some(sent.packet.to_vec())
    }

    /// The same for what a message on the stream makes it send.
    pub fn sent_soon(&self, port: u32) -> Option<Vec<u8>> {
        let until = std::time::Instant::now() + PATIENCE;
        loop {
            let sent = self.sent(port);
            if sent.is_some() || std::time::Instant::now() > until {
                return sent;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

/// The P4Info that a program has by itself.
pub fn own_info(program: &str) -> P4Info {
    let lab = Lab::bare(CPU_PORT);
    lab.install(program);
    lab.info_of_switch()
}

/// The id of the object with this alias.
pub fn id<'a>(mut preambles: impl Iterator<Item = &'a Option<Preamble>>, alias: &str) -> u32 {
    let found = preambles.find_map(|preamble| preamble.as_ref().filter(|preamble| preamble.alias == alias));
    found.unwrap_or_else(|| panic!("there is no {alias}")).id
}

/// An action of an entry, with its arguments by id.
pub fn action(action_id: u32, params: &[(u32, &[u8])]) -> Option<p4::TableAction> {
    let param =
        |(param_id, value): &(u32, &[u8])| p4::action::Param { param_id: *param_id, value: value.to_vec() };
    let action = p4::Action { action_id, params: params.iter().map(param).collect() };
    Some(p4::TableAction { r#type: Some(p4::table_action::Type::Action(action)) })
}

/// A match of an optional field.
pub fn optional(field_id: u32, value: &[u8]) -> p4::FieldMatch {
    field(field_id, FieldMatchType::Optional(p4::field_match::Optional { value: value.to_vec() }))
}

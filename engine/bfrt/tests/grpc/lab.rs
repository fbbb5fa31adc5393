//! A switch with the program of this folder, its two servers, and a client of BF Runtime.

use std::sync::Arc;
use std::time::Duration;

use p4cc_bfrt::proto::bfrt_proto as wire;
use p4cc_bfrt::proto::google::rpc;
use p4cc_bfrt::{Options, Server};
use p4cc_p4runtime::{Devices, Local, NoSuchDevice};
use p4cc_switch::{DEFAULT_PASS_LIMIT, Packet, PortConfig, Switch, SwitchConfig, TimestampUnit};
use p4cc_units::{Rate, Span, Time};
use parking_lot::Mutex;
use prost::Message;
use serde_json::Value as Json;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status, Streaming};
use wire::bf_runtime_client::BfRuntimeClient;
use wire::data_field::Value;
use wire::entity::Entity as Of;
use wire::key_field::MatchType;
use wire::update::Type;
use wire::write_request::Atomicity;

pub const PROGRAM: &str = include_str!("program.p4");
pub const NAME: &str = "program";
pub const PATIENCE: Duration = Duration::from_secs(20);

struct Bench {
    switch: Mutex<Switch>,
    now: Mutex<Time>,
}

impl Devices for Bench {
    fn ids(&self) -> Vec<u64> {
        vec![0]
    }

    fn with_device(&self, device_id: u64, f: &mut dyn FnMut(&mut Switch, Time)) -> Result<(), NoSuchDevice> {
        if device_id != 0 {
            return Err(NoSuchDevice(device_id));
        }
        let now = *self.now.lock();
        f(&mut self.switch.lock(), now);
        Ok(())
    }

    fn packet_out(&self, device_id: u64, packet: Packet) -> Result<(), NoSuchDevice> {
        let now = *self.now.lock();
        self.with_device(device_id, &mut |switch, _| switch.packet_out(now, packet.clone()))
    }
}

pub struct Lab {
    bench: Arc<Bench>,
    server: Server,
    pub p4runtime: Local,
    pub runtime: Runtime,
    client: BfRuntimeClient<Channel>,
    /// bf-rt.json of the program.
    pub tables: Json,
}

/// A client's stream.
pub struct Stream {
    to: mpsc::Sender<wire::StreamMessageRequest>,
    from: Streaming<wire::StreamMessageResponse>,
}

impl Lab {
    /// A lab whose client 0 is bound to the program.
    pub fn new() -> (Self, Stream) {
        Self::bare().bound()
    }

    /// The same of Tofino 2.
    pub fn of_tofino_2() -> (Self, Stream) {
        Self::of(&PROGRAM.replace("<tna.p4>", "<t2na.p4>")).bound()
    }

    fn bound(mut self) -> (Self, Stream) {
        let stream = self.subscribe(0).expect("a subscription");
        self.bind(0, NAME).expect("the program");
        (self, stream)
    }

    /// A lab without clients.
    pub fn bare() -> Self {
        Self::of(PROGRAM)
    }

    fn of(program: &str) -> Self {
        let ports = (0..8).map(|port| PortConfig {
            port,
            rate: Rate::from_bps(u64::MAX),
            capacity_pkts: 16,
            ..PortConfig::default()
        });
        let config = SwitchConfig {
            device_id: 0,
            ports: ports.collect(),
            timestamp_unit: TimestampUnit::Ns,
            buffer: None,
            cpu_port: None,
            drop_port: 511,
            seed: 0,
            pass_limit: DEFAULT_PASS_LIMIT,
            deflect_on_drop: false,
        };
        let switch = Mutex::new(Switch::new(config).expect("the configuration is sound"));
        let bench = Arc::new(Bench { switch, now: Mutex::new(Time::ZERO) });
        let devices = Arc::clone(&bench) as Arc<dyn Devices>;
        let p4runtime = Local::new(Arc::clone(&devices)).expect("threads");
        p4runtime.install(0, program.as_bytes().to_vec()).expect("the program compiles");
        let options = Options { p4_name: Some(NAME.to_owned()) };
        let server =
            Server::start("127.0.0.1:0".parse().expect("an address"), devices, options).expect("a server");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("threads");
        let endpoint = Endpoint::from_shared(format!("http://{}", server.local_addr())).expect("an address");
        let endpoint = endpoint.http2_max_header_list_size(1 << 20);
        let channel = runtime.block_on(endpoint.connect()).expect("a connection");
        let client = BfRuntimeClient::new(channel).max_decoding_message_size(1 << 30);
        let mut lab = Self { bench, server, p4runtime, runtime, client, tables: Json::Null };
        lab.tables = lab.info().0;
        lab
    }

    /// bf-rt.json of the program and of the chip.
    pub fn info(&mut self) -> (Json, Json) {
        let request = wire::GetForwardingPipelineConfigRequest { device_id: 0, client_id: 0 };
        let got = self.runtime.block_on(self.client.get_forwarding_pipeline_config(request));
        let got = got.expect("a config").into_inner();
        assert_eq!(got.config[0].p4_name, NAME);
        let json = |bytes: &[u8]| serde_json::from_slice(bytes).expect("JSON");
        (json(&got.config[0].bfruntime_info), json(&got.non_p4_config.expect("the chip").bfruntime_info))
    }

    pub fn subscribe(&mut self, client_id: u32) -> Result<Stream, Status> {
        let (to, requests) = mpsc::channel(16);
        let notifications = wire::subscribe::Notifications {
            enable_learn_notifications: true,
            enable_idletimeout_notifications: true,
            enable_port_status_change_notifications: true,
            enable_entry_active_notifications: true,
            enable_selector_update_change_notifications: true,
        };
        let subscribe = wire::Subscribe { notifications: Some(notifications), ..Default::default() };
        let update = Some(wire::stream_message_request::Update::Subscribe(subscribe));
        to.try_send(wire::StreamMessageRequest { client_id, update }).expect("room");
        let opened = self.runtime.block_on(self.client.stream_channel(ReceiverStream::new(requests)));
        let mut stream = Stream { to, from: opened?.into_inner() };
        let answer = self.next(&mut stream)?;
        let Some(wire::stream_message_response::Update::Subscribe(answer)) = answer.update else {
            panic!("an answer to Subscribe, not {answer:?}");
        };
        assert_eq!(answer.status.expect("a status").code, 0);
        Ok(stream)
    }

    /// The next message of a stream.
    pub fn next(&self, stream: &mut Stream) -> Result<wire::StreamMessageResponse, Status> {
        let message = async { tokio::time::timeout(PATIENCE, stream.from.message()).await };
        let message = self.runtime.block_on(message).expect("a message in time")?;
        message.ok_or_else(|| Status::cancelled("the stream has ended"))
    }

    pub fn bind(&mut self, client_id: u32, name: &str) -> Result<(), Status> {
        let config = vec![wire::ForwardingPipelineConfig { p4_name: name.to_owned(), ..Default::default() }];
        self.set(wire::SetForwardingPipelineConfigRequest { client_id, config, ..Default::default() })
    }

    pub fn set(&mut self, request: wire::SetForwardingPipelineConfigRequest) -> Result<(), Status> {
        self.runtime.block_on(self.client.set_forwarding_pipeline_config(request)).map(|_| ())
    }

    pub fn write_request(
        &mut self,
        request: Request<wire::WriteRequest>,
    ) -> Result<wire::WriteResponse, Status> {
        self.runtime.block_on(self.client.write(request)).map(tonic::Response::into_inner)
    }

    pub fn write(&mut self, updates: Vec<wire::Update>) -> Result<wire::WriteResponse, Status> {
        self.write_atomic(updates, Atomicity::ContinueOnError)
    }

    pub fn write_atomic(
        &mut self,
        updates: Vec<wire::Update>,
        atomicity: Atomicity,
    ) -> Result<wire::WriteResponse, Status> {
        self.write_request(Request::new(wire::WriteRequest {
            target: Some(all()),
            updates,
            atomicity: atomicity.into(),
            ..Default::default()
        }))
    }

    /// One update; the code and message of its failure.
    pub fn one(&mut self, verb: Type, entry: wire::TableEntry) -> Result<(), (Code, String)> {
        let update = wire::Update { r#type: verb.into(), entity: Some(entity(Of::TableEntry(entry))) };
        self.write(vec![update]).map(|_| ()).map_err(|status| {
            let error = details(&status).pop().expect("an error for the update");
            (Code::from_i32(error.canonical_code), error.message)
        })
    }

    pub fn read(&mut self, entities: Vec<wire::Entity>) -> Result<Vec<wire::Entity>, Status> {
        let request = wire::ReadRequest { target: Some(all()), entities, ..Default::default() };
        self.read_request(Request::new(request)).map(|answer| answer.0)
    }

    pub fn read_request(
        &mut self,
        request: Request<wire::ReadRequest>,
    ) -> Result<(Vec<wire::Entity>, Vec<wire::Error>), Status> {
        let client = &mut self.client;
        self.runtime.block_on(async {
            let mut answers = client.read(request).await?.into_inner();
            let (mut read, mut status) = (Vec::new(), Vec::new());
            while let Some(answer) = answers.message().await? {
                read.extend(answer.entities);
                status = answer.status;
            }
            Ok((read, status))
        })
    }

    /// Entries that a read finds, with what the switch itself has of them.
    pub fn entries(&mut self, mut entry: wire::TableEntry) -> Result<Vec<wire::TableEntry>, Status> {
        entry.table_flags = Some(wire::TableFlags { from_hw: true, ..entry.table_flags.unwrap_or_default() });
        self.kept_entries(entry)
    }

    /// Entries that a read finds, with the driver's copies.
    pub fn kept_entries(&mut self, entry: wire::TableEntry) -> Result<Vec<wire::TableEntry>, Status> {
        let read = self.read(vec![entity(Of::TableEntry(entry))])?;
        Ok(read
            .into_iter()
            .map(|entity| match entity.entity {
                Some(Of::TableEntry(entry)) => entry,
                other => panic!("an entry, not {other:?}"),
            })
            .collect())
    }

    /// A table of the program by the end of its name.
    pub fn table(&self, name: &str) -> &Json {
        let tables = self.tables["tables"].as_array().expect("tables");
        let named =
            |table: &&Json| table["name"].as_str().is_some_and(|full| full.ends_with(&format!(".{name}")));
        tables.iter().find(named).unwrap_or_else(|| panic!("a table {name}"))
    }

    pub fn id(&self, table: &str) -> u32 {
        number(&self.table(table)["id"])
    }

    /// The number of an action or of a field.
    pub fn action(&self, table: &str, name: &str) -> u32 {
        let actions = self.table(table)["action_specs"].as_array().expect("actions");
        let named = |action: &&Json| {
            let full = action["name"].as_str().expect("a name");
            full == name || full.ends_with(&format!(".{name}"))
        };
        number(&actions.iter().find(named).unwrap_or_else(|| panic!("an action {name}"))["id"])
    }

    pub fn key_id(&self, table: &str, name: &str) -> u32 {
        field(self.table(table)["key"].as_array().expect("keys"), name)
    }

    /// The number of a data field: a parameter of an action, or one of the table's own.
    pub fn data_id(&self, table: &str, name: &str) -> u32 {
        let table = self.table(table);
        let actions = table["action_specs"].as_array().cloned().unwrap_or_default();
        let mut all: Vec<Json> = table["data"].as_array().cloned().unwrap_or_default();
        all.extend(actions.iter().flat_map(|action| action["data"].as_array().cloned().unwrap_or_default()));
        let flat = all.into_iter().flat_map(|data| match (&data["singleton"], &data["oneof"]) {
            (Json::Object(_), _) => vec![data["singleton"].clone()],
            (_, Json::Array(several)) => several.clone(),
            _ => vec![data],
        });
        field(&flat.collect::<Vec<_>>(), name)
    }

    pub fn switch<T>(&self, f: impl FnOnce(&mut Switch) -> T) -> T {
        f(&mut self.bench.switch.lock())
    }

    /// Sends a packet in; the ports that it leaves by.
    pub fn packet(&self, port: u32, bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let now = *self.bench.now.lock();
        self.switch(|switch| {
            switch.receive(now, port, Packet::new(bytes, 0));
            let mut out = Vec::new();
            while let Some(port) = switch.next_ready() {
                while let Some(sent) = switch.transmit(now, port) {
                    out.push((port, sent.packet.to_vec()));
                }
            }
            out
        })
    }

    /// Lets time pass, and delivers what the switch holds.
    pub fn pass(&self, span: Span) -> usize {
        let now = {
            let mut now = self.bench.now.lock();
            *now += span;
            *now
        };
        let delivered = self.p4runtime.deliver(now);
        self.server.deliver(now, &delivered.held)
    }
}

impl Stream {
    pub fn say(&self, message: wire::StreamMessageRequest) {
        self.to.try_send(message).expect("room");
    }
}

fn number(json: &Json) -> u32 {
    u32::try_from(json.as_u64().expect("a number")).expect("32 bits")
}

fn field(fields: &[Json], name: &str) -> u32 {
    let named = |field: &&Json| field["name"].as_str() == Some(name);
    number(&fields.iter().find(named).unwrap_or_else(|| panic!("a field {name}"))["id"])
}

/// The whole device.
pub fn all() -> wire::TargetDevice {
    wire::TargetDevice { device_id: 0, pipe_id: 0xffff, direction: 0xff, prsr_id: 0xff }
}

pub fn entity(entity: Of) -> wire::Entity {
    wire::Entity { entity: Some(entity) }
}

pub fn update(verb: Type, entry: wire::TableEntry) -> wire::Update {
    wire::Update { r#type: verb.into(), entity: Some(entity(Of::TableEntry(entry))) }
}

/// What became of each member of a batch.
pub fn details(status: &Status) -> Vec<wire::Error> {
    assert_eq!(status.code(), Code::Unknown, "{status:?}");
    let decoded = rpc::Status::decode(status.details()).expect("google.rpc.Status");
    assert_eq!(decoded.code, Code::Unknown as i32);
    let all = decoded.details.iter().map(|any| {
        assert_eq!(any.type_url, "type.googleapis.com/bfrt_proto.Error");
        wire::Error::decode(any.value.as_slice()).expect("an error")
    });
    all.collect()
}

pub fn codes(status: &Status) -> Vec<Code> {
    details(status).iter().map(|error| Code::from_i32(error.canonical_code)).collect()
}

pub fn exact(field_id: u32, value: impl Into<Vec<u8>>) -> wire::KeyField {
    let match_type = Some(MatchType::Exact(wire::key_field::Exact { value: value.into() }));
    wire::KeyField { field_id, match_type }
}

pub fn stream(field_id: u32, value: impl Into<Vec<u8>>) -> wire::DataField {
    wire::DataField { field_id, value: Some(Value::Stream(value.into())) }
}

/// An entry of a table with this key and data.
pub fn entry(
    table_id: u32,
    key: Vec<wire::KeyField>,
    action_id: u32,
    fields: Vec<wire::DataField>,
) -> wire::TableEntry {
    wire::TableEntry {
        table_id,
        value: Some(wire::table_entry::Value::Key(wire::TableKey { fields: key })),
        data: Some(wire::TableData { action_id, fields }),
        ..Default::default()
    }
}

/// The value of a data field as a number.
pub fn number_of(entry: &wire::TableEntry, id: u32) -> u64 {
    let fields = &entry.data.as_ref().expect("data").fields;
    let found = fields.iter().find(|field| field.field_id == id).expect("the field");
    match &found.value {
        Some(Value::Stream(bytes)) => bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)),
        other => panic!("a number, not {other:?}"),
    }
}

-- The transport header of p4cc, UDP port 52224, with its extensions (docs/reference/wire-format.md).

local proto = Proto("p4cc", "p4cc transport")
local f = {
  version = ProtoField.uint8("p4cc.version", "Version", base.DEC, nil, 0xf0),
  type = ProtoField.uint8("p4cc.type", "Type", base.DEC, {[0] = "data", [1] = "ACK", [2] = "notification"}, 0x0f),
  fin = ProtoField.bool("p4cc.flags.fin", "FIN", 8, nil, 0x01),
  retransmit = ProtoField.bool("p4cc.flags.retransmit", "RETRANSMIT", 8, nil, 0x02),
  cwr = ProtoField.bool("p4cc.flags.cwr", "CWR", 8, nil, 0x04),
  sack_permitted = ProtoField.bool("p4cc.flags.sack_permitted", "SACK-PERMITTED", 8, nil, 0x08),
  echo_until_cwr = ProtoField.bool("p4cc.flags.echo_until_cwr", "ECHO-UNTIL-CWR", 8, nil, 0x10),
  nack = ProtoField.bool("p4cc.flags.nack", "NACK", 8, nil, 0x20),
  ack_request = ProtoField.bool("p4cc.flags.ack_request", "ACK-REQUEST", 8, nil, 0x40),
  selective = ProtoField.bool("p4cc.flags.selective", "SELECTIVE", 8, nil, 0x80),
  class = ProtoField.uint8("p4cc.traffic_class", "Traffic class", base.DEC, nil, 0xe0),
  ecn_echo = ProtoField.uint8("p4cc.ecn_echo", "ECN echo", base.HEX, nil, 0x03),
  extension = ProtoField.uint8("p4cc.extension.type", "Extension type", base.DEC, {
    [0] = "none", [1] = "HPCC hop records", [2] = "INT-MD 2.1", [3] = "rate request", [4] = "CNP", [5] = "SACK",
    [6] = "fair rate", [7] = "HPCC hop records in reserved room", [8] = "read request",
    [9] = "Bolt", [10] = "credit", [11] = "PINT",
  }),
  flow_id = ProtoField.uint32("p4cc.flow_id", "Flow id"),
  seq = ProtoField.uint32("p4cc.seq", "Sequence number"),
  ack = ProtoField.uint32("p4cc.ack", "Acknowledgement number"),
  payload_length = ProtoField.uint16("p4cc.payload_length", "Payload length"),
  extension_length = ProtoField.uint8("p4cc.extension.length", "Extension length"),
  timestamp = ProtoField.uint64("p4cc.timestamp", "Timestamp (ns)"),
  echo = ProtoField.uint64("p4cc.timestamp_echo", "Timestamp echo (ns)"),
  bytes = ProtoField.bytes("p4cc.extension.bytes", "Extension"),
  hops = ProtoField.uint8("p4cc.int.hops", "Hop count", base.DEC),
  path_id = ProtoField.uint16("p4cc.int.path_id", "Path id", base.HEX),
  rate_code = ProtoField.uint8("p4cc.int.rate_code", "Rate code", base.DEC),
  hop_time = ProtoField.uint24("p4cc.int.timestamp", "Timestamp", base.DEC),
  transmitted = ProtoField.uint32("p4cc.int.transmitted", "Transmitted (128 B x m)", base.DEC),
  queue = ProtoField.uint16("p4cc.int.queue", "Queue (80 B x m)", base.DEC),
  left = ProtoField.uint32("p4cc.sack.left", "First byte of a block"),
  right = ProtoField.uint32("p4cc.sack.right", "End of a block"),
  fair_rate = ProtoField.uint32("p4cc.rcp.rate", "Fair rate"),
  pint_power = ProtoField.uint8("p4cc.pint.power", "Power of the utilisation"),
  wanted = ProtoField.uint32("p4cc.read.bytes", "Bytes wanted"),
  first = ProtoField.bool("p4cc.bolt.first", "FIRST", 8, nil, 0x80),
  last = ProtoField.bool("p4cc.bolt.last", "LAST", 8, nil, 0x40),
  inc = ProtoField.bool("p4cc.bolt.inc", "INC", 8, nil, 0x20),
  dec = ProtoField.bool("p4cc.bolt.dec", "DEC", 8, nil, 0x10),
  queue_bytes = ProtoField.uint32("p4cc.bolt.queue", "Queue (bytes)"),
  link_rate = ProtoField.uint32("p4cc.bolt.rate", "Link rate (kbit/s)"),
  data_class = ProtoField.uint8("p4cc.credit.class", "Class of data", base.DEC),
  credit = ProtoField.uint32("p4cc.credit.bytes", "Credit (bytes)"),
}
local fields = {}
for _, one in pairs(f) do fields[#fields + 1] = one end
proto.fields = fields

local HEADER_BYTES = 36

local function hop_records(tree, data, most)
  if data:len() < 2 then return end
  local hops = data(0, 1):bitfield(0, 4)
  tree:add(f.hops, data(0, 1), hops)
  tree:add(f.path_id, data(0, 2), data(0, 2):bitfield(4, 12))
  local records = math.min(math.floor((data:len() - 2) / 8), most or math.huge, most and hops or math.huge)
  for nth = 0, records - 1 do
    local record = data(2 + 8 * nth, 8)
    local branch = tree:add(proto, record, "Hop " .. (records - nth))
    branch:add(f.rate_code, record(0, 1), record:bitfield(0, 4))
    branch:add(f.hop_time, record(0, 4), record:bitfield(4, 24))
    branch:add(f.transmitted, record(3, 3), record:bitfield(28, 20))
    branch:add(f.queue, record(6, 2))
  end
end

local extensions = {
  [1] = function(tree, data) hop_records(tree, data) end,
  [5] = function(tree, data)
    for at = 0, data:len() - 8, 8 do
      tree:add(f.left, data(at, 4))
      tree:add(f.right, data(at + 4, 4))
    end
  end,
  [6] = function(tree, data) if data:len() >= 4 then tree:add(f.fair_rate, data(0, 4)) end end,
  [7] = function(tree, data) hop_records(tree, data, 5) end,
  [8] = function(tree, data) if data:len() >= 4 then tree:add(f.wanted, data(0, 4)) end end,
  [9] = function(tree, data)
    if data:len() < 12 then return end
    for _, one in ipairs({"first", "last", "inc", "dec"}) do tree:add(f[one], data(0, 1)) end
    tree:add(f.queue_bytes, data(4, 4))
    tree:add(f.link_rate, data(8, 4))
  end,
  [10] = function(tree, data)
    if data:len() < 8 then return end
    tree:add(f.data_class, data(0, 1))
    tree:add(f.credit, data(4, 4))
  end,
  [11] = function(tree, data) if data:len() >= 1 then tree:add(f.pint_power, data(0, 1)) end end,
}

function proto.dissector(tvb, info, root)
  if tvb:len() < HEADER_BYTES then return 0 end
  local extension_bytes = tvb(18, 1):uint()
  local kinds = {[1] = "ACK", [2] = "notification"}
  local kind = kinds[tvb(0, 1):bitfield(4, 4)]
  local shown = math.min(HEADER_BYTES + extension_bytes, tvb:len())
  local tree = root:add(proto, tvb(0, shown))
  info.cols.protocol = "p4cc"
  info.cols.info = (kind or "data") .. " flow " .. tvb(4, 4):uint() ..
    (kind == "ACK" and " ack " .. tvb(12, 4):uint() or " seq " .. tvb(8, 4):uint() .. " len " .. tvb(16, 2):uint())
  for _, one in ipairs({"version", "type"}) do tree:add(f[one], tvb(0, 1)) end
  for _, one in ipairs({"fin", "retransmit", "cwr", "sack_permitted", "echo_until_cwr", "nack", "ack_request", "selective"}) do
    tree:add(f[one], tvb(1, 1))
  end
  tree:add(f.class, tvb(2, 1))
  tree:add(f.ecn_echo, tvb(2, 1))
  tree:add(f.extension, tvb(3, 1))
  tree:add(f.flow_id, tvb(4, 4))
  tree:add(f.seq, tvb(8, 4))
  tree:add(f.ack, tvb(12, 4))
  tree:add(f.payload_length, tvb(16, 2))
  tree:add(f.extension_length, tvb(18, 1))
  tree:add(f.timestamp, tvb(20, 8))
  tree:add(f.echo, tvb(28, 8))
  if shown > HEADER_BYTES then
    local data = tvb(HEADER_BYTES, shown - HEADER_BYTES)
    local branch = tree:add(f.bytes, data)
    local dissect = extensions[tvb(3, 1):uint()]
    if dissect then dissect(branch, data) end
  end
  return shown
end

DissectorTable.get("udp.port"):add(52224, proto)

-- The TCP option by which receivers count marked packets (docs/reference/wire-format.md, Feedback option).
-- Wireshark's own dissector of TCP finds the options; it has no place for dissectors of experiment ids.

local proto = Proto("p4cc_feedback", "p4cc feedback option")
local f = {
  kind = ProtoField.uint8("p4cc_feedback.kind", "Kind"),
  length = ProtoField.uint8("p4cc_feedback.length", "Length"),
  id = ProtoField.uint16("p4cc_feedback.id", "Experiment id", base.HEX),
  version = ProtoField.uint8("p4cc_feedback.version", "Version of the offer"),
  k = ProtoField.uint32("p4cc_feedback.k", "Packets above K"),
  kdc = ProtoField.uint32("p4cc_feedback.kdc", "Packets above K_dc"),
}
proto.fields = {f.kind, f.length, f.id, f.version, f.k, f.kdc}
local refused = ProtoExpert.new("p4cc_feedback.refused", "The receiver refuses this length",
  expert.group.MALFORMED, expert.severity.WARN)
proto.experts = {refused}

local KIND, LENGTH, ID = 254, 12, 0x5034
local END_OF_LIST, NO_OPERATION = 0, 1
local options_of, syn_of = Field.new("tcp.options"), Field.new("tcp.flags.syn")

local function show(root, option, is_syn)
  local tree = root:add(proto, option)
  tree:add(f.kind, option(0, 1))
  tree:add(f.length, option(1, 1))
  tree:add(f.id, option(2, 2))
  if option:len() ~= LENGTH then
    tree:add_proto_expert_info(refused)
  elseif is_syn then
    tree:add(f.version, option(4, 1))
  else
    tree:add(f.k, option(4, 4))
    tree:add(f.kdc, option(8, 4))
  end
end

local function walk(root, options, is_syn)
  local at, whole = 0, options:len()
  while at < whole do
    local kind = options(at, 1):uint()
    if kind == END_OF_LIST then return end
    local length = 1
    if kind ~= NO_OPERATION then
      if at + 2 > whole then return end
      length = options(at + 1, 1):uint()
      if length < 2 or at + length > whole then return end
      if kind == KIND and length >= 4 and options(at + 2, 2):uint() == ID then
        show(root, options(at, length), is_syn)
      end
    end
    at = at + length
  end
end

function proto.dissector(_, _, root)
  local syns = {syn_of()}
  for nth, options in ipairs({options_of()}) do
    walk(root, options.range, syns[nth] and syns[nth].value)
  end
end

register_postdissector(proto)

-- Runs the parser of a P4 program on a packet, and shows the headers that it extracts.
-- Numbers of more than 53 bits are shown and not computed with; where the way through the parser depends on what
-- the packet does not say, the tree ends with a line that says so.

local MAX_STEPS = 10000
local proto = Proto(graph.abbreviation, graph.title)
local known = {}

local function field_of(width, abbreviation, name)
  if width <= 8 then return ProtoField.uint8(abbreviation, name, base.HEX_DEC) end
  if width <= 16 then return ProtoField.uint16(abbreviation, name, base.HEX_DEC) end
  if width <= 24 then return ProtoField.uint24(abbreviation, name, base.HEX_DEC) end
  if width <= 32 then return ProtoField.uint32(abbreviation, name, base.HEX_DEC) end
  if width <= 64 then return ProtoField.uint64(abbreviation, name, base.HEX) end
  return ProtoField.bytes(abbreviation, name)
end

for _, header_type in ipairs(graph.types) do
  for _, field in ipairs(header_type.fields) do
    local width = field.varbit and 65 or field.width
    field.proto = field_of(width, field.abbreviation, field.name)
    known[#known + 1] = field.proto
  end
end
proto.fields = known

local function value_of(state, operand)
  if operand.var then return state.vars[operand.var + 1] end
  if type(operand.value) == "number" then return operand.value end
  return nil
end

local function bits_of(a, b, decide)
  local result, place = 0, 1
  while a > 0 or b > 0 do
    if decide(a % 2, b % 2) then result = result + place end
    a, b, place = math.floor(a / 2), math.floor(b / 2), place * 2
  end
  return result
end

local function band(a, b) return bits_of(a, b, function(x, y) return x == 1 and y == 1 end) end

local function truth(value) return value and 1 or 0 end

local binary = {
  Add = function(a, b) return a + b end,
  Sub = function(a, b) return a - b end,
  Mul = function(a, b) if a * b < 2 ^ 53 then return a * b end end,
  Div = function(a, b) return b == 0 and 0 or math.floor(a / b) end,
  Mod = function(a, b) return b == 0 and 0 or a % b end,
  And = band,
  Or = function(a, b) return bits_of(a, b, function(x, y) return x == 1 or y == 1 end) end,
  Xor = function(a, b) return bits_of(a, b, function(x, y) return x ~= y end) end,
  Shl = function(a, b) if b < 53 and a * 2 ^ b < 2 ^ 53 then return a * 2 ^ b end end,
  ["Shr { signed: false }"] = function(a, b) return b < 64 and math.floor(a / 2 ^ b) or 0 end,
  Eq = function(a, b) return truth(a == b) end,
  Ne = function(a, b) return truth(a ~= b) end,
  ["Lt { signed: false }"] = function(a, b) return truth(a < b) end,
  ["Le { signed: false }"] = function(a, b) return truth(a <= b) end,
}

-- A value within the width of its variable; nothing beyond 53 bits.
local function set(state, var, value)
  local width = graph.widths[var + 1]
  if value and width <= 53 then value = value % 2 ^ width elseif value and value < 0 then value = nil end
  state.vars[var + 1] = value
end

local function stop(state, why)
  state.ended = true
  if why then state.tree:add(proto, state.tvb(0, 0), why) end
end

-- Bytes that hold so many bits from the place that is read, and the first bit within them.
local function range(state, at, width)
  local first = math.floor(at / 8)
  local last = math.floor((at + width - 1) / 8)
  return state.tvb(first, last - first + 1), at - 8 * first
end

local function show(state, tree, field, width)
  local bytes, first = range(state, state.at, width)
  if field.varbit or width > 64 or first + width > 64 then
    tree:add(field.proto, bytes)
    return nil
  end
  local value = bytes:bitfield(first, width)
  tree:add(field.proto, bytes, value)
  if type(value) == "number" then return value end
  if width <= 53 then return value:higher() * 2 ^ 32 + value:lower() end
  return nil
end

local function extract(state, index, varbit)
  local header = graph.headers[index + 1]
  local header_type = graph.types[header.type]
  local most, total = 0, 0
  if varbit then most = value_of(state, varbit) end
  if not most then return stop(state, "the length of " .. header.name .. " is not known") end
  for _, field in ipairs(header_type.fields) do
    field.now = field.varbit and most or field.width
    total = total + field.now
  end
  if state.at + total > 8 * state.tvb:len() then
    return stop(state, header.name .. " is not whole: the packet, or what was captured of it, ends before")
  end
  if total == 0 then state.valid[index] = 1 return end
  local tree = state.tree:add(proto, (range(state, state.at, total)), header.name .. " (" .. header_type.name .. ")")
  for place, field in ipairs(header_type.fields) do
    if field.now > 0 then
      local value = show(state, tree, field, field.now)
      state.vars[header.vars[place] + 1] = value
      state.at = state.at + field.now
    end
  end
  state.valid[index] = 1
end

local function lookahead(state, var)
  local width = graph.widths[var + 1]
  if state.at + width > 8 * state.tvb:len() then return stop(state, "the packet ends before what the parser looks at") end
  local bytes, first = range(state, state.at, width)
  local value = nil
  if width <= 32 and first + width <= 64 then value = bytes:bitfield(first, width) end
  set(state, var, value)
end

local ops = {
  assign = function(state, op) set(state, op[2], value_of(state, op[3])) end,
  binary = function(state, op)
    local a, b, does = value_of(state, op[4]), value_of(state, op[5]), binary[op[3]]
    set(state, op[2], a and b and does and does(a, b) or nil)
  end,
  unary = function(state, op)
    local value = value_of(state, op[4])
    local width = graph.widths[op[2] + 1]
    if value and width <= 53 then value = op[3] == "Not" and 2 ^ width - 1 - value or -value else value = nil end
    set(state, op[2], value)
  end,
  resize = function(state, op) set(state, op[2], not op[4] and value_of(state, op[3]) or nil) end,
  concat = function(state, op)
    local high, low = value_of(state, op[3]), value_of(state, op[4])
    set(state, op[2], high and low and high * 2 ^ op[5] + low or nil)
  end,
  slice = function(state, op)
    local value = value_of(state, op[3])
    set(state, op[2], value and math.floor(value / 2 ^ op[4]) or nil)
  end,
  set_valid = function(state, op) state.valid[op[2]] = truth(op[3]) end,
  is_valid = function(state, op) set(state, op[2], state.valid[op[3]] or 0) end,
  next_index = function(state, op) set(state, op[2], state.next[op[3]] or 0) end,
  set_next_index = function(state, op) state.next[op[2]] = value_of(state, op[3]) or 0 end,
  stack_load = function(state, op)
    local index = value_of(state, op[4])
    local element = index and graph.stacks[op[3] + 1][index + 1]
    set(state, op[2], element and state.vars[graph.headers[element + 1].vars[op[5] + 1] + 1] or nil)
  end,
  extract = function(state, op) extract(state, op[2], op[3]) end,
  extract_next = function(state, op)
    local index = state.next[op[2]] or 0
    local element = graph.stacks[op[2] + 1][index + 1]
    if not element then return stop(state, "a header stack has no more room") end
    state.next[op[2]] = index + 1
    extract(state, element, op[3])
  end,
  lookahead = function(state, op) lookahead(state, op[2]) end,
  advance = function(state, op)
    local bits = value_of(state, op[2])
    if not bits or state.at + bits > 8 * state.tvb:len() then return stop(state, "the parser leaves the packet") end
    state.at = state.at + bits
  end,
  length = function(state, op) set(state, op[2], state.tvb:reported_len()) end,
  verify = function(state, op) if value_of(state, op[2]) == 0 then stop(state, "the parser rejects the packet") end end,
  other = function(state) stop(state, "the parser goes on in ways that are not shown") end,
}

-- Whether a key fits, or nothing where it is not known.
local function fits(key, set_of)
  if set_of.any then return true end
  local low, value, mask = set_of.low, set_of.value, set_of.mask
  if not key or set_of.signed then return nil end
  if low ~= nil then
    if type(low) ~= "number" or type(set_of.high) ~= "number" then return nil end
    return low <= key and key <= set_of.high
  end
  if type(value) ~= "number" then return nil end
  if mask == nil then return key == value end
  if type(mask) ~= "number" then return nil end
  return band(key, mask) == band(value, mask)
end

local function case_fits(state, keys, sets)
  local all = true
  for place, key in ipairs(keys) do
    local one = fits(value_of(state, key), sets[place])
    if one == false then return false end
    if one == nil then all = nil end
  end
  return all
end

local function after(state, way)
  if way.jump then return way.jump end
  if way["then"] then
    local decides = value_of(state, way.branch)
    if decides then return decides ~= 0 and way["then"] or way["else"] end
    return stop(state, "the parser's way depends on what the packet does not say")
  end
  if not way.select then return stop(state, way["end"] ~= "accept" and "the parser rejects the packet" or nil) end
  for _, case in ipairs(way.cases) do
    local found = case_fits(state, way.select, case[1])
    if found then return case[2] end
    if found == nil then return stop(state, "the parser's way depends on what the packet does not say") end
  end
  if way.default then return way.default end
  stop(state, "the parser rejects the packet")
end

local function parse(state)
  local block, steps = 0, 0
  while not state.ended do
    for _, op in ipairs(graph.blocks[block + 1].ops) do
      steps = steps + 1
      ops[op[1]](state, op)
      if state.ended then return end
    end
    steps = steps + 1
    if steps > MAX_STEPS then return stop(state, "the parser takes too many steps") end
    block = after(state, graph.blocks[block + 1]["end"])
  end
end

function proto.dissector(tvb, _, root)
  if tvb:len() == 0 then return end
  local tree = root:add(proto, tvb(), graph.title)
  parse({tvb = tvb, tree = tree, at = 0, vars = {}, valid = {}, next = {}, ended = false})
end

register_postdissector(proto)

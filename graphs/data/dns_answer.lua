-- graphs/data/dns_answer.lua: answers questions for the address of one name
--
-- args.name: the name; args.address: what it is answered with. An answer leaves by gate 0, all else
-- by gate 1. See graphs/dns_answer.yaml.

local dns = filter("udp dst port 53 or (vlan and udp dst port 53)")
local address = ip4(args.address)
local answered, other = 0, 0

-- The question as it stands in a packet: labels with their lengths, type A, class IN.
local question = ""
for label in args.name:lower():gmatch("[^.]+") do
	question = question .. string.pack("s1", label)
end
question = question .. "\0\0\1\0\1"

-- Each header's source becomes its destination.
local function turn_round(packet)
	for _, names in ipairs{{"ether.src", "ether.dst"}, {"ip.src", "ip.dst"}, {"sport", "dport"}} do
		local one, two = packet:get(names[1]), packet:get(names[2])

		packet:set(names[1], two)
		packet:set(names[2], one)
	end
end

-- Makes the answer of the question; false if it is not the one that we know.
local function answer(packet)
	local at, n = packet:payload()

	if not at or n < 12 + #question then
		return false
	end
	local flags, questions = packet:u16(at + 2), packet:u16(at + 4)
	if flags & 0xf800 ~= 0 or questions ~= 1 then
		return false
	end
	if packet:bytes(at + 12, #question):lower() ~= question then
		return false
	end
	packet:trim(at + 12 + #question)
	packet:set_u16(at + 2, 0x8400 | flags & 0x0100)
	packet:set_bytes(at + 6, string.pack(">I2I2I2", 1, 0, 0))
	if not packet:append(string.pack(">I2I2I2I4I2I4", 0xc00c, 1, 1, 60, 4, address)) then
		return false
	end
	turn_round(packet)
	packet:finish()
	return true
end

function process(batch)
	local rest = batch.all

	for i, packet in batch:packets(batch:select(dns)) do
		if answer(packet) then
			rest = rest & ~(1 << (i - 1))
		end
	end
	batch:gate(1, rest)
	answered = answered + batch.n - batch:count(rest)
	other = other + batch:count(rest)
end

commands = {
	-- sluice call: {name: count}
	count = function()
		return {answered = answered, other = other}
	end,
}

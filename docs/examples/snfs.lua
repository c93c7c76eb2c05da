-- SPDX-License-Identifier: MIT
-- Wireshark reads Spritely NFS:  wireshark -X lua_script:docs/examples/snfs.lua FILE.pcapng
--
-- The program is that of NFSv2 with five procedures more (docs/spritely.md). Calls of its procedures 0 to 17 are given
-- to Wireshark as calls of NFSv2, so that all of its columns, filters and statistics of NFS see them. The other
-- procedures are read here. Authentication is skipped; a message in several fragments of RPC is left alone.

local PROGRAM, NFS = 0x20534E46, 100003
local PROCEDURES = { [18] = "OPEN", [19] = "CLOSE", [20] = "CALLBACK", [21] = "REOPEN", [22] = "RECOVERED" }
local MODES = { [1] = "SNFS_CBWRITE", [2] = "SNFS_CBINVAL", [3] = "SNFS_WRINVAL" }
local STATUSES = {
    [0] = "NFS_OK", [5] = "NFSERR_IO", [6] = "NFSERR_NXIO", [13] = "NFSERR_ACCES", [21] = "NFSERR_ISDIR",
    [28] = "NFSERR_NOSPC", [70] = "NFSERR_STALE", [20001] = "SNFS_INCONSISTENT", [20002] = "SNFS_CLOSED",
    [20003] = "SNFS_RECOVERING",
}

local snfs = Proto("snfs", "Spritely NFS")
local f = {
    procedure = ProtoField.uint32("snfs.procedure", "Procedure", base.DEC, PROCEDURES),
    status = ProtoField.uint32("snfs.status", "Status", base.DEC, STATUSES),
    file = ProtoField.bytes("snfs.file", "file"),
    mdev = ProtoField.uint32("snfs.mdev", "mdev", base.HEX),
    write = ProtoField.uint32("snfs.writeMode", "writeMode"),
    mode = ProtoField.uint32("snfs.cbmode", "cbmode", base.DEC, MODES),
    version = ProtoField.uint32("snfs.cacheVersion", "cacheVersion"),
    old = ProtoField.uint32("snfs.oldCacheVers", "oldCacheVers"),
    enabled = ProtoField.uint32("snfs.cacheEnabled", "cacheEnabled"),
    readers = ProtoField.uint32("snfs.readers", "readers"),
    writers = ProtoField.uint32("snfs.writers", "writers"),
    dirty = ProtoField.uint32("snfs.dirty", "dirty"),
    size = ProtoField.uint32("snfs.size", "size"),
    fileid = ProtoField.uint32("snfs.fileid", "fileid"),
}
snfs.fields = f

local FATTR = { size = 20, fileid = 44 } -- where they are in the 68 bytes of attributes
local ARGUMENTS = {
    OPEN = { "file", "mdev", "write" },
    CLOSE = { "file", "write" },
    CALLBACK = { "file", "mode", "mdev", "attributes" },
    REOPEN = { "file", "mdev", "readers", "writers", "dirty", "version" },
    RECOVERED = {},
}
local OPENED = { "version", "old", "enabled", "attributes" }
local procedure_of = {} -- of the calls that are read here, by xid and the ports of client and server

local function key(pinfo, xid, is_call)
    local from, to = pinfo.src_port, pinfo.dst_port
    return string.format("%d %d %d", xid, is_call and from or to, is_call and to or from)
end

local function fields(tvb, at, names, tree)
    for _, name in ipairs(names) do
        local size = name == "file" and 32 or name == "attributes" and 68 or 4
        if at + size > tvb:len() then return end
        if name == "attributes" then
            for part, offset in pairs(FATTR) do tree:add(f[part], tvb(at + offset, 4)) end
        else
            tree:add(f[name], tvb(at, size))
        end
        at = at + size
    end
end

local function after_auth(tvb, at) -- a flavor, a length, and so many bytes
    if at + 8 > tvb:len() then return nil end
    return at + 8 + math.ceil(tvb(at + 4, 4):uint() / 4) * 4
end

local function show(tvb, pinfo, root, name, is_call)
    pinfo.cols.protocol = "SNFS"
    pinfo.cols.info = string.format("%s %s", name, is_call and "Call" or "Reply")
    return root:add(snfs, tvb(), string.format("Spritely NFS, %s %s", name, is_call and "Call" or "Reply"))
end

local function read_call(tvb, pinfo, root)
    local number = tvb(20, 4):uint()
    local name = PROCEDURES[number]
    if name == nil then
        local bytes = tvb:bytes()
        for i = 0, 3 do bytes:set_index(12 + i, bit32.extract(NFS, 24 - 8 * i, 8)) end
        Dissector.get("rpc"):call(bytes:tvb("as a call of NFSv2"), pinfo, root)
        return
    end
    procedure_of[key(pinfo, tvb(0, 4):uint(), true)] = name
    local tree = show(tvb, pinfo, root, name, true)
    tree:add(f.procedure, tvb(20, 4))
    local at = after_auth(tvb, 24)
    at = at and after_auth(tvb, at)
    if at and at < tvb:len() then fields(tvb, at, ARGUMENTS[name], tree) end
end

local function read_reply(tvb, pinfo, root)
    local name = procedure_of[key(pinfo, tvb(0, 4):uint(), false)]
    if name == nil then
        Dissector.get("rpc"):call(tvb, pinfo, root)
        return
    end
    local tree = show(tvb, pinfo, root, name, false)
    local at = after_auth(tvb, 12)
    if at == nil or at + 8 > tvb:len() or tvb(8, 4):uint() ~= 0 or tvb(at, 4):uint() ~= 0 then return end
    local status = tvb(at + 4, 4)
    tree:add(f.status, status)
    pinfo.cols.info:append(" " .. (STATUSES[status:uint()] or status:uint()))
    if name == "OPEN" or name == "REOPEN" then fields(tvb, at + 8, OPENED, tree) end
end

local function read_message(tvb, pinfo, root)
    if tvb:len() < 24 then return end
    if tvb(4, 4):uint() == 0 then read_call(tvb, pinfo, root) else read_reply(tvb, pinfo, root) end
end

local function is_call(tvb, at)
    return tvb:len() >= at + 24 and tvb(at + 4, 4):uint() == 0 and tvb(at + 8, 4):uint() == 2
        and tvb(at + 12, 4):uint() == PROGRAM
end

local function record_length(tvb, _, offset) return bit32.band(tvb(offset, 4):uint(), 0x7fffffff) + 4 end

local function read_record(tvb, pinfo, root)
    read_message(tvb(4):tvb(), pinfo, root)
    return tvb:len()
end

function snfs.dissector(tvb, pinfo, root)
    if pinfo.port_type == 2 then
        dissect_tcp_pdus(tvb, root, 4, record_length, read_record)
    else
        read_message(tvb, pinfo, root)
    end
    pinfo.conversation = snfs -- what reads NFSv2 has claimed it meanwhile
    return tvb:len()
end

local function claims(at)
    return function(tvb, pinfo, root)
        if not is_call(tvb, at) then return false end
        snfs.dissector(tvb, pinfo, root)
        return true
    end
end

snfs:register_heuristic("tcp", claims(4))
snfs:register_heuristic("udp", claims(0))

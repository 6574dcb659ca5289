"""What runs inside the server: each script is one atomic step over a bounded number of keys.

Keys, all beginning with the store's prefix in braces: ``:meta`` (hash: ``schema``, ``revision``,
``generation``, ``fence``, ``identity``), ``:d:<id>`` (a document), the sorted sets ``:t``,
``:s:<state>`` and ``:u:<user>`` (all documents, by time and id), ``:i`` (all ids), ``:a`` (ids of
jobs that have not ended), ``:p`` (hash: positions by source), ``:parts`` (list: the archive). Of
jobs that Slurm has under another number (`packing.raw_of`), ``:k`` (hash) has it by id, and the
sorted set ``:r`` has number and id, a colon between.

A document is its revision and its time (16 hexadecimal digits each, time + 2^63), the lengths of
the state and of the user's key (2 and 4 digits; ``ffff``: no user is known), state, user's key, and
the packed document. A member of a sorted set is time and id, and all scores are 0: so the order is
that of the bytes (ZRANGE BYLEX), a page can begin behind any member, and none is counted off.
"""

__all__ = ["PAGE", "PUT", "RETIRE"]

_COMMON = """
local prefix, schema = ARGV[1], ARGV[2]
local written = redis.call('HGET', prefix .. ':meta', 'schema')
if written ~= schema then
    return {'schema', written or ''}
end
local function head(key)
    local text = redis.call('GETRANGE', key, 0, 255)
    if text == '' then return nil end
    local state = tonumber(string.sub(text, 33, 34), 16)
    local user = string.sub(text, 35, 38)
    local found = {
        revision = string.sub(text, 1, 16),
        time = string.sub(text, 17, 32),
        state = string.sub(text, 39, 38 + state),
    }
    if user ~= 'ffff' then
        found.user = string.sub(text, 39 + state, 38 + state + tonumber(user, 16))
    end
    return found
end
local function unindex(id, old)
    local member = old.time .. id
    redis.call('ZREM', prefix .. ':t', member)
    redis.call('ZREM', prefix .. ':s:' .. old.state, member)
    if old.user then redis.call('ZREM', prefix .. ':u:' .. old.user, member) end
    local raw = redis.call('HGET', prefix .. ':k', id)
    if raw then
        redis.call('ZREM', prefix .. ':r', raw .. ':' .. id)
        redis.call('HDEL', prefix .. ':k', id)
    end
end
"""

PUT = (
    _COMMON
    + """
local generation, documents, moves = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local at = 5 + 6 * documents
local moved = {'position'}
for k = 0, moves - 1 do
    local source, old = ARGV[at + 3 * k + 1], ARGV[at + 3 * k + 2]
    if (redis.call('HGET', prefix .. ':p', source) or '') ~= old then moved[#moved + 1] = source end
end
if #moved > 1 then return moved end
local now = redis.call('HGET', prefix .. ':meta', 'generation') or '0'
local grown = generation ~= '' and generation ~= now
local before, changed = {}, {'document'}
for k = 0, documents - 1 do
    local id, based = ARGV[5 + 6 * k + 1], ARGV[5 + 6 * k + 2]
    local old = head(prefix .. ':d:' .. id)
    before[k] = old
    if (old and old.revision or '') ~= based or (based == '' and grown) then
        changed[#changed + 1] = id
    end
end
if #changed > 1 then return changed end
local revision = redis.call('HINCRBY', prefix .. ':meta', 'revision', 1)
revision = string.format('%016x', revision)
for k = 0, documents - 1 do
    local base = 5 + 6 * k
    local id, active = ARGV[base + 1], ARGV[base + 3]
    -- Time, lengths, state and user, as in the document's head behind its revision.
    local keys, data, raw = ARGV[base + 4], ARGV[base + 5], ARGV[base + 6]
    if before[k] then unindex(id, before[k]) end
    local key = prefix .. ':d:' .. id
    redis.call('SET', key, revision .. keys .. data)
    local new = head(key)
    local member = new.time .. id
    redis.call('ZADD', prefix .. ':t', 0, member)
    if not before[k] then redis.call('ZADD', prefix .. ':i', 0, id) end
    redis.call('ZADD', prefix .. ':s:' .. new.state, 0, member)
    if new.user then redis.call('ZADD', prefix .. ':u:' .. new.user, 0, member) end
    if raw ~= '' then
        redis.call('HSET', prefix .. ':k', id, raw)
        redis.call('ZADD', prefix .. ':r', 0, raw .. ':' .. id)
    end
    if active == '1' then
        redis.call('ZADD', prefix .. ':a', 0, id)
    elseif before[k] then
        redis.call('ZREM', prefix .. ':a', id)
    end
end
for k = 0, moves - 1 do
    redis.call('HSET', prefix .. ':p', ARGV[at + 3 * k + 1], ARGV[at + 3 * k + 3])
end
return {'ok'}
"""
)
"""Arguments: prefix, schema, generation or ``""``, number of documents, number of moves; of a
document: id, revision that it is based on or ``""``, 1 or 0 (has not ended), head without revision,
packed document, raw number or ``""``; of a move: source, old text or ``""``, new text."""

PAGE = (
    _COMMON
    + """
local index, back, low, high = prefix .. ARGV[3], ARGV[4] == '1', ARGV[5], ARGV[6]
local skip, count, looks = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local bytes, states, cluster = tonumber(ARGV[10]), ARGV[11], ARGV[12]
local members
if back then
    members = redis.call('ZRANGE', index, high, low, 'BYLEX', 'REV', 'LIMIT', 0, looks)
else
    members = redis.call('ZRANGE', index, low, high, 'BYLEX', 'LIMIT', 0, looks)
end
local reply = {'ok', redis.call('HGET', prefix .. ':meta', 'generation') or '0', ''}
for _, member in ipairs(members) do
    local id = string.sub(member, skip + 1)
    reply[3] = member
    if string.sub(id, 1, #cluster) == cluster then
        local key = prefix .. ':d:' .. id
        local fits = true
        if states ~= '' then
            local found = head(key)
            fits = found and string.find(states, ',' .. found.state .. ',', 1, true)
        end
        local data = fits and redis.call('GET', key)
        if data then
            reply[#reply + 1] = id
            reply[#reply + 1] = data
            count = count - 1
            bytes = bytes - #data
        end
    end
    if count <= 0 or bytes <= 0 then break end
end
return reply
"""
)
"""Arguments: prefix, schema, index, 1 or 0 (backwards), least and greatest member as ZRANGE takes
them, letters of a member before its id, most documents, most members to look at, most bytes,
``,state,state,`` or ``""``, beginning of ids. Reply: ``ok``, generation, last
member looked at (``""``: there was none), then ids and documents."""

RETIRE = (
    _COMMON
    + """
if redis.call('HGET', prefix .. ':meta', 'fence') ~= ARGV[3] then return {'fence'} end
local gone = 0
for k = 5, #ARGV, 2 do
    local id, key = ARGV[k], prefix .. ':d:' .. ARGV[k]
    local old = head(key)
    if old and old.revision == ARGV[k + 1] then
        unindex(id, old)
        redis.call('ZREM', prefix .. ':i', id)
        redis.call('DEL', key)
        gone = gone + 1
    end
end
if gone > 0 then
    redis.call('RPUSH', prefix .. ':parts', ARGV[4])
    redis.call('HINCRBY', prefix .. ':meta', 'generation', 1)
end
return {'ok', gone}
"""
)
"""Arguments: prefix, schema, fence, the part's text; then ids and revisions."""

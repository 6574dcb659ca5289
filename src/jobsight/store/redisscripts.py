"""The layout of a store in a Redis server, and its scripts: atomic steps over few keys.

Keys, all beginning with the store's prefix in braces: ``:meta`` (hash: ``schema``, ``revision``,
``generation``, ``fence``, ``identity``), ``:d:<id>`` (a document), the sorted sets ``:t``,
``:s:<state>``, ``:u:<user>`` (all documents) and ``:a`` (of jobs that have not ended), by time and
id, ``:i`` (all ids), ``:r`` (Slurm's raw number and id, a colon between), ``:p`` (hash: positions
by source), ``:parts`` (list: the archive).

A document is its revision and its time (16 hexadecimal digits each, time + 2^63), the lengths of
the state, of the user's key and of the raw number (2, 4 and 2 digits; ``ffff``: no user is known),
these three, and the packed document. A member of a sorted set is time and id, and all scores are 0:
so the order is that of the bytes (ZRANGE BYLEX), and a page can begin behind any member.
"""

from jobsight.errors import StoreError
from jobsight.store.packing import ACTIVE, Keys, cluster_of
from jobsight.store.rows import Order, Row

__all__ = ["PAGE", "PUT", "RETIRE", "head", "member", "moment", "row_of"]

_ZERO = 2**63
_NO_USER = 0xFFFF


def moment(time: int) -> str:
    """A time as 16 hexadecimal digits, in whose order times follow each other."""
    return f"{min(max(time + _ZERO, 0), 2 * _ZERO - 1):016x}"


def member(order: Order) -> str:
    """What an index by time has of a document."""
    return f"{moment(order[0])}{order[1]}"


def head(keys: Keys) -> str:
    """What precedes a packed document, without the revision."""
    user, raw = keys.user, keys.raw or ""
    length = _NO_USER if user is None else len(user.encode())
    lengths = f"{len(keys.state):02x}{length:04x}{len(raw):02x}"
    return f"{moment(keys.time)}{lengths}{keys.state}{user or ''}{raw}"


def row_of(id_: str, text: bytes) -> Row:
    """The row of a document as the server has it.

    Raises:
        StoreError: it is damaged.
    """
    try:
        revision, time = int(text[:16], 16), int(text[16:32], 16) - _ZERO
        user_at, length = 40 + int(text[32:34], 16), int(text[34:38], 16)
        raw_at = user_at + (0 if length == _NO_USER else length)
        data_at = raw_at + int(text[38:40], 16)
        state, raw = text[40:user_at].decode("ascii"), text[raw_at:data_at].decode("ascii")
        user = None if length == _NO_USER else text[user_at:raw_at].decode()
    except ValueError:
        raise StoreError(f"the document of {id_[:80]!r} is damaged in its head") from None
    return Row(Keys(id_, cluster_of(id_), state, user, time, raw or None), revision, text[data_at:])


_COMMON = (
    f"""
local active = {{{", ".join(f"['{state}']=true" for state in sorted(ACTIVE))}}}
"""
    + """
local prefix, schema = ARGV[1], ARGV[2]
local written = redis.call('HGET', prefix .. ':meta', 'schema')
if written ~= schema then
    return {'schema', written or ''}
end
local function head(key)
    local text = redis.call('GETRANGE', key, 0, 255)
    if text == '' then return nil end
    local state, user = tonumber(string.sub(text, 33, 34), 16), string.sub(text, 35, 38)
    local raw = tonumber(string.sub(text, 39, 40), 16)
    local found = {
        revision = string.sub(text, 1, 16),
        time = string.sub(text, 17, 32),
        state = string.sub(text, 41, 40 + state),
    }
    local at = 40 + state
    if user ~= 'ffff' then
        local length = tonumber(user, 16)
        found.user = string.sub(text, at + 1, at + length)
        at = at + length
    end
    if raw > 0 then found.raw = string.sub(text, at + 1, at + raw) end
    return found
end
-- Places of a document in the indexes, but that by id.
local function places(id, document)
    local member = document.time .. id
    local found = {{':t', member}, {':s:' .. document.state, member}}
    if active[document.state] then found[#found + 1] = {':a', member} end
    if document.user then found[#found + 1] = {':u:' .. document.user, member} end
    if document.raw then found[#found + 1] = {':r', document.raw .. ':' .. id} end
    return found
end
local function unindex(id, document)
    for _, place in ipairs(places(id, document)) do
        redis.call('ZREM', prefix .. place[1], place[2])
    end
end
"""
)

PUT = (
    _COMMON
    + """
local generation, documents, moves = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local at = 5 + 4 * documents
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
    local id, based = ARGV[5 + 4 * k + 1], ARGV[5 + 4 * k + 2]
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
    local base = 5 + 4 * k
    local id, key = ARGV[base + 1], prefix .. ':d:' .. ARGV[base + 1]
    if before[k] then unindex(id, before[k]) else redis.call('ZADD', prefix .. ':i', 0, id) end
    redis.call('SET', key, revision .. ARGV[base + 3] .. ARGV[base + 4])
    for _, place in ipairs(places(id, head(key))) do
        redis.call('ZADD', prefix .. place[1], 0, place[2])
    end
end
for k = 0, moves - 1 do
    redis.call('HSET', prefix .. ':p', ARGV[at + 3 * k + 1], ARGV[at + 3 * k + 3])
end
return {'ok'}
"""
)
"""Arguments: prefix, schema, generation or ``""``, number of documents, number of moves; of a
document: id, revision that it is based on or ``""``, head without revision, packed document; of a
move: source, old text or ``""``, new text."""

PAGE = (
    _COMMON
    + """
local index, back, low, high = prefix .. ARGV[3], ARGV[4] == '1', ARGV[5], ARGV[6]
local count, looks, bytes = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local states, cluster = ARGV[10], ARGV[11]
local members
if back then
    members = redis.call('ZRANGE', index, high, low, 'BYLEX', 'REV', 'LIMIT', 0, looks)
else
    members = redis.call('ZRANGE', index, low, high, 'BYLEX', 'LIMIT', 0, looks)
end
local reply = {'ok', redis.call('HGET', prefix .. ':meta', 'generation') or '0', ''}
for _, member in ipairs(members) do
    local id = string.sub(member, 17)
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
them, most documents, most members to look at, most bytes, ``,state,state,`` or ``""``, beginning of
ids. Reply: ``ok``, generation, last member looked at (``""``: there was none), then ids and
documents."""

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

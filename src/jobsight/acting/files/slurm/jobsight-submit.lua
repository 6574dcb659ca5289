-- Jobsight in slurmctld: adds tokens of what jobs share on a node, licences and a comment to jobs
-- at their submission, as a policy file says. Nothing is replaced, no job is refused, and no other
-- field is touched; where anything fails, the job stays as it came.
--
-- The site's own job_submit.lua loads it by one line, after the function slurm_job_submit and
-- before a last line that begins with `return`:
--
--   pcall(dofile, "/etc/jobsight/slurm/jobsight-submit.lua")
--
-- It then wraps slurm_job_submit, and looks at jobs that this accepted. slurmctld loads it again
-- when job_submit.lua was changed or touched. The policy file is data and is never run.
--
-- Users: --gres=membw:0 refuses tokens of one kind, --comment=jobsight=none refuses all.

-- Its folder must belong to the account that writes it: a FIFO there would stall slurmctld.
local POLICY = ""
-- What the cluster has, NAME:COUNT with commas between: no other and no more is ever added, since
-- Slurm would refuse the job. Tokens are per node, and each node of PARTITIONS has as many.
local TOKENS = ""
local PARTITIONS = ""
local LICENCES = ""

-- Seconds: a policy is older than VALID is not used; the file is looked at once in EVERY.
local VALID, EVERY = 86400, 2
local MOST_BYTES, MOST_RULES, HEAD = 2097152, 10000, 64

local MODES = { observe = true, advise = true, enforce = true }

local looked_at, head, policy, said = nil, nil, nil, nil

-- Counts by name; of a name without a count 0.
local function counts_of(list)
    local counts = {}
    for name, count in list:gmatch("([^,:]+):?(%d*)") do
        counts[name] = tonumber(count) or 0
    end
    return counts
end

local most_tokens, most_licences = counts_of(TOKENS), counts_of(LICENCES)
local partitions_known = counts_of(PARTITIONS)

-- Logged once for as long as it stays so.
local function note(text)
    if text ~= said then
        said = text
        slurm.log_info("%s", "jobsight: " .. text)
    end
end

local function plain(text)
    return (text:gsub("%%(%x%x)", function(digits)
        return string.char(tonumber(digits, 16))
    end))
end

-- The policy in a text as acting/slurm/policy.py writes it; nil where it is not whole.
local function parsed(text)
    local mode, micros, count = text:match("^jobsight%-policy 1 (%l+) (%d+) (%d+)\n")
    count = tonumber(count)
    if not count or not MODES[mode] or count > MOST_RULES or #text > MOST_BYTES then
        return nil
    end
    local rules, rows = {}, -1
    for line in text:gmatch("([^\n]*)\n") do
        rows = rows + 1
        if rows > 0 then
            local user, name, tokens, licences, comment =
                line:match("^(%d+)\t([^\t]*)\t([%w_.:,-]*)\t([%w_.:,-]*)\t([ -~]*)$")
            if not user or #comment > 200 then
                return nil
            end
            rules[user .. "\t" .. plain(name)] =
                { tokens = tokens, licences = licences, comment = comment }
        end
    end
    if rows ~= count or text:sub(-1) ~= "\n" then
        return nil
    end
    return { mode = mode, written = tonumber(micros) / 1000000, rules = rules }
end

-- The policy now, read again where its first bytes differ; nil: there is none to follow.
local function current()
    local now = os.time()
    if not looked_at or now < looked_at or now - looked_at >= EVERY then
        looked_at = now
        local file = io.open(POLICY, "rb")
        local start = file and file:read(HEAD)
        if start ~= head or not start then
            -- Set before it is read: a file that cannot be read is not tried at each submission.
            head, policy = start, nil
            local rest = start and file:read(MOST_BYTES) or ""
            policy = start and parsed(start .. rest)
            note(policy and "follows the policy: " .. policy.mode
                or start and "the policy file is damaged" or "there is no policy file")
        end
        if file then
            file:close()
        end
    end
    local age = policy and now - policy.written or 0
    if age > VALID or age < -300 then
        note("the policy is out of date")
        return nil
    end
    return policy
end

-- Whether each partition that a job may run in has the tokens.
local function has_tokens(job, partitions)
    local asked = job.partition
    if not asked then
        for name, partition in pairs(partitions) do
            asked = partition.flag_default == 1 and name or asked
        end
    end
    for name in (asked or "?"):gmatch("[^,]+") do
        if not partitions_known[name] then
            return false
        end
    end
    return true
end

-- A list as the job has it, with those of `more` (NAME:COUNT, ...) of which there are so many, and
-- that the job does not name itself in `own`; nil: none is added.
local function extended(have, more, most, own)
    local named, new = {}, {}
    for item in own:gmatch("[^,]+") do
        named[item:gsub("^%s*gres[:/]", ""):match("[%w_.-]+") or ""] = true
    end
    for item in more:gmatch("[^,]+") do
        local name, count = item:match("^([%w_.-]+):(%d+)$")
        if name and tonumber(count) <= (most[name] or 0) and not named[name] then
            named[name] = true
            new[#new + 1] = item
        end
    end
    if #new == 0 then
        return nil
    end
    new = table.concat(new, ",")
    return have ~= "" and have .. "," .. new or new
end

-- What is to be set in a job: values by field, and how they are shown.
local function changes_of(job, rule, mode, partitions)
    local have, licences = job.tres_per_node or "", job.licenses or ""
    local changes, shown = {}, {}
    if mode ~= "advise" and has_tokens(job, partitions) then
        local own = table.concat({
            have, job.tres_per_job or "", job.tres_per_socket or "", job.tres_per_task or "",
        }, ",")
        -- By the name "gres", Slurm sets tres_per_node in the form of its version.
        changes.gres = extended(have, rule.tokens, most_tokens, own)
    end
    if mode ~= "advise" and not licences:find("|", 1, true) then -- one of these licences is enough
        changes.licenses = extended(licences, rule.licences, most_licences, licences)
    end
    if rule.comment ~= "" and (job.admin_comment or "") == "" then
        changes.admin_comment = rule.comment
    end
    for _, field in ipairs({ "gres", "licenses", "admin_comment" }) do
        if changes[field] then
            shown[#shown + 1] = field .. "=" .. changes[field]
        end
    end
    return changes, table.concat(shown, " ")
end

local function add(job, partitions)
    local followed = current()
    local name = job.name
    local rule = followed and name and followed.rules[
        string.format("%d\t", job.user_id) .. name:gsub("[0-9]+", "#")
    ]
    if not rule or (job.comment or ""):find("jobsight=none", 1, true) then
        return
    end
    local changes, shown = changes_of(job, rule, followed.mode, partitions)
    if shown == "" then
        return
    end
    if followed.mode == "observe" then
        slurm.log_info("%s", "jobsight: would set for a job of user "
            .. string.format("%d", job.user_id) .. ": " .. shown)
        return
    end
    local before = {
        tres_per_node = job.tres_per_node or "",
        licenses = job.licenses or "",
        admin_comment = job.admin_comment or "",
    }
    local done, why = pcall(function()
        for field, value in pairs(changes) do
            job[field] = value
        end
    end)
    if not done then
        for field, value in pairs(before) do
            pcall(function()
                if (job[field] or "") ~= value then
                    job[field] = value
                end
            end)
        end
        error(why)
    end
end

local site_submit = slurm_job_submit
if type(site_submit) ~= "function" then
    slurm.log_error("%s", "jobsight: load it after the function slurm_job_submit")
    return
end

function slurm_job_submit(job, partitions, ...)
    local answer = site_submit(job, partitions, ...)
    if type(answer) ~= "number" or answer == slurm.SUCCESS then
        local done, why = pcall(add, job, partitions)
        if not done then
            pcall(note, "a job stays as it came: " .. tostring(why))
        end
    end
    return answer
end

-- Jobsight at submission: sbatch, salloc and srun show on standard error what is wrong with a job,
-- how likely it fails, and when it is expected to start. The submission is never changed, never
-- refused, and waits for 0.3 s at most; where anything fails, nothing is shown.
--
-- The site's own cli_filter.lua loads it by one line in slurm_cli_pre_submit:
--
--   pcall(function() dofile("/etc/jobsight/slurm/jobsight-cli.lua").pre_submit(options, pack_offset) end)
--
-- Users: JOBSIGHT_QUIET=1 turns it off. Without the variable it is silent where standard error is
-- not a terminal (workflow managers read it); JOBSIGHT_QUIET=0 shows it there too. --quiet counts.

-- The service's Unix socket; where there is none on this machine, its address with a token.
local SOCKET = "/run/jobsight/serve.sock"
-- Such as https://jobsight.example.org; empty: none.
local ADDRESS = ""
-- File of one line, "Authorization: Bearer TOKEN", that users can read; ~ is the user's home.
local TOKEN = "~/.config/jobsight/token.header"

-- Reads the script's path as the first line of standard input, what describes the submission as the
-- next ones, and sends these and the script. All that comes from the job is data on standard input.
local ASK = [[
socket=$1 address=$2 token=$3
IFS= read -r file
if [ -S "$socket" ]; then
    set -- --unix-socket "$socket"
    address=http://localhost
elif [ -n "$address" ] && [ -r "$token" ]; then
    set -- -H "@$token"
else
    exit
fi
{ cat; [ -f "$file" ] && head -c 65536 -- "$file"; } |
    curl -q -s -f --noproxy "*" --max-time 0.18 -H Expect: -H "Content-Type: application/octet-stream" \
        --data-binary @- "$@" "$address/api/v1/submission"
]]

-- Standard input is read first, by the shell alone, which needs no further process for it: a pipe
-- that breaks would kill sbatch. The group of the helper is killed after 0.2 s; of its answer only
-- lines of Jobsight, in ASCII, are shown.
local RUN = [[
IFS= read -r file
IFS= read -r folder
IFS= read -r given
ask=%s socket=%s address=%s token=%s
[ -S "$socket" ] || [ -n "$address" ] || exit
{
    %s && printf '%%s\n' "$file" "$folder" "$given" |
        timeout -s KILL 0.2 sh -c "$ask" sh "$socket" "$address" "$token" |
        head -c 2000 | LC_ALL=C grep -a -o '^jobsight: [ -~]*' >&3
} 3>&2 2>/dev/null
]]

local function quoted(text)
    return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- A text as one line: empty if it is missing, or is more than one.
local function line(text)
    return (text == nil or text:find("[\r\n]")) and "\n" or text .. "\n"
end

local function pre_submit(options, pack_offset)
    local quiet = os.getenv("JOBSIGHT_QUIET")
    if quiet == "1" or os.getenv("SLURM_JOB_ID") or (tonumber(pack_offset) or 0) > 0 then
        return -- a step, a submission of a job, a further component
    end
    if (tonumber(options["quiet"]) or 0) > 0 then
        return
    end
    local command = options["type"]
    if command ~= "sbatch" and command ~= "salloc" and command ~= "srun" then
        return
    end
    local script = command == "sbatch" and options["argv"][1] or nil
    local given = slurm.json_cli_options(options)
    local token = TOKEN:gsub("^~", function() return os.getenv("HOME") end)
    local shown = quiet == "0" and "true" or "[ -t 3 ]"
    local helper = io.popen(
        RUN:format(quoted(ASK), quoted(SOCKET), quoted(ADDRESS), quoted(token), shown), "w"
    )
    helper:write(line(script), line(os.getenv("PWD")), line(given:gsub("[\r\n]", " ")))
    helper:close()
end

return {
    pre_submit = function(options, pack_offset)
        pcall(pre_submit, options, pack_offset)
    end,
}

#!/bin/sh
# Profiles a share of the jobs: starts one sampler per job and node, detached, and ends at once.
#
# slurmd runs it as root, as one of several programs of Prolog= in slurm.conf, or a site's own Prolog
# calls it (do not source it) with one line:
#
#     /etc/slurm/jobsight-prolog.sh || true
#
# It always exits 0: any other status drains the node. What it refuses, and why, is in the system's
# log: journalctl -t jobsight-prolog. docs/admin/acting-slurm.md has the rest.

# `jobsight setup slurm --install` fills these in from the settings.
# Share of the jobs, at most six decimals; it is drawn from a hash of SALT and the job's number, so
# that all nodes of a job agree.
SHARE=0.01
SALT=jobsight
# Folder of the results; every node sees it, or has its own. The account that owns it, which must not
# be root, writes there; others must be able to enter it (mode 711). While it has a file `off`, no
# job is profiled.
PROFILES=/var/spool/jobsight/profiles
# As installed on the nodes, readable by all users.
JOBSIGHT=/opt/jobsight/bin/jobsight

trap 'exit 0' EXIT # also where the shell itself fails, as when it cannot fork
exec </dev/null >/dev/null 2>&1 || exit
PATH=/usr/sbin:/usr/bin:/sbin:/bin${PATH:+:$PATH}
export PATH
umask 022
# Seconds after which a sampler ends whatever happens; and how many there are on a node, and files.
MOST_SECONDS=691200 MOST_SAMPLERS=64 MOST_FILES=5000
RUN=/run/jobsight-profiles

# Numbers and names go into paths and commands: as Slurm makes them, or nothing is done.
for number in "$SLURM_JOB_ID" "$SLURM_JOB_UID" "$SLURM_JOB_GID"; do
    case $number in '' | 0* | *[!0-9]*) exit ;; esac
done
node=${SLURMD_NODENAME:-$(uname -n)}
for name in "$SLURM_CLUSTER_NAME" "$node"; do
    case $name in '' | .* | *[!A-Za-z0-9._-]*) exit ;; esac
done

drawn() {
    case $SHARE in
        1 | 1.*) limit=1000000 ;;
        0.*[!0-9]*) return 1 ;;
        0.*) digits=${SHARE#0.}000000 limit=$((1${digits%"${digits#??????}"} - 1000000)) ;;
        *) return 1 ;;
    esac
    hash=$(printf '%s %s' "$SALT" "$SLURM_JOB_ID" | sha256sum) || return 1
    [ $((0x${hash%"${hash#????????????}"} % 1000000)) -lt "$limit" ]
}

refuse() {
    logger -t jobsight-prolog -- "job $SLURM_JOB_ID is not profiled: $*"
    exit
}

# What may hang or take long (file systems, Python) is only in here.
start() {
    owner=$(stat -Lc '%u %g' -- "$PROFILES") || refuse "$PROFILES is missing"
    account=${owner% *} group=${owner#* }
    [ "$account" -ne 0 ] && [ "$group" -ne 0 ] ||
        refuse "$PROFILES belongs to root: give it to an account and a group of its own"
    [ -x "$JOBSIGHT" ] || refuse "$JOBSIGHT is missing"
    drop="setpriv --reuid $account --regid $group --clear-groups --no-new-privs"
    # shellcheck disable=SC2086,SC2016 # numbers; expanded there
    $drop sh -c '
        most=$1
        cd "$0" && [ -w . ] && [ -x . ] || exit 1
        if [ -e off ] || [ -L off ]; then exit 7; fi
        set -- *
        [ "$#" -lt "$most" ]' "$PROFILES" "$MOST_FILES"
    case $? in
        0) ;;
        7) exit ;; # it is turned off
        *) refuse "$PROFILES cannot be written, or is full" ;;
    esac

    mkdir -p "$RUN" || refuse "$RUN cannot be made"
    cd "$RUN" || refuse "$RUN cannot be entered"
    running=0
    for file in *.pid; do
        read -r pid <"$file" || continue
        if kill -0 "$pid"; then running=$((running + 1)); else rm -f "$file"; fi
    done
    [ "$running" -lt "$MOST_SAMPLERS" ] || refuse "$running samplers run here already"
    file=$RUN/$SLURM_JOB_ID.$node.pid
    (set -C && : >"$file") || refuse "it is already, or $RUN cannot be written"

    # The sampler reads processes of the job with the rights of its user, but is not the user's: its
    # real account is that of PROFILES, so the user's processes cannot take it over to go on outside
    # of the job. It ends by itself, by the epilog, by the file `off`, or after MOST_SECONDS.
    # shellcheck disable=SC2086,SC2016 # numbers; expanded there
    {
        # shellcheck disable=SC3045 # every shell that is a /bin/sh of Linux has them
        ulimit -c 0 && ulimit -t 7200 && ulimit -v 4000000
        exec sh -c 'echo 500 >/proc/self/oom_score_adj; echo $$ >"$0"; exec "$@"' "$file" \
            setpriv --ruid "$account" --euid "$SLURM_JOB_UID" \
            --rgid "$group" --egid "$SLURM_JOB_GID" --clear-groups \
            nice -n 19 timeout -k 5 "$MOST_SECONDS" \
            env -i PATH="$PATH" HOME=/nonexistent LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 \
            ${SLURM_CONF:+"SLURM_CONF=$SLURM_CONF"} SLURM_CLUSTER_NAME="$SLURM_CLUSTER_NAME" \
            SLURMD_NODENAME="$node" SLURM_JOB_SLUID="$SLURM_JOB_SLUID" \
            "$JOBSIGHT" profile --slurm "$SLURM_JOB_ID" --json \
            --drawn "$SHARE" --end-file "$PROFILES/off"
    } | exec $drop sh -c '
        text=$(head -c 65537)
        if [ -z "$text" ] || [ "${#text}" -gt 65536 ]; then
            logger -t jobsight-prolog -- "job $2 was not profiled: no result"
        elif cd "$0" && [ ! -e off ]; then
            { printf "%s\n" "$text" >"$1.part" && mv "$1.part" "$1"; } || {
                rm -f "$1.part"
                logger -t jobsight-prolog -- "job $2 was not profiled: $0 cannot be written"
            }
        fi' "$PROFILES" "$SLURM_CLUSTER_NAME.$SLURM_JOB_ID.$node.$$.json" "$SLURM_JOB_ID" &
}

if [ "$1" = start ]; then
    start
elif drawn; then
    setsid -f timeout -k 1 10 "$0" start
fi

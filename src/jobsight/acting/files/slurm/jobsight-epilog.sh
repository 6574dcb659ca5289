#!/bin/sh
# Ends the sampler that jobsight-prolog.sh started for a job on this node, and waits for nothing.
#
# slurmd runs it as root, as one of several programs of Epilog= in slurm.conf, or a site's own Epilog
# calls it (do not source it) with one line:
#
#     /etc/slurm/jobsight-epilog.sh || true
#
# It always exits 0: any other status drains the node.

trap 'exit 0' EXIT # also where the shell itself fails, as when it cannot fork
exec </dev/null >/dev/null 2>&1 || exit
PATH=/usr/sbin:/usr/bin:/sbin:/bin${PATH:+:$PATH}
export PATH

case $SLURM_JOB_ID in '' | *[!0-9]*) exit ;; esac
file=/run/jobsight-profiles/$SLURM_JOB_ID.${SLURMD_NODENAME:-$(uname -n)}.pid
[ -f "$file" ] || exit
read -r pid <"$file"
rm -f "$file"
case $pid in '' | *[!0-9]*) exit ;; esac
# The number may be another process's by now. The sampler has 5 seconds to write what it saw; then
# its `timeout` kills it.
tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q " profile --slurm $SLURM_JOB_ID " && kill "$pid"

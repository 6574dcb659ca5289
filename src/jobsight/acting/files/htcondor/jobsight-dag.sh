#!/bin/sh
# Jobsight's answers for DAGMan, noted in jobsight-dag.log in the folder of the DAG. In a DAG file:
#
#   SCRIPT HOLD ALL_NODES /etc/jobsight/htcondor/jobsight-dag.sh hold $JOB
#   SCRIPT HOLD ALL_NODES /etc/jobsight/htcondor/jobsight-dag.sh hold-and-act $JOB
#   SCRIPT POST ALL_NODES /etc/jobsight/htcondor/jobsight-dag.sh post $JOB $RETURN $RETRY $MAX_RETRIES
#
# hold returns at once, and waits up to 5 minutes for the answer in the background. hold-and-act then
# releases what is to be released, and gives up the node (removes its jobs) where the answer is to
# remove. Both run with the rights of the DAG's owner. post exits as the node's job did, with 1 for a
# signal or a removal. Without POST, this does not change what DAGMan does.
#
# SCRIPT HOLD is for nodes of one job: DAGMan 23.9 aborts, and starts anew without end, when two HOLD
# scripts of a node run at once, whatever they do.
set -u
VALID=900
MOST_HOLDS=10
PATIENCE=300
PAUSE=15

note() {
    printf '%s %s\n' "$(date -u '+%Y-%m-%d %H:%M:%SZ')" "$*" >> jobsight-dag.log
}

watch() {
    # The answer is for this very hold, and of now; holds of a user are left alone.
    held="DAGManJobId == $dag && DAGNodeName == \"$node\" && JobStatus == 5"
    said="$held && JobsightVerb isnt undefined && EnteredCurrentStatus < JobsightAsOf"
    said="$said && time() - JobsightAsOf < $VALID"
    acts="$said && HoldReasonCode != 1 && HoldReasonCode != 15 && HoldReasonCode != 16"
    release="$acts && JobsightVerb == \"release\" && time() >= JobsightReleaseAfter"
    waited=0
    while answers=$(condor_q -constraint "$said" -af:j JobsightVerb JobsightProbability JobsightReason) &&
          [ -z "$answers" ]; do
        if [ "$waited" -ge "$PATIENCE" ]; then note "$node is held: no answer"; return; fi
        sleep "$PAUSE"
        waited=$((waited + PAUSE))
    done
    note "$node is held: $answers"
    [ "$verb" = hold-and-act ] || return
    condor_release -constraint "$release && NumHolds < $MOST_HOLDS" && note "$node is released"
    condor_rm -constraint "$acts && JobsightVerb == \"remove\"" && note "$node is given up"
}

verb=${1:?hold, hold-and-act or post}
node=${2:?the name of the node}
case $verb in
    post)
        code=${3:?the exit code of the node}
        note "$node ended: exit code $code, retry ${4:-0} of ${5:-0}"
        # Negative: a signal, a removal, or a failure to submit.
        case $code in *[!0-9]*) code=1 ;; esac
        exit "$code"
        ;;
    hold | hold-and-act)
        dag=${CONDOR_ID%%.*}
        case $node$dag in *[!A-Za-z0-9_.+-]*) note "a name that is left alone"; exit 0 ;; esac
        watch < /dev/null > /dev/null 2>&1 &
        ;;
esac

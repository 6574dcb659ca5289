# Commands that show what Jobsight says of jobs. Read it in a shell or its profile:
#   . /etc/slurm/jobsight-formats.sh

# Your jobs in the queue: jobsight_queue [options of squeue, such as --partition=gpu]
jobsight_queue() {
    squeue --me --Format="JobArrayID:20 ,Name:20 ,State:10 ,admin_comment:120" "$@"
}

# Your jobs that ended today: jobsight_ended [options of sacct, such as --starttime=now-7days]
jobsight_ended() {
    sacct --allocations --format="JobID%20,JobName%20,State%12,SystemComment%-150" "$@"
}

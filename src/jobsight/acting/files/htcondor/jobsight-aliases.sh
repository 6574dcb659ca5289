# Jobsight's answers in condor_q, for the shells of users: link or copy into /etc/profile.d.
alias condor_held='condor_q -print-format /etc/jobsight/htcondor/held-jobs.cpf'
alias condor_idle='condor_q -print-format /etc/jobsight/htcondor/idle-jobs.cpf'

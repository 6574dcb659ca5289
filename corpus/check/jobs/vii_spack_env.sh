#!/bin/bash --login
#SBATCH -A proj42
#SBATCH -n 16 -N 1
#SBATCH -t 30
#SBATCH --mem=20G
. /opt/spack/share/spack/setup-env.sh
spack env activate -d /opt/envs/cfd
type -p simpleFoam || exit 127
case ${SLURM_JOB_NAME} in
  *coarse*) level=1 ;;
  *) level=3 ;;
esac
foamDictionary -entry numberOfSubdomains -set "$SLURM_NTASKS" system/decomposeParDict
decomposePar -force > log.decompose 2>&1 && \
srun simpleFoam -parallel > log.solve 2>&1 ; rc=$?
(( rc == 0 )) && reconstructPar -latestTime
exit $rc

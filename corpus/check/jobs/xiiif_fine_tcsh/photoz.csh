#!/bin/tcsh -f
#SBATCH --job-name=photoz
#SBATCH --array=1-2
#SBATCH --ntasks=1
#SBATCH --mem=500M
#SBATCH --time=00:10:00
#SBATCH --output=photoz_%A_%a.out

cd $SLURM_SUBMIT_DIR

if ( ! $?SLURM_ARRAY_TASK_ID ) then
    setenv SLURM_ARRAY_TASK_ID 1
endif

set bands = ( g r i )
@ half = $SLURM_ARRAY_TASK_ID
set field = field$half

echo "field $field, bands $bands[1]-$bands[$#bands]"
if ( ! -d photoz ) mkdir -p photoz

foreach cat ( fields/${field}_*.cat )
    set base = $cat:t
    set name = $base:r
    awk -f template.awk $cat > photoz/$name.z
    if ( $status != 0 ) then
        echo "failed: $name"
        exit 1
    endif
    @ n = `wc -l < photoz/$name.z`
    echo "$name $n"
end
exit 0

#!/bin/sh
# Workers of a farm as a job array of Slurm: `sbatch --array=1-8 slurm.sh /mnt/farm`.
# Each task boots until it has found nothing to do for a minute, then it gives its node back.
#SBATCH --job-name=firstlight
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=3G
#SBATCH --output=firstlight-%A-%a.log
# A task whose node was lost is started again; another worker has made its boot meanwhile.
#SBATCH --requeue
set -eu
if [ "$#" -ne 1 ]; then
    echo "usage: sbatch --array=1-8 slurm.sh STORE" >&2
    exit 2
fi
exec firstlight work "$1" --name "slurm-$SLURM_ARRAY_JOB_ID-$SLURM_ARRAY_TASK_ID" --wait 60

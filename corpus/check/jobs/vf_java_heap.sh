#!/bin/bash
#SBATCH --time=6:00:00
#SBATCH --mem=16G
#SBATCH --cpus-per-task=4
JAVA_OPTS="-Xms24g -Xmx24g"
java $JAVA_OPTS -jar /opt/gatk/gatk.jar HaplotypeCaller -R ref.fa -I in.bam -O out.vcf

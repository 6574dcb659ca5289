#!/bin/bash
#SBATCH --job-name=notes
#SBATCH --mem=1G
##SBATCH --mem=900G
# SBATCH --partition=nosuch
#SBATCH --time=00:05:00
#
# The form is "#SBATCH --mem=4G"; do not write "# SBATCH", which is a comment.
echo "#SBATCH --gres=gpu:8 is text here"
cat > template.sbatch <<'EOF'
#!/bin/bash
#SBATCH --partition=@PARTITION@
#SBATCH --time=@HOURS@:00:00
EOF
sed -e 's/@PARTITION@/main/' -e 's/@HOURS@/2/' template.sbatch > ready.sbatch
grep -c SBATCH ready.sbatch

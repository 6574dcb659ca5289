#!/bin/bash
#SBATCH -t 5
#SBATCH --mem=100M
key_file=${API_KEY_FILE:-$HOME/.config/tool/key}
if [ -r "$key_file" ]; then
    API_KEY=$(< "$key_file")
else
    API_KEY=""
fi
export API_KEY
password_prompt="Password: "
echo "${#API_KEY} characters; prompt is '$password_prompt'"

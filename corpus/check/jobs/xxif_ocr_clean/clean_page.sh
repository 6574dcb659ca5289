# clean_page.sh PAGE: joins hyphenated words, repairs the long s
src=$1
dst=clean/$(basename "$src")
sed -e 's/ſ/s/g' "$src" |
    awk '/-$/ { sub(/-$/, ""); printf "%s", $0; next } { print }' > "$dst.part" &&
    mv "$dst.part" "$dst"

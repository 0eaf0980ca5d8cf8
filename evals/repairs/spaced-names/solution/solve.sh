#!/bin/bash
set -e
cat > collect.sh <<'EOF'
#!/bin/bash
# collect.sh FROM TO: copies all .txt files below FROM into the folder TO, which is made, and says how many there were.
from=$1
to=$2
case $from in /*) ;; *) from=./$from ;; esac
case $to in /*) ;; *) to=./$to ;; esac

mkdir -p "$to"
count=0
while IFS= read -r -d '' file; do
    cp "$file" "$to/${file##*/}"
    count=$((count + 1))
done < <(find "$from" -name '*.txt' -type f -print0 | sort -z)
echo "$count copied"
EOF

#!/bin/bash
# collect.sh FROM TO: copies all .txt files below FROM into the folder TO, which is made, and says how many there were.
from=$1
to=$2

mkdir -p $to
count=0
for file in $(find $from -name '*.txt' -type f | sort); do
    cp $file $to/$(basename $file)
    count=$((count + 1))
done
echo "$count copied"

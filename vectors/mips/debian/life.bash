# Arrays, arithmetic, strings and functions of the shell alone: no command of it starts a process.
state=7
random() { state=$(((state * 1103515245 + 12345) % 2147483648)); drawn=$(((state >> 8) % $1)); }

size=24
declare -a cells
for ((i = 0; i < size * size; i++)); do random 3; cells[i]=$((drawn == 0)); done
step() {
    local -a next
    local row column up down left right count
    for ((row = 0; row < size; row++)); do
        up=$(((row + size - 1) % size * size)) down=$(((row + 1) % size * size))
        for ((column = 0; column < size; column++)); do
            left=$(((column + size - 1) % size)) right=$(((column + 1) % size))
            count=$((cells[up + left] + cells[up + column] + cells[up + right] + cells[row * size + left] +
                cells[row * size + right] + cells[down + left] + cells[down + column] + cells[down + right]))
            next[row * size + column]=$((count == 3 || (count == 2 && cells[row * size + column])))
        done
    done
    cells=("${next[@]}")
}
for ((generation = 0; generation < 6; generation++)); do step; done
for ((row = 0; row < size; row++)); do
    line=
    for ((column = 0; column < size; column++)); do
        if ((cells[row * size + column])); then line+=o; else line+=.; fi
    done
    printf '%s\n' "$line"
done

declare -A counts
for ((i = 0; i < 3000; i++)); do random 200; counts[word$drawn]=$((${counts[word$drawn]:-0} + 1)); done
most=0
for word in "${!counts[@]}"; do
    if ((counts[$word] > most)); then most=${counts[$word]}; fi
done
echo "${#counts[@]} words, $most times"
text=
for ((i = 0; i < 400; i++)); do random 26; printf -v letter '%b' "\\x$(printf '%x' $((97 + drawn)))"; text+=$letter; done
echo "${text//[aeiou]/_}" "${text:17:23}" "${text^^}"
[[ $text =~ ([b-d]+)([x-z]) ]] && echo "${BASH_REMATCH[*]}"

hanoi() { if (($1 > 0)); then hanoi $(($1 - 1)) "$2" "$4" "$3"; moves=$((moves + 1)); hanoi $(($1 - 1)) "$4" "$3" "$2"; fi; }
moves=0
hanoi 9 a b c
echo "$moves moves"

# A script of pipes, sub-processes, functions, loops, traps and files, for any POSIX shell with the usual tools.
set -u
fail() { echo "failed: $*"; exit 1; }
count() { n=0; while read -r line; do n=$((n + 1)); done; echo "$n"; }
repeat() {
    text=$1 times=$2 out=
    while [ "$times" -gt 0 ]; do out=$out$text times=$((times - 1)); done
    echo "$out"
}
fib() { if [ "$1" -lt 2 ]; then echo "$1"; else echo $(($(fib $(($1 - 1))) + $(fib $(($1 - 2))))); fi; }

echo "arithmetic $((6 * 7)) $((1 << 20)) $((0x7f / 3)) $((-17 % 5))"
for word in one two three; do echo "word $word"; done | sort -r | head -n 2
case abc.tar.gz in *.tar.*) echo "archive" ;; *) fail case ;; esac
name=abc.tar.gz; echo "${name%%.*} ${name#*.} ${#name} ${missing:-none}"
seq 1 1000 | awk '{ sum += $1 } END { print "sum", sum }'
seq 1 500 | grep -c 7
seq 1 5000 | count
echo "hello world" | tr a-z A-Z | sed 's/WORLD/SHELL/'
printf '%s\n' pear apple fig apple | sort | uniq -c | sed 's/^ *//'
printf '%05d|%-6s|%x\n' 42 ab 255
(exit 3); echo "code $?"
false || echo "false is $?"
x=outer; (x=inner; echo "$x"); echo "$x"
repeat ab 5
echo "fib $(fib 9)"
set -- a "b c" d; echo "$# $2"; shift; echo "$1"
for i in 1 2 3 4 5; do [ "$i" = 3 ] && continue; [ "$i" = 5 ] && break; echo "loop $i"; done

folder=$(mktemp -d) || fail mktemp
cd "$folder" || fail cd
trap 'echo "at exit"' EXIT
for i in 1 2 3 4 5 6 7 8; do echo "line $i" >>lines; done
wc -l <lines | tr -d ' '
tail -n 2 lines; head -n 1 lines
mkdir -p a/b/c; echo deep >a/b/c/file; find a -type f; cat a/b/c/file
cp lines copy; cmp lines copy && echo same
mv copy moved; ls
ln -s moved link; cat link | md5sum
rm -r a link moved; ls | count
while read -r word number; do echo "$number"; done <lines | awk '{ s = s $1 } END { print s }'
cat <<END | sed 's/^/> /'
here $((1 + 1))
document
END
exec 3>third; echo through >&3; exec 3>&-; cat third
{ echo out; echo err >&2; } 2>errors | cat; cat errors
(sleep 0.2; echo background) & wait $!; echo "waited $?"
sh -c 'kill -TERM $$' 2>/dev/null; echo "killed $?"
trap 'echo usr1' USR1; kill -USR1 $$
seq 1 20000 | sort -n -r | head -n 3 | tr '\n' ' '; echo
yes | head -n 10000 | wc -c | tr -d ' '
i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); done; echo $i
for i in 1 2 3 4 5 6 7 8 9 10; do echo $i | cat | cat; done | tail -n 1
test -f lines -a ! -e nothing && echo tests
echo "a:b:c" | cut -d: -f2; echo "a b c" | { read -r p q; echo "$q"; }
# Filters, command substitution, and processes that run beside each other.
seq 1 300 | while read -r n; do [ $((n % 7)) -eq 0 ] && echo "$n"; done | awk '{ s += $1 } END { print "sevens", s }'
words=$(printf '%s\n' delta alpha echo charlie bravo | sort | tr '\n' ' '); echo "sorted: $words"
for word in $words; do printf '%s=%d ' "$word" "${#word}"; done; echo
echo "one;two;three" | { IFS=';' read -r a b c; echo "$c $b $a"; }
(echo first; sleep 0.1; echo second) | sed -n '2p;1!d'
nested() { if [ "$1" -gt 0 ]; then (nested $(($1 - 1))) | sed "s/^/$1/"; else echo "|"; fi; }
nested 6
eval 'quoted="it'"'"'s $((3 * 3))"'; echo "$quoted"
: "${unset_one:=assigned}"; echo "$unset_one ${unset_one:+set} ${unset_one#as} ${unset_one%%n*}"
set -- x y z; echo "$* / $#"; while [ $# -gt 0 ]; do printf '<%s>' "$1"; shift; done; echo
until [ -e flag ]; do : >flag; echo "until"; done
seq 1 40 | sort -k1,1r | sed -n '1,3p' | tr '\n' ','; echo
mkdir tree; for d in a b c; do mkdir "tree/$d"; for f in 1 2 3; do echo "$d$f" >"tree/$d/$f"; done; done
find tree -type f | sort | while read -r file; do cat "$file"; done | tr '\n' ' '; echo
grep -r -l b2 tree; find tree -name '[13]' | wc -l | tr -d ' '; rm -r tree
seq 1 3000 | awk '{ print ($1 * 7919) % 3001 }' | sort -n | uniq | wc -l | tr -d ' '
(seq 1 5 >numbers; wait; cat numbers) & (seq 6 9 >others) & wait; cat numbers others | tr '\n' ' '; echo
echo "text to a file" | cat >piped; cat <piped | wc -w | tr -d ' '
sh -c 'exit 42' | cat; echo "pipe $?"; ! true; echo "not $?"; sh -c 'exit 42'; echo "code $?"
printf '%s %s\n' 1 one 2 two 3 three | while read -r n word; do eval "name_$n=$word"; eval "echo \$name_$n"; done
case "$(echo yes | head -n 1)" in [Yy]*) echo "case yes" ;; *) fail case ;; esac
i=0; while :; do i=$((i + 1)); [ $i -ge 5 ] && break; [ $i -eq 2 ] && continue; printf '%d ' $i; done; echo
cat <<'END' | grep -c '\$'
no $expansion here
one \$more
END
(trap 'echo "sub exit"' EXIT; exit 7); echo "trapped $?"
( (echo a; echo b) | (read -r x; read -r y; echo "$y$x") )
echo "done"

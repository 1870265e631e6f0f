# Fields, associative arrays, regular expressions, printf and floating-point numbers.
function random(n) { state = (state * 16807) % 2147483647; return state % n }
BEGIN {
    state = 99
    for (i = 0; i < 40000; i++) {
        line = sprintf("%d:%s:%06.2f", random(1000), substr("abcdefghijklmnopqrstuvwxyz", 1 + random(20), 1 + random(6)), random(100000) / 100)
        n = split(line, field, ":")
        count[field[2]]++
        sum[field[1] % 10] += field[3]
        if (line ~ /:[a-e][^:]*:0*[1-9][0-9]\./) matched++
        gsub(/[aeiou]/, "<&>", line)
        width += length(line)
    }
    print matched, width
    for (i = 0; i < 10; i++) printf "%d %.2f\n", i, sum[i]
    for (key in count) { keys++; if (count[key] > best) best = count[key] }
    print keys, best
    for (x = 0; x < 20000; x++) area += x * x / 25000000 / (1 + x / 10000) / 5000
    printf "%.9f\n", area
    for (n = 2; n < 6000; n++) { prime = 1; for (d = 2; d * d <= n; d++) if (n % d == 0) { prime = 0; break } primes += prime }
    print primes
}

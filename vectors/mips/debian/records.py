"""JSON there and back, sorting, regular expressions, classes, big numbers, exceptions."""
import json
import re

state = 2024


def random(n):
    global state
    state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
    return (state >> 33) % n


class Record:
    def __init__(self, number):
        self.number = number
        self.name = "".join(chr(97 + random(26)) for _ in range(4 + random(6)))
        self.values = [random(1000) / 8 for _ in range(5)]
        self.tags = {f"tag{random(20)}": random(2) == 0 for _ in range(3)}

    def as_dict(self):
        return {"number": self.number, "name": self.name, "values": self.values, "tags": self.tags, "none": None}


records = [Record(n) for n in range(4000)]
text = json.dumps([record.as_dict() for record in records], sort_keys=True)
back = json.loads(text)
assert json.dumps(back, sort_keys=True) == text
print(len(text), text[:120])

back.sort(key=lambda record: (-sum(record["values"]), record["name"]))
for record in back[:5]:
    print(record["number"], record["name"], sum(record["values"]))

pattern = re.compile(r'"name": "([aeiou]?)(\w*?)([^aeiou"]{2})"')
ends = {}
for match in pattern.finditer(text):
    ends[match.group(3)] = ends.get(match.group(3), 0) + 1
print(sorted(ends.items(), key=lambda pair: (-pair[1], pair[0]))[:8])
print(re.sub(r"tag(\d+)", lambda match: f"<{int(match.group(1)) * 2}>", text)[-160:])

failures = 0
for n in range(20000):
    try:
        failures += 100 // (n % 7)
    except ZeroDivisionError as error:
        failures -= len(str(error))
print(failures)

factorial = 1
for n in range(1, 1200):
    factorial *= n
digits = str(factorial)
print(len(digits), digits[:30], sum(map(int, digits)))


def primes(limit):
    sieve = bytearray([1]) * limit
    for n in range(2, limit):
        if sieve[n]:
            yield n
            sieve[n * n :: n] = bytes(len(range(n * n, limit, n)))


found = list(primes(300000))
print(len(found), found[-1], sum(found))
try:
    json.loads('{"broken": [1, 2,}')
except json.JSONDecodeError as error:
    print(error)

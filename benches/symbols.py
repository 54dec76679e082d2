#!/usr/bin/env python3
"""Writes C++ sources whose symbols are large: FOLDER FILES FUNCTIONS.

Every file has templates with long names, classes, inlined calls in inlined calls, and functions that use them; all names differ from
file to file, so that the linker can fold nothing.
"""

import pathlib
import sys

HEAD = """
typedef unsigned long long u64;
#define INLINE __attribute__((always_inline)) inline
#define APART __attribute__((noinline))
namespace product_{n} {{ namespace detail {{
template <int N> struct step {{ static INLINE u64 run(u64 x) {{ volatile u64 y = x + N; return step<N - 1>::run(y * {n}); }} }};
template <> struct step<0> {{ static INLINE u64 run(u64 x) {{ volatile u64 y = x; return y; }} }};
template <typename Key, typename Value, int Way> struct ordered_container_with_a_long_name {{
    Key key; Value value; u64 count;
    APART u64 insert_or_assign(Key k, Value v) {{ volatile u64 y = k + v + Way; count += y; return detail::step<3>::run(count); }}
    APART u64 find(Key k) const {{ volatile u64 y = k * Way; return y + detail::step<2>::run(count); }}
    INLINE u64 size() const {{ volatile u64 y = count; return y; }}
}};
}}
"""

BODY = """
struct record_{n}_{i} {{ u64 first; u64 second; record_{n}_{i} *next; detail::ordered_container_with_a_long_name<u64, int, {i}> map; u64 method_of_record(u64 x); }};
APART u64 record_{n}_{i}::method_of_record(u64 x) {{
    volatile u64 a = first;
    u64 b = map.insert_or_assign(x, 3) + map.find(a);
    u64 c = map.size() + detail::step<4>::run(b);
    for (u64 k = 0; k < x; k++) {{
        volatile u64 d = k;
        c += detail::step<2>::run(d);
    }}
    return c + second;
}}
APART u64 use_{n}_{i}(record_{n}_{i} *r) {{ volatile u64 z = r->second; return r->method_of_record(z) + 1; }}
"""


def main() -> None:
    folder, files, functions = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    for n in range(1, files + 1):
        text = HEAD.format(n=n) + "".join(BODY.format(n=n, i=i) for i in range(functions)) + "}\n"
        (folder / f"part{n}.cpp").write_text(text)
    (folder / "entry.cpp").write_text('extern "C" int entry() { return 0; }\n')


main()

"""Philox4x32-10, the counter-based generator of domain.md section 6, in plain integers.

Written from Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), and checked against the
known answers that its authors publish with Random123. Also the classic rules' linear congruential generator
(domain.md section 7, "random numbers").
"""

MASK = 0xFFFFFFFF
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)  # golden ratio, sqrt(3) - 1

# (counter, key, output) of Random123's kat_vectors for philox4x32 with 10 rounds.
KNOWN_ANSWERS = [
    (
        (0, 0, 0, 0),
        (0, 0),
        (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
    ),
    (
        (MASK, MASK, MASK, MASK),
        (MASK, MASK),
        (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    ),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


def philox4x32_10(counter, key):
    """Four 32-bit words from a counter of four words and a key of two."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        product0 = MULTIPLIERS[0] * c0
        product1 = MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (
            (product1 >> 32) ^ c1 ^ k0,
            product1 & MASK,
            (product0 >> 32) ^ c3 ^ k1,
            product0 & MASK,
        )
        k0 = (k0 + WEYL[0]) & MASK
        k1 = (k1 + WEYL[1]) & MASK
    return c0, c1, c2, c3


def check_known_answers():
    for counter, key, expected in KNOWN_ANSWERS:
        got = philox4x32_10(counter, key)
        assert got == expected, (counter, key, got, expected)


def classic_lcg(state):
    """(next state, u) of x * 1664525 + 1013904223 with u = (x & 0x7FFFFF) / 0x7FFFFF."""
    state = (state * 1664525 + 1013904223) & MASK
    return state, (state & 0x7FFFFF) / 0x7FFFFF


if __name__ == "__main__":
    check_known_answers()
    print("philox4x32-10: known answers reproduced")

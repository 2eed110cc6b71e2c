/**
 * SHA-256 of a text of at most 55 characters, which is one block, until it begins with enough zero bits. Browsers have it only as a promise for
 * each hash, and only over https.
 */

/** Fractional parts of the roots of the first primes. @param {number} root */
const fractions = (root) => {
  const found = []
  for (let prime = 2; found.length < 64; prime++) {
    let factor = 2
    while (prime % factor !== 0) factor++
    if (factor === prime) found.push((prime ** (1 / root) * 2 ** 32) | 0)
  }
  return Int32Array.from(found)
}
const constants = fractions(3)
const start = fractions(2).subarray(0, 8)
const words = new Int32Array(64)

/** @param {number} word @param {number} by */
const turned = (word, by) => (word >>> by) | (word << (32 - by))

/** @param {Int32Array} list @param {number} place */
const at = (list, place) => list[place] ?? 0

/**
 * The first 32 bits of the hash.
 * @param {string} text
 */
export function firstBits(text) {
  words.fill(0, 0, 16)
  for (let place = 0; place < text.length; place++)
    words[place >> 2] = at(words, place >> 2) | (text.charCodeAt(place) << (24 - 8 * (place & 3)))
  words[text.length >> 2] = at(words, text.length >> 2) | (0x80 << (24 - 8 * (text.length & 3)))
  words[15] = text.length * 8
  for (let place = 16; place < 64; place++) {
    const [two, fifteen] = [at(words, place - 2), at(words, place - 15)]
    words[place] =
      at(words, place - 16) +
      at(words, place - 7) +
      (turned(fifteen, 7) ^ turned(fifteen, 18) ^ (fifteen >>> 3)) +
      (turned(two, 17) ^ turned(two, 19) ^ (two >>> 10))
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = start
  for (let place = 0; place < 64; place++) {
    const sum = (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g))
    const first = (h + sum + at(constants, place) + at(words, place)) | 0
    const second = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  return (a + at(start, 0)) >>> 0
}

/**
 * The solution of a challenge.
 * @param {string} challenge
 */
export function solve(challenge) {
  const [, bits, , signature] = challenge.split('.')
  for (let number = 0; ; number++)
    if (Math.clz32(firstBits(`${signature}.${number}`)) >= Number(bits)) return `${challenge}.${number}`
}

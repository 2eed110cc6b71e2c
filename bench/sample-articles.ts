/**
 * Texts to search in: always the same ones. Words are as frequent as in a language (the n-th one 1/n as often as the
 * first), so there are words that half of the texts have and words that three have.
 */
const LENGTH = 30
const VOCABULARY = 20_000

const consonants = ['b', 'd', 'f', 'g', 'k', 'l', 'm', 'n', 'p', 'r', 's', 't', 'v', 'z']
const vowels = ['a', 'e', 'i', 'o', 'u']

/** The word of this rank; 0 is the most frequent one. */
export function word(rank: number): string {
  let text = ''
  let left = rank + consonants.length * vowels.length
  while (left > 0) {
    const syllable = left % (consonants.length * vowels.length)
    text += `${consonants[syllable % consonants.length]}${vowels[Math.floor(syllable / consonants.length)]}`
    left = Math.floor(left / (consonants.length * vowels.length))
  }
  return text
}

/** The JSON body of an article. */
export function articleBody(number: number): string {
  const next = randomNumbers(number + 1)
  const words = Array.from({ length: LENGTH }, () => word(rankAt(next())))
  return JSON.stringify({ title: words.slice(0, 5).join(' '), text: words.slice(5).join(' ') })
}

/** Rank n about 1/n as often as rank 1: equal steps of the logarithm. */
function rankAt(share: number): number {
  return Math.floor(VOCABULARY ** share) - 1
}

/** Numbers from 0 to 1, the same for the same seed (xorshift). */
function randomNumbers(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

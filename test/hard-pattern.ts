/** Patterns that have more states than are remembered, so that each test of a long text takes about as long as any may. */

/** Which letter is so many characters before the end of a text of a and b. */
export function hardPattern(before: number): string {
  return `[ab]*a[ab]{${before}}$`
}

/** Of the letters a and b, in another order each time. */
export function lettersInDisorder(length: number): string {
  return Array.from({ length }, () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % 2 === 0 ? 'a' : 'b'
  }).join('')
}

let seed = 1

import { lruCache } from '../../../shared/lru-cache.ts'
import { ArgumentError } from '../function-declaration.ts'

/** A piece of a pattern: text as it is, or a field of so many equal letters. */
export type PatternPart = { readonly text: string } | DateField

export interface DateField {
  readonly letter: string
  readonly width: number
}

const LONGEST = 200
const PART = /'((?:[^']|'')+)'|''|([A-Za-z])\2*|[^A-Za-z']+/y

/** Fields of Unicode TR 35 that a date is written with, and the widths that they may have. */
const widths: Readonly<Record<string, number>> = {
  ...{ y: 4, Y: 4, M: 5, L: 5, d: 2, E: 5, Q: 1, w: 2 },
  ...{ H: 2, h: 2, K: 2, k: 2, m: 2, s: 2, S: 9, a: 1 },
  ...{ X: 3, x: 3, Z: 3, z: 4, V: 2 },
}

/** Patterns are literals of blueprints: some are in use at one time. */
const cache = lruCache<string, readonly PatternPart[]>(500)

export function readPatternParts(pattern: string): readonly PatternPart[] {
  const known = cache.get(pattern)
  if (known) return known
  const parts = patternParts(pattern)
  cache.set(pattern, parts)
  return parts
}

function patternParts(pattern: string): PatternPart[] {
  if (pattern.length > LONGEST) throw new ArgumentError('pattern', `must have at most ${LONGEST} characters`)
  const parts: PatternPart[] = []
  for (let at = 0; at < pattern.length; ) {
    PART.lastIndex = at
    const match = PART.exec(pattern)
    if (!match) throw new ArgumentError('pattern', "has a ' without its partner; '' writes one")
    const [whole, quoted, letter] = match
    parts.push(
      letter === undefined
        ? { text: quoted === undefined && whole !== "''" ? whole : (quoted ?? "'").replaceAll("''", "'") }
        : { letter, width: whole.length },
    )
    at += whole.length
  }
  checkFields(parts)
  return parts
}

function checkFields(parts: readonly PatternPart[]): void {
  const letters = parts.map((part) => ('letter' in part ? part.letter : ''))
  for (const part of parts) {
    if ('text' in part) continue
    const { letter, width } = part
    const shown = letter.repeat(Math.min(width, 10))
    if (letter === 'Y' && !letters.includes('w'))
      throw new ArgumentError('pattern', `has ${shown}, the year of the week w: the calendar year is yyyy`)
    if (letter === 'D') throw new ArgumentError('pattern', `has ${shown}: the day of the month is d or dd`)
    if (width > (widths[letter] ?? 0))
      throw new ArgumentError(
        'pattern',
        `has ${shown}, which is no field of a date; text stands between apostrophes: 'o''clock'`,
      )
  }
}

/** As {@link readPatternParts}, of a pattern that a date is read by: it must say which date. */
export function readParsingParts(pattern: string): readonly PatternPart[] {
  const parts = readPatternParts(pattern)
  const letters = parts.map((part) => ('letter' in part ? part.letter : ''))
  const refuse = (problem: string) => {
    throw new ArgumentError('pattern', problem)
  }
  if (letters.includes('z')) refuse('has z, a name of a zone that no date is read by: use XXX or VV')
  const narrow = parts.find((part) => 'letter' in part && part.width === 5 && 'ML'.includes(part.letter))
  if (narrow) refuse('has a month of one letter, which several months share: use MMM or MM')
  if (letters.includes('w') && !letters.includes('Y')) refuse('has the week w without its year YYYY')
  if (!letters.includes('y') && !letters.includes('Y')) refuse('has no year: no date can be read by it')
  return parts
}

export function isTimeField(letter: string): boolean {
  return 'HhKkmsSaXxZzV'.includes(letter)
}

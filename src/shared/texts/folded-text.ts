/**
 * Texts that are the same for people, as a field says: without the difference of case, or of case and accents, by the letters of its
 * language. The plain letters are those by which lists are ordered (`text-order.ts`), so that one index serves both.
 */
import { caselessText } from './caseless-text.ts'
import type { Collation, TextFolding, TextTest } from './collations.ts'
import { composedText } from './composed-text.ts'
import { MOST_PLAIN, plainText, tailoring } from './text-order.ts'

/** Behind a plain letter they make it another one: `c` and U+07FF are the Czech č (`text-order.ts`). */
export const OTHER_LETTER = ['\u07fc', '\u07fd', '\u07fe', '\u07ff'] as const
const [FIRST_OTHER] = OTHER_LETTER
/** Comes behind all of them. */
const BEHIND_OTHERS = '\u0800'

/** What a stored text is asked for: texts of the same letters, what is behind those that are made plain, and in any case. */
export interface SoughtText {
  readonly plain: string
  readonly rest: string
  readonly caseless: string
  /** One of them begins a text that begins with it: `c` begins `ch`, which is one letter in Czech. */
  readonly beginnings: readonly string[]
}

/** Of a text in any form of Unicode. */
export function soughtText(text: string, folding: TextFolding): SoughtText {
  return lettersOf(composedText(text), folding)
}

/** Of a stored text, which is composed. */
function lettersOf(text: string, { collation }: TextFolding): SoughtText {
  const plain = plainText(text, collation)
  return {
    plain,
    rest: caselessText(behindPlain(text)),
    caseless: caselessText(text),
    beginnings: [plain, ...longerBeginnings(text, collation)],
  }
}

/** Equal for two texts that are the same. */
export function foldedText(text: string, folding: TextFolding): string {
  const composed = composedText(text)
  // Not by way of `soughtText`: a megabyte of Greek takes 14 ms to be made small, which is to be done once.
  const compared = folding.ignoreAccents ? behindPlain(composed) : composed
  return `${plainText(composed, folding.collation)}\u0001${caselessText(compared)}`
}

/** Whether the stored text is, has in it or begins with one of these. */
export function isFoldedMatch(
  stored: string,
  test: TextTest,
  sought: readonly string[],
  folding: TextFolding,
): boolean {
  const text = lettersOf(stored, folding)
  return sought.some((one) => fits(text, test, soughtText(one, folding), folding))
}

function fits(text: SoughtText, test: TextTest, sought: SoughtText, { ignoreAccents }: TextFolding): boolean {
  switch (test) {
    case 'equals':
      if (text.plain !== sought.plain) return false
      return ignoreAccents ? text.rest === sought.rest : text.caseless === sought.caseless
    case 'contains':
      if (text.caseless.includes(sought.caseless)) return true
      return ignoreAccents && sought.plain !== '' && hasLetters(text.plain, sought.plain)
    case 'startsWith':
      if (sought.plain === '') return text.caseless.startsWith(sought.caseless)
      if (!sought.beginnings.some((beginning) => beginsWith(text.plain, beginning))) return false
      return ignoreAccents || text.caseless.startsWith(sought.caseless)
  }
}

/** `replace` in SQL does the same. */
function hasLetters(plain: string, sought: string): boolean {
  let left = plain
  for (const mark of OTHER_LETTER) left = left.replaceAll(sought + mark, '\u0001')
  return left.includes(sought)
}

function beginsWith(plain: string, beginning: string): boolean {
  const next = plain.charAt(beginning.length)
  return plain.startsWith(beginning) && !OTHER_LETTER.some((mark) => mark === next)
}

/** Texts whose plain letters begin so, in the order of code points: at least, less than, and not from … to. */
export function beginningRange(beginning: string) {
  return {
    ...prefixBounds(beginning),
    not: { gte: beginning + FIRST_OTHER, lt: beginning + BEHIND_OTHERS },
  }
}

function behindPlain(text: string): string {
  let at = 0
  for (let seen = 0; seen < MOST_PLAIN && at < text.length; seen++)
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
  return text.slice(at)
}

function longerBeginnings(text: string, collation: Collation): readonly string[] {
  const last = [...text.slice(-2)].at(-1)
  if (last === undefined) return []
  const longer = tailoring(collation).flatMap(([letters]) => {
    const [first, second] = [...letters]
    return first === last && second !== undefined ? [plainText(text + second, collation)] : []
  })
  return [...new Set(longer)]
}

/** Texts with one beginning as a range: in the order of code points they are next to each other. */
export function prefixBounds(prefix: string): { readonly gte: string; readonly lt?: string } {
  const after = textAfter(prefix)
  return after === undefined ? { gte: prefix } : { gte: prefix, lt: after }
}

/** The first text that comes after all texts with this beginning. */
function textAfter(prefix: string): string | undefined {
  let end = prefix.length
  while (end > 0) {
    const isPair = end > 1 && (prefix.codePointAt(end - 2) ?? 0) > 0xffff
    const at = isPair ? end - 2 : end - 1
    const point = prefix.codePointAt(at) ?? 0
    // Between U+D800 and U+DFFF are halves of pairs, which no text ends with.
    if (point < 0x10ffff)
      return prefix.slice(0, at) + String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1)
    end = at
  }
  return undefined
}

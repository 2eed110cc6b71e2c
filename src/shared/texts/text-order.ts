/**
 * The order of texts as people sort them: apple, Apple, banana, Émile, Zebra. Texts that differ only in case and accents follow each other
 * by code point. The same on both engines and in each version of Node, because only this file and its table decide.
 */
import type { Collation } from './collations.ts'
import { type SortedScript, sortedScripts } from './sorted-letters.ts'

/** Behind all letters that continue the word. */
const BEHIND = '\u07ff'
const swedish = { å: 'z1', ä: 'z2', æ: 'z2', ö: 'z3', ø: 'z3' }
const danish = { æ: 'z1', ä: 'z1', ø: 'z2', ö: 'z2', å: 'z3' }
const croatian = { č: 'c1', ć: 'c2', dž: 'd1', đ: 'd2', lj: 'l', nj: 'n', š: 's', ž: 'z' }
const czech = { č: 'c', ch: 'h', ř: 'r', š: 's', ž: 'z' }

/** Letters of their own, and the one behind which they come, with their place there. Danish `aa` is two letters here. */
const ownLetters: Readonly<Record<Collation, Readonly<Record<string, string>>>> = {
  und: {},
  cs: czech,
  da: danish,
  es: { ñ: 'n' },
  et: { š: 's1', z: 's2', ž: 's3', õ: 'w1', ä: 'w2', ö: 'w3', ü: 'w4' },
  fi: swedish,
  hr: croatian,
  hu: { cs: 'c', gy: 'g', ly: 'l', ny: 'n', ö: 'o', ő: 'o', sz: 's', ty: 't', ü: 'u', ű: 'u', zs: 'z' },
  is: { á: 'a', ð: 'd', é: 'e', í: 'i', ó: 'o', ú: 'u', ý: 'y', þ: 'z1', æ: 'z2', ö: 'z3' },
  lt: { č: 'c', š: 's', ž: 'z' },
  lv: { č: 'c', ģ: 'g', ķ: 'k', ļ: 'l', ņ: 'n', š: 's', ž: 'z' },
  nb: danish,
  pl: { ą: 'a', ć: 'c', ę: 'e', ł: 'l', ń: 'n', ó: 'o', ś: 's', ź: 'z1', ż: 'z2' },
  ro: { ă: 'a1', â: 'a2', î: 'i', ș: 's', ş: 's', ț: 't', ţ: 't' },
  sk: { ...czech, ä: 'a', ô: 'o' },
  sl: croatian,
  sv: swedish,
  tr: { ç: 'c', ğ: 'g', ı: 'h', ö: 'o', ş: 's', ü: 'u' },
}

/** What is replaced in a text, one after the other, before its letters are made plain. */
export function tailoring(collation: Collation): readonly (readonly [string, string])[] {
  const known = tailorings.get(collation)
  if (known) return known
  const made = Object.entries(ownLetters[collation]).flatMap(([letter, [base = '', place = '']]) =>
    casesOf(letter).map((written) => [written, `${base}${BEHIND}${place}`] as const),
  )
  tailorings.set(collation, made)
  return made
}

const tailorings = new Map<Collation, readonly (readonly [string, string])[]>()

function casesOf(letter: string): readonly string[] {
  const [first = '', second = ''] = [...letter]
  // In JavaScript the capital of ı is I, as it is in Turkish.
  const firsts = [first, first.toUpperCase()]
  return second === '' ? firsts : firsts.flatMap((one) => [one + second, one + second.toUpperCase()])
}

/** Compared by code point, these are in the order of their texts. */
export function sortedText(text: string, collation: Collation): string {
  return `${plainText(text, collation)}\u0001${text}`
}

/** Characters that are made plain: of longer texts the rest counts by code point. */
export const MOST_PLAIN = 1_000
// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what is looked for
const ASCII = /^[\x00-\x7f]*$/
/** They would come behind the letters. */
const BRACES = /[{|}~]/g

export function plainText(text: string, collation: Collation): string {
  let plain =
    text.length > MOST_PLAIN ? [...text.slice(0, 2 * MOST_PLAIN)].slice(0, MOST_PLAIN).join('') : text
  for (const [letter, place] of tailoring(collation)) plain = plain.replaceAll(letter, place)
  if (ASCII.test(plain)) plain = plain.toLowerCase()
  else plain = Array.from(plain, (character) => plainLetters.get(character) ?? character).join('')
  return plain.replace(BRACES, ' ')
}

const plainLetters = new Map([
  ...[...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].map((letter) => [letter, letter.toLowerCase()] as const),
  ...Array.from({ length: 0x70 }, (_, mark) => [String.fromCharCode(0x300 + mark), ''] as const),
  ...sortedScripts.flatMap(lettersOf),
])

function lettersOf({ same, capitals, small, several }: SortedScript): (readonly [string, string])[] {
  const plain = [...small]
  const longer = new Map(several)
  const single = [
    ...same.flatMap(([base = '', ...others]) => others.map((other) => [other, base] as const)),
    ...[...capitals].map((capital, at) => [capital, plain[at] ?? capital] as const),
  ]
  return [...several, ...single.map(([letter, base]) => [letter, longer.get(base) ?? base] as const)]
}

/**
 * Text in one form of Unicode, in a time that grows with its length. Marks behind a letter are sorted by their kind, which takes the square of their
 * number: a megabyte of them took 3 minutes. So long runs are cut by a mark that is drawn as nothing, as the
 * stream-safe text format has it (Unicode Standard Annex #15).
 */

export type NormalForm = 'NFC' | 'NFD' | 'NFKC' | 'NFKD'

/** Marks, and the four letters that a form takes apart into one and more. No language has more than some three in a row. */
const RUN = /[[\p{M}\u0e33\u0eb3\uff9e\uff9f]--\u034f]{30}(?!\u034f)/gv
const LONGER = /[[\p{M}\u0e33\u0eb3\uff9e\uff9f]--\u034f]{31}/v
/** As above, with the mark that cuts. */
const MARK = /[\p{M}\u0e33\u0eb3\uff9e\uff9f]/u
const SHORT = 31
const FIRST_MARK = 0x300
const CUT = '\u034f'

/**
 * Whether 31 marks or more stand in a row. Such a row has one of each 31 units of the text, so only these are asked: the classes of Unicode take
 * 8 ms for a megabyte of Cyrillic, and this 1 ms. Where one of them is a mark, its neighbors are asked, too.
 */
function hasManyMarks(text: string): boolean {
  for (let at = SHORT - 1; at < text.length; at += SHORT)
    if (isMark(text, at) && marksAround(text, at) >= SHORT) return true
  return false
}

/** How many marks stand in a row with this one, which counts; 31 if there are more. */
function marksAround(text: string, at: number): number {
  let marks = 1
  let before = startOf(text, at) - 1
  for (; marks < SHORT && before >= 0 && isMark(text, before); before = startOf(text, before) - 1) marks += 1
  let after = startOf(text, at) + lengthAt(text, startOf(text, at))
  for (; marks < SHORT && after < text.length && isMark(text, after); after += lengthAt(text, after))
    marks += 1
  return marks
}

/** Whether this unit is of a mark. */
function isMark(text: string, at: number): boolean {
  return text.charCodeAt(at) >= FIRST_MARK && MARK.test(characterAt(text, at))
}

/** The whole character of which this unit is the first or the second half. */
function characterAt(text: string, at: number): string {
  const start = startOf(text, at)
  return text.slice(start, start + lengthAt(text, start))
}

/** Where the character begins that this unit is of. */
function startOf(text: string, at: number): number {
  const isSecondHalf = (text.charCodeAt(at) & 0xfc00) === 0xdc00
  return isSecondHalf && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 ? at - 1 : at
}

/** Units of the character that begins here. */
function lengthAt(text: string, at: number): 1 | 2 {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
}

export function normalizedText(text: string, form: NormalForm): string {
  const isLong = hasManyMarks(text) && LONGER.test(text)
  return (isLong ? text.replace(RUN, `$&${CUT}`) : text).normalize(form)
}

/** NFC, but of a text with such a row, which stays as it is. */
export function composedUnlessMany(text: string): string {
  return hasManyMarks(text) ? text : text.normalize('NFC')
}

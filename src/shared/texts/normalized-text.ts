/**
 * Text in one form of Unicode, in a time that grows with its length. Marks behind a letter are sorted by their kind, which takes the square of their
 * number: a megabyte of them took 3 minutes. So long runs are cut by a mark that is drawn as nothing, as the
 * stream-safe text format has it (Unicode Standard Annex #15).
 */

export type NormalForm = 'NFC' | 'NFD' | 'NFKC' | 'NFKD'

/** Marks, and the four letters that a form takes apart into one and more. No language has more than some three in a row. */
const RUN = /[[\p{M}\u0e33\u0eb3\uff9e\uff9f]--\u034f]{30}(?!\u034f)/gv
const LONGER = /[[\p{M}\u0e33\u0eb3\uff9e\uff9f]--\u034f]{31}/v
const SHORT = 31
const CUT = '\u034f'

export function normalizedText(text: string, form: NormalForm): string {
  const isLong = text.length >= SHORT && LONGER.test(text)
  return (isLong ? text.replace(RUN, `$&${CUT}`) : text).normalize(form)
}

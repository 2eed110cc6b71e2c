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
/** All marks, and more: what is not here is none. In a megabyte it takes 2 ms to see, where the classes of Unicode take 7. */
const MAYBE_MARK =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: units of UTF-16 are what is looked for
  /[\u0300-\u20ff\u2c00-\u2dff\u3000-\u30ff\ua600-\uabff\ufb1e\ufe00-\ufe2f\uff9e\uff9f\ud800-\ud83b\udb40]/
const CUT = '\u034f'

/** False: the text has no mark, and nothing that a form makes one of. */
export function mayHaveMarks(text: string): boolean {
  return MAYBE_MARK.test(text)
}

export function normalizedText(text: string, form: NormalForm): string {
  const isLong = text.length >= SHORT && mayHaveMarks(text) && LONGER.test(text)
  return (isLong ? text.replace(RUN, `$&${CUT}`) : text).normalize(form)
}

/** What is shown of two texts that differ: a window around the first difference. What is compared is never cut. */

export interface ShownText {
  /** Equal in both texts. */
  readonly lead: string
  readonly differs: string
  /** Equal again. */
  readonly tail: string
  readonly isCut: boolean
}

const MOST = 120
/** Characters before the first difference. */
const LEAD = 30

export function shownDifference(before: string, after: string): readonly [ShownText, ShownText] {
  const same = samePrefix(before, after)
  const end = sameSuffix(before, after, same)
  const start = wholeCharacter(before, same > LEAD ? same - LEAD : 0)
  return [window(before, start, same, before.length - end), window(after, start, same, after.length - end)]
}

/** A text that has nothing to be compared with. */
export function shownAlone(text: string): ShownText {
  return window(text, 0, 0, text.length)
}

function window(text: string, start: number, from: number, to: number): ShownText {
  const stop = text.length <= start + MOST ? text.length : wholeCharacter(text, start + MOST)
  const [before, after] = [start > 0 ? '…' : '', stop < text.length ? '…' : '']
  const ends = to >= stop
  return {
    lead: before + visible(text.slice(start, from)),
    differs: visible(text.slice(from, Math.min(to, stop))) + (ends ? after : ''),
    tail: ends ? '' : visible(text.slice(to, stop)) + after,
    isCut: before !== '' || after !== '',
  }
}

function samePrefix(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let same = 0
  while (same < most && a[same] === b[same]) same++
  return Math.min(wholeCharacter(a, same), wholeCharacter(b, same))
}

function sameSuffix(a: string, b: string, from: number): number {
  const most = Math.min(a.length, b.length) - from
  let same = 0
  while (same < most && a.at(-1 - same) === b.at(-1 - same)) same++
  return isLow(a.charCodeAt(a.length - same)) ? same - 1 : same
}

/** The same place, or the one before it where it would split a character of two units. */
function wholeCharacter(text: string, at: number): number {
  return isLow(text.charCodeAt(at)) ? at - 1 : at
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** With signs in place of what cannot be seen: two texts that differ must look different. */
export function visible(text: string): string {
  return text
    .replace(/\r?\n/g, (end) => (end === '\n' ? '↵ ' : '␍↵ '))
    .replace(/\t/g, '⇥')
    .replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u00a0]/gu,
      (sign) => `⟨U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
    )
}

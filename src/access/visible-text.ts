import { normalizedText } from '../shared/texts/normalized-text.ts'

// Everything that is drawn as nothing: controls, formats, lone surrogates, unassigned, private use, fillers, variation
// selectors, and all spaces but the plain one. With them two names could look the same and be different.
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/u

/** Whether the text contains an invisible character. A plain space counts as seen. */
export function hasInvisible(text: string): boolean {
  return INVISIBLE.test(text)
}

/**
 * The form under which names are compared: compatibility forms unified, case folded. Upper case comes first because
 * lower case alone keeps ß apart from SS.
 */
export function folded(text: string): string {
  const cased = normalizedText(text, 'NFKC').toUpperCase().toLowerCase()
  return normalizedText(cased, 'NFKC')
}

import type { textMethods } from '../language/declared/text-methods.ts'
import type { MethodBodiesOf } from './body-of.ts'
import { checkLength, spendOnText } from './bounded.ts'
import { holdsText, repeatedText, replaceEach, replaceFirst, splitText, textBodies } from './text.ts'
import { lastPlace, textSearch } from './text-search.ts'

export const textMethodBodies: MethodBodiesOf<'text', typeof textMethods> = {
  trim: (_, text) => text.trim(),
  trimStart: (_, text) => text.trimStart(),
  trimEnd: (_, text) => text.trimEnd(),
  toUpperCase: textBodies.upper,
  toLowerCase: textBodies.lower,
  slice: (_, text, from, to) => text.slice(from, to),
  split: splitText,
  includes: holdsText,
  startsWith: textBodies.startsWith,
  endsWith: textBodies.endsWith,
  indexOf: (context, text, part, from = 0) => textSearch(context, text, part)(from),
  lastIndexOf: (context, text, part) => {
    spendOnText(context, text, 20)
    return lastPlace(context, text, part)
  },
  replace: replaceFirst,
  replaceAll: replaceEach,
  padStart: textBodies.padStart,
  padEnd: textBodies.padEnd,
  repeat: (_, text, times) => repeatedText(text, times),
  at: (_, text, index) => text.at(index),
  concat: (_, text, ...texts) => {
    checkLength(
      'texts',
      texts.reduce((length, one) => length + one.length, text.length),
    )
    return text.concat(...texts)
  },
  toString: (_, text) => text,
}

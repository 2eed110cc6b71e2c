import type { textMethods } from '../language/declared/text-methods.ts'
import type { MethodBodiesOf } from './body-of.ts'
import { checkLength, spendOnText } from './bounded.ts'
import { repeatedText, replaceEach, splitText, textBodies } from './text.ts'

export const textMethodBodies: MethodBodiesOf<'text', typeof textMethods> = {
  trim: (_, text) => text.trim(),
  trimStart: (_, text) => text.trimStart(),
  trimEnd: (_, text) => text.trimEnd(),
  toUpperCase: textBodies.upper,
  toLowerCase: textBodies.lower,
  slice: (_, text, from, to) => text.slice(from, to),
  split: splitText,
  includes: (_, text, part) => text.includes(part),
  startsWith: (_, text, part) => text.startsWith(part),
  endsWith: (_, text, part) => text.endsWith(part),
  indexOf: (_, text, part, from) => text.indexOf(part, from),
  lastIndexOf: (context, text, part) => {
    spendOnText(context, text, 20)
    return text.lastIndexOf(part)
  },
  replace: (_, text, part, by) => {
    if (!text.includes(part)) return text
    checkLength('by', text.length - part.length + by.length)
    // A function, because `$&` means something in a replacement text.
    return text.replace(part, () => by)
  },
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

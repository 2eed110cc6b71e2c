import type { listMethods } from '../language/declared/list-methods.ts'
import type { numberMethods } from '../language/declared/number-methods.ts'
import type { textMethods } from '../language/declared/text-methods.ts'
import { ArgumentError } from '../language/function-declaration.ts'
import type { MethodBodiesOf } from './body-of.ts'
import { checkLength, spendOn, spendOnText } from './bounded.ts'
import { equalTo } from './equal-values.ts'
import { eachBodies, flattened, joinedLists, listBodies } from './lists.ts'
import {
  holdsText,
  joinedText,
  repeatedText,
  replaceEach,
  replaceFirst,
  splitText,
  textBodies,
} from './text.ts'
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

export const listMethodBodies: MethodBodiesOf<'list', typeof listMethods> = {
  ...eachBodies,
  slice: (context, list, from, to) => {
    spendOn(context, 'list', list)
    return list.slice(from, to)
  },
  concat: (context, list, ...lists) => joinedLists(context, [list, ...lists]),
  join: joinedText,
  includes: (context, list, value = null) => {
    spendOn(context, 'list', list)
    return list.some(equalTo(context, 'list', value))
  },
  indexOf: (context, list, value = null) => {
    spendOn(context, 'list', list)
    return list.findIndex(equalTo(context, 'list', value))
  },
  findIndex: (context, list, test) => {
    spendOn(context, 'list', list)
    return list.findIndex((item, i) => test(item, i))
  },
  findLast: (context, list, test) => {
    spendOn(context, 'list', list)
    return list.findLast((item, i) => test(item, i))
  },
  reduce: listBodies.reduce,
  flat: (context, list) => {
    spendOn(context, 'list', list)
    return flattened(context, list)
  },
  flatMap: (context, list, values) => flattened(context, eachBodies.map(context, list, values)),
  toReversed: listBodies.reverse,
}

/** As JavaScript has it. */
const MOST_DIGITS = 100

export const numberMethodBodies: MethodBodiesOf<'number', typeof numberMethods> = {
  toFixed: (_, value, digits = 0) => {
    if (digits < 0 || digits > MOST_DIGITS)
      throw new ArgumentError('digits', `must be from 0 to ${MOST_DIGITS}`)
    return value.toFixed(digits)
  },
  toString: (_, value) => String(value),
}

import { expect, test } from 'vitest'
import { folded, hasInvisible } from './visible-text.ts'

test.each([
  ['tab', 'a\tb'],
  ['newline', 'a\nb'],
  ['delete', 'a\u007fb'],
  ['no-break space', 'a\u00a0b'],
  ['ideographic space', 'a\u3000b'],
  ['zero width space', 'a\u200bb'],
  ['right-to-left override', 'a\u202eb'],
  ['soft hyphen', 'a\u00adb'],
  ['byte order mark', '\ufeffa'],
  ['Hangul filler', '\u3164'],
  ['variation selector', 'a\ufe0f'],
  ['line separator', 'a\u2028b'],
  ['lone surrogate', 'a\ud800'],
  ['private use', '\ue000'],
])('%s is invisible', (_name, text) => {
  expect(hasInvisible(text)).toBe(true)
})

test.each(['ada', 'Ada Lovelace', 'ada@example.com', 'Ωmega', '李小龍', 'á', '-_.!', '😀'])(
  '%s is seen',
  (text) => {
    expect(hasInvisible(text)).toBe(false)
  },
)

test.each([
  ['Ada', 'aDA'],
  ['STRASSE', 'straße'],
  ['caf\u00e9', 'CAFE\u0301'],
  ['\ufb01n', 'FIN'],
  ['ＡＢＣ', 'abc'],
  ['ΟΔΟΣ', 'οδος'],
])('%s and %s are one name', (one, other) => {
  expect(folded(one)).toBe(folded(other))
})

test.each([
  ['ada', 'adb'],
  ['cafe', 'café'],
  ['a b', 'ab'],
])('%s and %s are two names', (one, other) => {
  expect(folded(one)).not.toBe(folded(other))
})

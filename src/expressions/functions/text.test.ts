import { expect, test } from 'vitest'
import { callFunction, callTextMethod } from '../../../test/call-function.ts'

const million = 'a'.repeat(1_000_000)

test.each<[string, unknown[], unknown]>([
  ['upper', [''], ''],
  ['upper', ['straße'], 'STRASSE'],
  ['upper', ['ß'.repeat(600_000)], expect.stringMatching(/^text gives a text of more than 1,000,000/)],
  ['capitalize', [''], ''],
  ['capitalize', ['𐐨a'], '𐐀a'],
  ['trim', ['\u00a0 a\n'], 'a'],
  ['split', ['', ','], ['']],
  ['split', ['abc', ''], ['a', 'b', 'c']],
  ['split', [','.repeat(9_999), ','], expect.objectContaining({ length: 10_000 })],
  ['split', [','.repeat(10_000), ','], 'text gives a list of more than 10,000 elements'],
  ['lines', ['a\r\nb\nc\rd\n'], ['a', 'b', 'c', 'd', '']],
  ['join', [[]], ''],
  ['join', [['a', null, 2, true]], 'a,,2,true'],
  ['join', [[{}]], 'list must hold texts, numbers and conditions only'],
  ['join', [[million, 'b'], ''], 'list gives a text of more than 1,000,000 characters'],
  ['replace', ['aaa', 'aa', 'b'], 'ba'],
  ['replace', ['a+b', '+', '$&'], 'a$&b'],
  ['replace', ['ab', '', '-'], '-a-b-'],
  ['replace', [million, 'a', 'bb'], 'by gives a text of more than 1,000,000 characters'],
  ['replace', [million, '', 'b'], 'by gives a text of more than 1,000,000 characters'],
  ['replace', [million, 'a', 'b'], 'b'.repeat(1_000_000)],
  ['slice', ['abc', 1, 2], 'b'],
  ['slice', [[1, 2, 3], -2], [2, 3]],
  ['truncate', ['🎈🎈🎈', 2], '🎈…'],
  ['truncate', ['🎈🎈', 2], '🎈🎈'],
  ['truncate', ['abc', 3], 'abc'],
  ['truncate', ['abcd', 3, ''], 'abc'],
  ['truncate', ['abc', 1, '...'], 'length must not be shorter than the ending'],
  ['padStart', ['abc', 2], 'abc'],
  ['padStart', ['a', 1_000_001], 'length gives a text of more than 1,000,000 characters'],
  ['padEnd', ['a', 1e9, 'xy'], 'length gives a text of more than 1,000,000 characters'],
  ['repeat', ['a', 0], ''],
  ['repeat', ['a', -1], 'times must not be negative'],
  ['repeat', ['ab', 500_001], 'times gives a text of more than 1,000,000 characters'],
  ['contains', ['abc', ''], true],
  ['contains', ['abc', 1], 'part must be a text, as the first argument is'],
  ['contains', [[1, '1'], '1'], true],
  ['contains', [[1], '1'], false],
  ['contains', [[{ a: [1, { b: null }] }], { a: [1, {}] }], true],
  ['contains', [[{ a: 1 }], { a: 1, b: 2 }], false],
  ['contains', [[{ a: 1, b: 2 }], { a: 1 }], false],
  ['contains', [[[1, 2]], [1, 2, 3]], false],
  ['contains', [[null], undefined], true],
  ['contains', [[{}], { constructor: 1 }], false],
  ['length', ['👩x'], 2],
  ['length', ['👩👩'], 2],
  ['length', ['\ude00\ud83d\ud83d\ude00'], 3],
  ['length', [[1, 2]], 2],
  ['matches', ['ab', '('], expect.stringMatching(/^pattern cannot be used: missing closing/)],
  ['matches', ['ab', '(?=a)'], expect.stringMatching(/^pattern cannot be used/)],
  ['matches', ['a'.repeat(4_001), 'a'], 'text must have at most 4000 characters'],
  [
    'matches',
    ['a'.repeat(1_300), '^a{480}'],
    'text must have at most 1242 characters for so large a pattern',
  ],
  ['matches', [`${'a'.repeat(3_999)}!`, '^(a+)+$'], false],
  ['slug', ['--'], ''],
  ['slug', ['Ångström 2 — «Ω»'], 'angstrom-2-ω'],
  ['slug', ['a'.repeat(10_001)], 'text must have at most 10000 characters'],
  ['escapeHtml', [`<a href='x' title="y">&`], '&lt;a href=&#39;x&#39; title=&quot;y&quot;&gt;&amp;'],
  ['escapeHtml', ['&'.repeat(300_000)], 'text gives a text of more than 1,000,000 characters'],
  ['escapeCsv', ['=1+1'], "'=1+1"],
  ['escapeCsv', ['-5'], '-5'],
  ['escapeCsv', ['a\nb'], '"a\nb"'],
  ['escapeCsv', [true], 'true'],
])('%s(%j)', (name, input, expected) => {
  expect(callFunction(name, input)).toEqual(expected)
})

test.each<[string, unknown[], unknown]>([
  ['replace', ['aa', 'a', '$&'], '$&a'],
  ['replaceAll', ['aa', 'a', '$&'], '$&$&'],
  ['replaceAll', [million, 'a', 'bb'], 'by gives a text of more than 1,000,000 characters'],
  ['concat', [million, 'b'], 'texts gives a text of more than 1,000,000 characters'],
  ['at', ['abc', 5], undefined],
  ['repeat', ['abc', 1e6], 'times gives a text of more than 1,000,000 characters'],
  ['padEnd', ['', 2e6], 'length gives a text of more than 1,000,000 characters'],
])('text.%s(%j)', (name, input, expected) => {
  expect(callTextMethod(name, input)).toEqual(expected)
})

test('values that share their parts are refused, not walked for ever', () => {
  const grown = (leaf: unknown) => Array.from({ length: 40 }).reduce((inner) => [inner, inner], leaf)
  expect(callFunction('contains', [[grown(1)], grown(1)])).toBe(
    'textOrList holds values that are too large to compare',
  )
  expect(callFunction('unique', [[grown(1)]])).toBe('list holds values that are too large to compare')
  expect(callFunction('jsonText', [grown(1)])).toBe('value gives a text of more than 1,000,000 characters')
})

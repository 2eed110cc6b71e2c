import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { documentText, documentTokens, textTokens, VALUE_BREAK, valueTokens } from './text-tokens.ts'

describe('textTokens', () => {
  test.each([
    ['nothing', '', []],
    ['no word', ' -- !? ', []],
    ['ASCII in lower case', "It's 5 O'CLOCK_now", ['it', 's', '5', 'o', 'clock', 'now']],
    ['accents, composed and not', 'Café CAFE\u0301', ['cafe', 'cafe']],
    ['sharp s', 'Straße STRASSE', ['strasse', 'strasse']],
    ['both small sigmas', 'ΟΔΟΣ οδός', ['οδοσ', 'οδοσ']],
    ['letters with a stroke', 'Ørsted Łódź æon', ['orsted', 'lodz', 'aeon']],
    ['Turkish capital i', 'İstanbul', ['istanbul']],
    ['full width and ligatures', 'ＡＢＣ ﬁn', ['abc', 'fin']],
    ['Cyrillic', 'Привет, МИР', ['привет', 'мир']],
    ['Arabic without its points', 'كِتَاب', ['كتاب']],
    ['Hangul stays syllables', '안녕 세계', ['안녕', '세계']],
    ['Devanagari keeps its vowel signs', 'हिन्दी', ['हिन्दी']],
    ['one token per Chinese character', '東京 2020年', ['東', '京', '2020', '年']],
    ['voiced kana are letters of their own', 'がか', ['が', 'か']],
    ['a soft hyphen is not there', 'Donau\u00addampf', ['donaudampf']],
    ['a zero-width space cuts', 'a\u200bb', ['a', 'b']],
    ['emoji are no words', 'ok 😀 go', ['ok', 'go']],
  ])('%s', (_, text, tokens) => {
    expect(textTokens(text)).toEqual(tokens)
  })

  test('cuts long tokens, never inside a surrogate pair, and stops at the limit', () => {
    expect(textTokens('x'.repeat(1000))).toEqual(['x'.repeat(64)])
    expect(textTokens(`x${'\u{10400}'.repeat(100)}`)[0]?.isWellFormed()).toBe(true)
    expect(textTokens('a b c d', 2)).toEqual(['a', 'b'])
  })
})

describe('a document', () => {
  test('gives all strings in order but those of _meta, with a break between values', () => {
    const document = {
      _meta: { guid: 'secret' },
      title: 'Red apple',
      tags: ['green', { deep: 'pear tree' }],
      count: 5,
      done: true,
      empty: '--',
      nested: { _meta: 'kept' },
    }
    expect(documentTokens(document)).toEqual([
      'red',
      'apple',
      VALUE_BREAK,
      'green',
      VALUE_BREAK,
      'pear',
      'tree',
      VALUE_BREAK,
      'kept',
    ])
    expect(valueTokens([document.title, undefined, document.tags])).toEqual(
      documentTokens(document).slice(0, 7),
    )
    expect(documentText({ a: 1 })).toBe('')
  })

  test('is bounded', () => {
    expect(documentTokens({ a: 'x '.repeat(60_000), b: 'unreachable' })).toHaveLength(50_000)
    expect(documentTokens({ list: Array(60_000).fill('x') }).length).toBeLessThanOrEqual(50_000)
  })
})

test('SQLite gives back exactly the tokens that were joined', () => {
  const db = new DatabaseSync(':memory:')
  db.exec(`CREATE VIRTUAL TABLE t USING fts5 (text, tokenize = 'ascii');
           CREATE VIRTUAL TABLE words USING fts5vocab (t, 'instance');`)
  const insert = db.prepare('INSERT OR REPLACE INTO t (rowid, text) VALUES (1, ?)')
  const words = db.prepare('SELECT term FROM words ORDER BY offset')
  const known = fc.constantFrom('a', 'Z', '9', ' ', '-', '_', '"', 'É', '東', 'が')
  const unit = fc.oneof(known, fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }))
  const text = fc.string({ unit })
  fc.assert(
    fc.property(fc.array(text, { maxLength: 3 }), (values) => {
      insert.run(documentText({ values }))
      expect(words.all().map((row) => row.term)).toEqual(documentTokens({ values }))
    }),
    { numRuns: 500 },
  )
  db.close()
})

test('every accent and invisible character is left out of words, wherever it stands in Unicode', () => {
  const left: string[] = []
  for (let code = 0x80; code < 0x110000; code++) {
    const character = String.fromCodePoint(code)
    if (!/[\p{Mn}\p{Cf}]/u.test(character) || /[\u200b\u3099\u309a]/.test(character)) continue
    if (!/[\p{sc=Zinh}\p{sc=Hebr}\p{sc=Arab}\p{Cf}]/u.test(character)) continue
    if (textTokens(`a${character}b`).join(' ') !== 'ab') left.push(code.toString(16))
  }
  expect(left).toEqual([])
})

test.each([
  ['letters with accents', 'é'.repeat(8_000_000), ['e'.repeat(64)]],
  ['letters of two units', '\u{10428}'.repeat(1_000_000), ['\u{10428}'.repeat(32)]],
  ['marks', '\u0301'.repeat(1_000_000), []],
])('a word of millions of %s is one token, and what comes behind it is found', (_name, word, tokens) => {
  expect(textTokens(`${word}\nbehind`)).toEqual([...tokens, 'behind'])
})

test('lines without spaces are cut between words', () => {
  const word = 'caf\u00e9'
  const tokens = textTokens(`${word}\n`.repeat(130_000), 200_000)
  expect([tokens.length, new Set(tokens)]).toEqual([130_000, new Set(['cafe'])])
})

test('of a long text no more is looked at than gives the tokens that count', () => {
  const words = Array.from({ length: 60_000 }, (_, n) => `wörd${n}`)
  const tokens = documentTokens({ text: words.join(' ') })
  expect(tokens).toHaveLength(50_000)
  expect(tokens.at(-1)).toBe('word49999')
  // Cut at spaces only: a mark behind a space and a word without end stay as they are.
  const accents = `${' \u0301'.repeat(200_000)}b`
  expect(textTokens(accents)).toEqual(['b'])
  expect(textTokens('ж'.repeat(600_000))).toEqual(['ж'.repeat(64)])
})

// Looked at whole, it would be 20 million matches: out of memory.
test('a text of very many words is read as far as its tokens count', () => {
  expect(textTokens('ab '.repeat(20_000_000))).toHaveLength(50_000)
})

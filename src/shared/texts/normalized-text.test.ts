import { describe, expect, test } from 'vitest'
import { composedUnlessMany, type NormalForm, normalizedText } from './normalized-text.ts'

const forms: readonly NormalForm[] = ['NFC', 'NFD', 'NFKC', 'NFKD']
const marks = (count: number) => '\u0301\u0323'.repeat(count / 2)

describe.each(forms)('%s', (form) => {
  test.each([
    ['nothing', ''],
    ['plain text', 'Zoë, 12 €, ﬁ, ｶﾞ, ญิ'],
    ['text longer than a run', 'Crème brûlée und Straße, '.repeat(9)],
    ['thirty marks', `a${marks(30)}`],
    ['runs of thirty', `a${marks(30)}b${marks(30)}`],
  ])('%s is as ever', (_, text) => {
    expect(normalizedText(text, form) === text.normalize(form)).toBe(true)
  })

  test.each([
    ['marks', `a${marks(50_000)}`],
    ['marks and voicing marks of kana', `a${'\u0301\uff9e'.repeat(25_000)}`],
    ['marks of four kinds', `a${'\u0345\u0301\u0323\u0334'.repeat(12_500)}`],
  ])('50,000 %s are cut into runs of 30, and none is lost', (_, text) => {
    const normalized = normalizedText(text, form)
    const runs = normalized.slice(1).split('\u034f')
    expect(Math.max(...runs.map((run) => run.length))).toBe(30)
    expect(runs.join('').length).toBeGreaterThanOrEqual(49_999)
    expect(normalizedText(normalized, form) === normalized).toBe(true)
  })
})

// Without the cuts it would take minutes: half as many took three.
test('a million marks take no minutes', () => {
  expect(normalizedText(`a${marks(1_000_000)}`, 'NFC').length).toBeGreaterThan(1_000_000)
})

test('texts that are the same are so behind a long run, too', () => {
  const [composed, apart] = [`é${marks(60)}é`, `e\u0301${marks(60)}e\u0301`]
  expect(normalizedText(`${marks(60)}${composed}`, 'NFC').endsWith('é')).toBe(true)
  expect(normalizedText(apart, 'NFC').endsWith('é')).toBe(true)
})

const APART = 'e\u0301'
const everyMark: string[] = []
for (let code = 0; code < 0x110000; code++) {
  const character = String.fromCodePoint(code)
  if (/[\p{M}\u0e33\u0eb3\uff9e\uff9f]/u.test(character)) everyMark.push(character)
}

test.each([0, 1, 29, 30, 31, 32, 61])('31 marks of each kind are seen behind %i letters', (before) => {
  expect(everyMark.length).toBeGreaterThan(2_000)
  const unseen = everyMark.filter((mark) => {
    const text = `${'x'.repeat(before)}${mark.repeat(31)}${APART}`
    return composedUnlessMany(text) !== text
  })
  expect(unseen).toEqual([])
})

test.each([
  ['letters', 'Пá👍🏽'.repeat(500)],
  ['30 marks in a row, again and again', `${'\u0363'.repeat(30)}x`.repeat(500)],
  ['half pairs', `\ud800${'\udc00'.repeat(40)}`],
])('behind %s a text is composed', (_, before) => {
  const text = `${before}x${APART}`
  expect(composedUnlessMany(text)).toBe(text.normalize('NFC'))
  expect(composedUnlessMany(text).endsWith('é')).toBe(true)
})

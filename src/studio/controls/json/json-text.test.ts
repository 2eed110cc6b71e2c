import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonTokens, shortJson } from './json-text.ts'

describe('JSON in colours', () => {
  it('tells keys from strings, and numbers from words', () => {
    const coloured = jsonTokens('{"a": "b\\"", "n": -1.5e3, "t": null}').filter(
      ({ kind }) => kind !== 'plain',
    )
    expect(coloured).toEqual([
      { kind: 'key', text: '"a"' },
      { kind: 'string', text: '"b\\""' },
      { kind: 'key', text: '"n"' },
      { kind: 'number', text: '-1.5e3' },
      { kind: 'key', text: '"t"' },
      { kind: 'word', text: 'null' },
    ])
  })

  it('loses nothing, whatever the text is', () => {
    const whole = (text: string) =>
      jsonTokens(text)
        .map((token) => token.text)
        .join('')
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(whole(text)).toBe(text)
      }),
    )
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value, null, 2)
        expect(whole(text)).toBe(text)
      }),
    )
  })
})

describe('JSON on one line', () => {
  it.each([
    [undefined, ''],
    ['a\n b', 'a b'],
    [{ a: [1] }, '{"a":[1]}'],
    ['x'.repeat(20), `${'x'.repeat(9)}…`],
  ])('%j', (value, text) => {
    expect(shortJson(value, 10)).toBe(text)
  })
})

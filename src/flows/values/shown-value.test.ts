import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { StoredJson } from '../../storage/stored-json.ts'
import { Secrets, shownJson, showValue } from './shown-value.ts'

class Parameters {}
Object.setPrototypeOf(Parameters.prototype, null)

class Visit {
  readonly secretOfTheRoom = 'x'
}

const show = (value: unknown, most = 4_096, name = '') =>
  shownJson(showValue(value, new Secrets(), most, name))

describe('what is shown of a value', () => {
  const date = new Date('2026-01-02T03:04:05.678Z')
  const circle: Record<string, unknown> = {}
  circle.again = circle
  test.each<[string, unknown, unknown]>([
    ['nothing', undefined, null],
    ['a number that JSON cannot write', [Number.NaN, 1 / 0], [null, null]],
    ['a date, and one that is none', [date, new Date(Number.NaN)], ['2026-01-02T03:04:05.678Z', null]],
    ['a stored document', { document: new StoredJson('{"a":[1]}') }, { document: { a: [1] } }],
    ['what is missing', { a: undefined, b: [undefined] }, { b: [null] }],
    ['what is worked out later', { result: () => 1 }, { result: '(evaluated once for each item)' }],
    ['an instance of a class', { visit: new Visit(), query: /a/ }, { visit: '(Visit)', query: '(RegExp)' }],
    ['large numbers and symbols', [10n, Symbol('a')], ['10', 'Symbol(a)']],
    ['half of a surrogate pair', '\ud800', '\ud800'],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ['parameters of a query', Object.assign(new Parameters(), { a: 1 }), { a: 1 }],
  ])('%s', (_what, value, shown) => {
    expect(show(value)).toEqual(shown)
  })

  test.each([
    ['password', true],
    ['Kennwort', true],
    ['creditCard', true],
    ['credit-card', true],
    ['card_number', true],
    ['pin', true],
    ['x-webhook-signature', true],
    ['signature', true],
    ['code', false],
    ['spin', false],
    ['card', false],
  ])('what stands under %s is hidden: %s', (name, hidden) => {
    expect(show({ [name]: 'a value', inner: [{ [name]: 1234 }] })).toEqual({
      [name]: hidden ? '•••' : 'a value',
      inner: [{ [name]: hidden ? '•••' : 1234 }],
    })
  })

  test('a circle ends', () => {
    expect(JSON.stringify(show(circle))).toContain('(deeper)')
  })

  test('JSON is itself, or how it begins and how long it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 60 }), (value, most) => {
        const text = JSON.stringify(value)
        const bytes = Buffer.byteLength(text)
        const shown = show(value, most)
        if (bytes <= most) {
          expect(shown).toEqual(JSON.parse(text))
          return
        }
        const { $cut, ...rest } = shown as { readonly $cut: string; readonly bytes: number }
        expect(rest).toEqual({ bytes })
        expect(text.startsWith($cut)).toBe(true)
        expect(Buffer.byteLength($cut)).toBeLessThanOrEqual(most)
        expect(Buffer.byteLength($cut)).toBeGreaterThan(most - 4)
      }),
    )
  })

  test('far too long ones are not counted to their end', () => {
    const many = Array.from({ length: 300_000 }, () => ({ a: 'b' }))
    const { bytes } = showValue(many, new Secrets(), 4_096)
    expect(bytes).toBeGreaterThanOrEqual(1024 * 1024)
    expect(bytes).toBeLessThan(1024 * 1024 + 100)
    const long = new StoredJson(JSON.stringify({ password: 'p'.repeat(2_000_000) }))
    expect(JSON.stringify(show({ long }))).not.toContain('ppp')
  })
})

describe('secrets', () => {
  test.each([
    ...['password', 'new_password', 'Authorization', 'x-authtoken', 'api_key', 'apiKey', 'client_secret'],
    ...['set-cookie', 'refresh_token', 'private-key', 'credentials'],
  ])('%s is dots', (name) => {
    expect(show({ a: { [name]: 'hidden' }, b: 1 })).toEqual({ a: { [name]: '•••' }, b: 1 })
    expect(show('hidden', 4_096, name)).toBe('•••')
    expect(show({ [name]: { parts: ['hidden'] } })).toEqual({ [name]: '•••' })
  })

  test('what says nothing is shown', () => {
    const open = { password: '', token: null, secret: false, name: 'a', pass: 'b', author: 'c' }
    expect(show(open)).toEqual(open)
  })

  test('the same text is dots wherever it stands, also before its name is seen', () => {
    const secrets = new Secrets()
    const shown = (value: unknown) => shownJson(showValue(value, secrets, 4_096))
    expect(shown({ first: 'hunter2-hunter2', password: 'hunter2-hunter2' })).toEqual({
      first: '•••',
      password: '•••',
    })
    expect(shown(['hunter2-hunter2', 'a hunter2-hunter2 b', 'hunter'])).toEqual(['•••', 'a ••• b', 'hunter'])
  })

  const secret = Array.from({ length: 1_000 }, (_, at) => at).join(',')
  const rest = 'é'.repeat(1_100_000)
  test.each([
    ['nothing secret', `ab${rest}`, `"ab${'é'.repeat(46)}`],
    ['a secret first', `${secret}!${rest}`, `"•••!${'é'.repeat(42)}`],
    ['one where it is cut', `${'a'.repeat(92)}${secret}${rest}`, `"${'a'.repeat(92)}•`],
    // What follows them moves to the front, where half of one must not be seen.
    ['nothing but secrets', secret.repeat(300), '""'],
    ['a secret that is as long', secret.repeat(300), '"(a long text)"', secret.repeat(20)],
  ])('of a long text only the beginning is looked at: %s', (_what, text, shown, more = '') => {
    const secrets = new Secrets()
    secrets.note(secret)
    secrets.note(more)
    const { $cut, bytes } = shownJson(showValue(text, secrets, 96)) as { $cut: string; bytes: number }
    expect([$cut, bytes]).toEqual([shown, text.length])
  })

  test('a credential without its scheme', () => {
    const secrets = new Secrets()
    expect(shownJson(showValue({ authorization: 'Bearer abcdef' }, secrets, 100))).toEqual({
      authorization: '•••',
    })
    expect(shownJson(showValue('abcdef', secrets, 100))).toBe('•••')
  })

  test('short ones are not taken for everything', () => {
    const secrets = new Secrets()
    expect(shownJson(showValue({ field: 'a', password: 'abc' }, secrets, 100))).toEqual({
      field: 'a',
      password: '•••',
    })
    expect(shownJson(showValue(['abc', 'abcd'], secrets, 100))).toEqual(['abc', 'abcd'])
  })
})

import { expect, test } from 'vitest'
import { comparable } from '../bench/comparable.ts'

const meta = () => ({
  guid: '01a1fc78-a366-72af-910e-133689d51768',
  created: Math.floor(Date.now() / 1000),
  cms: Date.now(),
  removed: 0,
  update_hash: '250d6c8e6bf90a83c90a451e67583208',
})
const otherMeta = () => ({
  ...meta(),
  guid: '01a1fc7c-5262-7228-bb14-b617949c4059',
  update_hash: '66eb243f73fe65bf224fe5d75735d0c9',
})

function reply(body: unknown, headers: Record<string, string> = {}, status = 200) {
  return { status, headers: new Headers(headers), text: JSON.stringify(body) }
}

const tag = (letter: string) => `"${letter.repeat(27)}"`

test.each([
  ['the status', reply({}), reply({}, {}, 201)],
  ['a header', reply({}, { 'cache-control': 'no-store' }), reply({})],
  ['a value', reply({ _meta: meta(), title: 'a' }), reply({ _meta: meta(), title: 'b' })],
  ['the order of keys', reply({ a: 1, b: 2 }), reply({ b: 2, a: 1 })],
  [
    'a part of _meta that does not change',
    reply({ _meta: meta() }),
    reply({ _meta: { ...meta(), removed: 1 } }),
  ],
  ['a guid that is none', reply({ _meta: meta() }), reply({ _meta: { ...meta(), guid: 'one' } })],
  ['a hash that is none', reply({ _meta: meta() }), reply({ _meta: { ...meta(), update_hash: '' } })],
  ['a time of long ago', reply({ _meta: meta() }), reply({ _meta: { ...meta(), created: 1 } })],
  [
    'a time in the wrong unit',
    reply({ _meta: meta() }),
    reply({ _meta: { ...meta(), cms: meta().created } }),
  ],
  ['a missing tag', reply({ _meta: meta() }, { etag: tag('a') }), reply({ _meta: meta() })],
  ['the tag of equal bytes', reply({ a: 1 }, { etag: tag('a') }), reply({ a: 1 }, { etag: tag('b') })],
])('a difference in %s shows', (_name, one, other) => {
  expect(comparable(one)).not.toBe(comparable(other))
})

test('what differs from run to run does not show', () => {
  const one = reply([{ _meta: meta(), title: 'a' }], { etag: tag('a'), date: 'today', 'content-length': '1' })
  const other = reply([{ _meta: otherMeta(), title: 'a' }], { etag: tag('b'), date: 'tomorrow' })
  expect(comparable(one)).toBe(comparable(other))
})

test('the sentence of an error shows unless it does not matter', () => {
  const [one, other] = [reply({ error: 'no' }, {}, 400), reply({ error: 'never' }, {}, 400)]
  expect(comparable(one)).not.toBe(comparable(other))
  expect(comparable(one, false)).toBe(comparable(other, false))
  expect(comparable(one, false)).not.toBe(comparable(reply({ other: 'no' }, {}, 400), false))
})

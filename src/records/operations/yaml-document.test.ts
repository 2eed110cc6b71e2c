import { expect, test } from 'vitest'
import { packedDocument } from './operations-thread.ts'

const packed = (text: string) => packedDocument(Buffer.from(text))
const pets = `openapi: 3.0.3
info: &about { title: Pets, version: "1" }
x-about: *about
paths:
  /pets:
    get:
      operationId: listPets
      x-since: 2026-11-29
      responses: { 200: { description: All } }
`
/** Each list has the one before ten times. */
const laughs = [
  'a: &a0 [1]',
  ...'123456789'.split('').map((n) => `b${n}: &a${n} [${`*a${Number(n) - 1},`.repeat(10)}]`),
]

test.each([
  ['neither JSON nor YAML', 'openapi: [3.0.0', 'neither JSON nor YAML'],
  ['a billion by aliases', laughs.join('\n'), 'Excessive alias count'],
  ['lists in each other', `a: ${'['.repeat(100_000)}`, 'neither JSON nor YAML'],
  ['two documents', 'openapi: 3.0.0\n---\nopenapi: 3.0.0\n', 'neither JSON nor YAML'],
  ['an alias of nothing', 'openapi: *b', 'neither JSON nor YAML'],
  ['nothing', '', 'no object'],
  [
    'many names, at once',
    Array.from({ length: 60_000 }, (_, n) => `a${n}: 1\n`).join(''),
    'does not say "openapi"',
  ],
  ['JSON with an end that is missing', '{"openapi": "3.0.0"', 'is not JSON'],
])('%s is refused', async (_, text, says) => {
  await expect(packed(text)).rejects.toThrow(says)
})

test('YAML gives the operations of the same JSON, which is what is stored', async () => {
  const { operations, text, hash } = await packed(pets)
  expect(operations.map((one) => one.operation)).toEqual(['listPets'])
  const { gunzipSync } = await import('node:zlib')
  const json = gunzipSync(Buffer.from(text, 'base64')).toString()
  expect(JSON.parse(json)['x-about']).toEqual({ title: 'Pets', version: '1' })
  expect(json).toContain('"x-since": "2026-11-29"')
  const same = await packed(json)
  expect([same.hash, same.operations]).toEqual([hash, operations])
})

test('of a name that comes twice the last counts, as in JSON', async () => {
  const { operations } = await packed(`${pets}      operationId: allPets\n`)
  expect(operations.map((one) => one.operation)).toEqual(['allPets'])
})

/** What others rely on changes on purpose only: a line that is gone or new has to be written down. */
import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { publicSurface } from '../scripts/public-surface.ts'

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')

let agreed: readonly string[]
let present: readonly string[]
beforeAll(async () => {
  agreed = linesOf(await readFile(new URL('public-surface.txt', import.meta.url), 'utf8'))
  present = linesOf(await publicSurface())
})

describe('test/public-surface.txt (npm run surface writes it)', () => {
  test('names nothing that is gone: applications, clients and scripts that use it would break', () => {
    expect(agreed.filter((line) => !present.includes(line))).toEqual([])
  })

  test('names all that is new: from now on others rely on it', () => {
    expect(present.filter((line) => !agreed.includes(line))).toEqual([])
  })
})

test.each([
  'api POST /api/v1/auth/signin body password required',
  'api GET /api/v1/users/me reply 200 username',
  'block http_request in url required',
  'block storage setting storage required',
  'command import <file>',
  'command import --replace',
  'environment QUOIN_PORT',
  'error NOT_FOUND 404',
  'function trim',
])('has a line for each kind, such as %s', (line) => {
  expect(present).toContain(line)
})

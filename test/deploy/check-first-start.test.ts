/** What `npm start` checks before it builds. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
let data: string
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'quoin-test-'))
})
afterAll(() => rm(data, { recursive: true, force: true }))

async function checked(env: Readonly<Record<string, string>>): Promise<string> {
  const options = { cwd: root, env: { PATH: process.env.PATH, QUOIN_DATA: data, ...env } }
  const done = promisify(execFile)(process.execPath, ['scripts/check-first-start.ts'], options)
  return done.then(
    () => '',
    (error: unknown) => String(error instanceof Error && 'stderr' in error ? error.stderr : error),
  )
}

test('a password of the first administrator that the start would refuse is told before the build', async () => {
  const [short, common, good, later] = await Promise.all([
    checked({ QUOIN_ADMIN_PASSWORD: 'hush' }),
    checked({ QUOIN_ADMIN_PASSWORD: 'password2026!' }),
    checked({ QUOIN_ADMIN_PASSWORD: 'Grey-harbour-1' }),
    checked({ QUOIN_ADMIN_PASSWORD: 'hush', DATABASE_URL: 'postgres://db/quoin' }),
  ])
  expect(short).toMatch(/^QUOIN_ADMIN_PASSWORD must have at least 10 characters\. Give another one/)
  expect(common).toMatch(/^QUOIN_ADMIN_PASSWORD is a common password/)
  expect([good, later]).toEqual(['', ''])
  await writeFile(join(data, 'quoin.db'), '')
  expect(await checked({ QUOIN_ADMIN_PASSWORD: 'hush' })).toBe('')
})

/** setting list, set and unset: on the data directory while no server runs, and over HTTP while one does. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { adminPassword, objectOf, startProcess } from '../../../test/end-to-end/harness.ts'
import { quoinCommand } from '../../../test/recording-terminal.ts'

/** Sets the option, and tries what is refused. `flags`: where. */
async function work(environment: Readonly<Record<string, string>>, flags: readonly string[]): Promise<void> {
  const run = (words: readonly string[]) => quoinCommand([...words, ...flags], environment)
  const line = async (name: string) =>
    (await run(['setting', 'list'])).printed.split('\n').find((one) => one.startsWith(`${name}\t`))
  const done = { code: 0, printed: '', complained: '' }
  expect(await line('QUOIN_RATE_LIMIT')).toBe('QUOIN_RATE_LIMIT\t100\tdefault')
  expect(await run(['setting', 'set', 'QUOIN_RATE_LIMIT', '200'])).toEqual(done)
  for (const [words, complained] of [
    [['setting', 'set', 'QUOIN_RATE_LIMIT', 'many'], expect.stringContaining('a whole number from 0')],
    [['setting', 'set', 'QUOIN_RATE_LIMITS', '1'], expect.stringContaining('Did you mean QUOIN_RATE_LIMIT?')],
    [['setting', 'set', 'QUOIN_PORT', '1'], expect.stringContaining('needs a restart')],
    [['setting', 'set', 'QUOIN_LOG_LEVEL', 'warn'], expect.stringContaining('sets QUOIN_LOG_LEVEL')],
    [['setting', 'unset', '../users'], expect.stringContaining('There is no setting "../users"')],
  ] as const)
    expect([words, await run(words)]).toEqual([words, { code: 1, printed: '', complained }])
  expect(await line('QUOIN_RATE_LIMIT')).toBe('QUOIN_RATE_LIMIT\t200\tsetting')
  expect(await line('QUOIN_LOG_LEVEL')).toBe('QUOIN_LOG_LEVEL\tsilent\tenvironment')
  expect(await line('QUOIN_PORT')).toBe(undefined)
  expect(await run(['setting', 'unset', 'QUOIN_RATE_LIMIT'])).toEqual(done)
  expect(await line('QUOIN_RATE_LIMIT')).toBe('QUOIN_RATE_LIMIT\t100\tdefault')
}

test('options are listed, set and removed in a server and in its data directory', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const environment = {
    QUOIN_DATA: directory,
    QUOIN_ADMIN_PASSWORD: adminPassword,
    QUOIN_LOG_LEVEL: 'silent',
  }
  const server = await startProcess(directory, environment)
  try {
    const reply = await fetch(`${server.address}/api/v1/auth/signin`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'admin', password: adminPassword }),
    })
    const QUOIN_TOKEN = String(objectOf(await reply.json()).access_token)
    await work({ ...environment, QUOIN_TOKEN }, ['--url', server.address])
  } finally {
    await server.end('SIGTERM')
  }
  await work(environment, [])
  await rm(directory, { recursive: true, force: true })
})

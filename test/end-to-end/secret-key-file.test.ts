/** The key of secrets without a setting: a file beside the embedded database; on PostgreSQL what to do, before a value is typed. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { openTestQuoin, type TestQuoin } from './harness.ts'

const onPostgres = inject('engine') === 'postgres'
const path = '/_system/secrets'
let data: string
let file: string
let quoin: TestQuoin | undefined
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'quoin-key-'))
  file = join(data, 'secrets.key')
})
afterEach(async () => {
  await quoin?.close()
  await rm(data, { recursive: true, force: true })
})

async function start(settings: Readonly<Record<string, string>> = {}): Promise<TestQuoin> {
  await quoin?.close()
  quoin = await openTestQuoin({ QUOIN_DATA: data, ...settings })
  return quoin
}
const set = (node: TestQuoin, name: string, value: string) =>
  node.send('POST', path, { as: 'admin', body: { name, value } })

function embedded(): void {
  test('the first start makes a key that only its owner can read, and the next one uses it', async () => {
    const first = await start()
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await first.manage('GET', `${path}/key`)).toEqual({ source: 'file', problem: null })
    expect((await set(first, 'KEY', 'sk_live')).status).toBe(200)
    const key = await readFile(file, 'utf8')
    const second = await start()
    expect([await readFile(file, 'utf8'), second.quoin.flows.secrets.open('KEY')]).toEqual([
      key,
      { value: 'sk_live' },
    ])
  })

  test('QUOIN_SECRETS_KEY overrides the file, whose key still decrypts', async () => {
    await set(await start(), 'KEY', 'sk_live')
    const other = await start({ QUOIN_SECRETS_KEY: '0f'.repeat(32) })
    expect(await other.manage('GET', `${path}/key`)).toEqual({ source: 'environment', problem: null })
    expect(other.quoin.flows.secrets.open('KEY')).toEqual({ value: 'sk_live' })
    expect(await other.manage('POST', `${path}/rotate`)).toEqual({ rotated: 1, unreadable: 0 })
  })

  test('with QUOIN_SECRETS_KEY no file is made; without it later, the stored secrets name the missing key', async () => {
    await set(await start({ QUOIN_SECRETS_KEY: '0f'.repeat(32) }), 'KEY', 'sk_live')
    await expect(stat(file)).rejects.toThrow()
    const later = await start()
    const { problem } = later.quoin.flows.secrets.key()
    expect(problem).toBe(
      `The key of 1 stored secrets is missing. Copy it to ${file}, or start with it as QUOIN_SECRETS_KEY.`,
    )
    expect((await set(later, 'NEW', 'x')).status).toBe(503)
    await expect(stat(file)).rejects.toThrow()
    // The key of the former server, copied.
    await writeFile(file, '0f'.repeat(32), { mode: 0o600 })
    expect((await start()).quoin.flows.secrets.open('KEY')).toEqual({ value: 'sk_live' })
  })

  test('a file that holds no key stays as it is', async () => {
    await writeFile(file, 'a password')
    const node = await start()
    expect(node.quoin.flows.secrets.key()).toEqual({ source: 'none', problem: `${file} holds no key.` })
    expect((await set(node, 'KEY', 'x')).status).toBe(503)
    expect(await readFile(file, 'utf8')).toBe('a password')
  })
}

function cluster(): void {
  test('on PostgreSQL no file is made, and what to do is said before a secret is set', async () => {
    const node = await start()
    await expect(stat(file)).rejects.toThrow()
    const problem = expect.stringContaining(
      'QUOIN_SECRETS_KEY is not set. Make a key with openssl rand -base64 32',
    )
    expect(await node.manage('GET', `${path}/key`)).toEqual({ source: 'none', problem })
    expect((await set(node, 'KEY', 'x')).status).toBe(503)
  })
}

if (onPostgres) cluster()
else embedded()

import { createHash } from 'node:crypto'
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  adminPassword,
  objectOf,
  type RunningProcess,
  startProcess,
} from '../../../test/end-to-end/harness.ts'
import { quoinCommand } from '../../../test/recording-terminal.ts'

// A backup of a server that is writing is what it was at one moment, and comes back as the same bytes.

let directory: string
const at = (...names: string[]) => join(directory, ...names)
const sha256 = async (path: string) =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex')

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

describe('a server that is writing', () => {
  let running: RunningProcess
  let token = ''
  beforeEach(async () => {
    running = await startProcess(at('data'), { QUOIN_ADMIN_PASSWORD: adminPassword })
    const body = { username: 'admin', password: adminPassword }
    token = String(objectOf(JSON.parse(await (await post('/auth/signin', body)).text())).access_token)
  })
  afterEach(() => running.end('SIGTERM'))

  const post = (path: string, body: object) =>
    fetch(`${running.address}/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    })

  test('is backed up as it was at one moment, with all that was acknowledged before', async () => {
    await mkdir(at('data', 'assets', 'ab'), { recursive: true })
    await writeFile(at('data', 'assets', 'ab', 'photo'), 'a picture')
    await mkdir(at('data', 'assets', 'incoming'), { recursive: true })
    await writeFile(at('data', 'assets', 'incoming', 'half'), 'half of an upl')
    let isWriting = true
    const acknowledged = [0, 0, 0, 0]
    const writers = acknowledged.map(async (_, writer) => {
      while (isWriting) {
        const next = (acknowledged[writer] ?? 0) + 1
        const reply = await post('/tasks', { title: `${writer} ${next}`, status: 'x'.repeat(500) })
        expect(reply.status).toBe(201)
        acknowledged[writer] = next
      }
    })
    while (Math.min(...acknowledged) < 50) await new Promise((resolve) => setTimeout(resolve, 5))
    const before = [...acknowledged]
    const end = await quoinCommand(['backup', at('copy')], { QUOIN_DATA: at('data') })
    const after = [...acknowledged]
    isWriting = false
    await Promise.all(writers)
    const key = at('data', 'secrets.key')
    expect(end).toMatchObject({
      code: 0,
      complained: '',
      printed: expect.stringContaining(`${key}, is not in the backup`),
    })
    expect(Math.min(...after.map((n, writer) => n - (before[writer] ?? 0)))).toBeGreaterThan(0)

    const restored = await quoinCommand(['restore', at('copy')], { QUOIN_DATA: at('restored') })
    const missing = `copy secrets.key of the former server into ${at('restored')}`
    expect(restored).toMatchObject({ code: 0, complained: '', printed: expect.stringContaining(missing) })
    const manifest = JSON.parse(await readFile(at('copy', 'manifest.json'), 'utf8'))
    expect(manifest.files.map((file: { path: string }) => file.path)).toEqual(['assets/ab/photo', 'quoin.db'])
    for (const { path, sha256: sum, bytes } of manifest.files) {
      expect(await sha256(at('copy', path))).toBe(sum)
      expect(await sha256(at('restored', path))).toBe(sum)
      expect((await stat(at('restored', path))).size).toBe(bytes)
    }
    expect((await stat(at('copy', 'quoin.db'))).mode & 0o077).toBe(0)

    // Each writer wrote one after the other: at one moment there are all of its documents up to some number.
    await running.end('SIGTERM')
    const all = tasksIn(at('data'))
    const kept = tasksIn(at('restored'))
    expect(kept.size).toBeLessThan(all.size)
    for (const [guid, text] of kept) expect(all.get(guid)).toBe(text)
    for (const [writer, least] of before.entries()) {
      const numbers = [...kept.values()]
        .map((text) => String(JSON.parse(text).title).split(' ').map(Number))
        .filter(([who]) => who === writer)
        .map(([, number]) => number ?? 0)
        .sort((a, b) => a - b)
      expect(numbers).toEqual(numbers.map((_, place) => place + 1))
      expect(numbers.length).toBeGreaterThanOrEqual(least)
      expect(numbers.length).toBeLessThanOrEqual((after[writer] ?? 0) + 1)
    }

    running = await startProcess(at('restored'), { QUOIN_ADMIN_PASSWORD: 'not the one in the backup' })
    const tasks = await fetch(`${running.address}/api/v1/tasks?limit=3`)
    expect(await tasks.json()).toHaveLength(3)
  })

  test('keeps a restore out, also with --force', async () => {
    await quoinCommand(['backup', at('copy')], { QUOIN_DATA: at('data') })
    for (const words of [
      ['restore', at('copy')],
      ['restore', at('copy'), '--force'],
    ]) {
      const end = await quoinCommand(words, { QUOIN_DATA: at('data') })
      expect(end).toMatchObject({ code: 1, printed: '' })
    }
    expect((await post('/tasks', { title: 'still here' })).status).toBe(201)
    expect((await readdir(at('data'))).filter((name) => name.includes('restore'))).toEqual([])
  })
})

/** By guid, from the tables themselves: so that what is compared is what is stored. */
function tasksIn(data: string): Map<string, string> {
  const database = new DatabaseSync(join(data, 'quoin.db'))
  try {
    const row = database.prepare("SELECT id FROM storage WHERE name = 'tasks'").get()
    const columns = database.prepare(`SELECT * FROM doc_${row?.id}`).all()
    return new Map(columns.map(({ guid, doc }) => [String(guid), String(doc)]))
  } finally {
    database.close()
  }
}

describe('without a server', () => {
  let backedUp: string
  let former: string
  beforeAll(async () => {
    former = await mkdtemp(join(tmpdir(), 'quoin-test-'))
    backedUp = join(former, 'copy')
    const running = await startProcess(join(former, 'data'), { QUOIN_ADMIN_PASSWORD: adminPassword })
    await running.end('SIGTERM')
    await mkdir(join(former, 'data', 'assets'), { recursive: true })
    await writeFile(join(former, 'data', 'assets', 'a'), 'an asset')
    expect(await quoinCommand(['backup', backedUp], { QUOIN_DATA: join(former, 'data') })).toMatchObject({
      code: 0,
      complained: '',
    })
  })
  afterAll(() => rm(former, { recursive: true, force: true }))

  const restored = (...flags: string[]) =>
    quoinCommand(['restore', at('copy'), ...flags], { QUOIN_DATA: at('data') })

  async function copyBackup() {
    await mkdir(at('copy', 'assets'), { recursive: true })
    for (const name of ['manifest.json', 'quoin.db', 'assets/a'])
      await writeFile(at('copy', name), await readFile(join(backedUp, name)))
  }

  test('a backup replaces nothing and leaves nothing half done', async () => {
    const taken = await quoinCommand(['backup', backedUp], { QUOIN_DATA: join(former, 'data') })
    expect(taken).toMatchObject({ code: 1, complained: expect.stringContaining('exists already') })
    const none = await quoinCommand(['backup', at('copy')], { QUOIN_DATA: at('nothing') })
    expect(none).toMatchObject({ code: 1, complained: expect.stringContaining('cannot be copied') })
    expect(await readdir(directory)).toEqual([])
  })

  const manifestOf = async () => JSON.parse(await readFile(at('copy', 'manifest.json'), 'utf8'))
  const rewrite = async (change: (manifest: Awaited<ReturnType<typeof manifestOf>>) => void) => {
    const manifest = await manifestOf()
    change(manifest)
    await writeFile(at('copy', 'manifest.json'), JSON.stringify(manifest))
  }

  test.each([
    { what: 'a changed database', how: () => appendFile(at('copy', 'quoin.db'), 'x'), says: 'checksum' },
    { what: 'a changed asset', how: () => writeFile(at('copy', 'assets/a'), 'An asset'), says: 'checksum' },
    { what: 'a missing asset', how: () => rm(at('copy', 'assets/a')), says: 'assets/a' },
    { what: 'no manifest', how: () => rm(at('copy', 'manifest.json')), says: 'not a complete backup' },
    {
      what: 'a manifest without a database',
      how: () => rewrite((manifest) => manifest.files.pop()),
      says: 'contains no database',
    },
    ...['../evil', 'assets/../../evil', '/evil', 'assets//a', 'quoin.lock'].map((path) => ({
      what: `a manifest that names ${path}`,
      how: () => rewrite((manifest) => manifest.files.push({ ...manifest.files[0], path })),
      says: 'The manifest names',
    })),
  ])('$what is refused and changes nothing', async ({ how, says }) => {
    await copyBackup()
    await how()
    const end = await restored()
    expect(end).toMatchObject({ code: 1, printed: '', complained: expect.stringContaining(says) })
    const left = await readdir(at('data')).catch(() => [])
    expect(left.filter((name) => !name.startsWith('quoin.lock'))).toEqual([])
  })

  test('a directory that is not empty is refused; with --force what was there is put aside', async () => {
    await copyBackup()
    await mkdir(at('data', 'assets'), { recursive: true })
    await writeFile(at('data', 'quoin.db'), 'the former database')
    await writeFile(at('data', 'assets', 'old'), 'an old asset')
    await writeFile(at('data', 'secrets.key'), 'the key of this server')
    await mkdir(at('data', 'spaces', 'one'), { recursive: true })
    await writeFile(at('data', 'spaces', 'one', 'quoin.db'), 'of a space')
    const refused = await restored()
    expect(refused).toMatchObject({ code: 1, complained: expect.stringContaining('--force') })
    expect(await readFile(at('data', 'quoin.db'), 'utf8')).toBe('the former database')

    const end = await restored('--force')
    expect(end).toMatchObject({ code: 0, complained: '' })
    const aside = /are in (\S+)\.$/m.exec(end.printed)?.[1] ?? ''
    expect(await readFile(join(aside, 'quoin.db'), 'utf8')).toBe('the former database')
    expect(await readFile(join(aside, 'assets', 'old'), 'utf8')).toBe('an old asset')
    expect(await readFile(at('data', 'secrets.key'), 'utf8')).toBe('the key of this server')
    expect(await readFile(at('data', 'spaces', 'one', 'quoin.db'), 'utf8')).toBe('of a space')
    expect(await sha256(at('data', 'quoin.db'))).toBe(await sha256(join(backedUp, 'quoin.db')))
    expect(await readdir(at('data', 'assets'))).toEqual(['a'])
  })
})

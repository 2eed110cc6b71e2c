/** Backups that a server makes of itself: who may, what is refused, that they are true, and that half ones are never listed. */
import { appendFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { ThreadWork } from '../../src/records/backups/thread-work.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import {
  adminPassword,
  guidOf,
  objectOf,
  objectsOf,
  openTestQuoin,
  startProcess,
  type TestQuoin,
} from './harness.ts'

const root = '/_system/backups'
const invoices = '/_system/storages/invoices/documents'
const verbs = ['view', 'create', 'remove', 'download']

let quoin: TestQuoin
beforeAll(async () => {
  quoin = await openTestQuoin()
  for (const verb of verbs) await quoin.addUser(verb, [`backups_${verb}`])
  await quoin.addUser('without_scopes', ['settings_update'])
})
afterAll(() => quoin.close())

/** Calls the backups of a process as its administrator. */
async function signedIn(address: string) {
  const call = async (path: string, method: 'GET' | 'POST', init: RequestInit = {}) => {
    const reply = await fetch(`${address}/api/v1${path}`, { method, ...init })
    expect(reply.status).toBeLessThan(300)
    return objectOf(await reply.json())
  }
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ username: 'admin', password: adminPassword })
  const { access_token } = await call('/auth/signin', 'POST', { headers, body })
  const authorization = `Bearer ${access_token}`
  return (method: 'GET' | 'POST') => call(root, method, { headers: { authorization } })
}

/** With files whose copy takes a while. */
async function fillFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (let n = 0; n < 80; n += 1) await writeFile(join(folder, `${n}`), Buffer.alloc(4 * 1024 * 1024, n))
}

const state = async () => objectOf(await quoin.manage('GET', root))
const listed = async () => objectsOf((await state()).backups)
/** When nothing runs any more: how the last work ended. */
async function ended(): Promise<JsonObject> {
  await expect.poll(async () => (await state()).running, { timeout: 60_000, interval: 20 }).toBe(null)
  return objectOf((await state()).last)
}
async function made(): Promise<string> {
  // Names are seconds, and what comes before and behind may make one, too.
  quoin.advance(1_000)
  const name = String(objectOf(await quoin.manage('POST', root)).name)
  expect(await ended()).toMatchObject({ work: 'make', name, outcome: 'done', message: '' })
  quoin.advance(1_000)
  return name
}

test.each([
  ['GET', '', 'view'],
  ['POST', '', 'create'],
  ['POST', '/some/check', 'create'],
  ['POST', '/some/restore', 'create'],
  ['DELETE', '/running', 'remove'],
  ['DELETE', '/some', 'remove'],
  ['DELETE', '/restored/some', 'remove'],
  ['GET', '/some/download', 'download'],
] as const)('%s %s needs a token and the scope to %s', async (method, path, verb) => {
  expect((await quoin.send(method, `${root}${path}`)).status).toBe(401)
  for (const as of ['without_scopes', ...verbs.filter((one) => one !== verb)])
    expect((await quoin.send(method, `${root}${path}`, { as })).status).toBe(403)
})

function onPostgres(): void {
  test('the state says what to do instead, and nothing is made', async () => {
    expect(await state()).toMatchObject({
      ...{ available: false, backups: [], running: null, folder: '' },
      instead: expect.stringContaining('pg_dump'),
    })
    const reply = await quoin.send('POST', root, { as: 'admin' })
    expect([reply.status, reply.text]).toEqual([409, expect.stringContaining('pg_dump')])
  })
}

function embedded(): void {
  const folder = () => join(quoin.directory, 'backups')
  const remove = (name: string) => quoin.manage('DELETE', `${root}/${name}`)
  afterEach(async () => {
    await rm(folder(), { recursive: true, force: true })
  })

  test.each([
    '..',
    '../..',
    '..%2F..%2Fdata',
    '20260131T034500Z-hand%2F..%2F..',
    '/etc',
    '20260131T034500Z-hand',
    '20260131T034500Z-hand.partial',
    '20260131T034500Z-hand%00',
    'restored',
    '.',
  ])('%s is no backup: 404, and nothing is read or deleted', async (name) => {
    await mkdir(join(folder(), 'restored'), { recursive: true })
    await mkdir(join(folder(), '20260131T034500Z-hand.partial'), { recursive: true })
    for (const [method, path] of [
      ['DELETE', ''],
      ['POST', '/check'],
      ['POST', '/restore'],
      ['GET', '/download'],
    ] as const)
      expect((await quoin.send(method, `${root}/${encodeURI(name)}${path}`, { as: 'admin' })).status).toBe(
        404,
      )
    expect((await quoin.send('DELETE', `${root}/restored/${encodeURI(name)}`, { as: 'admin' })).status).toBe(
      404,
    )
    expect((await readdir(folder())).sort()).toEqual(['20260131T034500Z-hand.partial', 'restored'])
    expect(await readdir(quoin.directory)).toContain('quoin.db')
    expect((await state()).running).toBe(null)
  })

  test('a backup has what was acknowledged before, and is restored beside the running database', async () => {
    await quoin.quoin.database.ensure('notes', { indexes: [] })
    const session = quoin.quoin.database.session()
    for (let n = 0; n < 500; n += 1) await session.create('notes', setFields({ n, text: 'x'.repeat(2_000) }))
    await session.transaction.commit()
    await quoin.manage('POST', '/_system/storages', { name: 'invoices' })
    await quoin.manage('POST', '/blueprintfields', {
      name: 'number',
      type: 'autonumber',
      storage: 'invoices',
    })
    const invoice = guidOf(await quoin.manage('POST', invoices, {}))
    await quoin.manage('DELETE', `${invoices}/${invoice}?hard=true`)
    await mkdir(join(quoin.directory, 'assets', 'ab'), { recursive: true })
    await writeFile(join(quoin.directory, 'assets', 'ab', 'photo'), 'a picture')
    const name = await made()
    expect(await listed()).toMatchObject([{ name, kind: 'hand', files: 2, checked: null }])
    expect(Number(objectOf((await listed())[0]).bytes)).toBeGreaterThan(1_000_000)

    const before = await quoin.documents('notes')
    const restored = String(objectOf(await quoin.manage('POST', `${root}/${name}/restore`)).folder)
    expect(await ended()).toMatchObject({ work: 'restore', outcome: 'done', message: restored })
    expect(restored.startsWith(join(folder(), 'restored'))).toBe(true)
    expect(await quoin.documents('notes')).toEqual(before)

    const copy = await startProcess(restored)
    const own = restored.slice(join(folder(), 'restored/').length)
    expect((await state()).restored).toMatchObject([{ name: own, backup: name }])
    try {
      const used = await quoin.send('DELETE', `${root}/restored/${own}`, { as: 'remove' })
      expect([used.status, used.text]).toEqual([409, expect.stringContaining('A server runs on the copy')])
      const call = async (method: string, path: string, token: string, body?: JsonObject) => {
        const reply = await fetch(`${copy.address}/api/v1${path}`, {
          method,
          headers: {
            ...(token !== '' && { authorization: `Bearer ${token}` }),
            ...(body && { 'content-type': 'application/json' }),
          },
          ...(body && { body: JSON.stringify(body) }),
        })
        const answer: JsonValue = await reply.json()
        return isJsonObject(answer) ? answer : {}
      }
      const { access_token } = await call('POST', '/auth/signin', '', {
        username: 'admin',
        password: adminPassword,
      })
      expect(access_token).toEqual(expect.any(String))
      // A number of a document that was deleted is not given again by the copy.
      expect(await call('POST', invoices, String(access_token), {})).toMatchObject({ number: 2 })
    } finally {
      await copy.end('SIGTERM')
    }
    expect(await readdir(join(restored, 'assets', 'ab'))).toEqual(['photo'])
    await mkdir(join(folder(), 'restored', 'mine'))
    const removed = await quoin.send('DELETE', `${root}/restored/${own}`, { as: 'remove' })
    expect([removed.status, objectOf(removed.body).restored]).toEqual([200, []])
    expect(await readdir(join(folder(), 'restored'))).toEqual(['mine'])
    expect((await quoin.send('DELETE', `${root}/restored/mine`, { as: 'admin' })).status).toBe(404)
    expect((await listed()).map((one) => one.name)).toEqual([name])
    const audited = await quoin.manage('POST', '/_system/auditlogs', { filters: { name: `restored/${own}` } })
    expect(objectsOf(audited)).toMatchObject([{ category: 'backups', action: 'deleted' }])
  })

  test('a download is all of a backup, which cannot be deleted meanwhile; one that is cut gives its place back', async () => {
    // More than what sockets hold, so that one who does not read holds a download up.
    const large = join(quoin.directory, 'assets', 'large')
    await mkdir(large, { recursive: true })
    for (let n = 0; n < 10; n += 1) await writeFile(join(large, `${n}`), Buffer.alloc(4 * 1024 * 1024, n))
    const name = await made()
    const token = await quoin.tokenOf('download')
    const address = await quoin.quoin.server.listen()
    const get = (signal?: AbortSignal) =>
      fetch(`${address}/api/v1${root}/${name}/download`, {
        headers: { authorization: `Bearer ${token}` },
        ...(signal && { signal }),
      })
    const cuts = [new AbortController(), new AbortController()]
    const held = await Promise.all(cuts.map(({ signal }) => get(signal)))
    expect(held.map(({ status }) => status)).toEqual([200, 200])
    expect(held[0]?.headers.get('content-disposition')).toBe(`attachment; filename="quoin-${name}.tar"`)
    const third = await get()
    expect([third.status, await third.text()]).toEqual([409, expect.stringContaining('Wait for one of them')])
    const refused = await quoin.send('DELETE', `${root}/${name}`, { as: 'remove' })
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('being downloaded')])
    for (const cut of cuts) cut.abort()
    let file = Buffer.alloc(0)
    const whole = async () => {
      const reply = await get()
      const body = Buffer.from(await reply.arrayBuffer())
      if (reply.status === 200) file = body
      return reply.status
    }
    await expect.poll(whole, { timeout: 20_000 }).toBe(200)
    expect(file.length).toBeGreaterThan(Number(objectOf((await listed())[0]).bytes))
    expect(file.toString('latin1', 0, name.length + 9)).toBe(`${name}/quoin.db`)
    await expect
      .poll(async () => (await quoin.send('DELETE', `${root}/${name}`, { as: 'remove' })).status)
      .toBe(200)
    await rm(large, { recursive: true })
  })

  test('a check finds a changed file, and a backup with one is not restored', async () => {
    const name = await made()
    await quoin.manage('POST', `${root}/${name}/check`)
    expect(await ended()).toMatchObject({ work: 'check', outcome: 'done' })
    expect(await listed()).toMatchObject([{ checked: { problem: '' } }])
    await appendFile(join(folder(), name, 'quoin.db'), 'x')
    await quoin.manage('POST', `${root}/${name}/check`)
    expect(await ended()).toMatchObject({ outcome: 'failed', message: expect.stringContaining('quoin.db') })
    expect(await listed()).toMatchObject([{ checked: { problem: expect.stringContaining('checksum') } }])
    await quoin.manage('POST', `${root}/${name}/restore`)
    expect(await ended()).toMatchObject({ work: 'restore', outcome: 'failed' })
    expect(await readdir(join(folder(), 'restored'))).toEqual([])
    const failures = (await quoin.systemLog()).filter(({ message }) =>
      String(message).includes('A backup could not'),
    )
    expect(failures.length).toBe(2)
  })

  test('one at a time: a second one is refused, and a cancelled one leaves nothing', async () => {
    const replies = await Promise.all([1, 2, 3].map(() => quoin.send('POST', root, { as: 'create' })))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    const cancelled = await quoin.send('DELETE', `${root}/running`, { as: 'remove' })
    expect([cancelled.status, objectOf(cancelled.body).running]).toEqual([200, null])
    expect(objectOf(objectOf(cancelled.body).last).outcome).toBe('cancelled')
    expect(await listed()).toEqual([])
    expect((await readdir(folder()).catch(() => [])).filter((name) => name !== 'restored')).toEqual([])
    quoin.advance(1_000)
    expect(await listed()).toEqual([])
    await made()
  })

  test('one that is cancelled in the middle leaves nothing on the disk', async () => {
    const assets = join(quoin.directory, 'assets', 'large')
    await fillFolder(assets)
    quoin.advance(1_000)
    await quoin.manage('POST', root)
    const done = async () => Number(objectOf((await state()).running).done)
    await expect.poll(done, { timeout: 60_000, interval: 5 }).toBeGreaterThan(0)
    expect((await readdir(folder())).filter((name) => name.endsWith('.partial')).length).toBe(1)
    expect(await listed()).toEqual([])
    await quoin.manage('DELETE', `${root}/running`)
    expect(objectOf((await state()).last).outcome).toBe('cancelled')
    expect(await readdir(folder())).toEqual([])
    await rm(assets, { recursive: true })
  })

  test('it is removed for those who may, and each change is audited', async () => {
    const name = await made()
    await remove(name)
    expect([await listed(), await readdir(folder())]).toEqual([[], []])
    expect((await quoin.send('DELETE', `${root}/${name}`, { as: 'remove' })).status).toBe(404)
    const found = objectsOf(
      await quoin.manage('POST', '/_system/auditlogs', { filters: { category: 'backups', name } }),
    )
    expect(found.map(({ action }) => action).sort()).toEqual(['created', 'deleted'])
  })

  test('20 made by hand are kept, and the next is refused', async () => {
    for (let n = 10; n < 30; n += 1) {
      const copy = join(folder(), `202601${n}T000000Z-hand`)
      await mkdir(copy, { recursive: true })
      const made = new Date(0).toISOString()
      await writeFile(join(copy, 'summary.json'), JSON.stringify({ quoin: '1', made, files: 1, bytes: 1 }))
    }
    const reply = await quoin.send('POST', root, { as: 'admin' })
    expect([reply.status, reply.text]).toEqual([409, expect.stringContaining('Remove one')])
    expect((await listed()).length).toBe(20)
  })

  test('kill -9 in the middle: the next start sweeps what was begun, and makes a whole one', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
    const backups = join(directory, 'backups')
    const large = join(directory, 'assets', 'large')
    const settings = { QUOIN_ADMIN_PASSWORD: adminPassword, QUOIN_EXAMPLES: '0' }
    let node = await startProcess(directory, settings)
    try {
      await fillFolder(large)
      const killed = await signedIn(node.address)
      await killed('POST')
      const done = async () => Number(objectOf((await killed('GET')).running).done)
      await expect.poll(done, { timeout: 60_000, interval: 2 }).toBeGreaterThan(0)
      await node.end('SIGKILL')
      expect(await readdir(backups)).toEqual([expect.stringMatching(/\.partial$/)])
      node = await startProcess(directory, settings)
      expect(await readdir(backups)).toEqual([])
      const next = await signedIn(node.address)
      expect(await next('GET')).toMatchObject({ backups: [], running: null })
      await rm(large, { recursive: true })
      await next('POST')
      await expect.poll(async () => (await next('GET')).running, { timeout: 60_000 }).toBe(null)
      expect(objectOf((await next('GET')).last).outcome).toBe('done')
    } finally {
      await node.end('SIGKILL')
      await rm(directory, { recursive: true, force: true })
    }
  })

  test('what a killed process has left is swept at the next start, and never listed', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
    const half = join(directory, 'backups', '20260131T034500Z-hand.partial')
    const other = join(directory, 'backups', 'mine.partial')
    for (const one of [half, other, join(directory, 'backups', 'restored', 'a.partial')]) {
      await mkdir(one, { recursive: true })
      await writeFile(join(one, 'quoin.db'), 'half')
    }
    const node = await startProcess(directory)
    try {
      // What is not ours by its name stays.
      expect((await readdir(join(directory, 'backups'))).sort()).toEqual(['mine.partial', 'restored'])
      expect(await readdir(join(directory, 'backups', 'restored'))).toEqual([])
    } finally {
      await node.end('SIGKILL')
      await rm(directory, { recursive: true, force: true })
    }
  })
}

describe('backups', inject('engine') === 'postgres' ? onPostgres : embedded)

test('work whose half folder cannot be removed either ends all the same, and other work may begin', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quoin-'))
  await writeFile(join(folder, 'file'), '')
  const failed: string[] = []
  const work = new ThreadWork(Date.now, (message) => void failed.push(message))
  const input = { kind: 'restore', folder, target: join(folder, 'file', 'in') } as const
  for (const name of ['one', 'two']) {
    await work.begin(
      name,
      async () => input,
      async (problem) => problem ?? '',
    )
    await expect.poll(() => work.running, { timeout: 30_000, interval: 20 }).toBeUndefined()
    expect(work.last).toMatchObject({ name, outcome: 'failed' })
  }
  expect(failed).toHaveLength(2)
  await rm(folder, { recursive: true })
})

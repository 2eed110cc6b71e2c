import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Backups, openBackups } from '../records/backups/backups.ts'
import { lockDirectory } from '../storage/sqlite/core/sqlite-connection.ts'
import { backupSchedule } from './open-servers.ts'

const HOUR = 3_600_000
const start = Date.parse('2026-03-02T12:00:00Z')

let data: string
let now: number
let backups: Backups
const failures: string[] = []

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const database = new DatabaseSync(join(data, 'quoin.db'))
  database.exec('CREATE TABLE note (text TEXT)')
  database.close()
  now = start
  await open()
})
afterEach(async () => {
  await backups.close()
  await rm(data, { recursive: true, force: true })
})

async function open(): Promise<void> {
  backups = await openBackups({
    ...{ data, folder: join(data, 'backups'), version: '1.2.3', lock: lockDirectory, clock: () => now },
    failed: (message) => failures.push(message),
  })
}

function schedule(cron: string, keep = 2) {
  const { look } = backupSchedule(
    backups,
    () => ({ cron, keep, timeZone: 'UTC' }),
    () => now,
  )
  return async () => {
    const begun = await look()
    await expect.poll(() => backups.running(), { interval: 5, timeout: 60_000 }).toBe(undefined)
    return begun
  }
}
const names = async () => (await backups.list()).map(({ name }) => name)

test('without a pattern none is made', async () => {
  expect([await schedule('')(), await names()]).toEqual([false, []])
})

test('the first is made at once, and the next at its time: the newest are kept', async () => {
  const look = schedule('30 3 * * *')
  expect([await look(), await look()]).toEqual([true, false])
  const made: string[] = await names()
  for (const day of [1, 2, 3]) {
    now = start + day * 24 * HOUR - 9 * HOUR
    expect(await look()).toBe(false)
    now = start + day * 24 * HOUR - 8 * HOUR
    expect([await look(), await look()]).toEqual([true, false])
    made.unshift((await names())[0] ?? '')
  }
  expect(made[0]).toBe('20260305T040000Z-schedule')
  expect(await names()).toEqual(made.slice(0, 2))
})

test('several that were missed are made up for by one, and one made by hand is not counted or deleted', async () => {
  await schedule('0 * * * *', 1)()
  now += 10 * HOUR
  await backups.make('hand')
  await expect.poll(() => backups.running(), { interval: 5, timeout: 60_000 }).toBe(undefined)
  await backups.close()
  await open()
  now += 1_000
  const look = schedule('0 * * * *', 1)
  expect([await look(), await look()]).toEqual([true, false])
  expect(await names()).toEqual(['20260302T220001Z-schedule', '20260302T220000Z-hand'])
})

test('one of a clock that was ahead neither stops the next ones nor takes their place', async () => {
  const look = schedule('0 * * * *', 2)
  now = start + 90 * 24 * HOUR
  expect(await look()).toBe(true)
  now = start
  expect([await look(), await look()]).toEqual([true, false])
  now += HOUR
  expect([await look(), await look()]).toEqual([true, false])
  expect(await names()).toEqual(['20260302T130000Z-schedule', '20260302T120000Z-schedule'])
})

test('one that fails is tried again at its next time', async () => {
  await rm(join(data, 'quoin.db'))
  const look = schedule('0 * * * *')
  expect([await look(), await look(), await names()]).toEqual([true, false, []])
  expect(backups.last()).toMatchObject({
    outcome: 'failed',
    message: expect.stringContaining('cannot be copied'),
  })
  now += HOUR
  expect(await look()).toBe(true)
})

test('of downloads that are asked for at the same time two are accepted, and each has its place until it is closed', async () => {
  await schedule('0 * * * *')()
  const [name = ''] = await names()
  const found = await Promise.allSettled(Array.from({ length: 5 }, () => backups.download(name)))
  const accepted = found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  expect(accepted).toHaveLength(2)
  await expect(backups.remove(name)).rejects.toThrow('is being downloaded')
  // Neither of them is read.
  for (const one of accepted) await once(one.destroy(), 'close')
  const [first, second] = [await backups.download(name), await backups.download(name)]
  const pieces = await first.toArray()
  await expect(backups.download(name)).resolves.toHaveProperty('destroyed', false)
  await expect(backups.remove(name)).rejects.toThrow('is being downloaded')
  expect(Buffer.concat(pieces).toString('latin1', 0, name.length + 9)).toBe(`${name}/quoin.db`)
  second.destroy()
})

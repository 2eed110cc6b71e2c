/** A process that reads beside the one that writes sees what was committed, whatever it has kept from before. */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { setFields } from '../../../shared/mutation.ts'
import { matchAll, type Query, search } from '../../../shared/query.ts'
import { type Database, documentOf, type Origin, type Session } from '../../database.ts'
import { guidOf } from '../../document-fields.ts'
import { transact } from '../../transact.ts'
import { openSqliteDatabase } from '../core/sqlite-database.ts'
import { openReaderDatabase } from './reader-database.ts'

let directory: string
let writer: Database
let reader: Database
let refused: Origin[] = []

const following = {
  cluster: {
    self: 'reader',
    alive: () => true,
    tell: async () => undefined,
    send: async () => undefined,
    nodes: async () => [],
  },
  watch: () => () => undefined,
  version: () => 0,
}

async function open(shared: boolean): Promise<void> {
  writer = await openSqliteDatabase({
    directory,
    clock: Date.now,
    random: randomFillSync,
    entity: 1,
    synchronous: 'OFF',
    shared,
  })
  await writer.ensure('things')
  refused = []
  reader = openReaderDatabase({
    directory,
    following,
    refused: (origin) => void refused.push(origin),
  })
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  await open(true)
})
afterEach(async () => {
  await reader.close()
  await writer.close()
  await rm(directory, { recursive: true, force: true })
})

const create = (fields: Parameters<typeof setFields>[0], name = 'things') =>
  transact(writer, async (session) => guidOf(documentOf(await session.create(name, setFields(fields)))))

const tagged = (value: string): Query => ({ kind: 'term', field: 'tag', value })

async function look(session: Session, query: Query, name = 'things') {
  const found = await session.find(name, search({ query, limit: 3 }))
  return [found.documents.text, found.length, found.next(), await session.count(name, query)]
}

describe('writing', () => {
  test.each([
    ['create', (session: Session) => session.create('things', setFields({ n: 1 }))],
    ['update', (session: Session) => session.update('things', 'g', setFields({ n: 1 }))],
    ['remove', (session: Session) => session.setRemoved('things', 'g', true)],
    ['restore', (session: Session) => session.setRemoved('things', 'g', false)],
    ['delete', (session: Session) => session.delete('things', 'g')],
    [
      'enqueue',
      (session: Session) => session.enqueue({ queue: 'q', kind: 'function', title: 't', payload: {} }),
    ],
  ])('%s is refused, and told on whose behalf', async (_what, write) => {
    const session = reader.session({ run: 'a-run' })
    expect(refused).toEqual([])
    expect(() => write(session)).toThrow('only reads')
    expect(refused).toEqual([{ run: 'a-run' }])
    expect(await writer.session().count('things', matchAll)).toBe(0)
  })

  test('storages are neither made nor dropped', async () => {
    await expect(reader.ensure('others')).rejects.toMatchObject({ code: 'INTERNAL' })
    await expect(reader.drop('things')).rejects.toThrow('only reads')
    expect([writer.has('others'), writer.has('things'), reader.has('things')]).toEqual([false, true, true])
    await expect(reader.ensure('things')).resolves.toBeUndefined()
  })
})

describe('reading', () => {
  test('what is not committed is not there', async () => {
    const session = writer.session()
    await session.create('things', setFields({ tag: 'a' }))
    expect(await reader.session().count('things', matchAll)).toBe(0)
    await session.transaction.commit()
    expect(await reader.session().count('things', matchAll)).toBe(1)
  })

  test('a kept result is given again while nothing is written to its storage, and no longer', async () => {
    await writer.ensure('others')
    await create({ tag: 'a' })
    const find = () => reader.session().find('things', search({ query: tagged('a') }))
    const first = await find()
    await create({ tag: 'a' }, 'others')
    expect(await find()).toBe(first)
    await create({ tag: 'a' })
    expect((await find()).length).toBe(2)
  })

  test('a list where there were only texts is found too', async () => {
    await create({ tag: 'a' })
    expect(await reader.session().count('things', tagged('a'))).toBe(1)
    await create({ tag: ['a', 'b'] })
    expect(await reader.session().count('things', tagged('a'))).toBe(2)
  })

  test('a storage that was dropped is gone; a new one of the same name does not have its documents', async () => {
    const guid = await create({ tag: 'a' })
    expect(await reader.session().get('things', guid)).toBeDefined()
    expect(await reader.session().count('things', matchAll)).toBe(1)
    await writer.drop('things')
    expect(() => reader.session().get('things', guid)).toThrow('no storage named')
    expect(() => reader.session().count('things', matchAll)).toThrow('no storage named')
    await writer.ensure('things')
    expect(await reader.session().get('things', guid)).toBeUndefined()
    expect(await reader.session().count('things', matchAll)).toBe(0)
  })

  test('free text is found without its index, while it is built, and with it', async () => {
    await create({ tag: 'blue sky' })
    const query: Query = { kind: 'simple_query_string', fields: [], text: 'sky' }
    expect(await reader.session().count('things', query)).toBe(1)
    await writer.ensure('things', { text: true })
    expect(await reader.session().count('things', query)).toBe(1)
    await create({ tag: 'grey sky' })
    expect(await reader.session().count('things', query)).toBe(2)
  })
})

interface Step {
  readonly kind: 'look' | 'create' | 'change' | 'remove'
  readonly n: number
  /** Whether it writes a list where there was a text. */
  readonly list: boolean
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('look', 'look', 'create', 'change', 'remove'),
  n: fc.nat(20),
  list: fc.boolean(),
})

/** Gives the first place where the reader gave something else than the writer; undefined if there is none. */
async function firstDifference(steps: readonly Step[], name: string): Promise<number | undefined> {
  await writer.ensure(name)
  const guids: string[] = []
  for (const [place, one] of steps.entries()) {
    const guid = guids[one.n % Math.max(1, guids.length)]
    const tag = `t${one.n % 3}`
    if (one.kind === 'create') guids.push(await create({ tag }, name))
    else if (one.kind === 'look') {
      const query = tagged(tag)
      const [seen, true_] = [
        await look(reader.session(), query, name),
        await look(writer.session(), query, name),
      ]
      if (JSON.stringify(seen) !== JSON.stringify(true_)) return place
    } else if (guid !== undefined)
      await transact(writer, async (session) => {
        if (one.kind === 'remove') await session.setRemoved(name, guid, true)
        else await session.update(name, guid, setFields({ tag: one.list ? [tag] : tag }))
      })
  }
  return undefined
}

describe('writes and searches in any order', () => {
  const runs = fc.array(step, { minLength: 4, maxLength: 40 })
  let storages = 0

  test('the reader gives what the writer gives', async () => {
    await fc.assert(
      fc.asyncProperty(runs, async (steps) => {
        expect(await firstDifference(steps, `s_${++storages}`)).toBeUndefined()
      }),
      { numRuns: 100 },
    )
  })

  test('control: without the versions of the writer it would not', async () => {
    await reader.close()
    await writer.close()
    await open(false)
    const found = await fc.check(
      fc.asyncProperty(
        runs,
        async (steps) => (await firstDifference(steps, `s_${++storages}`)) === undefined,
      ),
      { numRuns: 1_000, endOnFailure: true },
    )
    expect(found.failed).toBe(true)
  })
})

test('a read version changes with each commit of the writer, and when a storage is made again under its name', async () => {
  const version = () => reader.capabilities.readVersions?.of('things')()
  expect(version()).toBeUndefined()
  await reader.session().count('things', matchAll)
  const seen = [version()]
  for (let write = 0; write < 3; write++) {
    await create({ n: write })
    // Its documents may have another shape now, of which this process knows when it has read it.
    await reader.session().count('things', matchAll)
    seen.push(version())
  }
  expect(version()).toBe(seen.at(-1))
  await writer.drop('things')
  expect(version()).toBeUndefined()
  await writer.ensure('things')
  await reader.session().count('things', matchAll)
  seen.push(version())
  expect(new Set(seen)).toHaveProperty('size', 5)
  expect(seen).not.toContain(undefined)
})

/** Real databases, copied while they are open as a killed process leaves them, and then damaged byte by byte. */
import { hash } from 'node:crypto'
import {
  copyFile,
  mkdir,
  mkdtemp,
  open as openFile,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { create, failure, set } from '../../../../test/conformance/expectations.ts'
import { matchAll, search } from '../../../shared/query.ts'
import { transact } from '../../transact.ts'
import { rolledBack } from '../../unit-of-work.ts'
import { checkFiles } from './check-files.ts'
import { SqliteDatabase } from './sqlite-database.ts'
import { openSqliteParts, type SqliteOptions } from './sqlite-parts.ts'

const DOCUMENTS = 40
const PAGE = 4096
const FRAME = PAGE + 24

let parent: string
/** As a killed process leaves it: everything is in the log. */
let killed: string
/** The same after an orderly end: no log. */
let closed: string
let root: number

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  closed = join(parent, 'closed')
  const { parts, database } = await open(closed)
  await database.ensure('things')
  const text = 'x'.repeat(2_000)
  for (let n = 0; n < DOCUMENTS; n++) await create(database, 'things', { n, text })
  killed = join(parent, 'killed')
  await copy(closed, killed)
  root = Number(
    parts.writer.connection.get("SELECT rootpage FROM sqlite_schema WHERE name = 'doc_1'")?.rootpage,
  )
  await database.close()
})
afterAll(() => rm(parent, { recursive: true }))

async function open(directory: string, options: Partial<SqliteOptions> = {}) {
  const random = (bytes: Uint8Array<ArrayBuffer>) => void crypto.getRandomValues(bytes)
  const clock = () => Date.UTC(2026, 0, 31)
  const parts = await openSqliteParts({ directory, clock, random, entity: 1, synchronous: 'OFF', ...options })
  return { parts, database: new SqliteDatabase(parts) }
}

async function copy(from: string, to: string): Promise<void> {
  await mkdir(to)
  for (const name of await readdir(from)) await copyFile(join(from, name), join(to, name))
}

let copies = 0
async function copied(from: string): Promise<string> {
  copies += 1
  const directory = join(parent, `copy-${copies}`)
  await copy(from, directory)
  return directory
}

async function flip(path: string, at: number): Promise<void> {
  const file = await openFile(path, 'r+')
  const byte = Buffer.alloc(1)
  await file.read(byte, 0, 1, at)
  byte[0] = (byte[0] ?? 0) ^ 0xff
  await file.write(byte, 0, 1, at)
  await file.close()
}

async function contents(directory: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  // The lock is a database of its own.
  for (const entry of await readdir(directory, { withFileTypes: true }))
    if (entry.isFile() && !entry.name.startsWith('quoin.lock'))
      found.set(entry.name, hash('sha256', await readFile(join(directory, entry.name))))
  return found
}

const sizeOf = async (directory: string, name: string) => (await stat(join(directory, name))).size
const frames = async (directory: string) =>
  Math.floor(((await sizeOf(directory, 'quoin.db-wal')) - 32) / FRAME)

interface Damage {
  readonly of: () => string
  readonly make: (directory: string) => Promise<void>
  readonly says: string
  /** What is left where the loss is accepted; undefined: it cannot be. */
  readonly left?: (documents: number) => boolean
}

const refused: [string, Damage][] = [
  [
    'a byte in the middle of the log',
    {
      of: () => killed,
      make: async (directory) =>
        flip(join(directory, 'quoin.db-wal'), 32 + Math.floor((await frames(directory)) / 2) * FRAME + 500),
      says: 'quoin.db-wal is damaged at frame',
      left: (documents) => documents > 0 && documents < DOCUMENTS,
    },
  ],
  [
    'a checksum in the middle of the log',
    {
      of: () => killed,
      make: async (directory) =>
        flip(join(directory, 'quoin.db-wal'), 32 + Math.floor((await frames(directory)) / 2) * FRAME + 20),
      says: 'quoin.db-wal is damaged at frame',
      left: (documents) => documents > 0 && documents < DOCUMENTS,
    },
  ],
  [
    'the header of the log',
    {
      of: () => killed,
      make: (directory) => flip(join(directory, 'quoin.db-wal'), 18),
      says: 'quoin.db-wal has a damaged header',
      left: () => true,
    },
  ],
  [
    'an empty database beside its log',
    {
      of: () => killed,
      make: (directory) => truncate(join(directory, 'quoin.db'), 0),
      says: 'quoin.db is missing or empty, and its log',
      left: (documents) => documents === 0,
    },
  ],
  [
    'no database beside its log',
    {
      of: () => killed,
      make: (directory) => rm(join(directory, 'quoin.db')),
      says: 'quoin.db is missing or empty, and its log',
      left: (documents) => documents === 0,
    },
  ],
  [
    'an empty database beside uploaded files',
    {
      of: () => closed,
      make: async (directory) => {
        await truncate(join(directory, 'quoin.db'), 0)
        await mkdir(join(directory, 'assets', 'ab'), { recursive: true })
        await writeFile(join(directory, 'assets', 'ab', 'cd'), 'a file')
      },
      says: 'quoin.db is missing or empty, and the folder assets holds uploaded files',
      left: (documents) => documents === 0,
    },
  ],
  [
    'the first bytes of the database',
    {
      of: () => closed,
      make: (directory) => flip(join(directory, 'quoin.db'), 3),
      says: 'is no SQLite database',
    },
  ],
  [
    'half a database',
    {
      of: () => closed,
      make: async (directory) =>
        truncate(
          join(directory, 'quoin.db'),
          PAGE * Math.floor((await sizeOf(directory, 'quoin.db')) / PAGE / 2),
        ),
      says: 'quoin.db is cut off: it holds',
    },
  ],
]

describe.each(refused)('%s', (_, { of, make, says, left }) => {
  test('is refused: the file, what to do, and nothing is changed', async () => {
    const directory = await copied(of())
    await make(directory)
    const before = await contents(directory)
    const error = await failure('UNAVAILABLE', () => open(directory))
    expect(error.message).toContain(`${directory}/quoin.db`)
    expect(error.message).toContain(says)
    if (says.includes('cut off')) {
      const pages = (await sizeOf(directory, 'quoin.db')) / PAGE
      expect(error.message).toContain(`it holds ${pages} pages, and page ${pages + 1} is neither`)
    }
    expect(error.message).toContain('quoin restore <folder> --force')
    expect(error.message.includes('QUOIN_ACCEPT_LOSS=1')).toBe(left !== undefined)
    expect(await contents(directory)).toEqual(before)
  })

  test('the loss is accepted only where something can be opened, and what would be overwritten is kept', async () => {
    const directory = await copied(of())
    await make(directory)
    const log = await readFile(join(directory, 'quoin.db-wal')).catch(() => undefined)
    const notices: string[] = []
    const opening = { acceptLoss: true, notice: (message: string) => void notices.push(message) }
    if (!left) {
      await failure('UNAVAILABLE', () => open(directory, opening))
      return
    }
    const { database } = await open(directory, opening)
    expect(notices).toEqual([expect.stringContaining('because QUOIN_ACCEPT_LOSS is 1')])
    if (log) expect(await readFile(join(directory, 'quoin.db-wal.damaged-20260131T000000Z'))).toEqual(log)
    await database.ensure('things')
    expect(left(await database.session().count('things', matchAll))).toBe(true)
    await database.close()
  })
})

const taken: [string, () => string, (directory: string) => Promise<void>, number, string?][] = [
  ['what a killed process left', () => killed, async () => undefined, DOCUMENTS],
  ['what was closed', () => closed, async () => undefined, DOCUMENTS],
  [
    'a log whose end is torn: the last transaction is the one that was not acknowledged',
    () => killed,
    async (directory) =>
      truncate(join(directory, 'quoin.db-wal'), (await sizeOf(directory, 'quoin.db-wal')) - 100),
    DOCUMENTS - 1,
  ],
  [
    'a log whose last transaction is torn in its middle',
    () => killed,
    async (directory) =>
      flip(join(directory, 'quoin.db-wal'), 32 + ((await frames(directory)) - 1) * FRAME + 30),
    DOCUMENTS - 1,
  ],
  ['an empty database without anything', () => parent, async () => undefined, 0],
]

test.each(taken)('%s is opened without a word', async (_, of, make, documents) => {
  const from = of()
  const directory = from === parent ? join(parent, 'new') : await copied(from)
  if (from === parent) {
    await mkdir(join(directory, 'assets'), { recursive: true })
    await writeFile(join(directory, 'quoin.db'), '')
  }
  await make(directory)
  const notices: string[] = []
  const { database } = await open(directory, { notice: (message) => void notices.push(message) })
  await database.ensure('things')
  expect([database.session().count('things', matchAll), notices]).toEqual([documents, []])
  await database.close()
})

test('a log that was removed is told of: what it held is lost already', async () => {
  const directory = await copied(killed)
  await rm(join(directory, 'quoin.db-wal'))
  expect(checkFiles({ directory, acceptLoss: false, now: 0 })).toContain('quoin.db-wal is missing although')
})

test('no log that a process left is taken for a damaged one: commits, rollbacks, and logs begun again over older ones', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('commit' as const), size: fc.integer({ min: 1, max: 30_000 }) }),
    fc.record({ kind: fc.constant('rollback' as const), size: fc.integer({ min: 1, max: 200_000 }) }),
    fc.record({ kind: fc.constant('checkpoint' as const), size: fc.constant(0) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      copies += 1
      const directory = join(parent, `grown-${copies}`)
      const { parts, database } = await open(directory)
      await database.ensure('things')
      // Pages of open transactions go to the log early.
      parts.writer.connection.exec('PRAGMA cache_size = 10')
      let committed = 0
      for (const { kind, size } of steps) {
        if (kind === 'checkpoint') parts.writer.connection.exec('PRAGMA wal_checkpoint(RESTART)')
        else if (kind === 'commit') {
          await create(database, 'things', { text: 'c'.repeat(size) })
          committed += 1
        } else
          await transact(database, async (session) => {
            for (let n = 0; n < 5; n++) await session.create('things', set({ text: 'r'.repeat(size / 5) }))
            throw rolledBack()
          }).catch(() => undefined)
      }
      const left = await copied(directory)
      await database.close()
      expect(checkFiles({ directory: left, acceptLoss: false, now: 0 })).toBeUndefined()
      const again = await open(left)
      expect(again.database.session().count('things', matchAll)).toBe(committed)
      await again.database.close()
    }),
    { numRuns: 12 },
  )
})

describe('damage that is met later', () => {
  test('is 503, the node is told which file and what to do, and nothing more is written', async () => {
    const directory = await copied(closed)
    await flip(join(directory, 'quoin.db'), (root - 1) * PAGE)
    const notices: [string, boolean][] = []
    const { database } = await open(directory, { notice: (...input) => void notices.push(input) })
    expect(notices).toEqual([])
    const list = async () => (await database.session().find('things', search({ limit: 10 }))).documents.value
    const error = await failure('UNAVAILABLE', list)
    expect(error.message).not.toContain(directory)
    expect(notices).toEqual([
      [expect.stringContaining(`${directory}/quoin.db is damaged: SQLite says "`), true],
    ])
    expect(notices[0]?.[0]).toContain('quoin restore <folder> --force')
    const before = await contents(directory)
    await failure('UNAVAILABLE', () => create(database, 'things', { n: 1 }))
    await failure('UNAVAILABLE', () => database.ensure('others'))
    expect(await contents(directory)).toEqual(before)
    await failure('UNAVAILABLE', list)
    expect(notices).toHaveLength(1)
    await database.close()
  })

  test('at the start it is a refusal with the file and what to do', async () => {
    const directory = await copied(closed)
    await flip(join(directory, 'quoin.db'), 100)
    const error = await failure('UNAVAILABLE', () => open(directory))
    expect(error.message).toContain(`${directory}/quoin.db is damaged and cannot be opened: SQLite says "`)
    expect(error.message).toContain('quoin restore <folder> --force')
  })
})

import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { failure } from '../../../../test/conformance/expectations.ts'
import type { QuoinError } from '../../../shared/errors.ts'
import { parseBody, splitDocument } from '../../document-session.ts'
import { uniqueValues } from '../../unique/active-unique-key.ts'
import { SqliteDatabase } from './sqlite-database.ts'
import { openSqliteParts, type SqliteParts } from './sqlite-parts.ts'

const script = fileURLToPath(new URL('../../../../test/storage-process.ts', import.meta.url))

let directory: string
const children = new Set<ChildProcess>()

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
})

afterEach(async () => {
  for (const child of children) await end(child)
  children.clear()
  await rm(directory, { recursive: true })
})

interface Running {
  readonly child: ChildProcess
  /** What it has said, and is still saying. */
  readonly lines: string[]
  /** Resolves when there is a line that starts so. */
  said(start: string): Promise<string>
  /** Resolves when it has ended and everything is read. */
  readonly ended: Promise<void>
}

/** `blocks`: the largest file it may write, in units of the shell's `ulimit -f`. */
function run(mode: string, blocks?: number): Running {
  const command = blocks === undefined ? 'exec "$@"' : `ulimit -f ${blocks}; exec "$@"`
  const child = spawn('sh', ['-c', command, 'sh', process.execPath, script, directory, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.add(child)
  const lines: string[] = []
  const reader = createInterface({ input: child.stdout })
  reader.on('line', (line) => lines.push(line))
  const ended = once(reader, 'close').then(() => undefined)
  return {
    child,
    lines,
    ended,
    async said(start) {
      for (;;) {
        const line = lines.find((known) => known.startsWith(start))
        if (line !== undefined) return line
        await Promise.race([
          once(reader, 'line'),
          ended.then(() => Promise.reject(new Error(`never said ${start}`))),
        ])
      }
    },
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

function open(): Promise<SqliteParts> {
  return openSqliteParts({
    directory,
    clock: Date.now,
    random: () => undefined,
    entity: 1,
    synchronous: 'OFF',
  })
}

/** Lets the process write for a moment, ends it, and gives what it has acknowledged. */
async function crash(mode: string): Promise<string[]> {
  const running = run(mode)
  await running.said('+')
  await wait(randomInt(0, 60))
  await end(running.child)
  await running.ended
  return acknowledged(running.lines)
}

function acknowledged(lines: readonly string[]): string[] {
  return lines.filter((line) => /^\+ \S{36} \S{36}$/.test(line)).flatMap((line) => line.split(' ').slice(1))
}

/** Opens what was left and gives which acknowledged documents are not in it. It must be sound in itself. */
async function lost(guids: readonly string[]): Promise<string[]> {
  const parts = await open()
  const database = new SqliteDatabase(parts)
  try {
    const { connection } = parts.writer
    expect(connection.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
    connection.exec("INSERT INTO text_1 (text_1) VALUES ('integrity-check')")
    const halves = connection.all(
      `SELECT doc ->> '$.pair' AS pair FROM doc_1 GROUP BY pair HAVING count(*) <> 2`,
    )
    expect(halves).toEqual([])
    const session = database.session()
    const words = { kind: 'simple_query_string', fields: [], text: 'words' } as const
    expect(await session.count('pairs', words)).toBe(await session.count('pairs', { kind: 'all' }))
    return guids.filter((guid) => session.get('pairs', guid) === undefined)
  } finally {
    await database.close()
  }
}

/** Rows of the unique key that are not those of the present documents, and rows that are missing. */
async function outOfStep(): Promise<string[]> {
  const parts = await open()
  try {
    const { connection } = parts.writer
    expect(connection.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
    const { table, unique } = parts.catalogue.entry('keyed')
    expect(unique).toMatchObject([{ id: 1, isReady: true }])
    const requested = connection.all(`SELECT doc FROM ${table} WHERE removed = 0`).flatMap(({ doc }) => {
      const { meta, body } = splitDocument(String(doc))
      return uniqueValues(unique, parseBody(body)).map(({ value }) => `${meta.guid} ${value}`)
    })
    const found = connection
      .all(`SELECT guid, value, slot FROM unique_1`)
      .map(({ guid, value, slot }) => `${guid} ${value}${slot}`)
    const [rows, documents] = [new Set(found), new Set(requested)]
    return [...found.filter((one) => !documents.has(one)), ...requested.filter((one) => !rows.has(one))]
  } finally {
    await parts.close()
  }
}

describe('a process that is ended with kill -9 while it writes', () => {
  test('has lost nothing that it acknowledged, and left no half of a transaction', async () => {
    const all: string[] = []
    for (let round = 0; round < 5; round++) {
      const guids = await crash('acknowledge')
      expect(guids.length).toBeGreaterThan(0)
      all.push(...guids)
      expect(await lost(all)).toEqual([])
    }
  })

  test('control: acknowledging before the commit is found out', async () => {
    let missing = 0
    for (let round = 0; round < 20 && missing === 0; round++)
      missing = (await lost(await crash('acknowledge-early'))).length
    expect(missing).toBeGreaterThan(0)
  })

  test('has left the values of unique keys in step with the documents', async () => {
    for (let round = 0; round < 4; round++) {
      expect((await crash('unique')).length).toBeGreaterThan(0)
      expect(await outOfStep()).toEqual([])
    }
  })

  test('control: a value without its document, and a document without its value, are found', async () => {
    await crash('unique')
    const spoil = async (sql: string) => {
      const parts = await open()
      parts.writer.connection.run(sql)
      await parts.close()
      return (await outOfStep()).length
    }
    expect(await spoil(`INSERT INTO unique_1 (value, slot, guid) VALUES ('x', '', '0')`)).toBe(1)
    expect(await spoil(`DELETE FROM unique_1 WHERE guid = (SELECT max(guid) FROM unique_1)`)).toBe(2)
  })

  test('has left no lock', async () => {
    const running = run('hold')
    await running.said('open')
    const error: QuoinError = await failure('UNAVAILABLE', open)
    expect(error.message).toContain(directory)
    const second = run('open')
    expect(await second.said('-')).toContain(`- UNAVAILABLE The directory ${directory} is in use`)
    await end(running.child)
    await (await open()).close()
  })
})

describe('a disk that fails in the middle of a commit', () => {
  // A limit on the size of files makes the operating system refuse the write that COMMIT does.
  test('keeps exactly what was acknowledged, and the process goes on reading', async () => {
    const running = run('fill', 12_000)
    await running.ended
    const guids = acknowledged(running.lines)
    expect(running.lines.filter((line) => line.startsWith('-'))).toEqual(Array(3).fill('- UNAVAILABLE'))
    expect(guids.length).toBeGreaterThan(10)
    expect(running.lines.at(-1)).toBe(`= ${guids.length}`)
    expect(await lost(guids)).toEqual([])
    const parts = await open()
    expect(parts.reader.get('SELECT count(*) AS n FROM doc_1')).toEqual({ n: guids.length })
    await parts.close()
  })
})

/** The command as it is typed: what it refuses, prints and hides. What it does is in src/storage/copy and test/end-to-end. */
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type CopyFixture, openCopyFixture } from '../../../test/copy-fixture.ts'
import { postgresPort } from '../../../test/postgres/shared-postgres.ts'
import { quoinCommand } from '../../../test/recording-terminal.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../test/temporary-database.ts'
import { setFields } from '../../shared/mutation.ts'
import { openPostgresPool } from '../../storage/postgres/core/postgres-connection.ts'
import { transact } from '../../storage/transact.ts'
import type { Terminal } from '../command.ts'
import { bar, progressDisplay } from './run-migrate.ts'

let fixture: CopyFixture
let temporary: TemporaryDatabase
/** The database's address with a password, which the server of the tests does not look at. */
let url: string

beforeEach(async () => {
  fixture = await openCopyFixture()
  temporary = await openTemporaryDatabase()
  url = temporary.url.replace('quoin@', 'quoin:s3cret-word@')
  await fixture.fill(async (database) => {
    await database.ensure('notes')
    await database.ensure('empty')
    await transact(database, (session) => session.create('notes', setFields({ title: 'first' })))
  })
})
afterEach(async () => {
  await temporary.drop()
  await fixture.close()
})

const migrated = (words: readonly string[] = ['--from', fixture.directory, '--to', url], more = {}) =>
  quoinCommand(['migrate', ...words], more)

async function sql(statement: string): Promise<void> {
  const pool = openPostgresPool({ url: temporary.url, connections: 2, pooled: false })
  await pool.run(statement).finally(() => pool.close())
}

describe('refused', () => {
  test.each([
    { words: ['here'], code: 2, says: 'Unexpected argument: here.' },
    { words: [], code: 2, says: 'Name the database: --to or DATABASE_URL.' },
    { words: ['--to', ''], code: 2, says: 'Name the database' },
    { words: ['--to'], code: 2, says: 'Option --to needs a value: --to <url>.' },
    { words: ['--to', 'mysql://ann:s3cret-word@host/db'], code: 2, says: '--to must be postgres://' },
    { words: ['--to', 'postgres://ann:s3cret-word@host'], code: 2, says: '--to must be postgres://' },
    { words: ['--to', 'ann:s3cret-word'], code: 2, says: '--to must be postgres://' },
  ])('migrate $words is a line and exit code $code', async ({ words, code, says }) => {
    const end = await migrated(words)
    expect(end).toMatchObject({ code, printed: '' })
    expect(end.complained).toContain(says)
    expect(end.complained).not.toContain('s3cret-word')
    expect(end.complained.split('\n')).toHaveLength(1)
  })

  test.each([
    {
      what: 'no server answers',
      at: async () => 'postgres://ann:s3cret-word@127.0.0.1:9/db',
      names: '127.0.0.1:9/db',
    },
    {
      what: 'there is no such database',
      at: async () => `postgres://quoin:s3cret-word@127.0.0.1:${await postgresPort()}/nowhere`,
      names: '/nowhere',
    },
  ])('where $what: the place is named, the password is not', async ({ at, names }) => {
    const end = await migrated(['--from', fixture.directory, '--to', await at()])
    expect(end).toMatchObject({ code: 1, printed: '' })
    expect(end.complained).toMatch(/^PostgreSQL at .* cannot be used: .*run the same command again/)
    expect(end.complained).toContain(names)
    expect(end.complained).not.toContain('s3cret')
  })

  test('a folder that a server uses, or that is none', async () => {
    const source = await fixture.source()
    const used = await migrated()
    source.close()
    expect(used).toMatchObject({ code: 1, printed: '' })
    expect(used.complained).toContain('is in use by another Quoin process')
    const none = await migrated(['--from', join(fixture.directory, 'none'), '--to', url])
    expect(none).toMatchObject({ code: 1, complained: expect.stringContaining('There is no Quoin data in') })
    expect(await readdir(fixture.directory)).not.toContain('none')
  })

  test('a second time', async () => {
    expect(await migrated()).toMatchObject({ code: 0 })
    const end = await migrated()
    expect(end).toMatchObject({ code: 1, printed: '' })
    expect(end.complained).toMatch(/was finished .*nothing is copied again/)
  })
})

describe('done', () => {
  test('a line for each part, then both sides, then what comes next', async () => {
    const { code, printed, complained } = await migrated()
    expect({ code, complained }).toEqual({ code: 0, complained: '' })
    expect(printed.replaceAll(/\b[0-9a-f]{12}\b/g, '<sha>').split('\n')).toEqual([
      'notes: 1 copied',
      'empty: 0 copied',
      '(jobs): 0 copied',
      '(queues): 0 copied',
      '(counters): 0 copied',
      'notes: 1 compared',
      'empty: 0 compared',
      '(jobs): 0 compared',
      '(queues): 0 compared',
      '(counters): 0 compared',
      'Storage             Rows  SHA-256',
      'notes                  1  <sha>  equal',
      'empty                  0  <sha>  equal',
      '(jobs)                 0  <sha>  equal',
      '(queues)               0  <sha>  equal',
      '(counters)             0  <sha>  equal',
      '',
      'Files: nothing was ever uploaded.',
      `Done: ${new URL(url).host}${new URL(url).pathname} contains everything of ${fixture.directory}. Start the nodes with DATABASE_URL, and no server on the folder.`,
    ])
  })

  test('from QUOIN_DATA to DATABASE_URL; files that stay are counted', async () => {
    await fixture.fill(async (database) => {
      await database.ensure('_assets')
      const fields = { name: 'a.txt', size: 3, sha256: 'ab'.repeat(32), file: 'ab'.repeat(32) }
      await transact(database, (session) => session.create('_assets', setFields(fields)))
    })
    const end = await migrated([], { QUOIN_DATA: fixture.directory, DATABASE_URL: url })
    expect(end).toMatchObject({ code: 0, complained: '' })
    expect(end.printed).toContain('QUOIN_ASSETS_URL is not set, so 1 uploaded file (3 bytes) stay in')
    expect(end.printed).not.toContain('s3cret')
  })

  test('but with a difference: exit code 1, and both sides of what differs', async () => {
    await migrated()
    await sql('UPDATE copied_from SET finished = NULL')
    await sql(`CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN NEW.doc := replace(NEW.doc::text, 'first', 'other')::json; RETURN NEW; END $$`)
    await sql('CREATE TRIGGER meddle BEFORE INSERT ON doc_1 FOR EACH ROW EXECUTE FUNCTION meddle()')
    await sql('DELETE FROM doc_1')
    const end = await migrated()
    expect(end.code).toBe(1)
    expect(end.complained).toMatch(/^Not equal: notes\. /)
    expect(end.printed).toMatch(/^notes .*in the folder: DIFFERENT\n .*in PostgreSQL$/m)
    expect(end.printed).not.toContain('Done')
  })
})

describe('a bar', () => {
  const at = { step: 'copying', title: 'tasks', finished: undefined } as const
  test.each([
    { done: 0, total: 10, drawn: 'copying   [........................]   0 %  0 of 10  tasks' },
    {
      done: 5000,
      total: 10_000,
      drawn: 'copying   [############............]  50 %  5,000 of 10,000  tasks',
    },
    { done: 10, total: 10, drawn: 'copying   [########################] 100 %  10 of 10  tasks' },
    { done: 0, total: 0, drawn: 'copying   [########################] 100 %  0 of 0  tasks' },
    // Rows that only the other side has are counted too.
    { done: 12, total: 10, drawn: 'copying   [########################] 100 %  12 of 10  tasks' },
  ])('at $done of $total', ({ done, total, drawn }) => {
    expect(bar({ ...at, done, total })).toBe(drawn)
  })

  test('is drawn on a screen, at most 20 times a second, and taken away; no lines then', () => {
    const drawn: string[] = []
    let now = 0
    const terminal: Terminal = {
      options: () => {
        throw new Error('No settings are needed.')
      },
      print: (text) => void drawn.push(`line ${text}`),
      complain: () => undefined,
      announce: () => undefined,
      redraw: (line) => void drawn.push(line),
      readLine: async () => '',
      readSecret: async () => '',
      clock: () => now,
      random: () => undefined,
    }
    const display = progressDisplay(terminal)
    for (now = 0; now < 100; now += 10) display.show({ ...at, done: now, total: 100, finished: now })
    display.end()
    expect(drawn).toEqual([bar({ ...at, done: 0, total: 100 }), bar({ ...at, done: 50, total: 100 }), ''])
  })
})

test.each([
  { words: ['backup', 'copied'], tool: 'pg_dump' },
  { words: ['restore', 'copied'], tool: 'pg_restore' },
])(
  '$words is for the embedded engine: refused with DATABASE_URL, and does nothing',
  async ({ words, tool }) => {
    const [command = '', name = ''] = words
    const folder = join(fixture.directory, 'backups', name)
    await mkdir(join(fixture.directory, 'backups'))
    await writeFile(join(fixture.directory, 'backups', 'other'), '')
    const end = await quoinCommand([command, folder], { QUOIN_DATA: fixture.directory, DATABASE_URL: url })
    expect(end).toMatchObject({ code: 1, printed: '' })
    expect(end.complained).toMatch(new RegExp(`^${command} is for the embedded engine; .*use ${tool}`))
    expect(end.complained).not.toContain('s3cret')
    expect(await readdir(join(fixture.directory, 'backups'))).toEqual(['other'])
  },
)

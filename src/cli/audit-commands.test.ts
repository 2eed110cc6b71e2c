/** quoin audit verify and export: on the data directory while no server runs, and over HTTP while one does. */
import { existsSync } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CommandFixture, openCommandFixture, places } from '../../test/command-fixture.ts'
import { quoinCommand } from '../../test/recording-terminal.ts'
import { chained, entryOf, hashOf } from '../records/audit-chain-proof.ts'
import type { AuditedChange } from '../records/audit-log.ts'
import type { JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { matchAll, type Query, type SortKey } from '../shared/query.ts'
import { documentOf, type Session } from '../storage/database.ts'
import { guidOf, textIn } from '../storage/document-fields.ts'
import { findAll } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'

const { auditChain } = systemStorages
const placed: Query = { kind: 'range', field: 'place', bounds: { gte: 1 } }
const newestFirst: readonly SortKey[] = [{ field: 'place', order: 'desc', missing: 'last' }]
const thing: AuditedChange = {
  ...{ category: 'things', action: 'created', guid: '', name: 'Many' },
  ...{ before: undefined, after: { text: 'x'.repeat(500) } },
}
const before = (place: number): Query => ({ kind: 'term', field: 'place', value: place - 1 })

describe.each(places)('%s', (where) => {
  let fixture: CommandFixture
  beforeAll(async () => {
    fixture = await openCommandFixture(where)
    await fixture.run(['user', 'create', 'auditor'])
  })
  afterAll(() => fixture.close())

  test('audit verify checks the whole audit log', async () => {
    const { code, printed, complained } = await fixture.run(['audit', 'verify'])
    expect({ code, printed, complained }).toEqual({
      complained: '',
      code: 0,
      printed: expect.stringMatching(
        /^[1-9]\d* records checked, 0 days signed, 0 days without a signature\.$/,
      ),
    })
    await fixture.inside(async ({ database }) => {
      const [entry] = await findAll(database.session(), systemStorages.auditChain, matchAll, 1)
      const guid = typeof entry?.record === 'string' ? guidOf(entry) : ''
      const wrong = setFields({ hash: 'other' })
      await transact(database, async (session) => session.update(systemStorages.auditChain, guid, wrong))
    })
    const found = await fixture.run(['audit', 'verify'])
    expect(found.code).toBe(1)
    expect(found.printed).toContain('changed\t')
    expect(found.complained).toMatch(/^The audit log is not as it was written: \d+ faults\.$/)
  })
})

describe.each(places)('an export %s', (where) => {
  let fixture: CommandFixture
  beforeAll(async () => {
    fixture = await openCommandFixture(where)
    await fixture.run(['user', 'create', 'auditor'])
    // More than a step of the export, and than a stream holds.
    await fixture.inside(({ database, documents }) =>
      transact(database, async (session) => {
        for (let count = 0; count < 300; count++) await documents.audit.record(session, thing)
      }),
    )
  })
  afterAll(() => fixture.close())

  const audit = (...words: string[]) => fixture.run(['audit', ...words])
  const exported = async (name: string, ...words: string[]) => {
    const file = fixture.file(name)
    const end = await audit('export', '--out', file, ...words)
    return { file, end, lines: (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '') }
  }
  const against = async (file: string) => {
    const { code, printed } = await audit('verify', '--against', file)
    return { code, faults: printed.split('\n').filter((line) => line.includes('\t')), printed }
  }
  /** Behind the back of the audit log, whose wall is down. */
  const tamper = (work: (session: Session, newest: JsonObject) => Promise<unknown>) =>
    fixture.inside(async ({ database, documents }) => {
      const { audit: log } = documents
      if ('close' in log && typeof log.close === 'function') log.close()
      await transact(database, async (session) => {
        const [newest = {}] = await findAll(session, auditChain, placed, 1, newestFirst)
        await work(session, newest)
      })
    })

  test('leaves no file, and ends, where it is refused or another one writes', async () => {
    const file = fixture.file('refused.ndjson')
    const words = ['audit', 'export', '--out', file, ...fixture.flags]
    const wrong = { ...fixture.environment, QUOIN_TOKEN: 'wrong', QUOIN_DATA: fixture.file('nothing') }
    const { code, complained } = await quoinCommand(words, wrong)
    expect([code, complained]).toEqual([1, expect.stringMatching(/token|sign|no Quoin data/i)])
    expect([existsSync(file), existsSync(`${file}.part`)]).toEqual([false, false])
    await writeFile(`${file}.part`, 'of another one')
    const second = await audit('export', '--out', file)
    expect([second.code, second.complained]).toEqual([2, expect.stringContaining('another export writes it')])
    expect([existsSync(file), await readFile(`${file}.part`, 'utf8')]).toEqual([false, 'of another one'])
  })

  // What is the same in both places is tried in one.
  if (where === 'over HTTP') {
    test.each([
      {
        name: 'a day that is none',
        words: ['export', '--from', '2026-02-30'],
        problem: '--from must be a day',
      },
      {
        ...{
          name: 'an end before its begin',
          words: ['export', '--from', '2026-02-02', '--to', '2026-02-01'],
        },
        problem: '--to must not be before --from.',
      },
      { name: 'no file', words: ['verify', '--against', '/nowhere/at/all'], problem: 'There is no file' },
    ])('refuses $name', async ({ words, problem }) => {
      const { code, complained } = await audit(...words)
      expect([code, complained]).toEqual([2, expect.stringContaining(problem)])
    })

    test('has all records of its days, replaces no file, and is compared with the log', async () => {
      const { file, end, lines } = await exported('all.ndjson')
      expect(end).toEqual({ code: 0, complained: '', printed: `${lines.length} records exported.` })
      expect((await stat(file)).mode & 0o777).toBe(0o600)
      expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ audit: { action: 'exported' } })
      const again = await audit('export', '--out', file)
      expect([again.code, again.complained]).toEqual([2, expect.stringContaining('exports replace none')])
      expect((await readFile(file, 'utf8')).split('\n')).toHaveLength(lines.length + 1)
      for (const [name, ...words] of [
        ['past.ndjson', '--to', '2020-01-01'],
        ['future.ndjson', '--from', '2999-01-01'],
      ] as const)
        expect((await exported(name, ...words)).lines).toEqual([])
      const both = await exported('both.ndjson', '--from', '2020-01-01', '--to', '2999-01-01')
      expect(both.lines.slice(0, lines.length)).toEqual(lines)
      const onScreen = await audit('export', '--from', '2020-01-01')
      expect(onScreen.printed.split('\n').slice(0, lines.length)).toEqual(lines)
      expect(await against(file)).toMatchObject({
        ...{ code: 0, faults: [] },
        printed: expect.stringContaining(`${lines.length} records compared with ${file}.`),
      })
      expect((await audit('verify', '--against', fixture.file('past.ndjson'))).complained).toContain(
        'has no record of an audit log',
      )
    })

    test('that was changed itself, or is none, is refused as a proof', async () => {
      const { lines } = await exported('before.ndjson')
      const changed = fixture.file('changed.ndjson')
      await writeFile(changed, lines.join('\n').replace('"auditor"', '"another"'))
      expect(await against(changed)).toMatchObject({ code: 1, faults: [expect.stringMatching(/^export\t/)] })
      await writeFile(changed, [...lines.slice(0, 1), ...lines.slice(2)].join('\n'))
      expect(await against(changed)).toMatchObject({ code: 1, faults: [expect.stringMatching(/^export\t/)] })
      await writeFile(changed, `${lines[0]}\n{"place":`)
      const { code, complained } = await audit('verify', '--against', changed)
      expect([code, complained]).toEqual([
        1,
        expect.stringContaining('its line 2 is not as exports write it'),
      ])
    })
  }

  test('names the newest record that was removed with its entry, and a chain that was made again', async () => {
    const { file } = await exported('newest.ndjson')
    let record = ''
    await tamper(async (session, newest) => {
      record = textIn(newest.record)
      await session.delete(systemStorages.auditLogs, record)
      await session.delete(auditChain, guidOf(newest))
    })
    // Nothing of the log itself shows it.
    expect((await audit('verify')).code).toBe(0)
    expect(await against(file)).toMatchObject({
      ...{ code: 1, faults: [expect.stringMatching(`^removed\t${record}\t`)] },
    })
    const { file: next } = await exported('next.ndjson')
    await tamper(async (session, newest) => {
      record = textIn(newest.record)
      await session.update(systemStorages.auditLogs, record, setFields({ name: 'another' }))
      const stored = await session.get(systemStorages.auditLogs, record, { removed: true })
      const entry = { ...entryOf(newest), hash: hashOf(stored ? documentOf(stored) : {}) }
      const [previous = {}] = await findAll(session, auditChain, before(entry.place), 1)
      const chain = chained(textIn(previous.chain), entry)
      await session.update(auditChain, guidOf(newest), setFields({ hash: entry.hash, chain }))
    })
    expect((await audit('verify')).code).toBe(0)
    expect((await against(next)).faults).toEqual([expect.stringMatching(`^changed\t${record}\t`)])
  })
})

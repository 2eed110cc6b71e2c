/** An import whose source ends in the middle, or whose server refuses: what is there then, and what the next one does. On both engines. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runImportFrom } from '../../src/cli/import-from/run-import-from.ts'
import type { SourceRow, SourceTable } from '../../src/cli/import-from/source.ts'
import { type ImportFixture, openImportFixture } from '../import-fixture.ts'
import { recordingTerminal } from '../recording-terminal.ts'

let fixture: ImportFixture
beforeAll(async () => {
  fixture = await openImportFixture()
})
afterAll(() => fixture.close())

const ROWS = 1_300

/** A tree: each row names one before it. `readings`: how many of each of its readings end after so many rows. */
function tree(storage: string, endings: readonly number[]): SourceTable {
  let reading = 0
  return {
    ...{ title: storage, storage, key: 'id', hasUniqueKey: true },
    fields: [
      { name: 'id', type: 'integer', unique: true },
      { name: 'parent', type: 'reference', refersTo: storage },
    ],
    async *rows() {
      const most = endings[reading] ?? ROWS
      reading += 1
      for (let id = 0; id < ROWS; id++) {
        if (id === most) throw new Error('The source has ended.')
        yield rowOf(id)
      }
    },
  }
}

function rowOf(id: number): SourceRow {
  const parent = id === 0 ? {} : { parent: String(Math.floor(id / 2)) }
  return { place: `id ${id}`, key: String(id), values: { id, ...parent }, problems: [] }
}

async function importTree(table: SourceTable) {
  const complained: string[] = []
  const printed: string[] = []
  const terminal = recordingTerminal({ QUOIN_TOKEN: await fixture.tokenOf('admin') }, { complained, printed })
  const open = async () => ({ tables: [table], unsaid: [], close: async () => undefined })
  const result = await runImportFrom({ yes: true, skip: false, url: fixture.url, open }, terminal).catch(
    (error: unknown) => (error instanceof Error ? error.message : error),
  )
  return { result, complained, last: printed.at(-1) }
}

/** Documents, and how many of them have the parent that they should have. */
async function tied(storage: string) {
  const documents = await fixture.documents(storage)
  const ids = new Map(documents.map((one) => [Object(one._meta).guid, one.id]))
  const right = documents.filter(
    ({ id, parent }) => parent !== undefined && ids.get(parent) === Math.floor(Number(id) / 2),
  )
  return [documents.length, right.length]
}

test('nothing is made while the source cannot be read to its end', async () => {
  expect(await importTree(tree('unread', [1_000]))).toMatchObject({
    result: 'The source has ended.',
    complained: [],
  })
  expect(await tied('unread')).toEqual([0, 0])
})

test('each next import goes on where the one before was, and ties what is not tied', async () => {
  const interrupted = ['The import was interrupted. Run the same command again: it goes on where it was.']
  // Read to check, then to make documents: whole batches of 500 are there. Rows name those of batches before theirs at once.
  const first = await importTree(tree('nodes', [ROWS, 1_100]))
  expect(first).toMatchObject({ result: 'The source has ended.', complained: interrupted })
  expect(await tied('nodes')).toEqual([1_000, 500])
  // Read to check, to make the others, and to tie them.
  const second = await importTree(tree('nodes', [ROWS, ROWS, 400]))
  expect(second).toMatchObject({ result: 'The source has ended.', complained: interrupted })
  expect(await tied('nodes')).toEqual([ROWS, 800])
  const third = await importTree(tree('nodes', []))
  expect(third).toEqual({
    result: 0,
    complained: [],
    last: 'nodes: 0 new, 499 changed, 801 the same, 0 left out.',
  })
  expect(await tied('nodes')).toEqual([ROWS, ROWS - 1])
  const fourth = await importTree(tree('nodes', []))
  expect(fourth.last).toBe('nodes: 0 new, 0 changed, 1300 the same, 0 left out.')
}, 60_000)

/** Documents of builders are opened on someone's behalf: the compiler refuses a context that does not say on whose. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, expectTypeOf, test } from 'vitest'
import { changeStored } from '../src/flows/background/change-stored.ts'
import { exportDocuments, exportSheet } from '../src/records/documents/document-export.ts'
import type { DocumentImports } from '../src/records/documents/document-import.ts'
import {
  createDocument,
  getDocument,
  removeDocument,
  restoreDocument,
  searchDocuments,
  updateDocument,
} from '../src/records/documents/documents.ts'
import { undoDoneImport } from '../src/records/documents/import-journal.ts'
import { addSampleDocuments } from '../src/records/documents/sample-documents.ts'
import { countDocuments, type PermittedContext, type StorageContext } from '../src/records/storage-records.ts'
import { matchAll, search } from '../src/shared/query.ts'
import { asSystem, type PermittedDatabase, type ValidatedDatabase } from '../src/storage/validated.ts'

test('documents cannot be opened without saying on whose behalf', () => {
  expectTypeOf<StorageContext>().not.toExtend<PermittedContext>()
  expectTypeOf<ValidatedDatabase>().not.toExtend<PermittedDatabase>()
  expectTypeOf<PermittedContext>().toExtend<StorageContext>()
  expectTypeOf(asSystem).returns.toExtend<PermittedDatabase>()
  expect(refused).toBeTypeOf('function')
})

/** Only the compiler reads it: each line below is an error, or the compiler says that `@ts-expect-error` is not needed. */
async function refused(context: StorageContext, imports: DocumentImports): Promise<void> {
  const place = { guid: '', document: '' }
  const by = { guid: '', username: '' }
  const { database } = context.records
  // @ts-expect-error
  await searchDocuments(context, '', search({}))
  // @ts-expect-error
  await getDocument(context, place)
  // @ts-expect-error
  await createDocument(context, '', {}, undefined, by)
  // @ts-expect-error
  await updateDocument(context, place, {}, undefined, by)
  // @ts-expect-error
  await removeDocument(context, place, true, by)
  // @ts-expect-error
  await restoreDocument(context, place, by)
  // @ts-expect-error
  await countDocuments(context, '')
  // @ts-expect-error
  await changeStored(context, '', { kind: 'remove', query: matchAll, mutations: [], inBackground: false }, by)
  // @ts-expect-error
  await exportDocuments(database, '')
  // @ts-expect-error
  await exportSheet(database, '', {}, { columns: { fields: [], references: [] }, count: 0 })
  // @ts-expect-error
  await addSampleDocuments(context, database, { storage: '', documents: [] }, by)
  // @ts-expect-error
  await undoDoneImport(database, database, { storage: '', id: '' }, {})
  // @ts-expect-error
  await imports.run('', (async function* () {})(), {}, { database })
}

/** Places in files of `src/http`, how many each, that open sessions without rules for records of Quoin's own, or for a user all the same. */
const OPEN: Readonly<Record<string, readonly [places: number, reason: string]>> = {
  'endpoints/endpoint-idempotency.ts': [2, 'keeps replies in a storage of its own'],
  'live/streamed-reply.ts': [1, 'hears what a run reads'],
  'pages/fill-page.ts': [1, 'asks the permissions of a storage what they refuse the visitor'],
  'pages/usable-page.ts': [1, 'asks the permissions of a storage what they refuse the visitor'],
  'pages/saved-forms.ts': [1, 'keeps forms in a storage of its own'],
  'routes/operate/backups.ts': [1, 'writes the audit log'],
  'routes/operate/logs.ts': [1, 'writes the audit log'],
  'routes/data/explain-request.ts': [1, 'reads blueprints'],
  'routes/data/documents-import.ts': [2, 'reads fields, and writes the audit log'],
  'routes/data/documents-transfer.ts': [2, 'the database is the one of the caller'],
  'routes/data/document-search.ts': [2, 'history of a document that the session of the caller has shown'],
  'routes/blueprints/blueprint-edits.ts': [1, 'reads blocks'],
  'routes/blueprints/blueprint-fields.ts': [2, 'reads fields, and the database is the one of the caller'],
}

const OPENS = /(?:\.session\(|\btransact(?:Again)?\(|\bhistory\.of\()/g

/** Of a record of Quoin's own, named in the same call. */
const OWN = /^\.session\(\)(?:,\s*|\s*\.\w+\(\s*)systemStorages\./

/** The lines of a file in which a session is opened, or history read, for documents that may be a builder's. */
function openedIn(text: string): string[] {
  return [...text.matchAll(OPENS)].flatMap(({ index }) => {
    const before = text.slice(Math.max(0, index - 80), index)
    const behind = text.slice(index, index + 160)
    const isPermitted = /permissions(?:\.session\([\w.]+)?$/.test(before)
    return isPermitted || OWN.test(behind) ? [] : [behind.split('\n')[0] ?? '']
  })
}

test('no request opens documents past the rules of their storage', () => {
  const root = join(import.meta.dirname, '../src/http')
  const files = globSync('**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  const opened = files.flatMap((file) => {
    const { length } = openedIn(readFileSync(join(root, file), 'utf8'))
    return length === 0 ? [] : [[file, length]]
  })
  // A place that is gone leaves the list too.
  expect(Object.fromEntries(opened)).toEqual(
    Object.fromEntries(Object.entries(OPEN).map(([file, [places]]) => [file, places])),
  )
})

test.each([
  'const found = await context.records.database.session().find(name, wanted)',
  'const session = records.database.session()\nreturn session.get(name, guid)',
  'await transact(context.records.database, (session) => session.find(name, wanted))',
  'return context.history.of(name, document, page)',
])('%s would be found', (line) => {
  expect(openedIn(line)).toHaveLength(1)
})

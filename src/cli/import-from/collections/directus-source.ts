/** A folder with a schema snapshot of Directus, and the items of each collection as JSON. */
import { dirname } from 'node:path'
import { isJsonObject, type JsonObject } from '../../../shared/json.ts'
import { objectsIn, textIn } from '../../../storage/document-fields.ts'
import { shownName } from '../fitting-names.ts'
import type { Source } from '../source.ts'
import { tableOfCollection } from './collection.ts'
import { directusCollections } from './directus-schema.ts'
import { kindsIn, readDocument, recordFolder, schemaFile } from './record-folder.ts'
import { DIRECTUS_FILES, directusFiles } from './stored-files.ts'

const names = ['snapshot', 'schema'].flatMap((name) => [`${name}.yaml`, `${name}.yml`, `${name}.json`])

export async function openDirectus(path: string): Promise<Source> {
  try {
    return await openSnapshot(path)
  } catch (error) {
    throw new Error(`${path} ${error instanceof Error ? error.message : String(error)}.`, { cause: error })
  }
}

async function openSnapshot(path: string): Promise<Source> {
  const schema = await schemaFile(path, names)
  const snapshot = snapshotIn(await readDocument(schema))
  const folder = await recordFolder(schema)
  const unsaid: string[] = []
  const titles = objectsIn(snapshot.collections).map(({ collection }) => textIn(collection))
  const kindsOf = await kindsIn(titles, folder)
  const file = await directusFiles(dirname(schema), folder)
  const planned = directusCollections(snapshot, {
    ...{ kindsOf, left: (line) => void unsaid.push(line), hasFiles: file !== undefined },
  })
  for (const { title } of planned)
    if (!folder.has(title))
      unsaid.push(`${shownName(title)} has no items here: there is no file ${shownName(`${title}.json`)}.`)
  unsaid.push(
    file
      ? 'Users, permissions, flows and dashboards are no part of a snapshot, and are not taken over.'
      : `Users, files, permissions, flows and dashboards are no part of a snapshot, and are not taken over. Files are, with ${DIRECTUS_FILES}.json and the folder uploads beside it.`,
  )
  return {
    tables: planned.map((one) =>
      tableOfCollection({ ...one, ...(file && { file }), items: () => folder.records(one.title) }),
    ),
    unsaid,
    close: async () => undefined,
  }
}

/** The file, or what the API replies. */
function snapshotIn(value: unknown): JsonObject {
  const inner = isJsonObject(value) && isJsonObject(value.data) ? value.data : value
  if (!isJsonObject(inner) || !Array.isArray(inner.collections) || !Array.isArray(inner.fields))
    throw new Error('is no schema snapshot of Directus')
  return inner
}

/**
 * Installs an example application. Piece by piece, and what is there already is left as it is: installing twice is
 * harmless, and a start that was cut off goes on with the next. Sample documents go only into a storage that never held
 * any, so that a deleted record does not come back.
 */

import type { Identity } from '../access/identity-cache.ts'
import { removeBlueprint } from '../flows/blueprints/blueprint-records.ts'
import { installBlueprint } from '../flows/blueprints/install-blueprint.ts'
import type { Quoin } from '../quoin/quoin.ts'
import { createField } from '../records/fields/field-records.ts'
import { createTemplate } from '../records/templates.ts'
import { evaluateDateMath, isDateMath } from '../shared/dates/date-math.ts'
import { QuoinError } from '../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { matchAll } from '../shared/query.ts'
import { createAll } from '../storage/create-all.ts'
import { guidOf, textIn } from '../storage/document-fields.ts'
import { findAll } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
import type { Example } from './example-files.ts'

/** The user who starts the program may do everything with its data; records name the command as the actor. */
const installer: Identity = {
  guid: '',
  username: 'quoin command',
  scopes: new Set(['*']),
  user: {},
  tokenGuid: '',
}
const by = { guid: installer.guid, username: installer.username }
const author = { ...by, mayScript: true }

/** `now`: milliseconds since 1970. Of nodes that start together one installs. */
export async function installExample(quoin: Quoin, example: Example, now: number): Promise<void> {
  await quoin.database.capabilities.alone('example', async () => {
    const { access, flows, database } = quoin
    for (const group of example.groups) await unlessThere(access.createGroup(group, installer))
    for (const field of example.fields) await unlessThere(createField(database, field, by))
    for (const { content, ...template } of example.templates)
      await unlessThere(createTemplate(database, { ...template, content: JSON.stringify(content) }, author))
    for (const blueprint of example.blueprints) await installOnce(flows, blueprint)
    for (const [name, documents] of example.documents) await fill(quoin, name, documents, now)
  })
}

async function unlessThere(made: Promise<unknown>): Promise<void> {
  try {
    await made
  } catch (error) {
    if (!(error instanceof QuoinError) || error.code !== 'CONFLICT') throw error
  }
}

/** A blueprint of the same name is not touched, even if it was changed or deactivated. */
async function installOnce(flows: Quoin['flows'], file: { readonly name: string }): Promise<void> {
  const named = () =>
    findAll(
      flows.records.database.session(),
      systemStorages.blueprints,
      { kind: 'term', field: 'name', value: file.name },
      100,
    )
  if ((await named()).length > 0) return
  try {
    await installBlueprint(flows, file, by)
  } catch (error) {
    // One that could not be switched on would be taken for installed by the next start.
    for (const half of await named()) await removeBlueprint(flows.records, guidOf(half), by)
    throw notInstalled(file.name, error)
  }
}

function notInstalled(name: string, error: unknown): unknown {
  if (!(error instanceof QuoinError)) return error
  return new QuoinError(error.code, `${name} cannot be installed: ${error.message}`, { cause: error })
}

async function fill(
  { database }: Quoin,
  name: string,
  documents: readonly JsonObject[],
  now: number,
): Promise<void> {
  await transact(
    database,
    async (session) => {
      if ((await session.count(name, matchAll, true)) > 0) return
      const requested = documents.map(({ _meta, ...fields }) => ({
        mutations: setFields(dated(fields, now)),
        options: isJsonObject(_meta) ? { guid: textIn(_meta.guid) } : {},
      }))
      const { refused } = await createAll(session, name, requested)
      if (refused) throw refused
    },
    { user: by },
  )
}

/** Dates relative to the day of the installation, such as now-3d, as days: samples are never out of date. */
function dated(fields: JsonObject, now: number): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, day(value, now)]))
}

function day(value: JsonValue, now: number): JsonValue {
  if (typeof value !== 'string' || !isDateMath(value)) return value
  const read = evaluateDateMath(value, now)
  return 'problem' in read ? value : new Date(read.milliseconds).toISOString().slice(0, 10)
}

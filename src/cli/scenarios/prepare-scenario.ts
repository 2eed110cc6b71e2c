/** Makes what a test begins with: values, secrets, connections, users and documents. */
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import { createAll } from '../../storage/create-all.ts'
import { textIn } from '../../storage/document-fields.ts'
import { transact } from '../../storage/transact.ts'
import { guidOf, recordsOf } from '../management.ts'
import type { ScenarioCluster } from './scenario-cluster.ts'
import type { Given } from './scenario-file.ts'
import type { ScenarioRequests } from './scenario-requests.ts'

export async function prepareScenario(
  cluster: ScenarioCluster,
  { manage, addUser }: ScenarioRequests,
  { users = [], documents = {}, env = {}, secrets = {}, connections = [] }: Given,
): Promise<void> {
  for (const [name, value] of Object.entries(env))
    await manage('POST', '/_system/environment', { name, value })
  for (const [name, value] of Object.entries(secrets))
    await manage('POST', '/_system/secrets', { name, value })
  for (const connection of connections) await manage('POST', '/_system/connections', connection)
  const known = recordsOf(await manage('POST', '/_system/authentication-groups/search', { limit: 1_000 }))
  for (const { username, groups = [], scopes = [], email } of users) {
    const guids = groups.map((name) => {
      const found = known.find((group) => group.name === name)
      if (!found)
        throw new Error(`The user ${username} is in the group ${name}, which the application does not have.`)
      return guidOf(found)
    })
    await addUser({ username, custom_scopes: scopes, groups: guids, ...(email !== undefined && { email }) })
  }
  for (const [storage, all] of Object.entries(documents)) await createDocuments(cluster, storage, all)
  await forgetEvents(cluster)
  await cluster.settle()
}

/** `_meta.guid` of a document says by what others refer to it. */
async function createDocuments(
  { quoin: { database } }: ScenarioCluster,
  storage: string,
  documents: readonly Readonly<Record<string, JsonValue>>[],
): Promise<void> {
  if (!database.has(storage)) throw new Error(`The application has no storage ${storage}.`)
  const wanted = documents.map(({ _meta, ...fields }) => ({
    mutations: setFields(fields),
    options: isJsonObject(_meta) ? { guid: textIn(_meta.guid) } : {},
  }))
  await transact(
    database,
    async (session) => {
      const { refused } = await createAll(session, storage, wanted)
      if (refused) throw new Error(`given.documents.${storage}: ${refused.message}`)
    },
    { user: { guid: '', username: 'test' } },
  )
}

/** What a test begins with has always been there: no flow hears of it. */
async function forgetEvents({ quoin }: ScenarioCluster): Promise<void> {
  const { jobs } = quoin.database.capabilities
  const query = { kind: 'term', field: 'type', value: 'event' } as const
  for (;;) {
    const { records } = await jobs.search(search({ query, limit: 1_000 }))
    if (records.length === 0) return
    for (const { guid } of records) await jobs.cancel(guid)
  }
}

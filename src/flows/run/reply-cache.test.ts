/** Replies kept while others write. */

import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bareRunServices } from '../../../test/bare-services.ts'
import { requestWith } from '../../../test/run-block.ts'
import { withoutRules } from '../../../test/test-database.ts'
import { loadBlocks } from '../../blocks/load-blocks.ts'
import type { Reply } from '../../blocks/reply.ts'
import { openRecords } from '../../records/records.ts'
import { isJsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll } from '../../shared/query.ts'
import type { Database } from '../../storage/database.ts'
import { referencesIn } from '../../storage/reference/references.ts'
import { openSqliteDatabase } from '../../storage/sqlite/core/sqlite-database.ts'
import { transact } from '../../storage/transact.ts'
import { keepsRules, type RawDatabase, type ValidatedDatabase } from '../../storage/validated.ts'
import { wrappedDatabase } from '../../storage/wrapped-session.ts'
import { installBlueprint } from '../blueprints/install-blueprint.ts'
import { type Flows, openFlows } from '../flows.ts'
import { runPipeline } from '../run-pipeline.ts'
import type { RunFlow } from './run-start.ts'

/** Replies with both storages, read one after the other. */
const blocks = {
  as: { type: 'storage', fields: { storage: 'as' } },
  bs: { type: 'storage', fields: { storage: 'bs' } },
  get: { type: 'on_startup_register_uri_get', in: { uri: 'both' }, scopes: ['*public'] },
  find_as: { type: 'function_search', in: { flow: '@get.flow', storage: '@as.storage', limit: 1000 } },
  find_bs: { type: 'function_search', in: { flow: '@find_as.flow', storage: '@bs.storage', limit: 1000 } },
  both: {
    type: 'object_new_fields',
    fields: { fields: ['as', 'bs'] },
    in: { as: '@find_as.documents', bs: '@find_bs.documents' },
  },
  reply: { type: 'httpconnection_set_json', in: { flow: '@find_bs.flow', value: '@both.object' } },
}

/** Replies with a value of the environment. */
const greetingAt = (uri: string) => ({
  get: { type: 'on_startup_register_uri_get', in: { uri }, scopes: ['*public'] },
  reply: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: '=env.GREETING' } },
})
const by = { guid: '', username: 'test' }

let directory: string
let database: RawDatabase
let flows: Flows
let blueprint: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const common = { directory, clock: Date.now, random: randomFillSync, entity: 1 }
  database = await openSqliteDatabase({ ...common, synchronous: 'OFF' })
  flows = await openFlows({
    ...bareRunServices,
    random: randomFillSync,
    records: await openRecords(withoutRules(database), Date.now),
    catalogue: await loadBlocks(),
    limits: { deadline: 5_000, budget: 100_000, depth: 8 },
    allowedHosts: () => [],
    reservedRoots: new Set(),
  })
  blueprint = await installBlueprint(flows, { name: 'Both', blocks }, by)
})
afterAll(async () => {
  await flows.close()
  await database.close()
  await rm(directory, { recursive: true, force: true })
})

function runsOn(reading: Pick<Database, 'session' | 'capabilities'>): RunFlow {
  // Nothing is written through it, so no rule is broken.
  const validated: ValidatedDatabase = {
    ...wrappedDatabase(database, { session: reading.session, capabilities: reading.capabilities }),
    [keepsRules]: true,
  }
  return runPipeline({
    environment: { ...flows.environment, database: validated },
    records: { ...flows.records, database: validated },
  }).run
}

const session: Database['session'] = (origin) => database.session(origin)

const storages = ['as', 'bs'] as const
type Counts = Readonly<Record<(typeof storages)[number], number>>

async function ask(run: RunFlow): Promise<Counts> {
  const endpoint = flows.live.table().blueprints.get(blueprint)?.compiled.endpoints[0]
  if (!endpoint) throw new Error('The endpoint is not there.')
  const request = requestWith({})
  const replies: Reply[] = []
  const onReply = (reply: Reply) => void replies.push(reply)
  await run({ flow: endpoint.flow, blueprint, input: endpoint.start(request), request, onReply })
  const value = JSON.parse(JSON.stringify(replies[0]?.value ?? null))
  if (!isJsonObject(value)) throw new Error('There was no reply.')
  return { as: lengthOf(value.as), bs: lengthOf(value.bs) }
}

const lengthOf = (value: unknown) => (Array.isArray(value) ? value.length : -1)

const add = (name: string) => transact(database, (session) => session.create(name, setFields({ n: 1 })))

async function committed(): Promise<Counts> {
  const looking = session()
  return { as: await looking.count('as', matchAll), bs: await looking.count('bs', matchAll) }
}

/** The number of the first request whose reply is not what was committed when it was asked for. */
async function firstWrong(run: RunFlow, writes: readonly (typeof storages)[number][][]) {
  for (const [place, names] of writes.entries()) {
    for (const name of names) await add(name)
    const [replied, there] = [await ask(run), await committed()]
    if (replied.as !== there.as || replied.bs !== there.bs) return place
  }
  return undefined
}

/** Before each request: none, or some. */
const writes = fc.array(fc.array(fc.constantFrom(...storages), { maxLength: 2 }), {
  minLength: 4,
  maxLength: 12,
})

test('whatever is written between requests, each reply is what a run replies', async () => {
  const run = runsOn({ session, capabilities: database.capabilities })
  await fc.assert(
    fc.asyncProperty(writes, async (all) => {
      expect(await firstWrong(run, all)).toBeUndefined()
    }),
    { numRuns: 50 },
  )
})

test('control: with versions that nothing raises some are not', async () => {
  const readVersions = { of: () => () => 'the same' }
  const blind = { session, capabilities: { ...database.capabilities, readVersions } }
  const found = await fc.check(
    fc.asyncProperty(writes, async (all) => (await firstWrong(runsOn(blind), all)) === undefined),
    { numRuns: 1_000, endOnFailure: true },
  )
  expect(found.failed).toBe(true)
})

test('nothing was written: the third request is not run, and the first behind a write is', async () => {
  let sessions = 0
  const counting: Database['session'] = (origin) => {
    sessions += 1
    return session(origin)
  }
  const run = runsOn({ session: counting, capabilities: database.capabilities })
  for (let round = 0; round < 2; round++) await ask(run)
  expect(sessions).toBe(2)
  expect(await ask(run)).toEqual(await committed())
  expect(sessions).toBe(2)
  await add('bs')
  expect(await ask(run)).toEqual(await committed())
  expect(sessions).toBe(3)
})

test.each(['a value of the environment', 'a field'])(
  '%s that changes during the run: the reply is not sent again',
  async (what) => {
    // Other objects after each change, as the environment and the rules of fields give them.
    let env = { GREETING: 'before' }
    let references = referencesIn([])
    const run = runPipeline({
      environment: {
        ...flows.environment,
        values: { ...flows.environment.values, env: () => env },
        references: () => references,
      },
      records: flows.records,
    }).run
    const change = () => {
      if (what === 'a field') references = referencesIn([])
      else env = { GREETING: 'after' }
    }
    const guid = await installBlueprint(
      flows,
      { name: what, blocks: greetingAt(what.replaceAll(' ', '-')) },
      by,
    )
    const endpoint = flows.live.table().blueprints.get(guid)?.compiled.endpoints[0]
    if (!endpoint) throw new Error('The endpoint is not there.')
    const request = requestWith({})
    const runs: string[] = []
    /** The run has read what it replies with, and has not ended. */
    const reply = async (replied: () => void = () => undefined) => {
      const values: unknown[] = []
      const input = endpoint.start(request)
      const onReply = ({ value }: Reply) => {
        values.push(JSON.parse(JSON.stringify(value)))
        replied()
      }
      const end = await run({ flow: endpoint.flow, blueprint: guid, input, request, onReply })
      runs.push(end.run)
      return values
    }
    expect(await reply()).toEqual(['before'])
    expect(await reply(change)).toEqual(['before'])
    expect(await reply()).toEqual([env.GREETING])
    expect(await reply()).toEqual([env.GREETING])
    // Only the last one was sent without a run: it is the one that was kept after the change.
    expect(runs.map((run) => run !== '')).toEqual([true, true, true, false])
  },
)

/** Runs that update, on a database that may have guessed what it updates: one that was wrong begins once more, as if it were the first. */

import { randomFillSync } from 'node:crypto'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { bareRunServices } from '../../../test/bare-services.ts'
import { requestWith } from '../../../test/run-block.ts'
import { openTestDatabase, type TestDatabase, withoutRules } from '../../../test/test-database.ts'
import { loadBlocks } from '../../blocks/load-blocks.ts'
import type { Reply } from '../../blocks/reply.ts'
import { openFieldRules } from '../../records/fields/field-rules.ts'
import { openRecords } from '../../records/records.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf, type Origin, type Session } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { transact } from '../../storage/transact.ts'
import { UnitConflict } from '../../storage/unit-of-work.ts'
import { TransparentSession } from '../../storage/wrapped-session.ts'
import { installBlueprint } from '../blueprints/install-blueprint.ts'
import { type Flows, openFlows } from '../flows.ts'
import { runPipeline } from '../run-pipeline.ts'

const by = { guid: 'u', username: 'ann' }
const create = {
  type: 'function_create_document_from_mutations',
  in: { flow: '@put.flow', storage: 'things', set: '={ n: 0 }' },
}
const blocks = {
  put: { type: 'on_startup_register_uri_put', in: { uri: 'count' }, scopes: ['*public'] },
  log: { type: 'function_console_log', in: { flow: '@put.flow', value: 'counted' } },
  update: {
    type: 'function_update_document_mutations',
    in: { flow: '@log.flow', storage: 'things', guid: '=query.guid', mutations: '@more.mutations' },
  },
  more: { type: 'mutations_increment_by_field', in: { field: 'n', amount: 1 } },
  reply: { type: 'httpconnection_set_json', in: { flow: '@update.flow', value: '@update.document' } },
}

let room: TestDatabase
let flows: Flows
let guid: string
/** Of the sessions of runs, and how many commits are still to prove wrong. */
let origins: Origin[]
let wrong = 0
const logged: string[] = []

/** Proves wrong at its commit, as far as it may be told so. */
class WrongSession extends TransparentSession {
  override async commit() {
    if (this.origin.guesses && wrong > 0) {
      wrong -= 1
      await this.rollback()
      throw new UnitConflict()
    }
    return super.commit()
  }
}

beforeEach(async () => {
  room = await openTestDatabase()
  const ruled = withoutRules(room.database)
  const database = {
    ...ruled,
    session(origin: Origin = {}): Session {
      if (origin.run !== undefined) origins.push(origin)
      return new WrongSession(ruled.session(origin))
    },
  }
  await database.ensure('things')
  guid = await transact(database, async (session) =>
    guidOf(documentOf(await session.create('things', setFields({ n: 1 })))),
  )
  flows = await openFlows({
    ...bareRunServices,
    records: await openRecords(database, room.clock),
    catalogue: await loadBlocks(),
    random: randomFillSync,
    limits: { deadline: 5_000, budget: 100_000, depth: 8 },
    allowedHosts: [],
    reservedRoots: new Set(),
    fields: await openFieldRules(room.database),
  })
  origins = []
  logged.length = 0
})
afterEach(async () => {
  await flows.close()
  await room.close()
})

async function send(installed: object) {
  const blueprint = await installBlueprint(flows, { name: 'Test', blocks: installed }, by)
  const [endpoint] = flows.live.table().blueprints.get(blueprint)?.compiled.endpoints ?? []
  if (!endpoint) throw new Error('The blueprint has no endpoint.')
  const request = requestWith({ method: 'PUT', query: { guid } })
  const replies: Reply[] = []
  const onReply = (reply: Reply) => void replies.push(reply)
  const { environment } = flows
  const log = (entry: { readonly message: string }) => void logged.push(entry.message)
  const runs = runPipeline({ records: flows.records, environment: { ...environment, log } })
  const start = { flow: endpoint.flow, blueprint, given: endpoint.start(request), request, onReply }
  const end = await runs.run(start)
  return { ...end, replies }
}

const n = async () => documentOf((await room.database.session().get('things', guid)) ?? fail()).n

test('a run whose guess was wrong begins once more, without a guess, and nothing of the first try is left', async () => {
  wrong = 1
  const { error, replies } = await send(blocks)
  expect(error).toBeUndefined()
  expect(replies).toHaveLength(1)
  expect(await n()).toBe(2)
  expect(logged).toEqual(['counted'])
  // The embedded engine knows what is stored.
  const tries = inject('engine') === 'postgres' ? [true, false] : [undefined]
  expect(origins.map(({ guesses }) => guesses)).toEqual(tries)
  wrong = 0
})

test('no run may guess that reads what it writes by, or updates nothing', async () => {
  const found = { type: 'function_search', in: { flow: '@put.flow', storage: 'things' } }
  const after = { ...create, in: { ...create.in, flow: '@found.flow' } }
  for (const [number, flow] of [{ create }, { found, after }].entries()) {
    const put = { ...blocks.put, in: { uri: `other${number}` } }
    const reply = { ...blocks.reply, in: { flow: '@put.flow', value: 1 } }
    expect((await send({ put, ...flow, reply })).error).toBeUndefined()
  }
  expect(origins.filter(({ guesses }) => guesses !== undefined)).toEqual([])
})

function fail(): never {
  throw new Error('The document is gone.')
}

/** One storm of concurrent clients against a deployment, and what the history of it says. */
import { setTimeout as wait } from 'node:timers/promises'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/shared/json.ts'
import { checkHistory, type FinalState, type HistoryCheck } from './check-history.ts'
import { callerOf, callList, callRegister } from './client-calls.ts'
import { ownGroup, type WorkOptions, work } from './clients.ts'
import { uris } from './consistency-blueprint.ts'
import { newRecorder, type Recorder } from './recorder.ts'
import type { Reply, Request, Transport } from './transport.ts'

export interface ConsistencyOptions extends WorkOptions {
  readonly oneSnapshot: boolean
  /** Runs beside the clients; they end with it. */
  readonly meanwhile?: () => Promise<void>
}

/** Longest that jobs may take to be run when nothing is wrong any more: a lease has to run out. */
const PATIENCE_MS = 60_000

export async function runConsistency(options: ConsistencyOptions): Promise<HistoryCheck> {
  const recorder = newRecorder()
  let over = options.meanwhile === undefined
  const more = () => options.more() || !over
  const meanwhile = options.meanwhile?.().finally(() => {
    over = true
  })
  await Promise.all([work({ ...options, more }, recorder), meanwhile])
  const transport = options.connect()
  try {
    await lastLook(transport, recorder, ownGroup(options))
    return checkHistory(recorder, await finalState(transport, options.token(), recorder), options.oneSnapshot)
  } finally {
    await transport.close()
  }
}

/** Everything once more, without writes: what was lost is found here at the latest. */
async function lastLook(transport: Transport, recorder: Recorder, group: string): Promise<void> {
  const caller = callerOf(transport, recorder)
  await callList(caller, recorder, group)
  for (const guid of recorder.registers.keys()) await callRegister(caller, recorder, guid, { do: 'read' })
}

async function finalState(transport: Transport, token: string, recorder: Recorder): Promise<FinalState> {
  const late = performance.now() + PATIENCE_MS
  const keysOf = async (path: string) =>
    (await listOf(transport, { method: 'GET', path })).map(({ key }) => String(key))
  const orders = await keysOf(`/${uris.orders}`)
  let handled = await keysOf(`/${uris.handled}`)
  while (orders.some((key) => !handled.includes(key)) && performance.now() < late) {
    await wait(100)
    handled = await keysOf(`/${uris.handled}`)
  }
  const headers = { authorization: `Bearer ${token}` }
  const names = new Set<string>()
  const search = (path: string) =>
    listOf(transport, { method: 'POST', path, headers, body: { filters: {}, limit: 1000 } })
  if (recorder.races.length > 0) {
    for (const { username } of await search('/users/search')) names.add(String(username))
    for (const { name } of await search('/_system/storages/search')) names.add(String(name))
  }
  return { orders, handled, names }
}

async function listOf(transport: Transport, request: Request): Promise<JsonObject[]> {
  for (let tries = 0; ; tries++) {
    const reply: Reply = await transport.call(request)
    if (reply.status === 200) return objectsIn(reply.body)
    if (tries === 100) throw new Error(`${request.path}: ${reply.status} ${JSON.stringify(reply.body)}`)
    await wait(100)
  }
}

function objectsIn(body: JsonValue | undefined): JsonObject[] {
  return Array.isArray(body) ? body.filter(isJsonObject) : []
}

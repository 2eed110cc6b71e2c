/**
 * Concurrent clients: each has documents of its own that it changes one call after the other, and all change a few
 * shared documents. Beside them lists, runs that fail, names of which there may be one, and orders that are
 * sent more than once. The choices come from the seed; how the calls of different clients meet does not.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { isJsonObject, type JsonObject } from '../../../src/shared/json.ts'
import type { RandomSource } from '../random-source.ts'
import { type Caller, callerOf, callList, callRegister, type Known, metaOf } from './client-calls.ts'
import { uris } from './consistency-blueprint.ts'
import type { Recorder } from './recorder.ts'
import type { Transport } from './transport.ts'

export interface WorkOptions {
  /** Of this storm: another one on the same data is not in its way. Letters and digits. */
  readonly storm: string
  readonly connect: () => Transport
  /** Of the administrator: for names of users and storages. */
  readonly token: () => string
  readonly clients: number
  readonly random: RandomSource
  /** Whether to go on, asked before each call. */
  readonly more: () => boolean
  /** How often a client breaks its connection in the middle of a call, 0 to 1. */
  readonly cuts: number
}

interface Own {
  readonly key: string
  readonly guid: string
}

interface Client {
  readonly name: string
  readonly transport: Transport
  readonly caller: Caller
  readonly own: Own[]
  written: number
}

const REGISTERS = 4
/** Then another document takes its place: calls without an answer make the check of one document slow. */
const MOST_CALLS = 200
const MOST_UNKNOWN = 4
const MOST_OWN = 5
/** A word that each document has, in a field beside others. */
const WORDS = ['bolt and nut', 'nut and bolt', 'bolt', 'a long bolt']

/** Makes the documents that all share, then lets the clients go. */
export async function work(options: WorkOptions, recorder: Recorder): Promise<void> {
  const { connect, clients, random, more } = options
  const guids = await makeRegisters(options, recorder)
  const known = new Map<string, Known>()
  const all = Array.from({ length: clients }, async (_, number) => {
    const transport = connect()
    const client: Client = {
      name: `${options.storm}-c${number}`,
      transport,
      caller: callerOf(transport, recorder),
      own: [],
      written: 0,
    }
    try {
      while (more()) {
        const call = step({ options, recorder, client, guids, known })
        if (random.chance(options.cuts)) void wait(random.between(0, 6)).then(() => transport.cut())
        await call
      }
    } finally {
      await transport.close()
    }
  })
  await Promise.all(all)
}

async function makeRegisters({ connect }: WorkOptions, recorder: Recorder): Promise<string[]> {
  const transport = connect()
  const caller = callerOf(transport, recorder)
  const guids: string[] = []
  while (guids.length < REGISTERS) {
    const guid = await makeRegister(caller, recorder)
    if (guid !== undefined) guids.push(guid)
  }
  await transport.close()
  return guids
}

async function makeRegister(caller: Caller, recorder: Recorder): Promise<string | undefined> {
  const body = { token: 'first', count: 0, group: 'registers' }
  const reported = await caller.call({ method: 'POST', path: `/${uris.documents}`, body }, [201])
  if (reported.reply.status !== 201) return undefined
  const { invoked, returned } = reported
  const guid = metaOf(reported.reply.body, 'guid')
  const output = { is: 'done', document: { token: 'first', count: 0 } } as const
  recorder.registers.set(guid, [{ invoked, returned, input: { do: 'create', token: 'first' }, output }])
  return guid
}

interface Step {
  readonly options: WorkOptions
  readonly recorder: Recorder
  readonly client: Client
  readonly guids: string[]
  readonly known: Map<string, Known>
}

function step(input: Step): Promise<void> {
  const chance = input.options.random.number()
  if (chance < 0.25) return writeOwn(input)
  if (chance < 0.5) return list(input)
  if (chance < 0.9) return useRegister(input)
  if (chance < 0.93) return failing(input)
  if (chance < 0.985) return order(input)
  return race(input)
}

async function useRegister({ options, recorder, client, guids, known }: Step): Promise<void> {
  const { random } = options
  const guid = random.oneOf(guids)
  if (isFull(recorder, guid)) {
    const another = await makeRegister(client.caller, recorder)
    const place = guids.indexOf(guid)
    if (another !== undefined && place >= 0) guids[place] = another
    return
  }
  const before = known.get(guid)
  const token = nextToken(client)
  const what = random.oneOf(['read', 'read', 'set', 'swap', 'swap', 'add'] as const)
  const { caller } = client
  let after: Known | undefined
  if (what === 'swap' && before)
    after = await callRegister(
      caller,
      recorder,
      guid,
      { do: 'swap', expected: before.state, token },
      before.hash,
    )
  else if (what === 'set') after = await callRegister(caller, recorder, guid, { do: 'set', token })
  else if (what === 'add') after = await callRegister(caller, recorder, guid, { do: 'add', amount: 1 })
  else after = await callRegister(caller, recorder, guid, { do: 'read' })
  if (after) known.set(guid, after)
}

function isFull(recorder: Recorder, guid: string): boolean {
  const calls = recorder.registers.get(guid) ?? []
  const unknown = calls.filter(({ output }) => output === undefined).length
  return calls.length >= MOST_CALLS || unknown >= MOST_UNKNOWN
}

const nextToken = (client: Client) => `${client.name}-${client.written++}`

const list = ({ options, recorder, client }: Step) =>
  callList(client.caller, recorder, ownGroup(options) + options.random.oneOf(['', '', '&words=bolt']))

/** What lists show: the documents that only one client changes. */
export const ownGroup = ({ storm }: Pick<WorkOptions, 'storm'>) => `group=${storm}`

/** A new document, two of them in one run, another token, or none any more. */
async function writeOwn({ options, recorder, client }: Step): Promise<void> {
  const { random } = options
  const { caller, own } = client
  const token = nextToken(client)
  const place = random.below(Math.max(1, own.length))
  const chosen = own[place]
  const words = random.oneOf(WORDS)
  const made = (name: string): JsonObject => ({
    ...{ key: name, token: name, words },
    group: options.storm,
  })
  if (chosen === undefined || (own.length < MOST_OWN && random.chance(0.3))) {
    if (random.chance(0.3)) {
      const [first, second] = [`${token}a`, `${token}b`]
      const body = { first: made(first), second: made(second) }
      const reported = await caller.call({ method: 'POST', path: `/${uris.pairs}`, body }, [201])
      note(recorder, `POST pair ${token}`, reported, { [first]: first, [second]: second })
      const pair =
        reported.reply.status === 201 && isJsonObject(reported.reply.body) ? reported.reply.body : undefined
      if (pair) {
        own.push({ key: first, guid: metaOf(pair.first, 'guid') })
        own.push({ key: second, guid: metaOf(pair.second, 'guid') })
      }
      return
    }
    const reported = await caller.call(
      { method: 'POST', path: `/${uris.documents}`, body: made(token) },
      [201],
    )
    note(recorder, `POST ${token}`, reported, { [token]: token })
    if (reported.reply.status === 201) own.push({ key: token, guid: metaOf(reported.reply.body, 'guid') })
    return
  }
  const { key, guid } = chosen
  const path = `/${uris.documents}/${guid}`
  const gone = own.length >= MOST_OWN || random.chance(0.2)
  const reported = await (gone
    ? caller.call({ method: 'DELETE', path }, [200])
    : caller.call({ method: 'PUT', path, body: { token, words } }, [200]))
  note(recorder, `${gone ? 'DELETE' : 'PUT'} ${key} ${token}`, reported, { [key]: gone ? null : token })
  // Without an answer its state is unknown, so it is left alone.
  if (gone || reported.returned === Number.POSITIVE_INFINITY) own.splice(own.indexOf(chosen), 1)
}

function note(
  recorder: Recorder,
  name: string,
  { invoked, returned }: { readonly invoked: number; readonly returned: number },
  sets: Readonly<Record<string, string | null>>,
): void {
  recorder.changes.push({ name, invoked, returned, sets: new Map(Object.entries(sets)) })
}

/** Writes a document and fails: no list may ever show it. */
async function failing({ client, options }: Step): Promise<void> {
  const token = `failed-${nextToken(client)}`
  const body = { key: token, token, group: options.storm, words: 'bolt' }
  await client.caller.call({ method: 'POST', path: `/${uris.failing}`, body }, [500])
}

/** Two or three times under one key, at once and one after the other. */
async function order({ options, recorder, client }: Step): Promise<void> {
  const { random, connect } = options
  const key = `order-${nextToken(client)}`
  const request = {
    method: 'POST',
    path: `/${uris.orders}`,
    body: { key },
    headers: { 'idempotency-key': key },
  } as const
  const other = connect()
  // 409: the same request is still running.
  const requested = [201, 409]
  const reported = await Promise.all([
    client.caller.call(request, requested),
    ...(random.chance(0.5) ? [callerOf(other, recorder).call(request, requested)] : []),
  ])
  reported.push(await client.caller.call(request, requested))
  await other.close()
  recorder.orders.push({ key, acknowledged: reported.some(({ reply }) => reply.status === 201) })
}

/** Three want the same name at once. */
async function race({ options, recorder, client }: Step): Promise<void> {
  const { connect, token, random } = options
  const kind = random.oneOf(['users', 'storages', 'storages', 'storages'] as const)
  const name = `${kind}-${nextToken(client)}`.toLowerCase()
  const path = kind === 'users' ? '/users' : '/_system/storages'
  const body =
    kind === 'users' ? { username: name, password: 'a password of a racer', custom_scopes: [] } : { name }
  const headers = { authorization: `Bearer ${token()}` }
  const racers = [connect(), connect(), connect()]
  const reported = await Promise.all(
    racers.map((transport) =>
      callerOf(transport, recorder).call({ method: 'POST', path, body, headers }, [200, 409]),
    ),
  )
  await Promise.all(racers.map((transport) => transport.close()))
  const statuses = reported.map(({ reply }) => reply.status)
  recorder.races.push({
    name,
    won: statuses.filter((status) => status === 200).length,
    refused: statuses.filter((status) => status === 409).length,
    unknown: reported.filter(({ returned }) => returned === Number.POSITIVE_INFINITY).length,
  })
}

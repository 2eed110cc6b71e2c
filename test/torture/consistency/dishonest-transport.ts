/** Transports that lie in one way each, as a wrong cache or a wrong server would: the checks have to find every one. */
import { isJsonObject, type JsonObject } from '../../../src/shared/json.ts'
import type { RandomSource } from '../random-source.ts'
import { uris } from './consistency-blueprint.ts'
import type { Reply, Request, Transport } from './transport.ts'

export type Lie = (transport: Transport, random: RandomSource) => Transport['call']

const OFTEN = 0.2
const EARLY_MS = 200

/** Shared by all clients of one storm, as a cache is. */
function replaysOldReplies(): Lie {
  const kept = new Map<string, Reply>()
  return (transport, random) => async (request) => {
    const old = request.method === 'GET' ? kept.get(request.path) : undefined
    if (old && random.chance(OFTEN)) return old
    const reply = await transport.call(request)
    if (request.method === 'GET' && reply.status === 200) kept.set(request.path, reply)
    return reply
  }
}

const isOnDocument = ({ path }: Request) => path.startsWith(`/${uris.documents}/`)

/** Each takes part in one storm, so that nothing is left of it for the next one. */
export const lies: Readonly<Record<string, () => Lie>> = {
  'replays an old reply to GET': replaysOldReplies,

  'swallows a PUT': () => (transport, random) => async (request) => {
    if (request.method !== 'PUT' || !random.chance(OFTEN)) return transport.call(request)
    const reply = await transport.call({ method: 'GET', path: request.path })
    if (reply.status !== 200 || !isJsonObject(reply.body) || !isJsonObject(request.body)) return reply
    const { token = null } = request.body
    return { ...reply, body: { ...reply.body, token } }
  },

  'doubles an increment': () => (transport, random) => async (request) => {
    const reply = await transport.call(request)
    if (request.path.endsWith('/add') && random.chance(OFTEN)) await transport.call(request)
    return reply
  },

  'loses what it acknowledges': () => (transport, random) => async (request) => {
    const own = request.method === 'POST' && request.path === `/${uris.documents}`
    const reply = await transport.call(request)
    const guid = own && isJsonObject(reply.body) ? guidIn(reply.body) : undefined
    if (guid && random.chance(OFTEN))
      await transport.call({ method: 'DELETE', path: `/${uris.documents}/${guid}` })
    return reply
  },

  'keeps what a failed run wrote': () => (transport) => async (request) => {
    if (request.path === `/${uris.failing}`) await transport.call({ ...request, path: `/${uris.documents}` })
    return transport.call(request)
  },

  'writes half of a pair later': () => (transport) => async (request) => {
    if (request.path !== `/${uris.pairs}` || !isJsonObject(request.body)) return transport.call(request)
    const one = (body: JsonObject) => transport.call({ ...request, path: `/${uris.documents}`, body })
    const [first, second] = [request.body.first, request.body.second]
    if (!isJsonObject(first) || !isJsonObject(second)) return transport.call(request)
    const made = await one(first)
    await new Promise((resolve) => setTimeout(resolve, 20))
    const other = await one(second)
    return { ...other, body: { first: made.body ?? null, second: other.body ?? null } }
  },

  'forgets idempotency keys': () => (transport) => (request) => {
    const { headers, ...rest } = request
    if (!headers?.['idempotency-key']) return transport.call(request)
    return transport.call(rest)
  },

  'ignores an update_hash': () => (transport) => (request) => {
    if (request.method !== 'PUT' || !isOnDocument(request) || !isJsonObject(request.body))
      return transport.call(request)
    const { update_hash: _hash, ...body } = request.body
    return transport.call({ ...request, body })
  },

  'lets two clients make one name': () => (transport) => async (request) => {
    const reply = await transport.call(request)
    const names = request.path === '/users' || request.path === '/_system/storages'
    return names && reply.status === 409 ? { ...reply, status: 200 } : reply
  },

  'miscounts a list': () => (transport, random) => async (request) => {
    const reply = await transport.call(request)
    const list = request.path.startsWith(`/${uris.documents}?`) && isJsonObject(reply.body)
    if (!list || !isJsonObject(reply.body) || !random.chance(OFTEN)) return reply
    return { ...reply, body: { ...reply.body, total: Number(reply.body.total) + 1 } }
  },
}

/** Answers before the order is stored; what was not yet stored is gone with the process. Not among the others: it takes a kill. */
export function answersEarly(kills: () => number): Lie {
  return (transport) => async (request) => {
    if (request.path !== `/${uris.orders}` || request.method !== 'POST') return transport.call(request)
    const before = kills()
    setTimeout(() => {
      if (kills() === before) void transport.call(request)
    }, EARLY_MS)
    return { status: 201, body: request.body }
  }
}

function guidIn(document: JsonObject): string | undefined {
  return isJsonObject(document._meta) ? String(document._meta.guid) : undefined
}

export function lying(transport: Transport, lie: Lie, random: RandomSource): Transport {
  return { call: lie(transport, random), cut: () => transport.cut(), close: () => transport.close() }
}

/** Rounds of requests, several at once, as several callers; and what every reply of them must be like. */
import type { ApiDocument } from '../../../src/http/docs/open-api-document.ts'
import { uris } from '../consistency/consistency-blueprint.ts'
import type { RandomSource } from '../random-source.ts'
import type { ServerGuard } from '../server-guard/server-guard.ts'
import { agentTargets } from './agent-targets.ts'
import { type FuzzReply, fuzzClient } from './fuzz-client.ts'
import { openFuzzFixture } from './fuzz-room.ts'
import { judge, parsed } from './judge-reply.ts'
import { openKeeper } from './keeper.ts'
import { knownThings } from './known-things.ts'
import { type FuzzRequest, inWords, makeRequest, type Target } from './make-request.ts'
import { scimTargets, signInTargets } from './scim-targets.ts'

export interface FuzzOptions {
  readonly address: () => string
  readonly random: RandomSource
  /** In the storage of one of the endpoints, which searches it. */
  readonly documents: number
  /** Asked before each round, with what was found so far. */
  readonly more: (failures: readonly string[]) => boolean
  /** Until a request counts as never answered, milliseconds. */
  readonly patience: number
  readonly guard: Pick<ServerGuard, 'outcome'>
  /** Some of the operations, for a control. */
  readonly only?: (target: Target) => boolean
}

export interface FuzzResult {
  readonly checked: number
  readonly failures: readonly string[]
  readonly figures: Readonly<Record<string, number>>
}

const AT_ONCE = 8
/** Requests of a round: made before any of them is sent, so that the same seed makes the same. */
const ROUND = 48
const MOST_FAILURES = 300
/** The share of requests that are sent to the host of a space. */
const IN_SPACE = 0.15
/** Of these, the share that names what another space has stored. */
const FOREIGN = 0.5
const GUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

export async function runFuzz(options: FuzzOptions): Promise<FuzzResult> {
  const { address, random, guard } = options
  const keeper = await openKeeper(address)
  const client = fuzzClient(address, options.patience)
  try {
    const fixture = await openFuzzFixture(keeper, options.documents)
    const known = knownThings(fixture.kept)
    const targets = targetsOf(fixture.document).filter(options.only ?? (() => true))
    const failures: string[] = []
    const statuses = new Map<string, number>()
    const succeeded = new Set<Target>()
    const inSpace = new Set<Target>()
    let checked = 0
    let named = 0
    let queue: Target[] = []

    function next(): Target {
      if (queue.length === 0) queue = random.shuffled(targets)
      return queue.pop() ?? random.oneOf(targets)
    }

    function callerOf({ target }: FuzzRequest): Caller {
      const roles = [...fixture.tokens()]
      const [role, token] = random.chance(0.5) ? (roles.at(-1) ?? random.oneOf(roles)) : random.oneOf(roles)
      const needsKey = target.errors === 'JSON-RPC' || target.errors === 'SCIM'
      const known =
        needsKey && random.chance(0.9) ? { role: 'a program', token: fixture.agentKey() } : { role, token }
      // A space has no spaces of its own.
      if (!random.chance(IN_SPACE) || target.path.includes('/_system/spaces')) return known
      // Tokens of the operator's part are unknown there.
      const { host, other, token: own } = fixture.space
      if (random.chance(0.2))
        return { role: 'an administrator of another space', token: own(), host: other.host }
      if (random.chance(0.2)) return { role: `${known.role}, in a space`, token: known.token, host }
      return { role: 'an administrator of a space', token: own(), host }
    }

    function foreign({ url, body, ...request }: FuzzRequest): FuzzRequest {
      const guid = () => random.oneOf([...fixture.space.other.guids])
      named += 1
      // Byte by byte: not all bodies are texts.
      const bytes = body && Buffer.from(body.toString('latin1').replace(GUIDS, guid), 'latin1')
      return { ...request, url: url.replace(GUIDS, guid), body: bytes }
    }

    async function round(): Promise<void> {
      const asked = Array.from({ length: ROUND }, (): Asked => {
        const made = makeRequest(next(), { document: fixture.document, known, random })
        const { role, token, host } = callerOf(made)
        const request = withToken(made, token)
        if (host === undefined) return { role, request, reply: undefined }
        const sent = { ...request, headers: { ...request.headers, host } }
        return { role, request: random.chance(FOREIGN) ? foreign(sent) : sent, reply: undefined }
      }).filter(({ request }) => !pauses(request, fixture.active))
      const waiting = asked.values()
      const work = async () => {
        for (const one of waiting)
          one.reply = await client.send({ method: one.request.target.method, ...one.request })
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
      for (const { role, request, reply } of asked) {
        if (reply === undefined) continue
        checked += 1
        const kind = `${String(reply.status)[0]}xx`
        statuses.set(kind, (statuses.get(kind) ?? 0) + 1)
        if (typeof reply.status === 'number' && reply.status < 300) {
          succeeded.add(request.target)
          if (request.headers.host === fixture.space.host) inSpace.add(request.target)
          const value = parsed(reply)
          if (value !== 'no JSON') known.learn(request.target.path, value)
        }
        if (reply.text.includes(fixture.space.other.mark))
          failures.push(`${inWords(request, role)}: it shows what another space has stored`)
        for (const fault of judge(request, reply)) failures.push(`${inWords(request, role)}: ${fault}`)
      }
      await fixture.repair()
    }

    // Everything once, so that what is loaded when it is first needed is not counted.
    for (let done = 0; done < targets.length && failures.length < MOST_FAILURES; done += ROUND) await round()
    await new Promise((resolve) => setTimeout(resolve, 600))
    guard.outcome()
    while (options.more(failures) && failures.length < MOST_FAILURES) await round()
    failures.push(...(await fixture.verify()))
    const guarded = guard.outcome()
    const figures = {
      requests: checked,
      operations: new Set(targets).size,
      'operations that succeeded': succeeded.size,
      'in a space': inSpace.size,
      'with guids of another space': named,
      'of agents': [...succeeded].filter(({ errors }) => errors !== undefined).length,
      ...Object.fromEntries([...statuses].sort()),
      ...guarded.figures,
    }
    return { checked, failures: [...failures, ...guarded.failures], figures }
  } finally {
    await client.close()
    await keeper.close()
  }
}

interface Asked {
  readonly role: string
  readonly request: FuzzRequest
  reply: FuzzReply | undefined
}

interface Caller {
  readonly role: string
  readonly token: string | undefined
  /** Of a space. */
  readonly host?: string
}

function withToken(request: FuzzRequest, token: string | undefined): FuzzRequest {
  if (token === undefined) return request
  return { ...request, headers: { authorization: `Bearer ${token}`, ...request.headers } }
}

/** A breakpoint in a blueprint that answers would let requests wait for a minute, as it should. */
function pauses({ target, url }: FuzzRequest, active: ReadonlySet<string>): boolean {
  return (
    target.path.endsWith('/tracing') &&
    target.method === 'PUT' &&
    [...active].some((guid) => url.includes(guid))
  )
}

/** All but the endpoint whose flow fails on purpose, and the doors of agents. */
function targetsOf({ paths }: ApiDocument): Target[] {
  const all = Object.entries(paths).filter(([path]) => !path.endsWith(uris.failing))
  const described = all.flatMap(([path, item]) =>
    Object.entries(item).map(
      ([method, operation]): Target => ({ method: method.toUpperCase(), path, operation }),
    ),
  )
  // Three times each: one address of them takes as much as many operations.
  return [...described, ...agentTargets, ...agentTargets, ...agentTargets, ...scimTargets, ...signInTargets]
}

import { loadBlocks } from '../src/blocks/load-blocks.ts'
import type { Reply } from '../src/blocks/reply.ts'
import type { RunRequest } from '../src/blocks/run-request.ts'
import { importBlueprint } from '../src/flows/blueprints/blueprint-file.ts'
import { type Compiled, compileBlueprint, type PresentFacts } from '../src/flows/compile/compile-blueprint.ts'
import type { Recorder, Recorders } from '../src/flows/compile/probe.ts'
import { runCache } from '../src/flows/run/read-set.ts'
import { Run } from '../src/flows/run/run.ts'
import type { RunLimits, RunLogEntry } from '../src/flows/run/run-environment.ts'
import type { RunEnd } from '../src/flows/run/run-start.ts'
import type { Clock } from '../src/shared/clock.ts'
import { atOnce } from '../src/shared/cooperative.ts'
import { guidSource } from '../src/shared/guid.ts'
import type { JsonObject, JsonValue } from '../src/shared/json.ts'
import { bareRunServices } from './bare-services.ts'
import { noPermissions } from './no-permissions.ts'
import { openTestDatabase, type TestDatabase } from './test-database.ts'

/** Blocks as in a blueprint file: short id → { type, in, fields, … }. */
export type FlowBlocks = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export interface FlowRun {
  readonly end: RunEnd
  readonly replies: readonly Reply[]
  readonly logs: readonly RunLogEntry[]
  /** Whether everything was done in one turn, without a promise. Depends on the machine, unless the clock stands still. */
  readonly atOnce: boolean
}

export interface FlowFixture extends TestDatabase {
  compile(blocks: FlowBlocks, present?: PresentFacts): Compiled
  /** Compiles, makes the storages, and runs the flow behind the first endpoint. */
  run(
    blocks: FlowBlocks,
    request?: Partial<RunRequest>,
    limits?: Partial<RunLimits>,
    around?: { readonly clock?: Clock; readonly env?: JsonObject; readonly recorder?: Recorder },
  ): Promise<FlowRun>
}

const someRequest: RunRequest = {
  method: 'GET',
  url: '/',
  headers: {},
  ip: '127.0.0.1',
  query: {},
  path: {},
  body: undefined,
  user: undefined,
}

/** Real blocks, the real compiler and a real database; block guids are the file's ids, so that problems read well. */
export async function openFlowFixture(): Promise<FlowFixture> {
  const fixture = await openTestDatabase()
  const catalogue = await loadBlocks()
  const random = (bytes: Uint8Array<ArrayBuffer>) => void crypto.getRandomValues(bytes)
  const newGuid = guidSource(Date.now, random)

  function compile(blocks: FlowBlocks, present?: PresentFacts): Compiled {
    const ids = Object.keys(blocks)
    const { blocks: imported } = importBlueprint(
      { name: 'Test', blocks },
      (() => {
        let next = 0
        return () => ids[next++] ?? ''
      })(),
    )
    return compileBlueprint('blueprint', imported, catalogue, present)
  }

  return {
    ...fixture,
    compile,
    async run(blocks, request = {}, limits = {}, { clock = Date.now, env = {}, recorder } = {}) {
      const { blueprint, problems } = compile(blocks)
      const [endpoint] = blueprint?.endpoints ?? []
      if (!blueprint || !endpoint) throw new Error(`Does not compile: ${JSON.stringify(problems)}`)
      for (const [name, needs] of blueprint.needs) await fixture.database.ensure(name, needs)
      const replies: Reply[] = []
      const logs: RunLogEntry[] = []
      const input: RunRequest = { ...someRequest, ...request }
      const recorders: Recorders = new WeakMap()
      const start = {
        flow: recorder ? atOnce(blueprint.probed(endpoint.flow, recorders)) : endpoint.flow,
        blueprint: 'blueprint',
        input: endpoint.start(input),
        request: input,
        onReply: (reply: Reply) => void replies.push(reply),
      }
      const environment = {
        ...bareRunServices,
        database: fixture.database,
        permissions: noPermissions,
        clock,
        newGuid,
        newToken: newGuid,
        cache: runCache(Date.now),
        allowedHosts: () => ['127.0.0.1'],
        publicUrl: '',
        secrets: { open: () => ({ problem: 'names a secret that is not there' }), used: () => undefined },
        connections: () => undefined,
        limits: { deadline: 5_000, budget: 100_000, depth: 8, ...limits },
        values: { timeZone: 'UTC', locale: 'en', random, env: () => env },
        log: (entry: RunLogEntry) => void logs.push(entry),
        findFunction: (name: string) => blueprint.functions.get(name),
      }
      const run = new Run(environment, start)
      if (recorder) recorders.set(run, recorder)
      const end = run.execute(start)
      return { end: await end, replies, logs, atOnce: !(end instanceof Promise) }
    },
  }
}

/** An endpoint whose reply is one value: what a wire gives, seen from outside. */
export function replyWith(
  value: JsonValue | string,
  blocks: FlowBlocks = {},
  flow = '@get.flow',
): FlowBlocks {
  return {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'test' } },
    ...blocks,
    reply: { type: 'httpconnection_set_json', in: { flow, value } },
  }
}

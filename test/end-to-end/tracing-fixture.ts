/** A Quoin with blueprints whose runs are traced, and with what tests ask about them. */
import type { ServerResponse } from 'node:http'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

export interface TracingFixture {
  readonly quoin: TestQuoin
  readonly outside: LocalServer
  /** Requests to its `/held`, which a test answers. */
  readonly held: ServerResponse[]
  /** How often the server outside was asked. */
  asked(): number
  /** Installs and activates blocks; `turn` and the others are about this blueprint. */
  install(name: string, blocks: JsonObject): Promise<TracedBlueprint>
  close(): Promise<void>
}

export interface TracedBlueprint {
  readonly guid: string
  /** Guid of a block, by its name in the file. */
  block(name: string): string
  /** Name of a block, by its guid. */
  nameOf(guid: JsonValue | undefined): string
  trace(on: boolean, more?: JsonObject): Promise<JsonObject>
  /** The traced runs, the newest first. */
  runs(query?: string): Promise<JsonObject[]>
  /** The newest one, whole; of one trigger, if its name is given. */
  lastRun(trigger?: string): Promise<JsonObject>
}

/** `settings`: further ones of the server. */
export async function openTracingFixture(
  settings: Readonly<Record<string, string>> = {},
): Promise<TracingFixture> {
  let asked = 0
  const held: ServerResponse[] = []
  const outside = await startLocalServer((request, response) => {
    if (request.url === '/held') return void held.push(response)
    asked += 1
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ asked, items: [asked], access_token: 'token of the other server' }))
  })
  const quoin = await openTestQuoin({ ...settings, QUOIN_ALLOWED_HOSTS: `127.0.0.1:${outside.port}` })
  return {
    quoin,
    outside,
    held,
    asked: () => asked,
    async install(name, blocks) {
      const named = Object.entries(blocks).map(([title, block]) => [title, { ...objectOf(block), title }])
      const guid = await quoin.install(name, Object.fromEntries(named))
      const installed = objectsOf(await quoin.manage('GET', `/blueprints/${guid}/blocks`))
      const titles = new Map(
        installed.map((block) => [textAt(block, '_meta', 'guid'), textAt(block, 'title')]),
      )
      const runs = async (query = '') =>
        objectsOf(await quoin.manage('GET', `/runs?blueprint=${guid}${query}`))
      const blockNamed = (title: string) => {
        const [found] = [...titles].find(([, one]) => one === title) ?? []
        if (found === undefined) throw new Error(`There is no block ${title}.`)
        return found
      }
      return {
        guid,
        block: blockNamed,
        runs,
        nameOf: (block) => titles.get(String(block)) ?? String(block),
        trace: async (on, more = {}) =>
          objectOf(await quoin.manage('PUT', `/blueprints/${guid}/tracing`, { on, ...more })),
        async lastRun(trigger) {
          const only = trigger === undefined ? '' : `&trigger=${blockNamed(trigger)}`
          const [last] = await runs(`${only}&limit=1`)
          return objectOf(await quoin.manage('GET', `/runs/${String(last?.guid)}`))
        },
      }
    },
    async close() {
      await quoin.close()
      await outside.close()
    },
  }
}

/** The steps of a run as one line each: frame, name, pin that was taken or error. */
export function storyOf(run: JsonObject, { nameOf }: TracedBlueprint): string[] {
  return objectsOf(run.steps).map(({ block, frame, next, error }) => {
    const went = typeof error === 'string' ? ` !${error}` : ''
    return `${frame} ${nameOf(block)}${typeof next === 'string' ? ` → ${next}` : ''}${went}`
  })
}

function textAt(object: JsonObject, ...path: readonly string[]): string {
  let value: JsonValue | undefined = object
  for (const name of path) value = isJsonObject(value) ? value[name] : undefined
  return typeof value === 'string' ? value : ''
}

/** Tries until it succeeds: for what happens soon, but not at once. */
export async function soon<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 500; tries++) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('It did not happen.')
}

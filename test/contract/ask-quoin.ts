/** What scenarios ask again and again. */
import { expect } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { type Answer, guidOf, objectOf, objectsOf } from '../end-to-end/harness.ts'
import type { ContractRoom } from './contract-room.ts'
import { on, reply } from './flow-blocks.ts'

export const nobody = '01900000-0000-7000-8000-000000000000'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** A management endpoint refuses anonymous callers and callers without its scope. */
export async function guarded(
  room: ContractRoom,
  method: Method,
  path: string,
  scope: string,
  body?: JsonValue,
): Promise<void> {
  const sent = body === undefined ? {} : { body }
  const unknown = await room.send(method, path, sent)
  expect(unknown).toMatchObject({ status: 401, body: { error: 'INVALID_ACCESS_TOKEN' } })
  const refused = await room.send(method, path, { as: 'stranger', ...sent })
  expect(refused).toMatchObject({ status: 403, body: { error: 'INSUFFICIENT_PERMISSIONS' } })
  expect(objectOf(refused.body).message).toContain(scope)
}

/** What a management search finds. */
export async function found(room: ContractRoom, path: string, body: JsonObject): Promise<JsonObject[]> {
  return objectsOf(await room.manage('POST', path, body))
}

/** Sends to an endpoint that the scenario made, anonymously. */
export const call = (room: ContractRoom, method: Method, uri: string, body?: JsonValue): Promise<Answer> =>
  room.send(method, `/${uri}`, body === undefined ? {} : { body })

/** The one field of all documents that an endpoint lists. */
export async function listed(room: ContractRoom, uri: string, field: string): Promise<JsonValue[]> {
  const answer = await call(room, 'GET', uri)
  expect(answer.status, answer.text).toBe(200)
  return objectsOf(answer.body).map((one) => one[field] ?? null)
}

/**
 * An endpoint that replies a value of these blocks to what is posted: `@on.body`. Gives what it replies; throws unless
 * that is 200.
 */
export async function answering(
  room: ContractRoom,
  value: JsonValue,
  blocks: JsonObject,
  flow = '@on.flow',
): Promise<(body: JsonValue, query?: string) => Promise<JsonValue | undefined>> {
  const uri = room.name()
  await room.run({ on: on('post', uri), ...blocks, reply: reply(flow, value) })
  return async (body, query = '') => {
    const answer = await call(room, 'POST', `${uri}${query}`, body)
    expect(answer.status, answer.text).toBe(200)
    return answer.body
  }
}

/** Looks again until it holds: for what happens behind a reply. */
export async function eventually<Seen>(look: () => Promise<Seen>, expected: unknown): Promise<void> {
  await expect.poll(look, { timeout: 30_000, interval: 10 }).toEqual(expected)
}

/** Why a blueprint cannot go live. What a pin or setting may not be is said when it is read, saved or activated. */
export async function refused(room: ContractRoom, blocks: JsonObject): Promise<string> {
  let guid: string
  try {
    guid = await room.make(blocks)
  } catch (error) {
    expect(String(error)).toMatch(/: 400 |^QuoinError/)
    return String(error)
  }
  const answer = await room.send('PUT', `/blueprints/update/set/active/${guid}`, { as: 'admin' })
  if (answer.status === 200) await room.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
  expect([blocks, answer.status]).toEqual([blocks, 422])
  return answer.text
}

/** Each of these pins of a block must be filled: a blueprint without one cannot go live. */
export async function needs(
  room: ContractRoom,
  blocks: JsonObject,
  name: string,
  ...pins: readonly string[]
): Promise<void> {
  const block = objectOf(blocks[name])
  for (const pin of pins) {
    const { [pin]: _gone, ...rest } = objectOf(block.in)
    expect(await refused(room, { ...blocks, [name]: { ...block, in: rest } })).toContain(pin)
  }
}

/** None of these values may stand on its pin of a block: a blueprint with one cannot go live, and the pin is named. */
export async function refusesConstants(
  room: ContractRoom,
  blocks: JsonObject,
  name: string,
  values: Readonly<Record<string, readonly JsonValue[]>>,
): Promise<void> {
  const block = objectOf(blocks[name])
  for (const [pin, bad] of Object.entries(values))
    for (const value of bad) {
      const changed = { ...block, in: { ...objectOf(block.in), [pin]: value } }
      expect(await refused(room, { ...blocks, [name]: changed })).toContain(pin)
    }
}

/** Not one of these blocks can go live: a blueprint of all of them is told a problem of each. */
export async function allRefused(
  room: ContractRoom,
  bad: readonly JsonObject[],
  beside: JsonObject = {},
): Promise<void> {
  const blocks = Object.fromEntries(bad.map((block, at) => [`bad${at}`, { ...block, title: `bad ${at}` }]))
  const guid = await room.make({ ...beside, ...blocks })
  const answer = await room.send('PUT', `/blueprints/update/set/active/${guid}`, { as: 'admin' })
  expect(answer.status).toBe(422)
  const titles = await titlesOf(room, guid)
  const said = new Set(
    objectsOf(objectOf(answer.body).problems).map(({ block }) => titles.get(String(block)) ?? ''),
  )
  expect(bad.filter((_, at) => !said.has(`bad ${at}`))).toEqual([])
}

/** The titles of a blueprint's blocks, by their guids. */
export async function titlesOf(room: ContractRoom, blueprint: string): Promise<ReadonlyMap<string, string>> {
  const wanted = { filters: { blueprint_guid: blueprint }, limit: 200 }
  const blocks = await found(room, '/blueprintactions/search', wanted)
  return new Map(blocks.map((block) => [guidOf(block), String(block.title)]))
}

/** What scenarios ask again and again. */
import { expect } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { type Answer, objectOf, objectsOf } from '../end-to-end/harness.ts'
import type { ContractRoom } from './contract-room.ts'
import { on, reply } from './flow-blocks.ts'

export const nobody = '01900000-0000-7000-8000-000000000000'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** A management endpoint is not for whoever is not signed in, nor for whoever lacks its scope. */
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

/** Sends to an endpoint that the scenario made, as nobody. */
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
  await expect.poll(look, { timeout: 10_000, interval: 10 }).toEqual(expected)
}

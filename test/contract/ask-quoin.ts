/** What scenarios ask again and again. */
import { expect } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { type Answer, guidOf, objectOf, objectsOf } from '../end-to-end/harness.ts'
import type { ContractFixture } from './contract-fixture.ts'
import { on, reply } from './flow-blocks.ts'

export const nobody = '01900000-0000-7000-8000-000000000000'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** A management endpoint refuses anonymous callers and callers without its scope. */
export async function guarded(
  fixture: ContractFixture,
  method: Method,
  path: string,
  scope: string,
  body?: JsonValue,
): Promise<void> {
  const sent = body === undefined ? {} : { body }
  const unknown = await fixture.send(method, path, sent)
  expect(unknown).toMatchObject({ status: 401, body: { error: 'INVALID_ACCESS_TOKEN' } })
  const refused = await fixture.send(method, path, { as: 'stranger', ...sent })
  expect(refused).toMatchObject({ status: 403, body: { error: 'INSUFFICIENT_PERMISSIONS' } })
  expect(objectOf(refused.body).message).toContain(scope)
}

/** What a management search finds. */
export async function found(fixture: ContractFixture, path: string, body: JsonObject): Promise<JsonObject[]> {
  return objectsOf(await fixture.manage('POST', path, body))
}

/** Sends to an endpoint that the scenario made, anonymously. */
export const call = (
  fixture: ContractFixture,
  method: Method,
  uri: string,
  body?: JsonValue,
): Promise<Answer> => fixture.send(method, `/${uri}`, body === undefined ? {} : { body })

/** The one field of all documents that an endpoint lists. */
export async function listed(fixture: ContractFixture, uri: string, field: string): Promise<JsonValue[]> {
  const answer = await call(fixture, 'GET', uri)
  expect(answer.status, answer.text).toBe(200)
  return objectsOf(answer.body).map((one) => one[field] ?? null)
}

/**
 * An endpoint that replies a value of these blocks to what is posted: `@on.body`. Gives what it replies; throws unless
 * that is 200.
 */
export async function answering(
  fixture: ContractFixture,
  value: JsonValue,
  blocks: JsonObject,
  flow = '@on.flow',
): Promise<(body: JsonValue, query?: string) => Promise<JsonValue | undefined>> {
  const uri = fixture.name()
  await fixture.run({ on: on('post', uri), ...blocks, reply: reply(flow, value) })
  return async (body, query = '') => {
    const answer = await call(fixture, 'POST', `${uri}${query}`, body)
    expect(answer.status, answer.text).toBe(200)
    return answer.body
  }
}

/** Looks again until it holds: for what happens behind a reply. */
export async function eventually<Seen>(look: () => Promise<Seen>, expected: unknown): Promise<void> {
  await expect.poll(look, { timeout: 30_000, interval: 10 }).toEqual(expected)
}

/** Why a blueprint cannot go live. What a pin or setting may not be is said when it is read, saved or activated. */
export async function refused(fixture: ContractFixture, blocks: JsonObject): Promise<string> {
  let guid: string
  try {
    guid = await fixture.make(blocks)
  } catch (error) {
    expect(String(error)).toMatch(/: 400 |^QuoinError/)
    return String(error)
  }
  const answer = await fixture.send('PUT', `/blueprints/update/set/active/${guid}`, { as: 'admin' })
  if (answer.status === 200) await fixture.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
  expect([blocks, answer.status]).toEqual([blocks, 422])
  return answer.text
}

/** Each of these pins of a block must be filled: a blueprint without one cannot go live. */
export async function needs(
  fixture: ContractFixture,
  blocks: JsonObject,
  name: string,
  ...pins: readonly string[]
): Promise<void> {
  const block = objectOf(blocks[name])
  for (const pin of pins) {
    const { [pin]: _gone, ...rest } = objectOf(block.in)
    expect(await refused(fixture, { ...blocks, [name]: { ...block, in: rest } })).toContain(pin)
  }
}

/** None of these values may stand on its pin of a block: a blueprint with one cannot go live, and the pin is named. */
export async function refusesConstants(
  fixture: ContractFixture,
  blocks: JsonObject,
  name: string,
  values: Readonly<Record<string, readonly JsonValue[]>>,
): Promise<void> {
  const block = objectOf(blocks[name])
  for (const [pin, bad] of Object.entries(values))
    for (const value of bad) {
      const changed = { ...block, in: { ...objectOf(block.in), [pin]: value } }
      expect(await refused(fixture, { ...blocks, [name]: changed })).toContain(pin)
    }
}

/** Not one of these blocks can go live: a blueprint of all of them is told a problem of each. */
export async function allRefused(
  fixture: ContractFixture,
  bad: readonly JsonObject[],
  beside: JsonObject = {},
): Promise<void> {
  const blocks = Object.fromEntries(bad.map((block, at) => [`bad${at}`, { ...block, title: `bad ${at}` }]))
  const guid = await fixture.make({ ...beside, ...blocks })
  const answer = await fixture.send('PUT', `/blueprints/update/set/active/${guid}`, { as: 'admin' })
  expect(answer.status).toBe(422)
  const titles = await titlesOf(fixture, guid)
  const said = new Set(
    objectsOf(objectOf(answer.body).problems).map(({ block }) => titles.get(String(block)) ?? ''),
  )
  expect(bad.filter((_, at) => !said.has(`bad ${at}`))).toEqual([])
}

/** The titles of a blueprint's blocks, by their guids. */
export async function titlesOf(
  fixture: ContractFixture,
  blueprint: string,
): Promise<ReadonlyMap<string, string>> {
  const requested = { filters: { blueprint_guid: blueprint }, limit: 200 }
  const blocks = await found(fixture, '/blueprintactions/search', requested)
  return new Map(blocks.map((block) => [guidOf(block), String(block.title)]))
}

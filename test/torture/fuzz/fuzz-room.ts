/**
 * What the fuzzer is let loose in: blueprints with documents, users to ask as, and an administrator of its own whom it cannot
 * reach, who puts right what it breaks by right (as administrator it may deactivate and delete) and looks at the result of a
 * witness.
 */
import type { ApiDocument } from '../../../src/http/docs/open-api-document.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/shared/json.ts'
import { installOver } from '../../cluster/install-over.ts'
import { exampleFile } from '../../end-to-end/example-fixture.ts'
import { recordsIn, textAt } from '../../json-at.ts'
import { consistencyBlueprint } from '../consistency/consistency-blueprint.ts'
import { pushExtensionBlueprint, switchOnExtension } from './fuzz-extension.ts'
import { type FuzzSpace, openFuzzSpace } from './fuzz-space.ts'
import type { Keeper } from './keeper.ts'
import { kindsBlueprint, kindsConstraint, kindsFields, kindsStorage } from './kinds-blueprint.ts'

export interface FuzzFixture {
  readonly document: ApiDocument
  /** Guids that must outlive the fuzzer. */
  readonly kept: ReadonlySet<string>
  /** Guids of the blueprints that answer requests. */
  readonly active: ReadonlySet<string>
  /** By role; undefined if anonymous. Another one when the fuzzer has ended it. */
  tokens(): ReadonlyMap<string, string | undefined>
  /** An API key of the administrator, for `/mcp`; another one each round. */
  agentKey(): string | undefined
  /** Of a cluster with spaces. */
  readonly space: FuzzSpace
  /** Puts right what a fuzzer that is administrator may do. */
  repair(): Promise<void>
  /** Problems that are left when no requests are sent any more. */
  verify(): Promise<string[]>
}

const WITNESSES = 20
const PASSWORD = 'a password of a fuzzer'
const names = ['Köln', 'Bern', 'San José', 'Oslo', 'New York', 'Springfield', 'Paris', 'İzmir']

export async function openFuzzFixture(keeper: Keeper, documents: number): Promise<FuzzFixture> {
  const { manage, address, token } = keeper
  const active = new Set<string>()
  const kinds = await manage('POST', '/_system/storages', { name: kindsStorage })
  const fields = new Map<JsonObject, string>()
  for (const field of kindsFields)
    fields.set(field, textAt(await manage('POST', '/blueprintfields', field), '_meta', 'guid'))
  await manage('PUT', `/_system/storages/${textAt(kinds, '_meta', 'guid')}`, {
    constraints: [kindsConstraint],
  })
  await switchOnExtension(keeper)
  const examples = await Promise.all(['tasks', 'cities'].map(exampleFile))
  for (const blueprint of [...examples, consistencyBlueprint, kindsBlueprint])
    active.add(await installOver(address(), token, blueprint))
  active.add(await pushExtensionBlueprint(keeper))
  await keeper.importLines(
    'cities',
    Array.from({ length: documents }, (_, number) => JSON.stringify(cityOf(number))),
  )
  // It answers no one: what a browser and a logout bring is judged all the same.
  const provider = { name: 'fuzz', title: 'Fuzz', issuer: 'http://127.0.0.1:9', client_id: 'fuzz' }
  await manage('POST', '/_system/signin-providers', provider)
  const witness = await manage('POST', '/_system/storages', { name: 'fuzz-witness' })
  const storage = textAt(witness, '_meta', 'guid')
  await keeper.importLines(
    'fuzz-witness',
    Array.from({ length: WITNESSES }, (_, number) => JSON.stringify({ number, text: 'was there before' })),
  )
  const seen = async () =>
    recordsIn(await manage('POST', `/_system/storages/${storage}/documents/search`, { limit: 100 }))
  const before = await seen()
  const kept = new Set([keeper.guid, storage, ...before.map((one) => textAt(one, '_meta', 'guid'))])
  const space = await openFuzzSpace(keeper, kept)
  const tokens = new Map<string, string | undefined>([
    ['nobody', undefined],
    ['a made-up token', 'x'.repeat(43)],
  ])
  let users = 0
  let key: string | undefined
  let keyGuid = ''
  let keys = 0

  async function enter(role: string, scopes: readonly string[]): Promise<void> {
    const token = tokens.get(role)
    if (token !== undefined && (await keeper.isAlive(token))) return
    users += 1
    const username = `fuzz-${users}-${keeper.guid.slice(-6)}`
    await manage('POST', '/users', { username, password: PASSWORD, custom_scopes: [...scopes] })
    tokens.set(role, await keeper.signIn(username, PASSWORD))
  }

  /** A key may send 120 messages a minute, more than a round has. */
  async function renewKey(): Promise<void> {
    const token = tokens.get('an administrator')
    if (keyGuid !== '') await keeper.ask('DELETE', `/users/me/keys/${keyGuid}`, undefined, token)
    const made = await keeper.ask('POST', '/users/me/keys', { name: `agent ${keys++}`, scopes: ['*'] }, token)
    key = isJsonObject(made.body) && typeof made.body.key === 'string' ? made.body.key : undefined
    keyGuid = key === undefined ? '' : textAt(made.body, '_meta', 'guid')
  }

  async function repair(): Promise<void> {
    await enter('a user', [])
    await enter('an administrator', ['*'])
    await renewKey()
    await space.repair()
    await switchOnExtension(keeper)
    for (const [field, guid] of fields) await restoreField(field, guid)
    for (const guid of active) {
      const { status, body } = await keeper.ask('GET', `/blueprints/${guid}`)
      if (status === 404) active.delete(guid)
      else if (isJsonObject(body) && body.active !== true)
        // What was saved meanwhile may not be able to run: then it stays off.
        await keeper.ask('PUT', `/blueprints/update/set/active/${guid}`)
    }
  }

  /** Without them, what is unique, sorted or constrained is asked for no more. */
  async function restoreField(field: JsonObject, guid: string): Promise<void> {
    const path = `/blueprintfields/${guid}`
    const { status, body } = await keeper.ask('GET', path)
    if (isJsonObject(body) && Object.entries(field).every(([name, value]) => body[name] === value)) return
    // Documents that were written meanwhile may not fit: then it stays as it is.
    const restored = await keeper.ask(
      status === 404 ? 'POST' : 'PUT',
      status === 404 ? '/blueprintfields' : path,
      field,
    )
    if (status === 404 && restored.status < 300) fields.set(field, textAt(restored.body, '_meta', 'guid'))
  }

  await repair()
  const document = await keeper.document()
  return {
    document,
    kept,
    active,
    tokens: () => tokens,
    agentKey: () => key,
    space,
    repair,
    async verify() {
      const faults: string[] = []
      if (JSON.stringify(await seen()) !== JSON.stringify(before)) faults.push('the witness has changed')
      faults.push(...(await space.verify()))
      for (const one of recordsIn(await manage('POST', '/_system/storages/search', { limit: 1000 })))
        faults.push(...(await countsOf(keeper, one)))
      return faults
    },
  }
}

/** Whether all that count the documents of a storage give the same number. */
async function countsOf({ manage, ask }: Keeper, record: JsonObject): Promise<string[]> {
  const guid = textAt(record, '_meta', 'guid')
  const counted = await manage('GET', `/_system/storages/${guid}/count`)
  const found = await manage('POST', `/_system/storages/${guid}/documents/search`, { count: true })
  const lines = String((await ask('GET', `/_system/storages/${guid}/documents/export`)).text).split('\n')
  const counts = [countIn(counted), countIn(found), lines.filter((line) => line !== '').length]
  return new Set(counts).size === 1 ? [] : [`${record.name}: ${counts.join(', ')} documents`]
}

function countIn(value: JsonValue): number {
  if (!isJsonObject(value) || typeof value.count !== 'number') throw new TypeError(JSON.stringify(value))
  return value.count
}

function cityOf(number: number): JsonObject {
  return {
    name: `${names[number % names.length]} ${number % 97} ${names[(number * 7) % names.length]}`,
    country: ['DE', 'CH', 'US', 'NO'][number % 4] ?? '',
    population: (number * 7919) % 1_000_003,
  }
}

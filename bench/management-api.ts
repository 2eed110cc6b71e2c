/** What the bench needs of Quoin's public API: sign in, and install a blueprint from its file. */
import { readFile } from 'node:fs/promises'
import { importBlueprint } from '../src/flows/blueprints/blueprint-file.ts'
import { isJsonObject, type JsonObject } from '../src/shared/json.ts'

export interface ManagementApi {
  readonly base: string
  readonly token: string
}

export async function signIn(base: string, username: string, password: string): Promise<ManagementApi> {
  const reply = await call({ base, token: undefined }, 'POST', 'auth/signin', { username, password })
  return { base, token: textIn(reply, 'access_token') }
}

export interface Installed {
  readonly blueprint: string
  /** By their names in the file. */
  readonly blocks: ReadonlyMap<string, string>
}

export async function installBlueprintFile(api: ManagementApi, file: URL): Promise<Installed> {
  return await installBlueprint(api, JSON.parse(await readFile(file, 'utf8')))
}

/** Creates the blocks first and wires them then, because the server gives the guids that wires name. */
export async function installBlueprint(api: ManagementApi, file: unknown): Promise<Installed> {
  let count = 0
  const { name, description, blocks } = importBlueprint(file, () => `block-${count++}`)
  const blueprint = guidIn(await call(api, 'POST', 'blueprints', { name, description }))
  const guids = new Map<string, string>()
  for (const { guid, in_pins: _later, ...content } of blocks) {
    const made = await call(api, 'POST', 'blueprintactions', { ...content, blueprint_guid: blueprint })
    guids.set(guid, guidIn(made))
  }
  for (const { guid, in_pins } of blocks) {
    const wired = in_pins.map(({ from, ...pin }) => ({
      ...pin,
      ...(from && { from: from.map((end) => ({ ...end, block: guids.get(end.block) ?? end.block })) }),
    }))
    if (wired.length > 0) await call(api, 'PUT', `blueprintactions/${guids.get(guid)}`, { in_pins: wired })
  }
  await deploy(api, blueprint)
  const names = isJsonObject(file) && isJsonObject(file.blocks) ? Object.keys(file.blocks) : []
  return {
    blueprint,
    blocks: new Map(names.map((id, index) => [id, guids.get(blocks[index]?.guid ?? '') ?? ''])),
  }
}

/** Saves what is staged and makes it what runs. */
export async function deploy(api: ManagementApi, blueprint: string): Promise<void> {
  await call(api, 'POST', `blueprintactions/unsaved/${blueprint}`, {})
  await call(api, 'PUT', `blueprints/update/set/active/${blueprint}`, {})
}

/** Changes literals of a block, which is then staged. */
export async function stage(api: ManagementApi, block: string, pins: JsonObject): Promise<void> {
  const in_pins = Object.entries(pins).map(([id, value]) => ({ id, value }))
  await call(api, 'PUT', `blueprintactions/${block}`, { in_pins })
}

/** The guid of a storage by its name. */
export async function storageGuid(api: ManagementApi, name: string): Promise<string> {
  const found = await call(api, 'POST', '_system/storages/search', { filters: { name } })
  return guidIn(Array.isArray(found) ? found[0] : undefined)
}

export async function call(
  { base, token }: { readonly base: string; readonly token: string | undefined },
  method: 'POST' | 'PUT',
  path: string,
  body: unknown,
): Promise<unknown> {
  const reply = await fetch(`${base}/api/v1/${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${method} ${path} was answered with ${reply.status}: ${text}`)
  return JSON.parse(text)
}

function textIn(reply: unknown, field: string): string {
  const value = isJsonObject(reply) ? reply[field] : undefined
  if (typeof value !== 'string') throw new Error(`A reply holds no ${field}.`)
  return value
}

/** The guid in a record's `_meta`. */
export function guidIn(record: unknown): string {
  const meta: JsonObject[string] | undefined = isJsonObject(record) ? record._meta : undefined
  return textIn(meta, 'guid')
}

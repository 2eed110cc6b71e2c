import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { objectsIn, textIn, textsIn } from '../../storage/document-fields.ts'
import { type Management, Refused } from '../management.ts'

const path = '/_system/extensions'

export async function allExtensions(management: Management): Promise<readonly JsonObject[]> {
  return objectsIn(await management.call('GET', path))
}

/** The code that begins with the hash; without one that of the folder, or else the newest that is stored. */
export async function switchOn(management: Management, name: string, hash: string): Promise<JsonObject> {
  const one = (await allExtensions(management)).find((candidate) => candidate.name === name)
  if (!one) throw new Refused(`There is no extension ${name}.`, 404)
  const versions = [...(isJsonObject(one.found) ? [one.found] : []), ...objectsIn(one.stored).reverse()]
  const version = versions.find((candidate) => textIn(candidate.hash).startsWith(hash))
  if (!version) throw new Refused(`The extension ${name} has no code whose hash begins with ${hash}.`, 404)
  const reply = await management.call('PUT', `${path}/${encodeURIComponent(name)}`, {
    on: true,
    hash: textIn(version.hash),
  })
  return isJsonObject(reply) ? reply : {}
}

/** What a person reads of one: its versions, what they may do, and their blocks. */
export function linesOf({ name, found, stored }: JsonObject): string[] {
  const on = objectsIn(stored).find((one) => one.on === true)
  const isFound = (one: JsonObject) => isJsonObject(found) && one.hash === found.hash
  const versions = objectsIn(stored).filter((one) => !isFound(one))
  const { used_by = [] } = objectsIn(stored).find(isFound) ?? {}
  const state = on ? `on: ${textIn(on.version)}` : 'off'
  return [
    `${textIn(name)}\t${state}`,
    ...(isJsonObject(found) ? versionLines('in the folder', { ...found, used_by }) : []),
    ...versions.flatMap((one) => versionLines('stored', one)),
  ]
}

function versionLines(where: string, version: JsonObject): string[] {
  const { hosts, read, write } = isJsonObject(version.permissions) ? version.permissions : {}
  const used = textsIn(version.used_by)
  return [
    `  ${textIn(version.version)}\t${where}\t${textIn(version.hash).slice(0, 12)}`,
    `    calls ${namesIn(hosts)}; reads ${namesIn(read)}; changes ${namesIn(write)}`,
    ...blockNames(version.blocks).map((block) => `    ${block}`),
    ...(used.length > 0 ? [`    used by ${used.join(', ')}`] : []),
    ...textsIn(version.problems).map((problem) => `    cannot be switched on: ${problem}`),
  ]
}

function blockNames(blocks: JsonValue | undefined): string[] {
  const described = objectsIn(blocks).map(
    ({ identifier, title }) => `${textIn(identifier)}\t${textIn(title)}`,
  )
  return described.length > 0 ? described : [...textsIn(blocks)]
}

function namesIn(list: JsonValue | undefined): string {
  const names = textsIn(list)
  return names.length === 0 ? 'nothing' : names.map((name) => (name === '*' ? 'all' : name)).join(', ')
}

/**
 * Two spaces: one that requests go to, of its own users and of others, with guids of both; and one that must stay as it was whatever asks
 * there, and of which no reply shows anything.
 */
import type { JsonObject, JsonValue } from '../../../src/shared/json.ts'
import { jsonAt, recordsIn, textAt } from '../../json-at.ts'
import type { Keeper, KeeperReply } from './keeper.ts'

export interface FuzzSpace {
  readonly host: string
  readonly other: {
    readonly host: string
    /** Of what it has stored. */
    readonly guids: readonly string[]
    /** In a text of it. */
    readonly mark: string
  }
  /** Of its administrator. Another one when the fuzzer has ended it. */
  token(): string | undefined
  repair(): Promise<void>
  verify(): Promise<string[]>
}

const PASSWORD = 'a password of a space'
const storage = 'fuzz-space-notes'
const mark = 'stored in the other space'

export async function openFuzzSpace(keeper: Keeper, kept: Set<string>): Promise<FuzzSpace> {
  const attacked = await makeSpace(keeper, 'fuzz-attacked')
  const other = await makeSpace(keeper, 'fuzz-other')
  kept.add(attacked.guid).add(other.guid)
  const notes = textAt(await other.manage('POST', '/_system/storages', { name: storage }), '_meta', 'guid')
  const note = await other.manage('POST', `/_system/storages/${notes}/documents`, { text: mark })
  const blueprint = await other.manage('POST', '/blueprints', { name: mark })
  const group = await other.manage('POST', '/_system/authentication-groups', { name: mark, scopes: [] })
  const users = recordsIn(await other.manage('POST', '/users/search', {}))
  const guids = [notes, ...[note, blueprint, group, ...users].map((one) => textAt(one, '_meta', 'guid'))]
  const seen = async () => {
    const found = await other.manage('POST', `/_system/storages/${notes}/documents/search`, {})
    const present = recordsIn(await other.manage('POST', '/users/search', {}))
    const records = [blueprint, group].map((one) => textAt(one, '_meta', 'guid'))
    const paths = [`/blueprints/${records[0]}`, `/_system/authentication-groups/${records[1]}`]
    const rest = await Promise.all(paths.map((path) => other.manage('GET', path)))
    return JSON.stringify([found, rest, present.map((user) => [user.username, user.custom_scopes ?? null])])
  }
  const before = await seen()
  await attacked.manage('POST', '/_system/storages', { name: storage })
  let token: string | undefined
  let made = 0

  async function repair(): Promise<void> {
    if (token !== undefined && (await attacked.ask('GET', '/users/me', undefined, token)).status === 200)
      return
    const username = `fuzz-${made++}`
    const user = { username, password: PASSWORD, custom_scopes: ['*'] }
    // What fuzzes as an administrator may have removed the keeper's own one, or changed the rules for passwords.
    token =
      (await attacked.ask('POST', '/users', user)).status < 300 ? await attacked.enter(username) : undefined
  }

  await repair()
  return {
    host: attacked.host,
    other: { host: other.host, guids, mark },
    token: () => token,
    repair,
    async verify() {
      return (await seen()) === before ? [] : ['the other space has changed']
    },
  }
}

async function makeSpace({ askAt, manage }: Keeper, name: string) {
  const host = `${name}.example.org`
  const made = await manage('POST', '/_system/spaces', { name, hosts: [host], password: PASSWORD })
  const guid = String(jsonAt(made, 'space', '_meta', 'guid'))
  const enter = async (username: string): Promise<string> => {
    const reply = await askAt(host, 'POST', '/auth/signin', { username, password: PASSWORD })
    if (reply.status !== 200) throw new Error(`${host}: ${username} cannot sign in: ${reply.text}`)
    return textAt(reply.body, 'access_token')
  }
  const own = await enter('admin')
  const ask = (method: 'GET' | 'POST', path: string, body?: JsonObject, token = own): Promise<KeeperReply> =>
    askAt(host, method, path, body, token)
  return {
    ...{ host, guid, enter, ask },
    async manage(method: 'GET' | 'POST', path: string, body?: JsonObject): Promise<JsonValue> {
      const { status, text, body: answered } = await ask(method, path, body)
      if (status >= 300) throw new Error(`${host}: ${method} ${path}: ${status} ${text}`)
      return answered ?? null
    },
  }
}

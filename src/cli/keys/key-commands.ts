import type { JsonObject } from '../../shared/json.ts'
import { nearestName } from '../../shared/names/nearest-name.ts'
import { numberIn, textIn, textsIn } from '../../storage/document-fields.ts'
import { command } from '../command.ts'
import { findRecord, guidOf, type Management, Refused, recordsOf } from '../management.ts'
import { urlFlag, withManagement } from '../open-management.ts'
import { UsageError } from '../read-words.ts'

/** Whose keys. */
const ownerOperand = { name: '<username>' } as const

const aboutOwner = 'The username is that of the owner; `me` stands for the user who calls, with --url.'

export const keyList = command({
  name: 'key list',
  operands: [ownerOperand],
  flags: urlFlag,
  summary: 'Lists the API keys of a user.',
  about:
    'Prints one line for each key: its name, its first characters, its scopes, when it expires and when it was last used.',
  async run({ positionals: [owner = ''], values: { url } }, terminal) {
    const found = await withManagement(terminal, url, (management) => keysOf(management, owner))
    for (const { name, hint, scopes, expiry, last_used } of found) {
      const held = textsIn(scopes).join(',')
      const [ends, used] = [dayOf(numberIn(expiry)), dayOf(numberIn(last_used))]
      terminal.print([textIn(name), textIn(hint), held, `expires ${ends}`, `used ${used}`].join('\t'))
    }
    if (found.length === 0) terminal.complain('The user has no API keys.')
    return 0
  },
})

/** Unix seconds; 0 = never. */
function dayOf(seconds: number): string {
  return seconds === 0 ? 'never' : new Date(seconds * 1000).toISOString().slice(0, 10)
}

const DAY = 86_400

export const keyCreate = command({
  name: 'key create',
  operands: [ownerOperand, { name: '<name>' }],
  flags: {
    scopes: {
      type: 'string',
      value: '<scopes>',
      help: 'Scopes of the key, separated by commas: of those that its owner holds. * for all.',
    },
    endpoints: {
      type: 'string',
      value: '<endpoints>',
      help: 'What it may call, separated by commas, such as "GET /api/v1/orders". Without it every endpoint.',
    },
    days: { type: 'string', value: '<days>', help: 'Days until it expires. Without it it does not expire.' },
    ...urlFlag,
  },
  summary: 'Creates an API key and prints it.',
  about: `The key is shown only now. ${aboutOwner}`,
  async run({ positionals: [owner = '', name = ''], values }, terminal) {
    const { scopes, endpoints, days, url } = values
    const now = Math.floor(terminal.clock() / 1000)
    const expiry = days === undefined ? 0 : now + daysIn(days) * DAY
    const key = { name, scopes: listIn(scopes), endpoints: listIn(endpoints), expiry }
    terminal.print(await withManagement(terminal, url, (management) => createKey(management, owner, key)))
    return 0
  },
})

function daysIn(text: string): number {
  const days = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (days === 0) throw new UsageError(`--days must be a whole number from 1 to 99999; got ${text}.`)
  return days
}

function listIn(text = ''): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

export const keyRotate = command({
  name: 'key rotate',
  operands: [ownerOperand, { name: '<name>' }],
  flags: {
    overlap: {
      type: 'string',
      value: '<seconds>',
      help: 'How long the present key stays valid: a day without it; 0 ends it at once.',
    },
    ...urlFlag,
  },
  summary: 'Gives an API key a new secret and prints it.',
  about: `The key is shown only now. ${aboutOwner}`,
  async run({ positionals: [owner = '', name = ''], values: { overlap, url } }, terminal) {
    if (overlap !== undefined && !/^\d{1,8}$/.test(overlap))
      throw new UsageError(`--overlap must be a number of seconds; got ${overlap}.`)
    const seconds = overlap === undefined ? DAY : Number(overlap)
    const rotated = await withManagement(terminal, url, (management) =>
      rotateKey(management, owner, name, seconds),
    )
    terminal.print(rotated)
    return 0
  },
})

export const keyRemove = command({
  name: 'key remove',
  operands: [ownerOperand, { name: '<name>' }],
  flags: urlFlag,
  summary: 'Removes an API key.',
  about: `Programs with this key are refused at once. ${aboutOwner}`,
  async run({ positionals: [owner = '', name = ''], values: { url } }, terminal) {
    await withManagement(terminal, url, (management) => removeKey(management, owner, name))
    return 0
  },
})

interface NewKey {
  readonly name: string
  readonly scopes: readonly string[]
  readonly endpoints: readonly string[]
  /** Unix seconds; 0 = never. */
  readonly expiry: number
}

/** The oldest first, without secrets. `owner`: a user name, or `me` for the calling user. */
async function keysOf(management: Management, owner: string): Promise<JsonObject[]> {
  return recordsOf(await management.call('GET', await pathOf(management, owner)))
}

/** Gives the secret, which is shown only now. */
async function createKey(management: Management, owner: string, key: NewKey): Promise<string> {
  const body = { ...key, scopes: [...key.scopes], endpoints: [...key.endpoints] }
  return secretIn(await management.call('POST', await pathOf(management, owner), body))
}

/** As {@link createKey}. `overlap`: seconds for which the secret of before stays valid. */
async function rotateKey(
  management: Management,
  owner: string,
  name: string,
  overlap: number,
): Promise<string> {
  const path = await pathOf(management, owner)
  const guid = await guidNamed(management, path, name)
  return secretIn(await management.call('POST', `${path}/${guid}/rotate`, { overlap }))
}

async function removeKey(management: Management, owner: string, name: string): Promise<void> {
  const path = await pathOf(management, owner)
  await management.call('DELETE', `${path}/${await guidNamed(management, path, name)}`)
}

async function pathOf(management: Management, owner: string): Promise<string> {
  const user = owner === 'me' ? 'me' : guidOf(await findRecord(management, 'users', owner))
  return `/users/${user}/keys`
}

/** Throws Refused, with the nearest name, when there is none. */
async function guidNamed(management: Management, path: string, name: string): Promise<string> {
  const keys = recordsOf(await management.call('GET', path))
  const found = keys.find((key) => key.name === name)
  if (found) return guidOf(found)
  const nearest = nearestName(
    name,
    keys.map((key) => textIn(key.name)),
  )
  const advice = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  throw new Refused(`There is no API key ${JSON.stringify(name)}.${advice}`, 404)
}

function secretIn(reply: unknown): string {
  return String(Object(reply).key)
}

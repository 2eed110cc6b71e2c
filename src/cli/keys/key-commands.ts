import { numberIn, textIn, textsIn } from '../../storage/document-fields.ts'
import { command } from '../command.ts'
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
    const { keysOf } = await import('./stored-keys.ts')
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
    const { createKey } = await import('./stored-keys.ts')
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
    const { rotateKey } = await import('./stored-keys.ts')
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
    const { removeKey } = await import('./stored-keys.ts')
    await withManagement(terminal, url, (management) => removeKey(management, owner, name))
    return 0
  },
})

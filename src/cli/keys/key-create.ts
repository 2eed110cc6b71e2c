import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'
import { UsageError } from '../read-words.ts'
import { aboutOwner, ownerOperand } from './owner-operand.ts'

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

import { isJsonObject, type JsonObject } from '../shared/json.ts'
import { numberIn, objectsIn, textIn } from '../storage/document-fields.ts'
import { command, type Terminal } from './command.ts'
import { findRecord, guidOf } from './management.ts'
import { urlFlag, withManagement } from './open-management.ts'
import { UsageError } from './read-words.ts'

/** The flag of commands that set a password. It has no value: other users of the machine can read a command line. */
const passwordFlag = {
  'password-stdin': {
    type: 'boolean',
    help: `Read the password from the first line of the standard input. Without it a random
password is generated and printed once.`,
  },
} as const

export interface NewPassword {
  readonly password: string
  /** Generated here, so it has to be shown. */
  readonly isMade: boolean
}

/** Throws UsageError for an empty line. */
async function newPassword(terminal: Terminal, fromInput: boolean): Promise<NewPassword> {
  if (!fromInput) {
    // 120 bits; the first character is a letter, so that no shell takes it for a flag.
    const bytes = new Uint8Array(15)
    terminal.random(bytes)
    return { password: `q${Buffer.from(bytes).toString('base64url')}`, isMade: true }
  }
  const password = await terminal.readLine()
  if (password === '') throw new UsageError('--password-stdin found no password on the standard input.')
  return { password, isMade: false }
}

export const userCreate = command({
  name: 'user create',
  operands: [{ name: '<name>' }],
  flags: {
    scopes: {
      type: 'string',
      value: '<a,b>',
      help: 'The scopes of the user, separated by commas. * grants everything.',
    },
    service: {
      type: 'boolean',
      help: 'A service account, for programs: no password, API keys only (`quoin key create`).',
    },
    ...passwordFlag,
    ...urlFlag,
  },
  summary: 'Creates a user.',
  async run({ positionals: [username = ''], values }, terminal) {
    const scopes = (values.scopes ?? '')
      .split(',')
      .map((scope) => scope.trim())
      .filter((scope) => scope !== '')
    const create = (how: JsonObject) =>
      withManagement(terminal, values.url, (management) =>
        management.call('POST', '/users', { username, custom_scopes: scopes, ...how }),
      )
    if (values.service) {
      if (values['password-stdin']) throw new UsageError('A service account has no password.')
      await create({ is_service: true })
      terminal.print(
        `The service account ${username} is there. Create a key: quoin key create ${username} <name>`,
      )
      return 0
    }
    const { password, isMade } = await newPassword(terminal, values['password-stdin'] === true)
    await create({ password })
    terminal.print(`The user ${username} can sign in.`)
    if (isMade) terminal.print(`Password: ${password}   (shown once, save it now)`)
    return 0
  },
})

export const userResetPassword = command({
  name: 'user reset-password',
  operands: [{ name: '<name>' }],
  flags: { ...passwordFlag, ...urlFlag },
  summary: 'Sets a new password, unlocks the user and ends all its sessions.',
  about: '<name> is a user name or a guid.',
  async run({ positionals: [named = ''], values }, terminal) {
    const { password, isMade } = await newPassword(terminal, values['password-stdin'] === true)
    await withManagement(terminal, values.url, async (management) => {
      const guid = guidOf(await findRecord(management, 'users', named))
      await management.call('PUT', `/users/${guid}`, { password })
    })
    terminal.print(`The user ${named} has a new password.`)
    if (isMade) terminal.print(`Password: ${password}   (shown once, save it now)`)
    return 0
  },
})

export const userResetSecondFactor = command({
  name: 'user reset-second-factor',
  operands: [{ name: '<name>' }],
  flags: urlFlag,
  summary: 'Removes the second factor of a user and ends all its sessions.',
  about: '<name> is a user name or a guid. For a user who has lost the app and the recovery codes.',
  async run({ positionals: [named = ''], values }, terminal) {
    await withManagement(terminal, values.url, async (management) => {
      const guid = guidOf(await findRecord(management, 'users', named))
      await management.call('DELETE', `/users/${guid}/second-factor`)
    })
    terminal.print(`The user ${named} has no second factor. The password alone signs in.`)
    return 0
  },
})

export const userImport = command({
  name: 'user import',
  operands: [{ name: '<file>', completes: 'file' }],
  flags: {
    'dry-run': { type: 'boolean', help: 'Says what would be made and all that is wrong. Changes nothing.' },
    'skip-invalid': { type: 'boolean', help: 'Make the other users when some cannot be made.' },
    ...urlFlag,
  },
  summary: 'Makes users of a file, with the hashes of their passwords.',
  about: `The file is CSV with names of columns in its first line, NDJSON, or a JSON list. Columns: username, email, firstname,
lastname, groups (names), scopes and password_hash. Users who are there stay unchanged; the same command goes on where it was
interrupted. Who has no password_hash asks for a new password by mail. docs/identity.md has the forms of hashes.`,
  async run({ positionals: [file = ''], values }, terminal) {
    const { runUserImport } = await import('./run-user-import.ts')
    const { url, 'dry-run': dryRun = false, 'skip-invalid': skip = false } = values
    return runUserImport({ file, dryRun, skip, url }, terminal)
  },
})

/** Pages of users that one call prints: as far as `offset` reaches. */
const MOST_OFFSET = 10_000

export const userWhoMay = command({
  name: 'user who-may',
  operands: [{ name: '<what>' }],
  flags: {
    contains: { type: 'string', value: '<text>', help: 'Only users with this in their name.' },
    ...urlFlag,
  },
  summary: 'Says who may call an endpoint, open a page, use a storage, or hold a scope.',
  about: `<what> is "GET /api/v1/orders" for an endpoint, "page /orders", "storage orders" or "scope users_update". Prints what
opens it, and a line for each active user who may: the name, and what it comes from.`,
  async run({ positionals: [what = ''], values: { contains, url } }, terminal) {
    const [word = '', ...rest] = what.trim().split(/ +/)
    const subject = rest.join(' ')
    if (subject === '')
      throw new UsageError('<what> is two words, such as "GET /api/v1/orders" or "storage orders".')
    const about = ['page', 'storage', 'scope'].includes(word)
      ? { [word]: subject }
      : { endpoint: `${word.toUpperCase()} ${subject}` }
    await withManagement(terminal, url, async (management) => {
      let printed = 0
      for (let offset = 0, total = 1; offset < total && offset <= MOST_OFFSET; offset = printed) {
        const body = { ...about, ...(contains !== undefined && { contains }), offset }
        const answered = await management.call('POST', '/users/explain', body)
        const reply = isJsonObject(answered) ? answered : {}
        if (offset === 0) terminal.complain(textIn(reply.because))
        const users = objectsIn(reply.users)
        for (const user of users) terminal.print(lineOf(user))
        printed += users.length
        total = users.length === 0 ? 0 : numberIn(reply.total)
      }
    })
    return 0
  },
})

function lineOf({ username, because, ...may }: JsonObject): string {
  const rules = ['see', 'create', 'change', 'remove'].flatMap((one) => {
    const text = textIn(may[one])
    return text === '' ? [] : [`${one} ${text}`]
  })
  return [textIn(username), ...(rules.length > 0 ? rules : [textIn(because)])].join('\t')
}

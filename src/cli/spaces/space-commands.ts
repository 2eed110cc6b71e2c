import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { numberIn, objectsIn, textIn, textsIn } from '../../storage/document-fields.ts'
import { command, type Terminal } from '../command.ts'
import { guidOf, type Management, Refused, recordsOf } from '../management.ts'
import { runningServer, urlFlag, withManagement } from '../open-management.ts'
import { UsageError } from '../read-words.ts'

const server = {
  url: {
    ...urlFlag.url,
    help: `The running server. Without --url: with an access token in QUOIN_TOKEN the server of this machine
(QUOIN_HOST, QUOIN_PORT), else the only server with a sign-in of quoin login.`,
  },
} as const

const nameOperand = { name: '<name>' } as const

const settingFlags = {
  hosts: { type: 'string', value: '<hosts>', help: 'Host names of the space, separated by commas.' },
  title: { type: 'string', value: '<title>', help: 'How pages and mails call it.' },
  documents: { type: 'string', value: '<number>', help: 'Most documents; 0 = no limit.' },
  bytes: { type: 'string', value: '<number>', help: 'Most bytes of its database and files; 0 = no limit.' },
  runs: { type: 'string', value: '<number>', help: 'Most runs in a minute; 0 = no limit.' },
  jobs: { type: 'string', value: '<number>', help: 'Most jobs that wait or run; 0 = no limit.' },
} as const

/** The quota of each flag; what is used has the name of the flag. */
const quotaOfFlag = { documents: 'documents', bytes: 'bytes', runs: 'runs_a_minute', jobs: 'jobs' } as const

type Settings = { readonly [K in keyof typeof settingFlags]?: string | undefined }

function onServer<T>(
  terminal: Terminal,
  url: string | undefined,
  work: (management: Management) => Promise<T>,
): Promise<T> {
  return (url === undefined ? runningServer(terminal) : Promise.resolve(url)).then((address) =>
    withManagement(terminal, address, work),
  )
}

/** Throws Refused where there is none. */
async function spaceNamed(management: Management, name: string): Promise<JsonObject> {
  const body = { filters: { name }, limit: 1 }
  const [found] = recordsOf(await management.call('POST', '/_system/spaces/search', body))
  if (found) return found
  throw new Refused(`There is no space ${JSON.stringify(name)}.`, 404)
}

function inputOf({ hosts, title, ...limits }: Settings, before: JsonValue = {}): JsonObject {
  const texts: Readonly<Record<string, string | undefined>> = limits
  const limited = Object.entries(quotaOfFlag).flatMap(([flag, quota]) => {
    const text = texts[flag]
    if (text === undefined) return []
    if (!/^\d{1,15}$/.test(text))
      throw new UsageError(`A quota must be a whole number from 0 on; got ${text}.`)
    return [[quota, Number(text)]]
  })
  const quotas = { ...(isJsonObject(before) ? before : {}), ...Object.fromEntries(limited) }
  return {
    ...(hosts !== undefined && { hosts: hosts.split(',').map((host) => host.trim()) }),
    ...(title !== undefined && { title }),
    ...(limited.length > 0 && { quotas }),
  }
}

export const spaceList = command({
  name: 'space list',
  operands: [],
  flags: server,
  summary: 'Lists the spaces of a cluster.',
  about: 'Prints one line for each space: name, state, whether it is open, and its hosts.',
  async run({ values: { url } }, terminal) {
    const found = await onServer(terminal, url, async (management) => {
      const body = { sort: [{ name: 'asc' }], limit: 1000 }
      return objectsIn(await management.call('POST', '/_system/spaces/search', body))
    })
    for (const { name, state, open, hosts } of found)
      terminal.print(
        [textIn(name), textIn(state), open === true ? 'open' : 'closed', textsIn(hosts).join()].join('\t'),
      )
    if (found.length === 0) terminal.complain('There are no spaces.')
    return 0
  },
})

export const spaceCreate = command({
  name: 'space create',
  operands: [nameOperand],
  flags: {
    ...settingFlags,
    email: { type: 'string', value: '<address>', help: 'Is invited as its first administrator by mail.' },
    ...server,
  },
  summary: 'Makes a space and prints the password of its administrator.',
  about: 'The password is shown only now. --hosts is required.',
  async run({ positionals: [name = ''], values: { url, email, ...settings } }, terminal) {
    if (settings.hosts === undefined)
      throw new UsageError('--hosts is required: by them the space is reached.')
    const body = { name, ...inputOf(settings), ...(email !== undefined && { email }) }
    const made = await onServer(terminal, url, (management) =>
      management.call('POST', '/_system/spaces', body),
    )
    const { username, password } = Object(Object(made).administrator)
    terminal.print(password === null ? `${username} is invited by mail.` : `${username} / ${password}`)
    return 0
  },
})

export const spaceSet = command({
  name: 'space set',
  operands: [nameOperand],
  flags: {
    ...settingFlags,
    suspended: {
      type: 'string',
      value: '<yes|no>',
      help: 'yes: requests get 503 and jobs wait.',
      completes: ['yes', 'no'],
    },
    ...server,
  },
  summary: 'Changes hosts, title and quotas of a space, suspends it or ends that.',
  about: 'What is not named stays.',
  async run({ positionals: [name = ''], values: { url, suspended, ...settings } }, terminal) {
    if (suspended !== undefined && suspended !== 'yes' && suspended !== 'no')
      throw new UsageError(`--suspended must be yes or no; got ${suspended}.`)
    await onServer(terminal, url, async (management) => {
      const space = await spaceNamed(management, name)
      const state = suspended === undefined ? {} : { suspended: suspended === 'yes' }
      const body = { ...inputOf(settings, space.quotas), ...state }
      await management.call('PUT', `/_system/spaces/${guidOf(space)}`, body)
    })
    return 0
  },
})

export const spaceShow = command({
  name: 'space show',
  operands: [nameOperand],
  flags: server,
  summary: 'Prints a space with its health, what it uses, its quotas, and what failed in it.',
  about:
    'Failed jobs, warnings and errors come with time and guids only: their texts are for users of the space.',
  async run({ positionals: [name = ''], values: { url } }, terminal) {
    const { space, usage, health } = await onServer(terminal, url, async (management) => {
      const found = await spaceNamed(management, name)
      const read = async (what: string) => {
        const reply = await management.call('GET', `/_system/spaces/${guidOf(found)}/${what}`)
        return isJsonObject(reply) ? reply : {}
      }
      const health = await read('health')
      // One that is not open is not counted.
      return { space: found, health, usage: health.health === 'open' ? await read('usage') : {} }
    })
    terminal.print(`${name}\t${textIn(space.state)}\t${guidOf(space)}`)
    terminal.print(`hosts\t${textsIn(space.hosts).join()}`)
    const quotas = isJsonObject(space.quotas) ? space.quotas : {}
    for (const [flag, quota] of Object.entries(quotaOfFlag)) {
      const most = numberIn(quotas[quota])
      terminal.print(`${flag}\t${numberIn(usage[flag])} of ${most === 0 ? 'any number' : most}`)
    }
    printHealth(health, terminal)
    return 0
  },
})

function printHealth({ health, error, failed_jobs, problems }: JsonObject, terminal: Terminal): void {
  terminal.print(`health\t${textIn(health)}`)
  const line = (...words: readonly JsonValue[]) =>
    terminal.print(words.filter((word) => word !== '').join('\t'))
  const at = (seconds: JsonValue | undefined) => new Date(numberIn(seconds) * 1000).toISOString()
  const where = (one: JsonObject) =>
    ['run', 'blueprint', 'block'].map((name) =>
      textIn(one[name]) === '' ? '' : `${name} ${textIn(one[name])}`,
    )
  if (isJsonObject(error)) line('last error', at(error.at), textIn(error.message))
  for (const one of objectsIn(failed_jobs))
    line('failed job', at(one.failed_at), textIn(one.guid), `queue ${textIn(one.queue)}`, ...where(one))
  for (const one of objectsIn(problems)) line(textIn(one.level), at(one.at), ...where(one))
}

export const spaceBackup = command({
  name: 'space backup',
  operands: [nameOperand],
  flags: server,
  summary: 'Begins a backup of a space and prints its folder on the server.',
  async run({ positionals: [name = ''], values: { url } }, terminal) {
    const made = await onServer(terminal, url, async (management) =>
      management.call('POST', `/_system/spaces/${guidOf(await spaceNamed(management, name))}/backup`),
    )
    terminal.print(String(Object(made).folder))
    return 0
  },
})

export const spaceDelete = command({
  name: 'space delete',
  operands: [nameOperand],
  flags: {
    confirm: { type: 'string', value: '<name>', help: 'The name again: all data of the space is deleted.' },
    ...server,
  },
  summary: 'Deletes a space with all of its data, permanently.',
  async run({ positionals: [name = ''], values: { url, confirm } }, terminal) {
    if (confirm !== name)
      throw new UsageError(`Add --confirm ${name} to delete the space with all of its data.`)
    await onServer(terminal, url, async (management) => {
      const guid = guidOf(await spaceNamed(management, name))
      await management.call('DELETE', `/_system/spaces/${guid}?confirm=${encodeURIComponent(name)}`)
    })
    return 0
  },
})

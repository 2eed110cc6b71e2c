import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { MAX_CONNECTIONS } from '../../shared/names/stored-names.ts'
import { readJson } from '../../shared/numbers/exact-json.ts'
import { textIn } from '../../storage/document-fields.ts'
import { command } from '../command.ts'
import { guidOf, type Management, Refused, recordsOf } from '../management.ts'
import { allNamed, type NamedKind, recordNamed } from '../named-records.ts'
import { urlFlag, withManagement } from '../open-management.ts'
import { UsageError } from '../read-words.ts'

export const connectionList = command({
  name: 'connection list',
  operands: [],
  flags: urlFlag,
  summary: 'Lists the connections: servers that flows call by name.',
  about: 'Prints one line for each: its name, a tab, its base address, a tab and how requests are signed in.',
  async run({ values: { url } }, terminal) {
    const found = await withManagement(terminal, url, allConnections)
    for (const { name, baseUrl, kind } of found) terminal.print(`${name}\t${baseUrl}\t${kind}`)
    if (found.length === 0)
      terminal.complain('There are no connections. Set one: quoin connection set <name> <file>')
    return 0
  },
})

export const connectionGet = command({
  name: 'connection get',
  operands: [{ name: '<name>' }],
  flags: urlFlag,
  summary: 'Prints one connection as JSON, as quoin connection set reads it.',
  about: 'Secrets are named, never contained.',
  async run({ positionals: [name = ''], values: { url } }, terminal) {
    const found = await withManagement(terminal, url, (management) => connectionNamed(management, name))
    terminal.print(JSON.stringify(found, undefined, 2))
    return 0
  },
})

export const connectionSet = command({
  name: 'connection set',
  operands: [{ name: '<name>' }, { name: '<file>', completes: 'file' }],
  flags: urlFlag,
  summary: 'Sets a connection: a server that flows call by name.',
  about: `The file is JSON: base_url, and if wanted auth, headers and description (docs/http.md). auth names a secret: set that
with quoin secret set. Adds the connection or changes what the file has; requests that begin afterwards use it.`,
  async run({ positionals: [name = '', file = ''], values: { url } }, terminal) {
    const fields = await fieldsOfFile(file)
    const { setNamed } = await import('../named-records.ts')
    await withManagement(terminal, url, (management) => setNamed(management, connectionKind, name, fields))
    return 0
  },
})

async function fieldsOfFile(file: string): Promise<JsonObject> {
  const { readFile } = await import('node:fs/promises')
  const read = readJson(await readFile(file, 'utf8'))
  if ('problem' in read) throw new UsageError(`The file ${read.problem}: ${file}.`)
  if (!isJsonObject(read.value)) throw new UsageError(`The file is not a JSON object: ${file}.`)
  return read.value
}

export const connectionUnset = command({
  name: 'connection unset',
  operands: [{ name: '<name>' }],
  flags: urlFlag,
  summary: 'Removes a connection.',
  about: 'Blocks that name it fail from then on.',
  async run({ positionals: [name = ''], values: { url } }, terminal) {
    const { removeNamed } = await import('../named-records.ts')
    await withManagement(terminal, url, (management) => removeNamed(management, connectionKind, name))
    return 0
  },
})

export const connectionTry = command({
  name: 'connection try',
  operands: [{ name: '<name>' }],
  flags: {
    path: { type: 'string', value: '<path>', help: 'Below the base address, such as orders?limit=1.' },
    ...urlFlag,
  },
  summary: 'Sends one GET request over a connection and prints the status code.',
  about: `Without --path the base address itself is asked. The request is signed in as those of flows.
Exit code 1 for a status code outside of 200 to 299, and where no reply came.`,
  async run({ positionals: [name = ''], values: { path = '', url } }, terminal) {
    const { ok, status, milliseconds, problem } = await withManagement(terminal, url, (management) =>
      tryNamed(management, name, path),
    )
    if (typeof problem === 'string') terminal.complain(problem)
    else terminal.print(`${status} in ${milliseconds} ms`)
    return ok === true ? 0 : 1
  },
})

export const connectionDocument = command({
  name: 'connection document',
  operands: [{ name: '<name>' }, { name: '<file or address>', completes: 'file' }],
  flags: urlFlag,
  summary: 'Gives a connection the OpenAPI document of its API.',
  about: `OpenAPI 3.0 or 3.1 as JSON. An address is fetched by the server. The operations are then offered as blocks (docs/agents.md).
Prints how many there are, and names the parts that no block offers.`,
  async run({ positionals: [name = '', from = ''], values: { url } }, terminal) {
    const source = /^https?:/.test(from) ? { url: from } : { document: await fieldsOfFile(from) }
    const { document, changed = 0 } = await withManagement(terminal, url, (management) =>
      setDocument(management, name, source),
    )
    const { operations = 0, left_out: leftOut } = isJsonObject(document) ? document : {}
    terminal.print(`${operations} operations, ${changed} changed`)
    for (const one of Array.isArray(leftOut) ? leftOut : [])
      if (isJsonObject(one))
        terminal.complain(`left out: ${one.operation ? `${one.operation}: ` : ''}${one.what}`)
    return 0
  },
})

export const connectionOperations = command({
  name: 'connection operations',
  operands: [{ name: '<name>' }],
  flags: urlFlag,
  summary: 'Lists the operations of the API of a connection.',
  about: 'Prints one line for each: its id, a tab, its method and path, a tab and its title.',
  async run({ positionals: [name = ''], values: { url } }, terminal) {
    const found = await withManagement(terminal, url, (management) => operationsOf(management, name))
    for (const { operation, method, path, title } of found)
      terminal.print(`${operation}\t${method} ${path}\t${title}`)
    if (found.length === 0)
      terminal.complain(
        `There are none. Give the document: quoin connection document ${name} <file or address>`,
      )
    return 0
  },
})

export const connectionOperation = command({
  name: 'connection operation',
  operands: [{ name: '<name>' }, { name: '<id>' }],
  flags: urlFlag,
  summary: 'Prints an operation as the setting of a block "call_operation".',
  about: 'It is JSON, for "fields": { "operation": … } of the block in a blueprint file.',
  async run({ positionals: [name = '', id = ''], values: { url } }, terminal) {
    const found = await withManagement(terminal, url, (management) =>
      operationDefinition(management, name, id),
    )
    terminal.print(JSON.stringify(found, undefined, 2))
    return 0
  },
})

export const connectionKind: NamedKind = {
  path: '/_system/connections',
  noun: 'connection',
  most: MAX_CONNECTIONS,
}

interface NamedConnection {
  readonly name: string
  readonly baseUrl: string
  /** How requests are signed in. */
  readonly kind: string
}

/** Of one request. */
const OPERATIONS_AT_ONCE = 500
const MOST_LISTED = 5_000

/** By name. */
async function allConnections(management: Management): Promise<NamedConnection[]> {
  return (await allNamed(management, connectionKind)).map(({ name, base_url: baseUrl, auth }) => ({
    name: textIn(name),
    baseUrl: textIn(baseUrl),
    kind: isJsonObject(auth) ? textIn(auth.kind) : '',
  }))
}

/** As `quoin connection set` reads it. */
async function connectionNamed(management: Management, name: string): Promise<JsonObject> {
  const {
    base_url = '',
    auth = null,
    headers = {},
    description = '',
  } = await recordNamed(management, connectionKind, name)
  return { base_url, auth, headers, description }
}

/** Gives the connection its OpenAPI document: the text of one, or its address. */
async function setDocument(
  management: Management,
  name: string,
  from: { readonly document: JsonValue } | { readonly url: string },
): Promise<JsonObject> {
  const path = `${connectionKind.path}/${guidOf(await recordNamed(management, connectionKind, name))}/document`
  const reply =
    'url' in from
      ? await management.call('POST', `${path}/fetch`, { url: from.url })
      : await management.call('PUT', path, from.document)
  return isJsonObject(reply) ? reply : {}
}

/** The operations that a connection offers, or those of them with this id. */
async function operationsOf(
  management: Management,
  connection: string,
  operation?: string,
): Promise<JsonObject[]> {
  const found: JsonObject[] = []
  const filters = { connection, ...(operation !== undefined && { operation }) }
  for (let offset = 0; offset <= MOST_LISTED; offset += OPERATIONS_AT_ONCE) {
    const page = { filters, sort: [{ path: 'asc' }, { method: 'asc' }], limit: OPERATIONS_AT_ONCE, offset }
    const records = recordsOf(await management.call('POST', '/_system/operations/search', page))
    found.push(...records)
    if (records.length < OPERATIONS_AT_ONCE) break
  }
  return found
}

/** What a block holds of the operation. Throws Refused where there is none. */
async function operationDefinition(
  management: Management,
  connection: string,
  operation: string,
): Promise<JsonValue> {
  const [found] = await operationsOf(management, connection, operation)
  if (!found)
    throw new Refused(
      `The connection ${connection} has no operation ${operation}. List them: quoin connection operations ${connection}`,
      404,
    )
  const whole = await management.call('GET', `/_system/operations/${guidOf(found)}`)
  return isJsonObject(whole) ? (whole.definition ?? null) : null
}

/** What one request over it gives. */
async function tryNamed(management: Management, name: string, path: string): Promise<JsonObject> {
  const record = await recordNamed(management, connectionKind, name)
  const tried = await management.call('POST', `${connectionKind.path}/${guidOf(record)}/try`, { path })
  return isJsonObject(tried) ? tried : {}
}
